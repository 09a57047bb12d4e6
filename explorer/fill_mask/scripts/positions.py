import math

import torch

from explorer.fill_mask.scripts.hidden import logits_of_hidden, places_of_text
from explorer.ui.scripts.start import inputs, tokenizer

ids, positions = inputs["input_ids"][0], places_of_text(inputs)
logits = torch.stack([logits_of_hidden(inputs, place) for place in positions])
log_probabilities = logits.log_softmax(-1)  # [positions, vocabulary]
actual = log_probabilities.gather(1, ids[positions, None])
bits = -actual[:, 0] / math.log(2)  # of the piece that stands there
ranks, best = (log_probabilities > actual).sum(1) + 1, log_probabilities.argmax(1)
for place, bit, rank, guess in zip(positions, bits.tolist(), ranks.tolist(), tokenizer.convert_ids_to_tokens(best)):
    print(tokenizer.convert_ids_to_tokens(int(ids[place])), f"{bit:.2f} bits, rank {rank}, first guess {guess}")
