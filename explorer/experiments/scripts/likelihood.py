import torch

from explorer.experiments.scripts.item import read
from explorer.ui.scripts.start import model, tokenizer

items = [("The man was [MASK].", "", "happy", "sad"), ("She was [MASK].", "", "late", "early")]  # text A, text B, word, foil
leads = []  # [items, (the blank, the other pieces, all pieces)]
for text_a, text_b, *pair in items:
    inputs, place = read(text_a, text_b)
    ids, sums = inputs["input_ids"][0], []
    others = [at for at, id in enumerate(ids.tolist()) if id not in tokenizer.all_special_ids]
    for filler in tokenizer.convert_tokens_to_ids(pair):
        filled, logs = ids.clone(), []
        filled[place] = filler
        for at in [place, *others]:
            inputs["input_ids"] = filled.clone()[None]
            inputs["input_ids"][0, at] = tokenizer.mask_token_id
            logs.append(model(**inputs).prediction_logits[0, at].log_softmax(-1)[filled[at]])
        sums.append(torch.stack([logs[0], sum(logs[1:]), sum(logs)]))
    leads.append(sums[0] - sums[1])
effects = torch.stack(leads).mean(0)
print(effects)
