"""Requests that come together are read together, and nobody can tell from the answer."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from explorer.bert import batcher
from explorer.bert.batcher import Batcher

TEXTS = ["the man", "the dog bought milk", "he was happy , she was sad .", "the [MASK] went to the store", "milk " * 100]


def held(monkeypatch, model, texts):
    """What is read while the first of some requests keeps the model busy, in the order of the passes."""
    monkeypatch.setattr(batcher, "cores", lambda: 1)
    passes, busy, go_on = [], threading.Event(), threading.Event()
    together = Batcher()

    def read(encodings):
        passes.append([encoding.text_a for encoding in encodings])
        busy.set()
        assert go_on.wait(30)
        return model.hidden_states_of(encodings)

    encodings = [model.encode(text) for text in texts]
    with ThreadPoolExecutor(len(texts)) as pool:
        answers = [pool.submit(together.result, encodings[0], read)]
        assert busy.wait(30)
        answers += [pool.submit(together.result, encoding, read) for encoding in encodings[1:]]
        while len(together._waiting) < len(texts) - 1:
            assert not go_on.wait(0.01)
        go_on.set()
        states = [answer.result(30) for answer in answers]
    for encoding, found in zip(encodings, states, strict=True):
        torch.testing.assert_close(found, model.hidden_states_of([encoding])[0], atol=1e-5, rtol=0)
    return passes


def test_what_waits_is_read_in_one_pass(tiny, monkeypatch):
    first, *others = TEXTS[:4]
    assert [sorted(texts) for texts in held(monkeypatch, tiny, [first, *others])] == [[first], sorted(others)]


def test_a_pass_is_bounded_and_of_alike_lengths(tiny, monkeypatch):
    monkeypatch.setattr(batcher, "BATCH_TOKENS", 24)
    passes = held(monkeypatch, tiny, ["the man", "the dog", "milk " * 20, "the cat", "he went"])
    assert passes[0] == ["the man"]
    assert sorted(map(sorted, passes[1:])) == [["he went", "the cat", "the dog"], ["milk " * 20]]


def test_an_error_reaches_all_who_waited_for_it_and_nobody_after(tiny):
    def fail(encodings):
        raise ZeroDivisionError

    together, encoding = Batcher(), tiny.encode("the man")
    with pytest.raises(ZeroDivisionError):
        together.result(encoding, fail)
    assert together.result(encoding, tiny.hidden_states_of).shape[1] == encoding.kept
