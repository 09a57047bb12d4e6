"""A part of the corpus that comes with the app, in its place."""

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
    """Its first sentences."""
    return Corpus("some sentences", built_in().sentences[:sentences], built_in().licence)


@contextmanager
def few_read(*words: str) -> Iterator[Corpus]:
    """The views of the corpus read FEW sentences from all over it, and every one with some words, in place of all 800."""
    every = built_in().sentences
    step = -(-len(every) // FEW)
    kept = tuple(one for at, one in enumerate(every) if at % step == 0 or not {*words}.isdisjoint(map(str.lower, one.words)))
    few = replace(built_in(), sentences=kept)
    caches = (source._found, neurons._telling, layers._spreads)  # what is kept there does not tell corpora apart
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "built_in", lambda: few)
        for cache in caches:
            cache.clear()
        yield few
    for cache in caches:
        cache.clear()


@contextmanager
def in_its_place(part: Corpus, runs: Path, *caches: Any) -> Iterator[None]:
    """The views of the tab read a part of it instead, into a folder of their own, with nothing in the caches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERT_EXPLORER_RUNS", str(runs))
        patch.setattr(source, "built_in", lambda: part)
        for cache in caches:
            cache.clear()
        yield
