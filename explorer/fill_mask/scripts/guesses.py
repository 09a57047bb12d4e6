from explorer.fill_mask.scripts.logits import blanks, logits
from explorer.ui.scripts.start import tokenizer

top_k = 5
probabilities, ids = logits[blanks].softmax(-1).topk(top_k)  # [blanks, guesses]
for place, shares, best in zip(blanks, probabilities.tolist(), ids.tolist()):
    for share, token in zip(shares, tokenizer.convert_ids_to_tokens(best)):
        print(f"position {place}: {token} {share:.2%}")
