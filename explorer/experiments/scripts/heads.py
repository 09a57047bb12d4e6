import torch

from explorer.experiments.scripts.item import read
from explorer.ui.scripts.start import layers, model, tokenizer
from explorer.ui.scripts.without import run_without

items = [("The man was [MASK].", "", "happy", "sad"), ("She was [MASK].", "", "late", "early")]  # text A, text B, word, foil


def difference(off, start, place, pair):  # of the logits of word and foil
    word, foil = model.cls.predictions(run_without(off, start)[-1][:, place])[0, pair].tolist()
    return word - foil


changes = []  # [items, layers, heads]
for text_a, text_b, *pair in items:
    inputs, place = read(text_a, text_b)
    asked = model(**inputs, output_hidden_states=True).hidden_states[0], place, tokenizer.convert_tokens_to_ids(pair)
    alone = [[difference({at: [head]}, *asked) for head in range(model.config.num_attention_heads)] for at in range(len(layers))]
    changes.append(torch.tensor(alone) - difference({}, *asked))
effects = torch.stack(changes).mean(0)  # negative where a head helps the word
print(effects)
