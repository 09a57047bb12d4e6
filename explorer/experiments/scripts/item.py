"""One item at a time."""

from explorer.ui.scripts.start import tokenizer


def read(text_a, text_b):  # the input, and the position of its blank
    inputs = tokenizer(text_a, text_b or None, truncation=True, max_length=512, return_tensors="pt")
    return inputs, int((inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0])
