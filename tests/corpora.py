"""A part of the app's corpus in place of the whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.text.corpus import Corpus, built_in
from explorer.views.corpus import layers, neurons, source

FEW = 40


def part_of_corpus(sentences: int) -> Corpus:
    """The corpus's first sentences."""
    return Corpus("some sentences", built_in().sentences[:sentences], built_in().licence)


@contextmanager
def few_read(*words: str) -> Iterator[Corpus]:
    """The Corpus views read FEW sentences from all over the corpus, and all with some given words, instead of 800."""
    every = built_in().sentences
    step = -(-len(every) // FEW)
    kept = tuple(one for at, one in enumerate(every) if at % step == 0 or not {*words}.isdisjoint(map(str.lower, one.words)))
    few = replace(built_in(), sentences=kept)
    caches = (source._found, neurons._telling, layers._spreads)  # their keys do not distinguish corpora
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "built_in", lambda: few)
        for cache in caches:
            cache.clear()
        yield few
    for cache in caches:
        cache.clear()


@contextmanager
def in_its_place(part: Corpus, runs: Path, *caches: Any) -> Iterator[None]:
    """Let the tab's views read a part of the corpus, into a folder of their own, with empty caches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERT_EXPLORER_RUNS", str(runs))
        patch.setattr(source, "built_in", lambda: part)
        for cache in caches:
            cache.clear()
        yield
