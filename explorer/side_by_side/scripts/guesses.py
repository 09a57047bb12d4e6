from explorer.side_by_side.scripts.sides import here, other_model, other_tokenizer, there
from explorer.ui.scripts.start import model, tokenizer

top_k, blank_here, blank_there = 6, 6, 6
logits = model(**here).prediction_logits[0, blank_here]
shares_here, ids_here = logits.softmax(-1).topk(top_k)
print("here", *zip(tokenizer.convert_ids_to_tokens(ids_here), shares_here.tolist()))
logits = other_model(**there).prediction_logits[0, blank_there]
shares_there, ids_there = logits.softmax(-1).topk(top_k)
print("there", *zip(other_tokenizer.convert_ids_to_tokens(ids_there), shares_there.tolist()))
