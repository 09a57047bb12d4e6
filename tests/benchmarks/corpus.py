"""A corpus: read once for all layers, and searched exactly."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.benchmarks import Comparison, side_by_side
from tests.benchmarks.base_model import SENTENCE, base_model

TOKENS = 20_000  # of 1,000 sentences
WIDTH = 768
SECONDS = 0.3
FEWER, MORE, LONG = 1_000, 4_000, 20  # sentences, and words of each


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
    from explorer.bert.features import features, forget
    from explorer.core.steps import finished
    from explorer.corpus.compute import neurons as corpus_neurons
    from explorer.corpus.compute import reading
    from explorer.corpus.compute.atlas import sum_up
    from explorer.corpus.compute.search import Query, search
    from explorer.text.corpora import built_in

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
        finished(sum_up(model, corpus))

    seconds = side_by_side(atlas, ours, rounds=3)
    yield Comparison("corpus-atlas", f"the atlas of heads over {number}", "reading them", *seconds, "s", "ratio at most 1.5")

    trace = model.trace(SENTENCE)
    query = Query(trace, 2, 4)
    search(query, corpus, 50)
    seconds = side_by_side(lambda: search(query, corpus, 50), lambda: model.hidden_states(trace.encoding), rounds=15)
    yield Comparison("corpus-search", "a search, told in sentences", "a pass", *seconds, "s", "ratio at most 0.1")

    def neurons() -> None:
        corpus_neurons._opened.clear()
        shutil.rmtree(folder / "readings", ignore_errors=True)
        corpus_neurons.corpus_neurons(model, corpus)

    seconds = side_by_side(neurons, ours, rounds=3)
    name = "the tokens that drive every neuron most"
    yield Comparison("corpus-neurons", name, "reading the hidden states", *seconds, "s", "ratio at most 3")


def _arithmetic() -> Iterator[Comparison]:
    """Searches at the width of BERT-base, whose vectors need not mean anything."""
    from explorer.corpus.compute.search import lengths_of, nearest_rows

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


def memory() -> Iterator[Comparison]:
    """The memory of a process that reads a corpus in every way, and of one that reads four times as many sentences."""
    peaks = [_peak_of(MORE), _peak_of(FEWER)]
    yield Comparison("corpus-memory", f"{MORE:,} sentences", f"{FEWER:,}", *peaks, "bytes", "ratio at most 1.15")


def _peak_of(sentences: int) -> float:
    command = [sys.executable, "-c", f"from tests.benchmarks.corpus import print_peak; print_peak({sentences})"]
    with tempfile.TemporaryDirectory() as folder:
        own = {**os.environ, "BERT_EXPLORER_RUNS": folder}
        return float(subprocess.run(command, capture_output=True, text=True, check=True, env=own).stdout.split()[-1])


def print_peak(sentences: int) -> None:
    """The peak of this process's own memory, without the pages of files, which the system takes back where it wants them."""
    import explorer
    from explorer.core.steps import finished
    from explorer.corpus.compute.atlas import head_atlas
    from explorer.corpus.compute.hiding import hide_in_steps
    from explorer.corpus.compute.neurons import corpus_neurons
    from explorer.corpus.compute.search import Query, search
    from explorer.text.corpora import built_in, read_corpus

    model, random = explorer.load(), np.random.default_rng(0)
    words = [word for one in built_in().sentences for word in one.words]
    own = Path(os.environ["BERT_EXPLORER_RUNS"]) / "own.txt"
    own.write_text("\n".join(" ".join(random.choice(words, LONG)) for _ in range(sentences)), "utf-8")
    corpus, peak, done = read_corpus(own), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], _own_memory())

    watching = threading.Thread(target=watch)
    watching.start()
    search(Query(model.trace(SENTENCE), 2, model.capabilities.layers), corpus, 50)
    finished(hide_in_steps(model, corpus))
    corpus_neurons(model, corpus)
    head_atlas(model, corpus)
    done.set()
    watching.join()
    print(peak[0])


def _own_memory() -> int:
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024
