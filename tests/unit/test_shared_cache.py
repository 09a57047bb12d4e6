"""What is kept of corpora is bounded in bytes, and what results share counts once."""

import tracemalloc
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest

from explorer.core.limits import MEGABYTE, STATES_MEGABYTES, Limit
from explorer.core.shared_cache import MOST, SharedCache
from explorer.corpus import source
from explorer.corpus.compute import heads, reading
from explorer.corpus.compute.reading import CorpusStates, CorpusTokens
from explorer.text import corpora
from explorer.text.corpora import Corpus, built_in

SOME = 5  # MB, the limits of the tests


@dataclass(frozen=True)
class Result:
    corpus: Corpus
    vectors: np.ndarray


@pytest.fixture
def kept():
    """A cache with room for 5 MB in memory, and for as many in files."""
    return SharedCache(Limit(SOME, ""), Limit(SOME, ""))


@pytest.fixture
def mapped(tmp_path):
    """A file of one MB mapped into memory."""
    return lambda name: np.memmap(tmp_path / name, np.uint8, "w+", shape=(MEGABYTE,))


def megabyte():
    return np.zeros(MEGABYTE, np.uint8)


def test_values_leave_by_their_bytes_and_the_one_used_longest_ago_first(kept):
    for name in "abcd":
        kept.put(name, [megabyte()])
    assert kept.get("a") is not None  # so b is the next to leave
    for name in "ef":
        kept.put(name, [megabyte()])
    assert [name for name in "abcdef" if kept.get(name) is None] == ["b", "c"]
    assert kept.size.memory <= SOME * MEGABYTE


def test_the_newest_value_stays_whatever_it_takes_and_a_value_put_again_counts_once(kept):
    for number in range(2 * MOST):
        kept.put(number, number)
    assert len(kept.values()) == MOST, "small values are bounded in number"
    kept.put("small", [megabyte()])
    kept.put("large", np.zeros(2 * SOME * MEGABYTE, np.uint8))
    assert (kept.get("small"), len(kept.values())) == (None, 1)
    kept.put("large", megabyte())
    assert kept.size.memory == MEGABYTE
    kept.clear()
    assert (kept.values(), kept.size) == ([], (0, 0))


def test_what_values_share_counts_once_and_as_long_as_one_of_them_is_kept(kept):
    shared = np.zeros(3 * MEGABYTE, np.uint8)
    for number in range(20):
        kept.put(number, {"shared": shared, "own": np.zeros(10_000, np.uint8)})
    assert len(kept.values()) == 20
    assert 3 * MEGABYTE < kept.size.memory < 4 * MEGABYTE
    kept.put("another", np.zeros(3 * MEGABYTE, np.uint8))
    assert len(kept.values()) == 1


def test_mapped_files_have_a_limit_of_their_own(kept, mapped):
    for number in range(2 * SOME):
        kept.put(number, (mapped(str(number)), "path"))
    assert len(kept.values()) == SOME
    assert kept.size.files == SOME * MEGABYTE
    assert kept.size.memory < 100_000


def test_results_about_many_corpora_are_kept_within_the_limit(kept):
    """Each visitor's own corpus stays in memory with the results about it: 96 of them would be gigabytes."""
    sentences = built_in().sentences * 3
    for number in range(10):
        corpus = Corpus(str(number), sentences)
        for _ in range(3):
            kept.put((number, object()), Result(corpus, np.zeros(1_000, np.float32)))
    about = {one.corpus.name for one in kept.values()}
    assert about == {"9"}
    assert corpus.nbytes < kept.size.memory < SOME * MEGABYTE + corpus.nbytes


def test_the_caches_of_the_corpus_have_these_limits(monkeypatch, mapped):
    monkeypatch.setenv(STATES_MEGABYTES.setting, "4")
    tokens = CorpusTokens(*[np.zeros(100, np.int32)] * 4, np.array([0, 100]))
    states = [CorpusStates(tokens, (0,), mapped(str(number)).reshape(1, -1, 2)) for number in range(4)]
    wanted = {"found": source._found, "states": reading._opened, "contexts": heads._opened}
    values = defaultdict(lambda: states, states=[(one, "folder") for one in states], contexts=[one.states for one in states])
    for name, cache in wanted.items():
        cache.clear()
        for number, value in enumerate(values[name]):
            cache.put((name, number), value)
        assert (len(cache.values()), cache.size.files) == (2, 2 * MEGABYTE), name
        cache.clear()


def test_the_size_of_a_corpus_is_about_what_it_takes():
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    corpus = Corpus("", tuple(corpora._read_conllu(corpora._FILE.read_text("utf-8").split("\n"))))
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert 0.7 * taken < corpus.nbytes < 1.5 * taken
