"""Each piece hidden, alone."""

import torch

from explorer.ui.scripts.start import model, tokenizer


def places_of_text(inputs):  # of pieces that neither the tokenizer added nor are blanks
    added = torch.tensor([one is None for one in inputs.sequence_ids(0)])
    return (~added & (inputs["input_ids"][0] != tokenizer.mask_token_id)).nonzero()[:, 0].tolist()


def logits_of_hidden(inputs, place):  # each is hidden, alone: Salazar et al. 2020
    ids = inputs["input_ids"].clone()
    ids[0, place] = tokenizer.mask_token_id
    return model(**{**inputs, "input_ids": ids}).prediction_logits[0, place]
