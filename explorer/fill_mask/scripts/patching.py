import numpy as np
import torch

from explorer.ui.scripts.inputs import inputs, tokens
from explorer.ui.scripts.start import model, tokenizer

# The tokens of run B:
corrupted = ["[CLS]", "the", "[MASK]", "went", "to", "the", "[MASK]", "because", "he", "was", "happy", ".", "[SEP]"]
position = 6
word = "happy"
foil = None  # a word to compare it with
answer, against = (one and tokenizer.convert_tokens_to_ids(one) for one in (word, foil))
changed = {**inputs, "input_ids": torch.tensor([tokenizer.convert_tokens_to_ids(corrupted)])}
clean_states, bad_states = (model(**one, output_hidden_states=True).hidden_states for one in (inputs, changed))


def measured(hidden):  # the word's probability, or how far its logit is above the foil's
    logits = model.cls.predictions(hidden[0, position])
    return logits[answer] - logits[against] if foil else logits.softmax(-1)[answer]


layers = model.bert.encoder.layer
clean, bad = measured(clean_states[-1]), measured(bad_states[-1])
found = torch.empty(len(layers) + 1, len(tokens))  # [hidden state, token]
for number, token in np.ndindex(*found.shape):
    hidden = bad_states[number].clone()
    hidden[0, token] = clean_states[number][0, token]  # one vector of run A in run B
    for layer in layers[number:]:
        hidden = layer(hidden)
    found[number, token] = measured(hidden)
recovered = (found - bad) / (clean - bad)  # 0 as in run B, 1 as in run A
print("run A", clean, "run B", bad, "recovered", recovered)
