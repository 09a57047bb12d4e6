"""Runs trained without the button: on few examples while they are typed, and on the page's own examples."""

import contextlib
from collections.abc import Callable, Hashable
from typing import TypeVar

from explorer.bert.explorer import load
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.finetune.compute import store
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.task import make_plan
from explorer.finetune.compute.text_tasks import text_task
from explorer.finetune.compute.training import TrainingResult, as_run, new_run, train_whole
from explorer.training.examples import HELD_OUT_SHARE, Examples, ScoredExamples
from explorer.training.settings import FEWEST_HELD_OUT
from explorer.ui.long_view import reads_quickly
from explorer.ui.subject import Subject

Key = TypeVar("Key", bound=Hashable)
KEPT = 512  # runs, of a few kilobytes each

_learnt: OnceCache[tuple[str, Examples], Run] = OnceCache(KEPT)
_by_id: OnceCache[str, Run] = OnceCache(KEPT)
_brought: OnceCache[tuple[str, Examples], str] = OnceCache(8)
_ids: set[str] = set()  # of runs on the page's own examples


def is_quick(subject: Subject, examples: Examples, seconds: float = 1) -> bool:
    """Whether the model reads these examples in about `seconds`."""
    words = sum(len(text.split()) for pair in examples.pairs for text in pair)
    return reads_quickly(subject.model.capabilities, words / seconds)


def is_few(examples: Examples) -> bool:
    """Whether the examples are so few that a head can be trained again after every letter typed."""
    return len(examples) * HELD_OUT_SHARE < FEWEST_HELD_OUT and not isinstance(examples, ScoredExamples)


def learnt(model_name: str, examples: Examples, title: str) -> Run:
    """A run on few examples. It is not stored, but `find` returns it for a while. Raises InputError."""

    def learn() -> Run:
        result = _train(model_name, examples)
        return as_run(result, title, result.task.baselines(result.split), store.new_id())

    run = _learnt.get((model_name, examples), learn)
    _by_id.put(run.id, run)
    return run


def find(identifier: object) -> Run | None:
    """The run of `learnt` with this id, if it is still in memory."""
    return _by_id.peek(identifier) if store.is_id(identifier) else None


def is_of_examples(identifier: str) -> bool:
    """Whether a run was trained without the button."""
    return find(identifier) is not None or identifier in _ids


def brought(model_name: str, examples: Examples, title: str) -> Run:
    """A run on the page's own examples: trained once for each model, and again when the store has dropped it."""

    def train() -> str:
        identifier = new_run(_train(model_name, examples), title).id
        _ids.add(identifier)
        return identifier

    return kept_run(_brought, (model_name, examples), train)


def kept_run(known: "OnceCache[Key, str]", key: Key, train: Callable[[], str]) -> Run:
    """The run at a key: `train()` makes it and returns its id, once, and again when the store has dropped it."""
    identifier = known.get(key, train)
    with contextlib.suppress(InputError):
        return store.fetch(identifier)
    known.forget(key, identifier)
    return store.fetch(known.get(key, train))


def _train(model_name: str, examples: Examples) -> TrainingResult:
    model = load(model_name)
    return train_whole(text_task(model, examples, make_plan(model, -1, "mean", keep_best=True, epochs=0)))
