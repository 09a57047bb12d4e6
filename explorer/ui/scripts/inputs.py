"""One input: a text, or a pair of texts."""

from explorer.ui.scripts.start import longest, tokenizer

text_a = "The man went to the [MASK] because he was happy."
text_b = None
inputs = tokenizer(text_a, text_b, truncation=True, max_length=longest, return_tensors="pt")
tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
