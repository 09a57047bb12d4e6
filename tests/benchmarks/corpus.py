"""A corpus: read once for all layers, and searched exactly."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.benchmarks import Comparison, side_by_side
from tests.benchmarks.base_model import SENTENCE, base_model

TOKENS = 20_000  # of 1,000 sentences
WIDTH = 768
SECONDS = 0.3


def run() -> Iterator[Comparison]:
    """Compare reading the built-in corpus with its features, and searches with a pass of the input."""
    import explorer

    model = explorer.load()
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("BERT_EXPLORER_RUNS")
        os.environ["BERT_EXPLORER_RUNS"] = folder
        try:
            yield from _read_and_search(model, Path(folder))
        finally:
            os.environ.pop("BERT_EXPLORER_RUNS")
            os.environ.update({"BERT_EXPLORER_RUNS": before} if before else {})
    yield from _arithmetic()


def _read_and_search(model: object, folder: Path) -> Iterator[Comparison]:
    from explorer.base.steps import finished
    from explorer.corpus import reading
    from explorer.corpus.atlas import sum_up
    from explorer.corpus.search import Query, search
    from explorer.model.features import features, forget
    from explorer.text.corpus import built_in

    corpus = built_in()

    def ours() -> None:
        reading._opened.clear()
        reading._tokens.clear()
        shutil.rmtree(folder / "readings", ignore_errors=True)
        reading.corpus_states(model, corpus, [model.capabilities.layers])

    def theirs() -> None:
        forget()
        features(model, corpus.texts)

    seconds = side_by_side(ours, theirs, rounds=3)
    number = f"{len(corpus.sentences)} sentences"
    yield Comparison("corpus-reading", f"all tokens of {number}", "their features", *seconds, "s", "ratio at most 1.2")

    def atlas() -> None:
        finished(sum_up(model, corpus, reading.is_fast(model, corpus)))

    seconds = side_by_side(atlas, ours, rounds=3)
    yield Comparison("corpus-atlas", f"the atlas of heads over {number}", "reading them", *seconds, "s", "ratio at most 1.5")

    trace = model.trace(SENTENCE)
    query = Query(trace, 2, 4)
    search(query, corpus, 50)
    seconds = side_by_side(lambda: search(query, corpus, 50), lambda: model.hidden_states(trace.encoding), rounds=15)
    yield Comparison("corpus-search", "a search, told in sentences", "a pass", *seconds, "s", "ratio at most 0.1")


def _arithmetic() -> Iterator[Comparison]:
    """Searches at the width of BERT-base, whose vectors need not mean anything."""
    from explorer.corpus.search import lengths_of, nearest_rows

    model, random = base_model(), np.random.default_rng(0)
    encoding = model.encode(SENTENCE)
    vector = random.standard_normal(WIDTH).astype(np.float32)
    few = random.standard_normal((TOKENS, WIDTH), np.float32).astype(np.float16)
    norms = lengths_of(few)
    seconds = side_by_side(lambda: nearest_rows(few, norms, vector, 50), lambda: model.hidden_states(encoding), rounds=15)
    yield Comparison("corpus-search-base", f"a search of {TOKENS:,} × {WIDTH}", "a pass", *seconds, "s", "ratio at most 0.1")

    many, norms = np.tile(few, (20, 1)), np.tile(norms, 20)
    many += np.float16(0.01) * random.standard_normal(many.shape[1], np.float32).astype(np.float16)
    nearest_rows(many, norms, vector, 50)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        nearest_rows(many, norms, vector, 50)
        taken.append(time.perf_counter() - start)
    name = f"a search of {len(many):,} × {WIDTH}"
    yield Comparison("corpus-search-20000", name, "the limit", sorted(taken)[2], SECONDS, "s", "ratio at most 1")
