"""The logit lens: the masked-LM head applied after every layer, to see when the final prediction arises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.techniques.targets import AT_ONCE
from explorer.techniques.tuned_lens import TunedLens


@dataclass(frozen=True)
class Lens:
    """The head's predictions from each hidden state (0: embeddings) at some positions.

    `ids` and `probabilities` (0 to 1) are [hidden states, positions, top_k], best first. `final_ranks` [hidden states, positions]
    are the ranks of the last state's first guess, from 1.
    """

    positions: tuple[int, ...]
    ids: np.ndarray
    probabilities: np.ndarray
    final_ranks: np.ndarray


class Followed(NamedTuple):
    """Pieces at one position: their probabilities (0 to 1), ranks (from 1) and logits, [hidden states, pieces] each."""

    probabilities: np.ndarray
    ranks: np.ndarray
    logits: np.ndarray


def lens(trace: Trace, positions: Sequence[int], top_k: int = 1, tuned: TunedLens | None = None) -> Lens:
    """Apply the masked-LM head to the hidden states of `positions`, as if each were the last.

    nostalgebraist's logit lens (2020), for BERT: the head has its own dense layer and LayerNorm, which were trained for the last
    state alone, so that early layers do not match it. A `tuned` lens maps each state to where the head expects it (Belrose et al.
    2023). Raises CapabilityError.
    """
    starts = range(0, len(positions), AT_ONCE)
    parts = [_read(trace, list(positions[start : start + AT_ONCE]), top_k, tuned) for start in starts]
    columns = zip(*parts, strict=True)
    return Lens(tuple(positions), *(np.concatenate(column, axis=1) for column in columns))


@inference_mode
def _read(trace: Trace, positions: list[int], top_k: int, tuned: TunedLens | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    model = trace.model
    top_k = min(top_k, model.capabilities.vocab_size)
    logits = model.masked_lm(trace.states[-1][positions])
    final = logits.argmax(-1, keepdim=True)  # [positions, 1]
    ids, probabilities, ranks = [], [], []
    for states in translate(trace.states[:, positions], tuned):  # one layer at a time: the vocabulary is large
        logits = model.masked_lm(states)  # [positions, vocabulary]
        best, best_ids = logits.softmax(-1).topk(top_k, dim=-1)
        ids.append(best_ids.numpy())
        probabilities.append(best.numpy())
        ranks.append((logits > logits.gather(-1, final)).sum(-1).numpy() + 1)
    return np.stack(ids), np.stack(probabilities), np.stack(ranks)


@inference_mode
def first_guesses(model: Network, states: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The first guess at every position of hidden states [states, tokens, hidden], such as those of a changed run.

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
def follow(trace: Trace, position: int, ids: Sequence[int], tuned: TunedLens | None = None) -> Followed:
    logits = trace.model.masked_lm(translate(trace.states[:, position], tuned))  # [hidden states, vocabulary]
    chosen = logits[:, list(ids)]  # [hidden states, pieces]
    ranks = (logits[:, None] > chosen[..., None]).sum(-1) + 1
    return Followed(logits.softmax(-1)[:, list(ids)].numpy(), ranks.numpy(), chosen.numpy())


def translate(states: torch.Tensor, tuned: TunedLens | None) -> torch.Tensor:
    """Hidden states [states, ..., hidden] as a lens gives them to the head; without a tuned one as they are."""
    return states if tuned is None else torch.stack([tuned.read(state, vectors) for state, vectors in enumerate(states)])


@inference_mode
def lens_error(trace: Trace, positions: Sequence[int]) -> float:
    """The largest difference between the logits of the lens at the last state and those of transformers' own forward pass."""
    model, positions = trace.model, list(positions)
    own = model.own_masked_lm(trace.encoding)[positions]
    return float((own - model.masked_lm(trace.states[-1][positions])).abs().max())
