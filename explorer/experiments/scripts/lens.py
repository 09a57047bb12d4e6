import torch

from explorer.experiments.scripts.item import read
from explorer.ui.scripts.start import model, tokenizer

items = [("The man was [MASK].", "", "happy", "sad"), ("She was [MASK].", "", "late", "early")]  # text A, text B, word, foil
leads = []  # [items, hidden states]
for text_a, text_b, *pair in items:
    inputs, place = read(text_a, text_b)
    states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)[:, place]
    word, foil = model.cls.predictions(states)[:, tokenizer.convert_tokens_to_ids(pair)].T  # each state as if it were the last
    leads.append(word - foil)
effects = torch.stack(leads).mean(0)
print(effects)
