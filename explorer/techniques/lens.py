"""The masked-LM head after every layer: when the model came to believe what it says in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.base.engine import inference_mode, torch
from explorer.model.network import Network
from explorer.model.trace import Trace

AT_ONCE = 64  # positions: the vocabulary is large, and every one of them gets a number a piece


@dataclass(frozen=True)
class Lens:
    """What the head says of each hidden state (0: embeddings) at some positions.

    ids, probabilities: [hidden states, positions, top_k], best first, probabilities 0 to 1. final_ranks: [hidden
    states, positions], where the last state's first guess stands, 1 is first.
    """

    positions: tuple[int, ...]
    ids: np.ndarray
    probabilities: np.ndarray
    final_ranks: np.ndarray


def lens(trace: Trace, positions: Sequence[int], top_k: int = 1) -> Lens:
    """Read the hidden states of `positions` with the masked-LM head, as if each were the last.

    nostalgebraist's logit lens (2020), for BERT: the head has its own dense layer and LayerNorm, which were trained
    for the last state alone, so early layers are read with glasses made for another. Raises CapabilityError.
    """
    parts = [_read(trace, list(positions[start : start + AT_ONCE]), top_k) for start in range(0, len(positions), AT_ONCE)]
    columns = zip(*parts, strict=True)
    return Lens(tuple(positions), *(np.concatenate(column, axis=1) for column in columns))


@inference_mode
def _read(trace: Trace, positions: list[int], top_k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ids, probabilities and final ranks of a few positions."""
    model = trace.model
    top_k = min(top_k, model.capabilities.vocab_size)
    logits = model.masked_lm(trace.states[-1][positions])
    final = logits.argmax(-1, keepdim=True)  # [positions, 1]
    ids, probabilities, ranks = [], [], []
    for states in trace.states:  # one layer at a time: the vocabulary is large
        logits = model.masked_lm(states[positions])  # [positions, vocabulary]
        best, best_ids = logits.softmax(-1).topk(top_k, dim=-1)
        ids.append(best_ids.numpy())
        probabilities.append(best.numpy())
        ranks.append((logits > logits.gather(-1, final)).sum(-1).numpy() + 1)
    return np.stack(ids), np.stack(probabilities), np.stack(ranks)


@inference_mode
def first_guesses(model: Network, states: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """What the head says first of every place in hidden states [states, tokens, hidden], such as those of a changed run.

    Returns ids and probabilities (0 to 1), [states, tokens] each. Raises CapabilityError.
    """
    places = states.flatten(0, 1)
    ids, probabilities = [], []
    for start in range(0, len(places), AT_ONCE):
        logits = model.masked_lm(places[start : start + AT_ONCE])  # [places, vocabulary]
        best, best_ids = logits.max(-1)
        ids.append(best_ids)
        probabilities.append((best - logits.logsumexp(-1)).exp())
    found, shares = (torch.cat(rows).view(states.shape[:2]).numpy() for rows in (ids, probabilities))
    return found, shares


@inference_mode
def follow(trace: Trace, position: int, ids: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities (0 to 1) and ranks (1 is first) of chosen pieces at one position: [hidden states, pieces] each."""
    logits = trace.model.masked_lm(trace.states[:, position])  # [hidden states, vocabulary]
    chosen = logits[:, list(ids)]  # [hidden states, pieces]
    ranks = (logits[:, None] > chosen[..., None]).sum(-1) + 1
    return logits.softmax(-1)[:, list(ids)].numpy(), ranks.numpy()


@inference_mode
def lens_error(trace: Trace, positions: Sequence[int]) -> float:
    """How far the lens at the last state is from transformers' own forward pass: the largest difference of a logit."""
    model, positions = trace.model, list(positions)
    own = model.own_masked_lm(trace.encoding)[positions]
    return float((own - model.masked_lm(trace.states[-1][positions])).abs().max())
