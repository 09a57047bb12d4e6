"""A part of the corpus that comes with the app, in its place."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from explorer.text.corpus import Corpus, built_in
from explorer.views.corpus import source


def part_of_corpus(sentences: int) -> Corpus:
    """Its first sentences."""
    return Corpus("some sentences", built_in().sentences[:sentences], built_in().licence)


@contextmanager
def in_its_place(part: Corpus, runs: Path, *caches: Any) -> Iterator[None]:
    """The views of the tab read a part of it instead, into a folder of their own, with nothing in the caches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERT_EXPLORER_RUNS", str(runs))
        patch.setattr(source, "built_in", lambda: part)
        for cache in caches:
            cache.clear()
        yield
