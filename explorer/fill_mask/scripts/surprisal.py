import math

import torch

from explorer.ui.scripts.inputs import inputs, tokens
from explorer.ui.scripts.start import model, tokenizer

ids = inputs["input_ids"][0]
positions = [
    at for at, side in enumerate(inputs.sequence_ids(0)) if side is not None and ids[at] != tokenizer.mask_token_id
]  # of what was typed
logits = []
for at in positions:  # each is hidden, alone: Salazar et al. 2020
    hidden = inputs["input_ids"].clone()
    hidden[0, at] = tokenizer.mask_token_id
    logits.append(model(**{**inputs, "input_ids": hidden}).prediction_logits[0, at])
log_probabilities = torch.stack(logits).log_softmax(-1)  # [positions, vocabulary]
actual = log_probabilities.gather(1, ids[positions, None])
bits = -actual[:, 0] / math.log(2)
ranks, best = (log_probabilities > actual).sum(1) + 1, log_probabilities.argmax(1)
for at, bit, rank, guess in zip(positions, bits.tolist(), ranks.tolist(), tokenizer.convert_ids_to_tokens(best)):
    print(tokens[at], f"{bit:.2f} bits, rank {rank}, first guess {guess}")
