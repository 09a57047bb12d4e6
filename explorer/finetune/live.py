"""Runs trained without the button: on few examples while they are typed, and on what the page opens with."""

import contextlib
from collections.abc import Hashable

from explorer.bert.explorer import load
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.finetune.compute import store
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.training import TrainingResult, as_run, new_run, train_whole
from explorer.finetune.kinds import KINDS, TEXTS
from explorer.finetune.recipe import Recipe, defaults
from explorer.finetune.sources import AnyExamples, size_of
from explorer.training.examples import HELD_OUT_SHARE, Examples, ScoredExamples
from explorer.training.settings import FEWEST_HELD_OUT
from explorer.ui.long_view import reads_quickly
from explorer.ui.subject import Subject

KEPT = 512  # runs, of a few kilobytes each

_learnt: OnceCache[tuple[str, Examples], Run] = OnceCache(KEPT)
_by_id: OnceCache[str, Run] = OnceCache(KEPT)
_brought: OnceCache[Hashable, str] = OnceCache(16)
_ids: set[str] = set()  # of runs on the page's own examples


def is_quick(subject: Subject, examples: AnyExamples, seconds: float = 1) -> bool:
    """Whether the model reads these examples in about `seconds`."""
    _, words = size_of(examples)
    return reads_quickly(subject.model.capabilities, words / seconds)


def is_few(examples: Examples) -> bool:
    """Whether the examples are so few that a head can be trained again after every letter typed."""
    return len(examples) * HELD_OUT_SHARE < FEWEST_HELD_OUT and not isinstance(examples, ScoredExamples)


def learnt(model_name: str, examples: Examples, title: str) -> Run:
    """A run on few examples. It is not stored, but `find` returns it for a while. Raises InputError."""

    def learn() -> Run:
        result = _train(model_name, examples)
        return as_run(result, title, store.new_id())

    run = _learnt.get((model_name, examples), learn)
    _by_id.put(run.id, run)
    return run


def find(identifier: object) -> Run | None:
    """The run with this id among those learned, if it is still in memory."""
    return _by_id.peek(identifier) if store.is_id(identifier) else None


def is_of_examples(identifier: str) -> bool:
    """Whether a run was trained without the button."""
    return find(identifier) is not None or identifier in _ids


def brought(model_name: str, examples: AnyExamples, title: str, kind: str = TEXTS) -> Run:
    """A run on the page's own examples: trained once for each model, and again when the store has dropped it."""

    def train() -> str:
        identifier = new_run(_train(model_name, examples, kind), title).id
        _ids.add(identifier)
        return identifier

    key = model_name, examples
    identifier = _brought.get(key, train)
    with contextlib.suppress(InputError):
        return store.fetch(identifier)
    _brought.forget(key, identifier)
    return store.fetch(_brought.get(key, train))


def _train(model_name: str, examples: AnyExamples, kind: str = TEXTS) -> TrainingResult:
    """A training by the settings with which a kind of task begins."""
    model = load(model_name)
    plan = Recipe(kind=kind, **defaults(kind, model.capabilities)).plan(model)
    return train_whole(KINDS[kind].task(model, examples, plan))
