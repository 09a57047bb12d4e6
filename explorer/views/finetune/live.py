"""Runs that nobody pressed Train for: on few examples while they are typed, and on those that the page brings."""

import contextlib
from collections.abc import Callable, Hashable
from typing import TypeVar

from explorer.base.cache import OnceCache, Recent
from explorer.base.errors import InputError
from explorer.model.explorer import load
from explorer.training import store
from explorer.training.examples import HELD_OUT_SHARE, Examples, ScoredExamples
from explorer.training.run import Run
from explorer.training.settings import FEWEST_HELD_OUT
from explorer.training.text_tasks import text_task
from explorer.training.training import TrainingResult, as_run, make_plan, new_run, train_whole
from explorer.views.subject import Subject
from explorer.views.view import reads_quickly

Key = TypeVar("Key", bound=Hashable)
KEPT = 512  # runs of a few kilobytes each

_learnt: OnceCache[tuple[str, Examples], Run] = OnceCache(KEPT)
_by_id: Recent[str, Run] = Recent(KEPT)
_brought: OnceCache[tuple[str, Examples], str] = OnceCache(8)
_ids: set[str] = set()  # of what the page brought


def is_quick(subject: Subject, examples: Examples, seconds: float = 1) -> bool:
    """Whether the page's model has read so many examples in about as many seconds."""
    words = sum(len(text.split()) for pair in examples.pairs for text in pair)
    return reads_quickly(subject.model.capabilities, words / seconds)


def is_few(examples: Examples) -> bool:
    """Whether a head learns from so few that it can be trained with every letter that is typed."""
    return len(examples) * HELD_OUT_SHARE < FEWEST_HELD_OUT and not isinstance(examples, ScoredExamples)


def learnt(model_name: str, examples: Examples, title: str) -> Run:
    """A run on few examples, without baselines. It is in no store, but `find` knows it for a while. Raises InputError."""

    def learn() -> Run:
        return as_run(_train(model_name, examples), title, {}, store.new_id())

    run = _learnt.get((model_name, examples), learn)
    _by_id.put(run.id, run)
    return run


def find(identifier: object) -> Run | None:
    """What `learnt` gave under this id, if it is not too long ago."""
    return _by_id.get(identifier) if store.is_id(identifier) else None


def is_of_examples(identifier: str) -> bool:
    """Whether a run came by itself with the examples of a page."""
    return find(identifier) is not None or identifier in _ids


def brought(model_name: str, examples: Examples, title: str) -> Run:
    """A run on examples that the page brings: trained once for a model, and again when the store has dropped it."""

    def train() -> str:
        identifier = new_run(_train(model_name, examples), title).id
        _ids.add(identifier)
        return identifier

    return kept_run(_brought, (model_name, examples), train)


def kept_run(known: "OnceCache[Key, str]", key: Key, train: Callable[[], str]) -> Run:
    """The run at a key that `train` makes, which gives its id: once, and again when the store has dropped it."""
    identifier = known.get(key, train)
    with contextlib.suppress(InputError):
        return store.fetch(identifier)
    known.forget(key, identifier)
    return store.fetch(known.get(key, train))


def _train(model_name: str, examples: Examples) -> TrainingResult:

    model = load(model_name)
    return train_whole(text_task(model, examples, make_plan(model, -1, "mean", keep_best=True, epochs=0)))
