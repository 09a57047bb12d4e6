"""Plain names of attention heads: from their own numbers on one input, and from what they do across a corpus."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from explorer.analysis.head_metrics import NAMED, Overview
from explorer.core.paths import ASSETS
from explorer.text.tagged import plain

ATLAS = ASSETS / "corpus" / "atlas.npz"
"""The atlas of the bundled model over the built-in corpus, made by `python -m explorer.corpus.compute.atlas`."""


@dataclass(frozen=True)
class Habit:
    """What the heads of a pattern do: as a name, as a verb, and as what it means for the tokens.

    The weight on it is the sum of some `metrics`; `offsets` are the places of its keys, seen from the query.
    """

    name: str
    does: str
    means: str
    metrics: tuple[str, ...] = ()
    offsets: tuple[int, ...] = ()


BROAD, MIXED = "broad", "mixed"
HABITS = {  # by the pattern of `head_metrics.patterns`, which has the thresholds
    "previous token": Habit(
        "previous token", "attends to the previous token", "most of the weight goes to the token before", ("previous",), (-1,)
    ),
    "next token": Habit("next token", "attends to the next token", "most of the weight goes to the token after", ("next",), (1,)),
    "itself": Habit("itself", "attends to the token itself", "tokens look mostly at themselves", ("self",), (0,)),
    "diagonal": Habit(
        "itself and its neighbours",
        "attends to the token itself and its neighbours",
        "tokens look at themselves and at their neighbours",
        ("self", "previous", "next"),
        (-1, 0, 1),
    ),
    "same token": Habit(
        "same word", "attends to the same token elsewhere", "tokens look at the same token elsewhere", ("same_token",)
    ),
    "[SEP]": Habit("delimiter [SEP]", "attends to [SEP]", "most of the weight is parked at [SEP]", ("sep",)),
    "[CLS]": Habit("delimiter [CLS]", "attends to [CLS]", "most of the weight goes to [CLS]", ("cls",)),
    "[CLS] and [SEP]": Habit(
        "delimiters", "attends to [CLS] and [SEP]", "most of the weight is parked at [CLS] and [SEP]", ("cls", "sep")
    ),
    BROAD: Habit("all tokens", "spreads its weight", "tokens look at nearly everything equally"),
    MIXED: Habit("no single habit", "has no clear pattern", "none of the usual patterns takes most of its weight"),
}


@dataclass(frozen=True)
class HeadName:
    """A head in a word or two, and how sure that is; `elsewhere` is what it does across the corpus, '' if unknown."""

    name: str
    sure: str
    elsewhere: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.sure}"


def habit_share(habit: Habit, metrics: Mapping[str, np.ndarray], place: int | tuple[int, int]) -> float:
    """The mean weight, 0 to 1, that the head at a place of `metrics` puts on what its habit is named after."""
    return min(sum(float(metrics[key][place]) for key in habit.metrics), 1.0)


@dataclass(frozen=True)
class Everywhere:
    """What each head does across a corpus, [layers, heads] in words; `right` is how often it finds its relation, if any."""

    habits: np.ndarray
    right: np.ndarray

    def describe(self, place: tuple[int, int]) -> str:
        """What a head (layer, head), zero-based, does across the corpus: 'subject of a verb, right for 50% of such words …'."""
        return ", ".join(filter(None, (str(self.habits[place]), str(self.right[place]))))


@cache
def everywhere() -> Everywhere:
    """What the heads of the bundled model do across the built-in corpus."""
    with np.load(ATLAS, allow_pickle=False) as file:
        habits, relations, shares, usual = (file[name] for name in ("habits", "relations", "shares", "baselines"))
    right, known = np.full(habits.shape, "", dtype=object), relations.tolist()
    for place in np.ndindex(*habits.shape):
        if (relation := str(habits[place])) in known:
            at = known.index(relation)
            right[place] = f"right for {shares[place][:, at].max():.0%} of such words, position alone for {usual[at]:.0%}"
    return Everywhere(np.vectorize(plain, otypes=[object])(habits), right)


def head_name_of(seen: Overview, place: tuple[int, int], atlas: Everywhere | None = None) -> HeadName:
    """The name of a head (layer, head), zero-based: its habit on this input, else its relation in the atlas, else none."""
    habit, elsewhere = HABITS[str(seen.patterns[place])], atlas.describe(place) if atlas else ""
    if habit.metrics:
        return HeadName(habit.name, f"{habit_share(habit, seen.metrics, place):.2f} of the weight", elsewhere)
    if atlas and atlas.right[place]:
        return HeadName(f"{atlas.habits[place]}, by the atlas", str(atlas.right[place]))
    if seen.patterns[place] == BROAD:
        return HeadName(habit.name, f"entropy {seen.metrics['entropy'][place]:.2f} of at most 1", elsewhere)
    most = max(NAMED, key=lambda key: float(seen.metrics[key][place]))
    return HeadName(habit.name, f"at most {seen.metrics[most][place]:.2f} of the weight on one, {NAMED[most]}", elsewhere)
