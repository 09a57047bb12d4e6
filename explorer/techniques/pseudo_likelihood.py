"""Surprisal and pseudo-likelihood: every token masked in turn, and predicted from the others.

The original pseudo-log-likelihood (Salazar et al. 2020, section 2) prefers rare words of many pieces, since each piece is easy to
guess from the others. "word_l2r" (Kauf & Ivanova 2023, section 3) also hides the later pieces of the same word.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.core.limits import KEEP, Limit
from explorer.core.steps import finished, map_steps
from explorer.techniques.targets import batches
from explorer.text import limits
from explorer.text.encoding import Encoding

MOST_TEXTS = Limit(100, KEEP)
WORD_L2R, ORIGINAL = LIKELIHOODS = ("word_l2r", "original")


@dataclass(frozen=True)
class Surprise:
    """The model's predictions at some positions, compared with the actual pieces; all arrays are [positions].

    `log_probabilities` are natural logs, at most 0; their sum is the pseudo-log-likelihood. `ranks` are those of the actual
    pieces, from 1. `best_ids` and `best_probabilities` are the first guesses.
    """

    positions: tuple[int, ...]
    log_probabilities: np.ndarray
    ranks: np.ndarray
    best_ids: np.ndarray
    best_probabilities: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """The probability of each actual piece, 0 to 1."""
        return np.exp(self.log_probabilities)

    @property
    def bits(self) -> np.ndarray:
        """The surprisal of each actual piece, -log2 of its probability: 0 for certainty, 1 for a coin toss."""
        return -self.log_probabilities / np.log(2)


@inference_mode
def hidden_surprise_in_steps(
    model: Network, encoding: Encoding, only: Sequence[int] | None = None
) -> Generator[float, None, Surprise]:
    """Mask each visible piece alone and predict it, or `only` those at some positions; yields the share done.

    Salazar et al. 2020, section 2. Batched; the head runs at the masked position only. Raises CapabilityError.
    """
    model.require("fill_mask")
    positions = model.visible_positions(encoding) if only is None else list(only)
    return (yield from _hidden_in_turn(model, encoding.ids, encoding.segments, positions))


def hidden_too(encoding: Encoding, likelihood: str = WORD_L2R) -> dict[int, list[int]]:
    """What is masked beside each position: for "word_l2r" the later pieces of its word, for "original" nothing."""
    if limits.check_choice(likelihood, "the likelihood", LIKELIHOODS) == ORIGINAL:
        return {}
    return {position: word[at:] for word in encoding.text_words for at, position in enumerate(word, start=1)}


@inference_mode
def _likelihood_in_steps(model: Network, encoding: Encoding, likelihood: str) -> Generator[float, None, Surprise]:
    positions, also = model.visible_positions(encoding), hidden_too(encoding, likelihood)
    return (yield from _hidden_in_turn(model, encoding.ids, encoding.segments, positions, also))


def _hidden_in_turn(
    model: Network,
    ids: Sequence[int],
    segments: Sequence[int],
    positions: Sequence[int],
    also: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> Generator[float, None, Surprise]:
    parts = []
    original, kinds = torch.tensor(ids), torch.tensor(segments)
    for batch in batches(len(positions), len(ids)):
        here = torch.tensor(positions[batch])
        rows = torch.arange(len(here))
        masked = original.repeat(len(here), 1)  # [batch, tokens]
        masked[rows, here] = model.mask_id
        for row, position in enumerate(positions[batch]):
            masked[row, also.get(position, [])] = model.mask_id
        hidden = model.run(model.embed(masked, kinds))
        parts.append(_surprise(model, hidden[rows, here], original[here]))
        yield batch.stop / len(positions)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.empty(0)] * 4
    return Surprise(tuple(positions), *columns)


def surprise_in_steps(trace: Trace, positions: Sequence[int]) -> Generator[float, None, Surprise]:
    """`hidden_surprise_in_steps` at some positions of a trace, cached with it."""
    key, steps = _key(positions), hidden_surprise_in_steps(trace.model, trace.encoding, positions)
    if trace.knows(key):
        return trace.once(key, lambda: finished(steps))
    found = yield from steps
    return trace.once(key, lambda: found)


def knows_surprise(trace: Trace, positions: Sequence[int]) -> bool:
    return trace.knows(_key(positions))


def _key(positions: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    return ("surprise", tuple(positions))


def pseudo_likelihoods_in_steps(
    model: Explorer, texts: Sequence[str], likelihood: str = WORD_L2R
) -> Generator[float, None, list[float]]:
    """The pseudo-log-likelihood (sum of natural logs, at most 0) of each text; yields the share done, 0 to 1.

    `likelihood` is one of LIKELIHOODS. Raises CapabilityError without a masked-LM head, InputError when a text consists of
    [MASK]s only.
    """
    model.require("fill_mask")
    texts = limits.check_texts(texts, MOST_TEXTS)
    encoded = [model.encode(text) for text in texts]
    for number, encoding in enumerate(encoded, start=1):
        if not model.visible_positions(encoding):
            raise InputError(f"Text {number} has no visible word to score; type one beside its [MASK]s.")
    work, done, scores = sum(encoding.kept**2 for encoding in encoded), 0, []
    for encoding in encoded:
        own = encoding.kept**2

        def so_far(share: float, done: int = done, own: int = own) -> float:
            return (done + share * own) / work

        surprise = yield from map_steps(_likelihood_in_steps(model, encoding, likelihood), so_far)
        scores.append(float(surprise.log_probabilities.sum()))
        done += own
    return scores


def _surprise(model: Network, vectors: torch.Tensor, actual: torch.Tensor) -> tuple[np.ndarray, ...]:
    """The four columns of Surprise for last hidden states [rows, hidden] and the actual ids [rows]."""
    logs = model.masked_lm(vectors).log_softmax(-1)  # [rows, vocabulary]
    mine = logs.gather(-1, actual[:, None])  # [rows, 1]
    best, best_ids = logs.max(-1)
    return mine[:, 0].double().numpy(), (logs > mine).sum(-1).numpy() + 1, best_ids.numpy(), best.exp().numpy()
