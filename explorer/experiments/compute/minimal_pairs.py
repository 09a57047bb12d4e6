"""Which sentence of a minimal pair a model finds more likely: by the blank, or by the pseudo-likelihood of both.

By the blank, it is the difference of two logits where the sentences differ. By pseudo-likelihood, every piece of both sentences
is hidden in turn, with the later pieces of its word (Kauf & Ivanova 2023; "original" hides it alone, Salazar et al. 2020,
section 2), and the logarithms of the probabilities are summed. For stereotypes, only the
pieces that both sentences share are counted: how probable is the rest of the sentence, given the group (Nangia et al. 2020,
section 3)? The frequency of the words for the groups would count otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np

from explorer.analysis.resampling import Share, shares_by_kind
from explorer.bert.explorer import Explorer
from explorer.bert.network import Network
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.experiments.compute.suites import MinimalPair, Suite
from explorer.techniques.pseudo_likelihood import ORIGINAL, WORD_L2R, hidden_too
from explorer.techniques.targets import batches
from explorer.text import limits
from explorer.text.encoding import Encoding

BLANK, LIKELIHOOD, ALONE = WAYS = ("blank", "pseudo_likelihood", ORIGINAL)
ALL = "all"
PIECES = 1.2  # of a word, about; each sentence has two tokens more


@dataclass(frozen=True)
class Judged:
    """A pair, and the log-likelihood of its word or sentence less that of the foil: in nats, above 0 where the word wins.

    `way` is what it was scored by: pairs whose words are not one piece each are scored by pseudo-likelihood even if the blank
    was asked for.
    """

    pair: MinimalPair
    difference: float
    way: str

    @property
    def is_right(self) -> bool:
        """Whether the word wins."""
        return self.difference > 0


@dataclass(frozen=True)
class SuiteResult:
    """What a model makes of a suite; `left_out` are pairs whose sentences are the same to its tokenizer, or unreadable."""

    suite: Suite
    way: str
    judged: tuple[Judged, ...]
    left_out: tuple[MinimalPair, ...]

    @property
    def right(self) -> list[bool]:
        """Of each judged pair, whether the word wins."""
        return [judged.is_right for judged in self.judged]

    @property
    def kinds(self) -> list[str]:
        """The kind of each judged pair."""
        return [judged.pair.kind for judged in self.judged]

    @cached_property
    def shares(self) -> dict[str, Share]:
        """In how many pairs the word wins, of all under "all" and by kind, with intervals by frame."""
        frame = dict(zip(self.suite.pairs, self.suite.frames, strict=True))
        groups = [frame[judged.pair] for judged in self.judged]
        return {ALL: Share.of(self.right, groups), **shares_by_kind(self.kinds, self.right, groups)}


@dataclass(frozen=True)
class _Question:
    """An input with one piece hidden, and perhaps others `also`, and what is counted there: the log-probabilities of some ids,
    each times a sign."""

    pair: int
    encoding: Encoding
    position: int
    wanted: tuple[tuple[int, int], ...]  # (id, sign)
    also: Sequence[int] = ()


def way_of(suite: Suite, way: str = "") -> str:
    """The way to score a suite; "" is the usual one: the blank, and for stereotypes pseudo-likelihood. Raises InputError."""
    return limits.check_choice(way, "the way to score", WAYS) if way else LIKELIHOOD if suite.stereotypes else BLANK


def tokens_to_read(suite: Suite, way: str) -> float:
    """How many tokens a model reads, about, to judge a suite."""
    lengths = np.array([2 + PIECES * len(pair.text.split()) for pair in suite.pairs])
    return float(lengths.sum() if way_of(suite, way) == BLANK else (2 * lengths**2).sum())


def judge_in_steps(model: Explorer, suite: Suite, way: str = "") -> Generator[float, None, SuiteResult]:
    """Judge all pairs of a suite; yields the share done, 0 to 1.

    Raises CapabilityError without a masked-LM head, InputError for an unknown way or where every pair is left out.
    """
    model.require("fill_mask")
    way = way_of(suite, way)
    asked, ways = [], {}
    for number, pair in enumerate(suite.pairs):
        questions, ways[number] = _questions(model, number, pair, way, suite.stereotypes)
        asked += questions
    differences = yield from _answers(model, asked, len(suite.pairs))
    scored = dict.fromkeys(question.pair for question in asked)
    if not scored:
        raise InputError(
            f"{model.name} reads both sentences of every pair as the same tokens. Choose a model with a larger vocabulary."
        )
    judged = tuple(Judged(suite.pairs[number], float(differences[number]), ways[number]) for number in scored)
    return SuiteResult(suite, way, judged, tuple(pair for number, pair in enumerate(suite.pairs) if number not in scored))


@inference_mode
def own_difference(model: Explorer, judged: Judged, stereotypes: bool = False) -> float:
    """The difference of a judged pair by transformers' own forward passes, one for each hidden piece."""
    questions, _ = _questions(model, 0, judged.pair, judged.way, stereotypes)
    difference = 0.0
    for question in questions:
        ids = list(question.encoding.ids)
        for position in (question.position, *question.also):
            ids[position] = model.mask_id
        logs = model.own_masked_lm(replace(question.encoding, ids=tuple(ids)))[question.position].log_softmax(-1)
        difference += sum(sign * float(logs[id]) for id, sign in question.wanted)
    return difference


def _questions(model: Explorer, number: int, pair: MinimalPair, way: str, only_shared: bool) -> tuple[list[_Question], str]:
    """The questions that score a pair, none where it is left out; and the way it is scored."""
    word, foil = (model.encode(sentence) for sentence in pair.sentences)
    differing = _differing(word, foil)
    unknown = model.tokenizer.unk_token_id
    if word.ids == foil.ids or any(unknown in one.ids[own] for one, own in zip((word, foil), differing, strict=True)):
        return [], way
    if way == BLANK and (question := _blank(model, number, pair, (word, foil))):
        return [question], BLANK
    found = []
    for encoding, own, sign in zip((word, foil), differing, (1, -1), strict=True):
        left = range(own.start, own.stop) if only_shared else ()
        positions = [position for position in encoding.text_positions if position not in left]
        also = hidden_too(encoding, ORIGINAL if way == ALONE else WORD_L2R)
        found += [
            _Question(number, encoding, position, ((encoding.ids[position], sign),), also.get(position, ()))
            for position in positions
        ]
    return found, ALONE if way == ALONE else LIKELIHOOD


def _blank(model: Explorer, number: int, pair: MinimalPair, sides: tuple[Encoding, Encoding]) -> _Question | None:
    """The question at the blank; None where a word is not one piece, in the place of the model's mask token."""
    blank = model.encode(pair.text)
    places = model.mask_positions(blank)
    if len(places) != 1 or any(_differing(blank, side) != (slice(places[0], places[0] + 1),) * 2 for side in sides):
        return None
    word, foil = (side.ids[places[0]] for side in sides)
    return _Question(number, blank, places[0], ((word, 1), (foil, -1)))


def _differing(one: Encoding, other: Encoding) -> tuple[slice, slice]:
    """The stretch of each of two inputs outside of which they are the same."""
    shorter = min(one.kept, other.kept)
    start = next((place for place in range(shorter) if one.ids[place] != other.ids[place]), shorter)
    end = next((place for place in range(shorter - start) if one.ids[-1 - place] != other.ids[-1 - place]), shorter - start)
    return slice(start, one.kept - end), slice(start, other.kept - end)


@inference_mode
def _answers(model: Network, asked: Sequence[_Question], pairs: int) -> Generator[float, None, np.ndarray]:
    """The sum of what is counted for each pair, [pairs] in nats; yields the share of questions answered."""
    sums, done = np.zeros(pairs), 0
    for batch in _batches(asked):
        for question, answer in zip(batch, _read(model, batch), strict=True):
            sums[question.pair] += answer
        done += len(batch)
        yield done / len(asked)
    return sums


def _batches(asked: Sequence[_Question]) -> Iterator[list[_Question]]:
    """Questions about inputs of one length, so that nothing is padded."""
    ordered = sorted(asked, key=lambda question: question.encoding.kept)
    for length, group in groupby(ordered, key=lambda question: question.encoding.kept):
        alike = list(group)
        yield from (alike[part] for part in batches(len(alike), length))


def _read(model: Network, batch: Sequence[_Question]) -> list[float]:
    """What is counted for each question, in nats."""
    padded = model.pad([(question.encoding.ids, question.encoding.segments) for question in batch])
    rows, positions = torch.arange(len(batch)), torch.tensor([question.position for question in batch])
    padded.ids[rows, positions] = model.mask_id
    for row, question in enumerate(batch):
        padded.ids[row, list(question.also)] = model.mask_id
    (last,) = deque(model.run_padded(padded), maxlen=1)
    logits = model.masked_lm(last[rows, positions])  # [batch, vocabulary]
    totals = logits.logsumexp(-1).tolist()
    return [
        sum(sign * (float(row[id]) - total) for id, sign in question.wanted)
        for row, total, question in zip(logits, totals, batch, strict=True)
    ]
