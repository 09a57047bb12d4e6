"""The run that is looked at: the one that was chosen, the newest of this browser, or one to begin with."""

import contextlib
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.base.cache import OnceCache
from explorer.base.errors import ExplorerError, InputError
from explorer.base.limits import VISITOR_RUNS
from explorer.training import jobs, store
from explorer.training.from_table import built_in
from explorer.views.settings import memory
from explorer.views.subject import Subject
from explorer.views.view import Content, View, reads_quickly

if TYPE_CHECKING:
    from explorer.training.run import Run

OPENING = "sentiment"  # the built-in set of the run to begin with
LAST_MOMENT = 5.0  # seconds that a training whose page was closed may take to end and be kept


class NothingTrained(InputError):
    """There is no run to look at."""


def run_id(value: Any) -> str | None:
    """The id of a run, or None when that is none."""
    return value if store.is_id(value) else None


def run_ids(value: Any) -> tuple[str, ...]:
    """The ids in what a browser remembers, the newest first."""
    found = value[: VISITOR_RUNS.most] if isinstance(value, list | tuple) else ()
    return tuple(dict.fromkeys(one for one in found if run_id(one)))


def visitor_id(value: Any) -> str:
    """The id by which a browser's runs are told from those of others, or a new one when that is none."""
    return run_id(value) or store.new_id()


class RunView(View):
    """A view of one run. It needs no text, and none of its settings goes into a link."""

    kinds: ClassVar[tuple[str, ...]] = ("classes", "number")  # of task: a run of another kind is not looked at
    run: str | None = memory(None, kept=run_id, linked=False)
    runs: tuple[str, ...] = memory((), kept=run_ids, linked=False, stored="bert-explorer-runs")
    visitor: str = memory("", kept=visitor_id, linked=False, stored="bert-explorer-visitor")

    def compute(self, subject: Subject) -> Content:
        """What is to be seen of the run; which one it is, all views of the tab remember."""
        try:
            run = self.find(subject)
        except NothingTrained as why:
            return {"visitor": self.visitor, **self.without_run(str(why))}
        return {"run": run.id, "visitor": self.visitor, **self.show_run(subject, run)}

    def without_run(self, why: str) -> Content:
        """What is to be seen when nothing is trained yet."""
        return {name: None for name, one in self.parts.items() if one.kind in ("chart", "bars") and not one.optional}

    @abstractmethod
    def show_run(self, subject: Subject, run: "Run") -> Content:
        """What is to be seen of this run."""

    def find(self, subject: Subject) -> "Run":
        """The run that was chosen, or else the newest of this browser, or else the one to begin with.

        After a reload in the middle of a training the newest is that one: its end is a moment away. Raises NothingTrained.
        """
        if self.run is None and self.runs:
            jobs.wait(self.runs[0], LAST_MOMENT)
        for identifier in (self.run, *self.runs):
            with contextlib.suppress(ExplorerError):
                if (run := store.fetch(identifier)).kind in self.kinds:
                    return run
        return self.opening(subject)

    def opening(self, subject: Subject) -> "Run":
        """The run to begin with. Raises NothingTrained where a large model would have to read its examples first."""
        if not reads_quickly(subject.model.capabilities, sum(len(text.split()) for text in built_in(OPENING).texts)):
            raise NothingTrained(f"Nothing is trained with {subject.model_name} yet; press Train.")
        return opening_run(subject.model_name)


_opening: OnceCache[str, str] = OnceCache(8)


def opening_run(model_name: str) -> "Run":
    """A run on the built-in sentiment set: trained once for a model, and again when the store has dropped it."""
    return kept_run(_opening, model_name, _train)


def kept_run(known: "OnceCache[str, str]", model_name: str, train: Callable[[str], str]) -> "Run":
    """The run that `train` makes for a model, which it gives the id of: once, and again when the store has dropped it."""
    identifier = known.get(model_name, lambda: train(model_name))
    with contextlib.suppress(InputError):
        return store.fetch(identifier)
    known.forget(model_name, identifier)
    return store.fetch(known.get(model_name, lambda: train(model_name)))


def _train(model_name: str) -> str:
    from explorer.base.steps import finished
    from explorer.model.explorer import load
    from explorer.training.text_tasks import text_task
    from explorer.training.training import make_plan, new_run, run_training

    examples, model = built_in(OPENING), load(model_name)
    result = finished(run_training(text_task(model, examples, make_plan(model, -1, "mean", keep_best=True))))
    return new_run(result, "Sentiment").id
