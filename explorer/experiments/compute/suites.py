"""Our own test suites: minimal pairs, sentences with a blank, a word that belongs in it and one that does not, its foil.

assets/suites/README.md says what is in them and how they were made.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

from explorer.core.paths import SUITES as FOLDER
from explorer.text import limits
from explorer.text.encoding import MASK


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


def suite_of(name: str) -> Suite:
    """The suite of this name. Raises InputError that lists the names."""
    return _read(limits.check_choice(name, "the suite", list(TITLES)))


@cache
def _read(name: str) -> Suite:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        pairs = tuple(MinimalPair(**row) for row in csv.DictReader(file))
    return Suite(name, *TITLES[name], pairs, name == STEREOTYPES)
