"""The masked-LM logits of an input, and its blanks."""

from explorer.ui.scripts.start import inputs, model, tokenizer

logits = model(**inputs).prediction_logits[0]  # [tokens, vocabulary]
blanks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
