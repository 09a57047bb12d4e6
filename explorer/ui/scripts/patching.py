import copy

import numpy as np
import torch

from explorer.ui.scripts.asked import against, answer, foil, read
from explorer.ui.scripts.start import inputs, layers, model, tokenizer

other_a, other_b = None, None  # run B; without texts, run A with a token hidden
hidden_token = 1
if other_a is None:
    corrupted = copy.deepcopy(inputs)
    corrupted["input_ids"][0, hidden_token] = tokenizer.mask_token_id  # the longer word that matters most, hidden
else:
    corrupted = tokenizer(other_a, other_b, truncation=True, max_length=512, return_tensors="pt")


def measured(hidden):
    logits = read(hidden)[0]
    return logits.softmax(-1)[answer] if foil is None else logits[answer] - logits[against]


clean_states = model(**inputs, output_hidden_states=True).hidden_states
bad_states = model(**corrupted, output_hidden_states=True).hidden_states
found = torch.empty(len(layers) + 1, inputs["input_ids"].shape[1])  # [hidden state, token]
for number, token in np.ndindex(*found.shape):
    hidden = bad_states[number].clone()
    hidden[0, token] = clean_states[number][0, token]  # one vector of run A in run B
    for layer in layers[number:]:
        hidden = layer(hidden)
    found[number, token] = measured(hidden)
clean, bad = (float(measured(states[-1])) for states in (clean_states, bad_states))
if foil is None:
    probabilities = found
else:
    differences = found
    recovered = (differences - bad) / (clean - bad)  # 0 as in run B, 1 as in run A
print(clean, bad, found)
