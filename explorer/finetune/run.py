"""The run shown: the selected one, the newest of this browser, or what a page opens with.

The ids of runs come from the browser, which can send anything.
"""

import contextlib
from abc import abstractmethod
from typing import ClassVar

from explorer.bert.explorer import load
from explorer.core import jobs
from explorer.core.cache import OnceCache
from explorer.core.errors import ExplorerError, InputError
from explorer.finetune import live
from explorer.finetune.compute import quota, store
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.tag_task import Tagging
from explorer.finetune.compute.training import new_run, train_whole
from explorer.finetune.example_settings import starter
from explorer.finetune.live import kept_run
from explorer.finetune.recipe import WordRecipe
from explorer.finetune.words_examples import OPENING
from explorer.training.tagging import TAGGED, built_in_tagged
from explorer.ui.long_view import reads_quickly
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View

LAST_MOMENT = 5.0  # seconds in which a training whose page was closed may end and be stored
_taggers: OnceCache[str, str] = OnceCache(8)


def run_id(value: object) -> str | None:
    """The id of a run if the value has its form, else None."""
    return value if store.is_id(value) else None


def run_ids(value: object) -> tuple[str, ...]:
    """The run ids in a list that a browser has stored, the newest first."""
    found = value[: quota.VISITOR_RUNS] if isinstance(value, list | tuple) else ()
    return tuple(dict.fromkeys(value for value in found if run_id(value)))


def visitor_id(value: object) -> str:
    """The id that identifies a browser's runs, or a new one if the value is invalid."""
    return run_id(value) or store.new_id()


class NothingTrained(InputError):
    """There is no run to show."""


class RunView(View):
    """A view of one run. It needs no text, and none of its settings goes into a link."""

    kinds: ClassVar[tuple[str, ...]] = ("classes", "number")  # of task; runs of other kinds are skipped
    run: str | None = memory(None, kept=run_id, linked=False)
    runs: tuple[str, ...] = memory((), kept=run_ids, linked=False, stored="bert-explorer-runs")
    visitor: str = memory("", kept=visitor_id, linked=False, stored="bert-explorer-visitor")
    aside: tuple[str, ...] = memory((), kept=run_ids, linked=False)  # runs of examples that have been replaced

    def compute(self, subject: Subject) -> Content:
        """The contents for the run; its id is remembered for all views of the tab."""
        try:
            run = self.find(subject)
        except NothingTrained as why:
            return {"visitor": self.visitor, **self.without_run(str(why))}
        return {"run": run.id, "visitor": self.visitor, **self.show_run(subject, run)}

    def without_run(self, why: str) -> Content:
        return {name: None for name, one in self.parts.items() if one.kind in ("chart", "bars") and not one.optional}

    @abstractmethod
    def show_run(self, subject: Subject, run: Run) -> Content:
        """The contents for this run."""

    def find(self, subject: Subject) -> Run:
        """The selected run, or else the newest of this browser, or else the opening run.

        After a reload in the middle of a training the newest is that one, which is about to end. Raises NothingTrained.
        """
        if self.run is None and self.runs:
            jobs.wait(self.runs[0], LAST_MOMENT)
        aside = self.aside if "classes" in self.kinds else ()
        for identifier in (identifier for identifier in (self.run, *self.runs) if identifier not in aside):
            with contextlib.suppress(ExplorerError):
                if (run := live.find(identifier) or store.fetch(identifier)).kind in self.kinds:
                    return run
        return self.opening(subject)

    def opening(self, subject: Subject) -> Run:
        """The run shown at first, until the examples change. Raises NothingTrained if there is none."""
        if self.aside or not live.is_quick(subject, starter()[0]):
            raise NothingTrained(f"Nothing is trained on these examples with {subject.model_name} yet; press Train.")
        return opening_run(subject.model_name)


def opening_run(model_name: str) -> Run:
    """The run that a new page opens with, on the examples typed there."""
    return live.brought(model_name, *starter())


class OfTaggers:
    """A mixin for views of runs that tag words."""

    kinds: ClassVar[tuple[str, ...]] = ("tags",)

    def opening(self, subject: Subject) -> Run:
        """A run on the built-in names. Raises NothingTrained for models too large to read them at once."""
        if not reads_quickly(subject.model.capabilities, len(built_in_tagged(OPENING).words)):
            raise NothingTrained(f"Nothing is trained with {subject.model_name} yet; press Train.")
        return kept_run(_taggers, subject.model_name, lambda: _train_tagger(subject.model_name))


def _train_tagger(model_name: str) -> str:
    model = load(model_name)
    recipe = WordRecipe(tag_layer=min(WordRecipe().tag_layer, model.capabilities.layers))
    result = train_whole(Tagging(model, built_in_tagged(OPENING), recipe.plan(model)))
    return new_run(result, TAGGED[OPENING].split(":")[0]).id


class OfAnswers:
    """A mixin for views of runs that answer questions."""

    kinds: ClassVar[tuple[str, ...]] = ("spans",)

    def opening(self, subject: Subject) -> Run:
        """None: all layers have to be trained, which takes too long when a page opens. Raises NothingTrained."""
        raise NothingTrained("Nothing has learnt to find answers yet; press Train, which takes a minute or so.")
