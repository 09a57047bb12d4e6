from explorer.ui.scripts.inputs import inputs
from explorer.ui.scripts.start import model, tokenizer

blanks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()


def fill(surest_first):
    ids, log_probability = inputs["input_ids"].clone(), 0.0
    while left := (ids[0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist():
        logits = model(**{**inputs, "input_ids": ids}).prediction_logits[0]
        probability, best = logits[left].softmax(-1).max(-1)
        place = int(probability.argmax()) if surest_first else 0
        ids[0, left[place]] = best[place]
        log_probability += float(probability[place].log())
    return ids[0, blanks].tolist(), log_probability


left_to_right, surest_first = fill(False), fill(True)
for ids, log_probability in (left_to_right, surest_first):
    print(tokenizer.convert_ids_to_tokens(ids), f"ln p = {log_probability:.2f}")
