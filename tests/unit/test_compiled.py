"""Loops that numba compiles: as the same loop run by Python, in every thread, and without a folder to cache them in."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from explorer.core.lazy import numba
from explorer.techniques.mixing import compile_with


def add_rows(found, rows):
    for row in range(len(rows)):
        for place in range(len(found)):
            found[place] += rows[row, place]


TYPES = ("float32[::1]", "float32[:,::1]")


def test_first_calls_of_several_threads_compute_what_the_loop_says():
    ours, rows = compile_with(*TYPES)(add_rows), np.random.default_rng(0).standard_normal((50, 7), dtype=np.float32)

    def call(_):
        found = np.zeros(7, np.float32)
        ours(found, rows)
        return found

    with ThreadPoolExecutor(4) as threads:
        every = list(threads.map(call, range(8)))
    theirs = np.zeros(7, np.float32)
    add_rows(theirs, rows)
    np.testing.assert_allclose(every, np.tile(theirs, (8, 1)), atol=1e-5)


def test_without_a_folder_for_a_cache_it_is_compiled_all_the_same(monkeypatch):
    real = numba.njit

    def njit(*args, cache=False, **kwargs):
        if cache:
            raise RuntimeError("no locator available")
        return real(*args, **kwargs)

    monkeypatch.setattr(sys.modules["numba"], "njit", njit)
    found = np.zeros(2, np.float32)
    compile_with(*TYPES)(add_rows)(found, np.ones((3, 2), np.float32))
    assert found.tolist() == [3, 3]
