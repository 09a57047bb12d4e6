"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

# %% labels

MODEL = "textattack/bert-base-uncased-SST-2"  # a folder, or an id on the Hugging Face hub
text_a = "The man was happy."
text_b = None
squash = "softmax"  # or "sigmoid" where labels do not exclude each other, or "none" where the answer is a number
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForSequenceClassification.from_pretrained(MODEL, dtype="float32")
inputs = tokenizer(text_a, text_b, truncation=True, max_length=512, return_tensors="pt")
with torch.no_grad():
    logits = model(**inputs).logits[0]  # [labels]
shares = {"softmax": logits.softmax(-1), "sigmoid": logits.sigmoid(), "none": logits}[squash]
for place, share in enumerate(shares.tolist()):
    print(model.config.id2label[place], share)
