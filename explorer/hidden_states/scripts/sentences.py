import torch

from explorer.ui.scripts.start import longest, model, tokenizer

texts = ["The cat sat.", "A cat was sitting.", "The stock fell."]
state = 6
vectors = []
for text in texts:
    inputs = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
    hidden_states = model(**inputs, output_hidden_states=True).hidden_states
    vectors.append(hidden_states[state][0].mean(0))  # of all tokens
vectors = torch.stack(vectors)  # [texts, hidden]
unit = vectors / vectors.norm(dim=1, keepdim=True)
similarity = unit @ unit.T  # [texts, texts] cosines
print(similarity)
