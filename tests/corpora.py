"""A part of the app's corpus in place of the whole."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from explorer.core.cache import OnceCache, weight
from explorer.core.limits import RESULTS_MEGABYTES
from explorer.core.steps import finished
from explorer.corpus import heads, source
from explorer.corpus.compute.atlas import head_atlas_in_steps
from explorer.corpus.compute.neurons import corpus_neurons_in_steps
from explorer.corpus.compute.reading import corpus_states_in_steps
from explorer.corpus.compute.search import search_in_steps
from explorer.corpus.source import corpus_of
from explorer.experiments import new as asked
from explorer.experiments import suites
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.minimal_pairs import Suite, suite_items, suite_of
from explorer.text.corpora import Corpus, built_in, read_source

FEW = 40


def read_whole(steps: Callable[..., Generator[Any, None, Any]]) -> Callable[..., Any]:
    """The steps as a function that returns their result."""
    return lambda *given: finished(steps(*given))


search = read_whole(search_in_steps)
corpus_states = read_whole(corpus_states_in_steps)
corpus_neurons = read_whole(corpus_neurons_in_steps)
head_atlas = read_whole(head_atlas_in_steps)

FEW_ITEMS = 4


def read_corpus(path: Path) -> Corpus:
    return corpus_of(read_source(path))


def part_of_corpus(sentences: int) -> Corpus:
    return Corpus("some sentences", built_in().sentences[:sentences], built_in().licence)


def first_pairs(suite: Suite, pairs: int = 2) -> Suite:
    """A suite with the first pairs of each kind only."""
    of_kind = ([at for at, own in enumerate(suite.kinds) if own == kind] for kind in dict.fromkeys(suite.kinds))
    rows = [row for rows in of_kind for row in rows[:pairs]]
    return replace(suite, items=tuple(suite.items[row] for row in rows), kinds=tuple(suite.kinds[row] for row in rows))


def few_pairs(name: str) -> Suite:
    """A suite with two pairs of each kind."""
    return first_pairs(suite_of(name))


def few_items(name: str) -> tuple[Item, ...]:
    """The items of an experiment, a few from all over those of a suite."""
    whole = suite_items(name)
    return whole[:: -(-len(whole) // FEW_ITEMS)]


@contextmanager
def few_read(*words: str) -> Iterator[Corpus]:
    """The Corpus views read FEW sentences from all over the corpus, and all with some given words, instead of 800.

    "here" and "there" are always among them, the two words that are most alike.

    Suites have two pairs of each kind, and experiments ask FEW_ITEMS.
    """
    every, words = built_in().sentences, ("here", "there", *words)
    step = -(-len(every) // FEW)
    kept = tuple(one for at, one in enumerate(every) if at % step == 0 or not {*words}.isdisjoint(map(str.lower, one.words)))
    few = replace(built_in(), sentences=kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "built_in", lambda: few)
        patch.setattr(suites, "suite_of", few_pairs)
        patch.setattr(asked, "suite_items", few_items)
        for (module, name), results in caches_of(words).items():
            patch.setattr(module, name, results)
        yield few


@cache
def caches_of(words: tuple[str, ...]) -> dict[tuple[Any, str], Any]:
    """Caches for what is read of a few sentences: their keys do not contain which sentences, so the app's own stay apart."""
    return {(source, "_found"): OnceCache(RESULTS_MEGABYTES.bytes, weight), (heads, "_telling"): OnceCache(64)}
