"""Our own test suites of minimal pairs, and which sentence of a pair a model finds more likely.

assets/suites/README.md says what is in the suites and how they were made. By the blank, the difference of a pair is that of two
logits where the sentences differ. By pseudo-likelihood, every piece of both sentences is hidden in turn, with the later pieces
of its word (Kauf & Ivanova 2023; "original" hides it alone, Salazar et al. 2020, section 2), and the logarithms of the
probabilities are summed. For stereotypes, only the pieces that both sentences share are counted: how probable is the rest of the
sentence, given the group (Nangia et al. 2020, section 3)? The frequency of the words for the groups would count otherwise.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from explorer.analysis.resampling import by_group, wilson_by_group
from explorer.bert.explorer import Explorer
from explorer.core.engine import inference_mode
from explorer.core.errors import InputError
from explorer.core.lazy import pandas
from explorer.core.paths import SUITES as FOLDER
from explorer.techniques.pseudo_likelihood import ORIGINAL, WORD_L2R, Hidden, answers_in_steps, hide_each
from explorer.text import limits
from explorer.text.encoding import MASK, Encoding

BLANK, LIKELIHOOD, ALONE = WAYS = ("blank", "pseudo_likelihood", ORIGINAL)
ALL = "all"
PIECES = 1.2  # of a word, about; each sentence has two tokens more
TITLES: Mapping[str, tuple[str, str]] = {
    "agreement": ("Agreement", "Does the verb agree with its subject, with another noun in between?"),
    "pronouns": ("Pronouns", "Does the pronoun fit what it stands for?"),
    "negation": ("Negation", "Does a word fit a sentence that is negated, or is not?"),
    "prepositions": ("Prepositions and idioms", "Which preposition follows, and which word completes an idiom?"),
    "stereotypes": ("Gender stereotypes", "Is an occupation more likely with the stereotypical gender?"),
    "facts": ("Facts", "Which of two names or things is it?"),
}
"""The title of each suite, and what it asks."""
STEREOTYPES = "stereotypes"
SHARED = 0.5  # of the words of two sentences of a suite: from here on they are one frame


@dataclass(frozen=True)
class MinimalPair:
    """A sentence with one [MASK], the word that belongs there, and its foil; of a stereotype, the word that fits it.

    `marked` is the sentence with the cue marked, the word that decides, as items of experiments have it; "" if none is.
    """

    kind: str
    text: str
    word: str
    foil: str
    marked: str = ""

    @property
    def sentences(self) -> tuple[str, str]:
        return self.text.replace(MASK, self.word), self.text.replace(MASK, self.foil)


@dataclass(frozen=True)
class Suite:
    """Minimal pairs that ask for one thing."""

    name: str
    title: str
    about: str  # what it asks, in a sentence
    pairs: tuple[MinimalPair, ...]
    stereotypes: bool = False  # scored as Nangia et al. 2020 do, and 50% is not failing but having no preference

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of pairs, in their order."""
        return tuple(dict.fromkeys(pair.kind for pair in self.pairs))

    @cached_property
    def frames(self) -> list[int]:
        """The frame of each pair: sentences with the same marked words or with SHARED of their words in common are one."""
        words = [{*re.findall(r"\w+", pair.text.lower())} for pair in self.pairs]
        marked = [{*re.split(r"[*/]", pair.marked)[1:3]} if "/" in pair.marked else set() for pair in self.pairs]
        frames = list(range(len(self.pairs)))
        for one, other in combinations(range(len(self.pairs)), 2):
            common = len(words[one] & words[other]) / len(words[one] | words[other])
            if common >= SHARED or (marked[one] and marked[one] == marked[other]):
                frames = [frames[one] if frame == frames[other] else frame for frame in frames]
        return frames


def suite_of(name: str) -> Suite:
    """The suite of this name. Raises InputError that lists the names."""
    return _read_suite(limits.check_choice(name, "the suite", list(TITLES)))


@cache
def _read_suite(name: str) -> Suite:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        pairs = tuple(MinimalPair(**row) for row in csv.DictReader(file))
    return Suite(name, *TITLES[name], pairs, name == STEREOTYPES)


class Share(NamedTuple):
    """A share of `items`, 0 to 1, with its 95% interval by frame, NaN for too few frames."""

    items: int
    right: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SuiteResult:
    """What a model makes of a suite.

    `table` has a row for each judged pair, by its number from 0: kind, text, word, foil, the `difference` of the log-likelihoods
    of word and foil, or of both sentences, in nats, whether it is above 0, so that the word wins (`right`), and what it is
    `scored_by`: pairs whose words are not one piece each are scored by pseudo-likelihood even if the blank was asked for.
    """

    suite: Suite
    way: str
    table: pandas.DataFrame

    @property
    def instead(self) -> int:
        """How many pairs are scored in another way."""
        return int((self.table.scored_by != self.way).sum())

    @property
    def left_out(self) -> int:
        """How many pairs are not judged: their sentences are the same to the tokenizer, or unreadable."""
        return len(self.suite.pairs) - len(self.table)

    @cached_property
    def shares(self) -> dict[str, Share]:
        """In how many pairs the word wins, of all under "all" and by kind."""
        frames, found = np.array(self.suite.frames)[self.table.index], {}
        for kind in (ALL, *self.table.kind.unique()):
            own = ((self.table.kind == kind) | (kind == ALL)).to_numpy()
            right, groups = self.table.right[own].to_numpy(float), np.unique(frames[own], return_inverse=True)[1]
            low, high = wilson_by_group(by_group(right, groups), np.bincount(groups).astype(np.float64))
            found[kind] = Share(len(right), float(right.mean()), float(low), float(high))
        return found


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
        hidden, ways[number] = _hidden(model, number, pair, way, suite.stereotypes)
        asked += hidden
    differences = yield from answers_in_steps(model, asked, len(suite.pairs))
    scored = list(dict.fromkeys(one.row for one in asked))
    if not scored:
        raise InputError(
            f"{model.name} reads both sentences of every pair as the same tokens. Choose a model with a larger vocabulary."
        )
    table = pandas.DataFrame([suite.pairs[number] for number in scored], scored).drop(columns="marked")
    found = differences[scored]
    return SuiteResult(suite, way, table.assign(difference=found, right=found > 0, scored_by=[ways[number] for number in scored]))


@inference_mode
def own_difference(model: Explorer, result: SuiteResult, number: int) -> float:
    """The difference of a judged pair by transformers' own forward passes, one for each hidden piece."""
    difference, suite = 0.0, result.suite
    for one in _hidden(model, 0, suite.pairs[number], result.table.scored_by[number], suite.stereotypes)[0]:
        ids = list(one.encoding.ids)
        for position in (one.position, *one.also):
            ids[position] = model.mask_id
        logs = model.own_masked_lm(replace(one.encoding, ids=tuple(ids)))[one.position].log_softmax(-1)
        difference += sum(sign * float(logs[id]) for id, sign in one.wanted)
    return difference


def _hidden(model: Explorer, number: int, pair: MinimalPair, way: str, only_shared: bool) -> tuple[list[Hidden], str]:
    """What is hidden to score a pair, nothing where it is left out; and the way it is scored."""
    word, foil = (model.encode(sentence) for sentence in pair.sentences)
    differing = _differing(word, foil)
    unknown = model.tokenizer.unk_token_id
    if word.ids == foil.ids or any(unknown in one.ids[own] for one, own in zip((word, foil), differing, strict=True)):
        return [], way
    if way == BLANK and (hidden := _blank(model, number, pair, (word, foil))):
        return [hidden], BLANK
    found = []
    for encoding, own, sign in zip((word, foil), differing, (1, -1), strict=True):
        left = range(own.start, own.stop) if only_shared else ()
        positions = [position for position in encoding.text_positions if position not in left]
        found += hide_each(number, encoding, positions, ORIGINAL if way == ALONE else WORD_L2R, sign)
    return found, ALONE if way == ALONE else LIKELIHOOD


def _blank(model: Explorer, number: int, pair: MinimalPair, sides: tuple[Encoding, Encoding]) -> Hidden | None:
    """The blank; None where a word is not one piece, in the place of the model's mask token."""
    blank = model.encode(pair.text)
    places = model.mask_positions(blank)
    if len(places) != 1 or any(_differing(blank, side) != (slice(places[0], places[0] + 1),) * 2 for side in sides):
        return None
    word, foil = (side.ids[places[0]] for side in sides)
    return Hidden(number, blank, places[0], ((word, 1), (foil, -1)))


def _differing(one: Encoding, other: Encoding) -> tuple[slice, slice]:
    """The stretch of each of two inputs outside of which they are the same."""
    shorter = min(one.kept, other.kept)
    start = next((place for place in range(shorter) if one.ids[place] != other.ids[place]), shorter)
    end = next((place for place in range(shorter - start) if one.ids[-1 - place] != other.ids[-1 - place]), shorter - start)
    return slice(start, one.kept - end), slice(start, other.kept - end)
