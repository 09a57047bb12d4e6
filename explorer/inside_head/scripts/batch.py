import torch

from explorer.ui.scripts.start import model, text_a, text_b, tokenizer

second_a = "He was happy."
layer, head, row, token = 1, 1, 1, 0  # row and token from 0
model.set_attn_implementation("eager")  # it returns its weights, which faster ones do not
first = tokenizer(text_a, text_b, truncation=True, max_length=512)
second = tokenizer(second_a, truncation=True, max_length=512)
inputs = tokenizer.pad([first, second], return_tensors="pt")  # the shorter one is filled up
mask = inputs["attention_mask"]  # 1 for a token, 0 for [PAD]
print(inputs["input_ids"], mask)
real = mask[row].bool()
place = int(mask[row].argmax()) + token
alone = model(**tokenizer.pad([(first, second)[row]], return_tensors="pt"), output_hidden_states=True)
weights, largest_change = [], []
for attention_mask in (mask, torch.ones_like(mask)):  # with the mask, and as if there were none
    inputs["attention_mask"] = attention_mask
    outputs = model(**inputs, output_hidden_states=True, output_attentions=True)
    weights.append(outputs.attentions[layer - 1][row, head - 1, place])
    moved = outputs.hidden_states[-1][row, real] - alone.hidden_states[-1][0]
    largest_change.append(moved.abs().max())
    print("weight on [PAD]", weights[-1][~real].sum(), "largest change", largest_change[-1])
