"""Surprisal and pseudo-likelihood: every token masked in turn, and predicted from the others.

The original pseudo-log-likelihood (Salazar et al. 2020, section 2) prefers rare words of many pieces, since each piece is easy to
guess from the others. "word_l2r" (Kauf & Ivanova 2023, section 3) also hides the later pieces of the same word.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.core.limits import KEEP, Limit
from explorer.techniques.targets import batches
from explorer.text import limits
from explorer.text.encoding import Encoding

MOST_TEXTS = Limit(100, KEEP)
WORD_L2R, ORIGINAL = LIKELIHOODS = ("word_l2r", "original")


class Surprise(NamedTuple):
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


class Hidden(NamedTuple):
    """An input with one piece hidden, and perhaps others `also`; `wanted` are the ids there whose log-probabilities count, each
    times its sign, for number `row`."""

    row: int
    encoding: Encoding
    position: int
    wanted: tuple[tuple[int, int], ...] = ()
    also: Sequence[int] = ()


def hide_each(row: int, encoding: Encoding, positions: Sequence[int], likelihood: str = WORD_L2R, sign: int = 1) -> list[Hidden]:
    """The pieces at some positions hidden in turn, each of which counts with its own log-probability.

    Beside each, "word_l2r" hides the later pieces of its word, "original" nothing.
    """
    words = [] if limits.check_choice(likelihood, "the likelihood", LIKELIHOODS) == ORIGINAL else encoding.text_words
    also = {position: word[at:] for word in words for at, position in enumerate(word, start=1)}
    return [Hidden(row, encoding, at, ((encoding.ids[at], sign),), also.get(at, ())) for at in positions]


@inference_mode
def _read_in_turn(model: Network, asked: Sequence[Hidden]) -> Iterator[tuple[list[Hidden], torch.Tensor]]:
    """Batches of inputs of one length, the shortest first, with the log-probabilities [batch, vocabulary] at what is hidden."""
    model.require("fill_mask")
    for length, group in groupby(sorted(asked, key=lambda one: one.encoding.kept), key=lambda one: one.encoding.kept):
        of_length = list(group)
        for part in batches(len(of_length), length):
            batch = of_length[part]
            padded = model.pad([(one.encoding.ids, one.encoding.segments) for one in batch])
            for row, one in enumerate(batch):
                padded.ids[row, [one.position, *one.also]] = model.mask_id
            (last,) = deque(model.run_padded(padded), maxlen=1)
            yield batch, model.masked_lm(last[range(len(batch)), [one.position for one in batch]]).log_softmax(-1)


def answers_in_steps(model: Network, asked: Sequence[Hidden], rows: int) -> Generator[float, None, np.ndarray]:
    """The sum of what is counted for each row, [rows] in nats; yields the share that is answered, 0 to 1."""
    sums, done = np.zeros(rows), 0
    for batch, logs in _read_in_turn(model, asked):
        for one, row in zip(batch, logs, strict=True):
            sums[one.row] += sum(sign * float(row[id]) for id, sign in one.wanted)
        done += len(batch)
        yield done / len(asked)
    return sums


def surprise_in_steps(trace: Trace, positions: Sequence[int]) -> Generator[float, None, Surprise]:
    """Mask the piece at each of some positions alone and predict it; yields the share done. Cached with the trace.

    Salazar et al. 2020, section 2. Raises CapabilityError.
    """

    def read() -> Generator[float, None, Surprise]:
        parts, done = [], 0
        for batch, logs in _read_in_turn(trace.model, [Hidden(0, trace.encoding, at) for at in positions]):
            mine = logs.gather(-1, torch.tensor([[trace.ids[one.position]] for one in batch]))  # [batch, 1]
            best, best_ids = logs.max(-1)
            parts.append((mine[:, 0].double().numpy(), (logs > mine).sum(-1).numpy() + 1, best_ids.numpy(), best.exp().numpy()))
            done += len(batch)
            yield done / len(positions)
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.empty(0)] * 4
        return Surprise(tuple(positions), *columns)

    return (yield from trace.once_in_steps(("surprise", *positions), read()))


def knows_surprise(trace: Trace, positions: Sequence[int]) -> bool:
    return trace.knows(("surprise", *positions))


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
    hidden = (hide_each(row, one, model.visible_positions(one), likelihood) for row, one in enumerate(encoded))
    return (yield from answers_in_steps(model, [*chain.from_iterable(hidden)], len(texts))).tolist()
