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
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from explorer.analysis.resampling import by_group, wilson_by_group
from explorer.bert.explorer import Explorer
from explorer.core.engine import inference_mode
from explorer.core.errors import InputError
from explorer.core.lazy import pandas, scipy
from explorer.core.paths import SUITES as FOLDER
from explorer.experiments.compute.experiment import Experiment, experiment_in_steps
from explorer.experiments.compute.items import FEWEST, Item, number_groups
from explorer.experiments.compute.observing import ALONE, PARTS
from explorer.techniques.lens import RAW
from explorer.techniques.pseudo_likelihood import ORIGINAL, WORD_L2R
from explorer.techniques.targets import piece_of
from explorer.text import limits

BLANK, LIKELIHOOD = "blank", "pseudo_likelihood"
WAYS = {BLANK: ("lens", RAW), LIKELIHOOD: ("likelihood", WORD_L2R), ORIGINAL: ("likelihood", ALONE)}
"""Each way to score a pair: a question of an experiment, and how it is asked."""
ALL = "all"
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
class Suite:
    """Minimal pairs that ask for one thing, and the kind of each.

    An item is a sentence with one [MASK], the word that belongs there, and its foil; of a stereotype, the word that fits it. The
    items of one frame are a group. The cue, the word that decides, is marked.
    """

    name: str
    items: tuple[Item, ...]
    kinds: tuple[str, ...]
    about: str = ""  # what it asks, in a sentence
    stereotypes: bool = False  # scored as Nangia et al. 2020 do, and 50% is not failing but having no preference


def suite_of(name: str) -> Suite:
    """The suite of this name. Raises InputError that lists the names."""
    return _read_suite(limits.check_choice(name, "the suite", list(TITLES)))


def suite_items(name: str) -> tuple[Item, ...]:
    """The pairs of one of our suites as items, those of one frame in a group. Raises InputError for a name that no suite has."""
    return suite_of(name).items


@cache
def _read_suite(name: str) -> Suite:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    items = [Item(row.get("marked") or row["text"], "", row["word"], row["foil"]) for row in rows]
    return Suite(name, in_frames(items), tuple(row["kind"] for row in rows), TITLES[name][1], name == STEREOTYPES)


def in_frames(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items in groups: sentences with the same marked words or with SHARED of their words in common are one frame."""
    words = [{*re.findall(r"\w+", item.text_a.lower())} for item in items]
    marked = [[(item.text_a[mark.start : mark.end], mark.other) for mark in item.marks if mark.other] for item in items]
    cues = [{*own[0]} if own else set() for own in marked]
    near = np.zeros((len(items), len(items)), dtype=bool)
    for one, other in combinations(range(len(items)), 2):
        shared = len(words[one] & words[other]) / len(words[one] | words[other])
        near[one, other] = shared >= SHARED or bool(cues[one] and cues[one] == cues[other])
    _, frames = scipy.sparse.csgraph.connected_components(near)
    return tuple(replace(item, group=f"frame {frame + 1}") for item, frame in zip(items, frames, strict=True))


class Share(NamedTuple):
    """A share of `items` in so many `groups`, 0 to 1, with its 95% interval by frame, NaN for too few frames."""

    items: int
    groups: int
    right: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SuiteResult:
    """What a model makes of a suite: the run of the pairs that were judged, and how far each word is ahead of its foil.

    `differences` [items] are those of the logits at the blank or of the log-likelihoods of both sentences, in nats.
    """

    suite: Suite
    way: str
    run: Experiment
    differences: np.ndarray

    @property
    def left_out(self) -> int:
        """How many pairs are not judged: their words are not one piece each, or the same one."""
        return len(self.suite.items) - len(self.run.items)

    @cached_property
    def table(self) -> pandas.DataFrame:
        """A row for each judged pair, by its number from 0: kind, text, word, foil, difference, and whether the word wins."""
        numbers = {item: number for number, item in enumerate(self.suite.items)}
        kinds = [self.suite.kinds[numbers[item]] for item in self.run.items]
        rows = [(kind, item.text_a, item.word, item.foil) for kind, item in zip(kinds, self.run.items, strict=True)]
        table = pandas.DataFrame(rows, [numbers[item] for item in self.run.items], ["kind", "text", "word", "foil"])
        return table.assign(difference=self.differences, right=self.differences > 0)

    @cached_property
    def shares(self) -> dict[str, Share]:
        """In how many pairs the word wins, of all under "all" and by kind."""
        found = {}
        for kind in (ALL, *self.table.kind.unique()):
            right = self.table.right[(self.table.kind == kind) | (kind == ALL)]
            groups = number_groups([self.suite.items[number] for number in right.index])
            ends = wilson_by_group(by_group(right.to_numpy(float), groups), np.bincount(groups).astype(np.float64))
            found[kind] = Share(len(right), int(groups.max()) + 1, float(right.mean()), *map(float, ends))
        return found


def way_of(suite: Suite, way: str = "") -> str:
    """The way to score a suite; "" is the usual one: the blank, and for stereotypes pseudo-likelihood. Raises InputError."""
    return limits.check_choice(way, "the way to score", list(WAYS)) if way else LIKELIHOOD if suite.stereotypes else BLANK


def judge_in_steps(model: Explorer, suite: Suite, way: str = "") -> Generator[float, None, SuiteResult]:
    """Judge the pairs whose words are one piece each; yields the share done, 0 to 1.

    Raises CapabilityError without a masked-LM head, InputError for an unknown way or where too few pairs are left.
    """
    model.require("fill_mask")
    way = way_of(suite, way)
    if problem := why_not_judged(model, suite):
        raise InputError(problem)
    items = [item for item in suite.items if _are_pieces(model, item)]
    run = yield from experiment_in_steps(model, items, *WAYS[way])
    part = PARTS.labels.index("the other pieces" if suite.stereotypes else "all pieces")
    return SuiteResult(suite, way, run, run.before if way == BLANK else run.values[:, part])


def why_not_judged(model: Explorer, suite: Suite) -> str:
    """Why too few pairs can be judged; '' if there are enough."""
    if sum(_are_pieces(model, item) for item in suite.items) >= FEWEST:
        return ""
    return f"{model.name} has no piece for the words of these pairs. Choose a model with a larger vocabulary."


def _are_pieces(model: Explorer, item: Item) -> bool:
    with suppress(InputError):
        return piece_of(model, item.word)[0] != piece_of(model, item.foil)[0]
    return False


@inference_mode
def own_difference(model: Explorer, item: Item) -> float:
    """The difference of the logits of word and foil at the blank by transformers' own forward pass."""
    encoding = model.encode(item.text_a)
    word, foil = (piece_of(model, one)[0] for one in (item.word, item.foil))
    logits = model.own_masked_lm(encoding)[model.mask_positions(encoding)[0]]
    return float(logits[word] - logits[foil])
