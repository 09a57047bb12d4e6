from explorer.ui.scripts.inputs import inputs
from explorer.ui.scripts.start import model, tokenizer

top_k = 5
blanks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
logits = model(**inputs).prediction_logits[0]  # [tokens, vocabulary]
probabilities, ids = logits[blanks].softmax(-1).topk(top_k)  # [blanks, guesses]
for place, shares, best in zip(blanks, probabilities.tolist(), ids.tolist()):
    for share, token in zip(shares, tokenizer.convert_ids_to_tokens(best)):
        print(f"position {place}: {token} {share:.2%}")
