import random
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from explorer.core.cache import MAPPED, OnceCache, weight
from explorer.core.limits import MEGABYTE, RESULTS_MEGABYTES
from explorer.corpus import source
from explorer.corpus.compute import reading
from explorer.corpus.compute.reading import CorpusStates, CorpusTokens
from explorer.text import corpora
from explorer.text.corpora import Corpus


def test_the_cost_stays_within_the_capacity_whatever_is_asked():
    rng = random.Random(0)
    cache = OnceCache(100, cost=lambda value: value)
    for _ in range(500):
        size = rng.randint(1, 60)
        assert cache.get(rng.randint(0, 40), lambda size=size: size) >= 1
        assert 1 <= cache.total == sum(cache.values()) <= 100


def test_what_is_put_anew_or_cleared_counts_no_more():
    cache = OnceCache(100, cost=len)
    for name in "abc":
        cache.put(name, "x" * 40)
    assert (cache.peek("a"), cache.total) == (None, 80)
    cache.put("b", "y" * 10)
    assert cache.total == 50
    cache.clear()
    assert (cache.values(), cache.total) == ([], 0)


@pytest.mark.parametrize("fails", [False, True])
def test_threads_that_ask_at_once_wait_for_one_computation_or_its_error(fails):
    cache, made = OnceCache(10), []
    started, finish = threading.Event(), threading.Event()

    def make():
        made.append(object())
        started.set()
        assert finish.wait(10)
        if fails:
            raise ValueError("broken")
        return made[-1]

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(cache.get, "key", make)]
        assert started.wait(10)
        asked += [pool.submit(cache.get, "key", make) for _ in range(7)]
        assert cache.get("another key", lambda: "is not held up") == "is not held up"
        finish.set()
        if not fails:
            assert [future.result(10) for future in asked] == made * 8
            return
        for future in asked:
            with pytest.raises(ValueError, match="broken"):
                future.result(10)
    assert cache.get("key", lambda: "mended") == "mended"


def test_a_text_is_encoded_once(bundled, monkeypatch):
    encoded, encode = [], type(bundled)._encode
    monkeypatch.setattr(type(bundled), "_encode", lambda self, *texts: encoded.append(texts) or encode(self, *texts))
    text = "A text that no other test reads."
    assert bundled.encode(text) is bundled.encode(text) is bundled.trace(text).encoding
    assert encoded == [(text, "")]


@dataclass
class Held:
    numbers: np.ndarray
    more: dict


def test_what_values_weigh_is_what_they_hold():
    array, tensor = np.zeros(1_000, np.float32), torch.zeros(500)
    assert (weight(array), weight(tensor)) == (4_000, 2_000)
    assert 6_000 < weight([array, (tensor,)]) < 6_500
    assert 6_000 < weight(Held(array, {"deep": [tensor]})) < 7_000
    assert weight("x" * 1_000) > 1_000
    endless = []
    endless.append(endless)
    assert weight(endless) < 10_000


def test_what_has_grown_since_it_was_kept_is_counted_when_it_is_weighed_again():
    cache = OnceCache(100, cost=len)
    kept = [cache.get(key, lambda: ["x"] * 10) for key in range(5)]
    kept[1] += ["x"] * 60
    assert cache.total == 50
    cache.weigh_again()
    assert cache.total == 100, "110, so the oldest had to leave"
    assert cache.peek(0) is None
    assert cache.peek(1) is kept[1]


@pytest.mark.parametrize("cache", [source._found, reading._opened], ids=["found", "vectors"])
def test_what_is_kept_of_corpora_is_bounded_in_memory_and_in_mapped_files(cache, tmp_path):
    """A file that was deleted fills the disk as long as it is mapped."""
    cache.clear()
    tokens = CorpusTokens(*[np.zeros(100, np.int32)] * 4, np.array([0, 100]))
    mapped = np.memmap(tmp_path / "states", np.uint8, "w+", shape=(1, RESULTS_MEGABYTES.bytes * MAPPED // 2 - MEGABYTE, 1))
    for number in range(4):
        cache.put(number, CorpusStates(tokens, (0,), mapped))
    assert len(cache.values()) == 2
    for number in range(4):
        cache.put(number, (Corpus("", ()), np.zeros(RESULTS_MEGABYTES.bytes // 2 - MEGABYTE, np.uint8)))
    assert len(cache.values()) == 2
    cache.clear()


def test_the_size_of_a_corpus_is_about_what_it_takes():
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    corpus = corpora.built_in.__wrapped__()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert 0.7 * taken < corpus.nbytes < 1.5 * taken
    assert corpus.nbytes < weight((corpus, "a result about it")) < corpus.nbytes + 1_000
