from explorer.fill_mask.scripts.logits import logits
from explorer.ui.scripts.start import tokenizer

blank, words = 6, ["happy", "sad"]
ids = tokenizer.convert_tokens_to_ids(words)
shares = logits[blank].softmax(-1)[ids]
ranked = shares.sort(descending=True).values
ratio = ranked[0] / ranked[1] if len(ids) > 1 else None
print(dict(zip(words, shares.tolist())), ratio)
