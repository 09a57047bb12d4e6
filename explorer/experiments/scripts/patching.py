import torch

from explorer.experiments.scripts.item import read
from explorer.ui.scripts.start import layers, model, tokenizer

items = [  # changed texts, text A, text B, word, foil
    ("The man lost and was [MASK].", "", "The man won and was [MASK].", "", "happy", "sad")
]


def difference(hidden, place, pair, state):  # logits of word minus foil, from a hidden state [1, tokens, hidden] on
    for layer in layers[state:]:
        hidden = layer(hidden)
    word, foil = model.cls.predictions(hidden[:, place])[0, pair].tolist()
    return word - foil


found = []  # of each item [hidden states, (changed words, other words, token read)], and the whole difference
for changed_a, changed_b, text_a, text_b, *pair in items:
    inputs, place = read(text_a, text_b)
    changed, _ = read(changed_a, changed_b)
    pair = tokenizer.convert_tokens_to_ids(pair)
    own, other = (model(**one, output_hidden_states=True).hidden_states for one in (inputs, changed))
    differs, is_read = (inputs["input_ids"] != changed["input_ids"])[0], torch.arange(own[0].shape[1]) == place
    whole, before = (difference(one[-1], place, pair, len(layers)) for one in (own, other))
    if whole <= before:
        continue  # nothing to recover
    roles = [differs, ~differs & ~is_read, is_read]
    after = [
        [difference(torch.where(role[:, None], mine, theirs), place, pair, at) for role in roles]
        for at, (mine, theirs) in enumerate(zip(own, other))
    ]
    found.append((torch.tensor(after) - before, whole - before))
effects = sum(recovered for recovered, _ in found) / sum(size for _, size in found)
print(effects)
