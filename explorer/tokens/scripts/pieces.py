from explorer.ui.scripts.start import text_a, text_b, tokenizer

inputs = tokenizer(text_a, text_b, return_offsets_mapping=True, truncation=True, max_length=512, return_tensors="pt")
ids = inputs["input_ids"][0].tolist()
tokens = tokenizer.convert_ids_to_tokens(ids)
segments = inputs["token_type_ids"][0].tolist() if "token_type_ids" in inputs else [0] * len(ids)
attention_mask = inputs["attention_mask"][0].tolist()
offsets = inputs["offset_mapping"][0].tolist()  # the characters [start, end) that each token stands for
for position, row in enumerate(zip(tokens, ids, segments, attention_mask, offsets)):
    print(position, *row)
