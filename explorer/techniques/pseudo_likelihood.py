"""Surprisal and pseudo-likelihood: every token masked in turn, and predicted from the others.

The original pseudo-log-likelihood (Salazar et al. 2020, section 2) prefers rare words of many pieces, since each piece is easy to
guess from the others. "word_l2r" (Kauf & Ivanova 2023, section 3) also hides the later pieces of the same word.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.core.limits import KEEP, Limit
from explorer.core.steps import finished
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
    original, kinds, parts = torch.tensor(encoding.ids), torch.tensor(encoding.segments), []
    for batch in batches(len(positions), encoding.kept):
        here = torch.tensor(positions[batch])
        rows = torch.arange(len(here))
        masked = original.repeat(len(here), 1)  # [batch, tokens]
        masked[rows, here] = model.mask_id
        hidden = model.run(model.embed(masked, kinds))
        parts.append(_surprise(model, hidden[rows, here], original[here]))
        yield batch.stop / len(positions)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.empty(0)] * 4
    return Surprise(tuple(positions), *columns)


def hidden_too(encoding: Encoding, likelihood: str = WORD_L2R) -> dict[int, list[int]]:
    """What is masked beside each position: for "word_l2r" the later pieces of its word, for "original" nothing."""
    if limits.check_choice(likelihood, "the likelihood", LIKELIHOODS) == ORIGINAL:
        return {}
    return {position: word[at:] for word in encoding.text_words for at, position in enumerate(word, start=1)}


@dataclass(frozen=True)
class Hidden:
    """An input with one piece hidden, and perhaps others `also`; `wanted` are the ids there whose log-probabilities count, each
    times its sign, for number `row`."""

    row: int
    encoding: Encoding
    position: int
    wanted: tuple[tuple[int, int], ...]
    also: Sequence[int] = ()


def hide_each(row: int, encoding: Encoding, positions: Sequence[int], likelihood: str = WORD_L2R, sign: int = 1) -> list[Hidden]:
    """The pieces at some positions hidden in turn, each of which counts with its own log-probability."""
    also = hidden_too(encoding, likelihood)
    return [Hidden(row, encoding, at, ((encoding.ids[at], sign),), also.get(at, ())) for at in positions]


@inference_mode
def answers_in_steps(model: Network, asked: Sequence[Hidden], rows: int) -> Generator[float, None, np.ndarray]:
    """The sum of what is counted for each row, [rows] in nats; yields the share that is answered, 0 to 1."""
    sums, done = np.zeros(rows), 0
    for length, group in groupby(sorted(asked, key=lambda one: one.encoding.kept), key=lambda one: one.encoding.kept):
        of_length = list(group)
        for part in batches(len(of_length), length):
            for one, answer in zip(batch := of_length[part], _read(model, of_length[part]), strict=True):
                sums[one.row] += answer
            done += len(batch)
            yield done / len(asked)
    return sums


def _read(model: Network, batch: Sequence[Hidden]) -> list[float]:
    """What is counted for each, in nats."""
    padded = model.pad([(one.encoding.ids, one.encoding.segments) for one in batch])
    rows, positions = torch.arange(len(batch)), torch.tensor([one.position for one in batch])
    padded.ids[rows, positions] = model.mask_id
    for row, one in enumerate(batch):
        padded.ids[row, list(one.also)] = model.mask_id
    (last,) = deque(model.run_padded(padded), maxlen=1)
    logits = model.masked_lm(last[rows, positions])  # [batch, vocabulary]
    totals = logits.logsumexp(-1).tolist()
    return [
        sum(sign * (float(row[id]) - total) for id, sign in one.wanted)
        for row, total, one in zip(logits, totals, batch, strict=True)
    ]


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
            raise InputError(f"Text {number} has no visible word to score. Type one beside its [MASK]s.")
    asked = [hide_each(row, encoding, model.visible_positions(encoding), likelihood) for row, encoding in enumerate(encoded)]
    return (yield from answers_in_steps(model, [one for hidden in asked for one in hidden], len(texts))).tolist()


def _surprise(model: Network, vectors: torch.Tensor, actual: torch.Tensor) -> tuple[np.ndarray, ...]:
    """The four columns of Surprise for last hidden states [rows, hidden] and the actual ids [rows]."""
    logs = model.masked_lm(vectors).log_softmax(-1)  # [rows, vocabulary]
    mine = logs.gather(-1, actual[:, None])  # [rows, 1]
    best, best_ids = logs.max(-1)
    return mine[:, 0].double().numpy(), (logs > mine).sum(-1).numpy() + 1, best_ids.numpy(), best.exp().numpy()
