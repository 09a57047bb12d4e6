"""The run shown: the selected one, the newest of this browser, or one that is trained without the button.

The ids of runs come from the browser, which can send anything.
"""

import contextlib
from abc import abstractmethod

from explorer.bert.explorer import load
from explorer.core import jobs
from explorer.core.cache import OnceCache
from explorer.core.errors import ExplorerError, InputError
from explorer.finetune.compute import store
from explorer.finetune.compute.from_table import AnyExamples, built_in
from explorer.finetune.compute.predictor import Run
from explorer.finetune.compute.task import Task, as_run, train_whole
from explorer.finetune.kinds import ANSWERS, KINDS, TEXTS, WORDS, of_kind
from explorer.finetune.recipe import Recipe, defaults
from explorer.finetune.sources import size_of, starter
from explorer.ui.long_view import reads_quickly
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View

LAST_MOMENT = 5.0  # seconds in which a training whose page was closed may end and be stored
KEPT = 512  # runs trained without the button, mostly of a few kilobytes each

_learned: OnceCache[tuple[str, AnyExamples], Run] = OnceCache(KEPT)
_by_id: OnceCache[str, Run] = OnceCache(KEPT)


def is_quick(subject: Subject, examples: AnyExamples, seconds: float = 1) -> bool:
    """Whether the model reads these examples in about `seconds`."""
    _, words = size_of(examples)
    return reads_quickly(subject.model.capabilities, words / seconds)


def learn(model_name: str, examples: AnyExamples, title: str, kind: str = TEXTS) -> Run:
    """A run by the settings with which a kind begins. It is not stored, but `find_learned` returns it. Raises InputError."""

    def train() -> Run:
        model = load(model_name)
        plan = Recipe(kind=kind, **defaults(kind, model.capabilities)).plan(model)
        result = train_whole(Task(model, examples, plan))
        return as_run(result, title, store.new_id())

    run = _learned.get((model_name, examples), train)
    _by_id.put(run.id, run)
    return run


def find_learned(identifier: object) -> Run | None:
    """The run with this id among those trained without the button, while it is in memory."""
    return _by_id.peek(identifier) if store.is_id(identifier) else None


def run_id(value: object) -> str | None:
    return value if store.is_id(value) else None


def run_ids(value: object) -> tuple[str, ...]:
    """The run ids in a list that a browser has stored, the newest first."""
    found = value[: store.VISITOR_RUNS] if isinstance(value, list | tuple) else ()
    return tuple(dict.fromkeys(value for value in found if run_id(value)))


def visitor_id(value: object) -> str:
    """The id that identifies a browser's runs, or a new one if the value is invalid."""
    return run_id(value) or store.new_id()


class NothingTrained(InputError):
    """No run can be shown."""


class RunView(View):
    """A view of one run. It needs no text, and of its settings only the kind of task goes into a link."""

    kind: str = of_kind()
    run: str | None = memory(None, kept=run_id, linked=False)
    runs: tuple[str, ...] = memory((), kept=run_ids, linked=False, stored="bert-explorer-runs")
    visitor: str = memory("", kept=visitor_id, linked=False, stored="bert-explorer-visitor")
    edited: bool = memory(False, kept=bool, linked=False)  # whether the page has other examples than its runs before

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
        for identifier in (self.run, *(() if self.kind == TEXTS and self.edited else self.runs)):
            with contextlib.suppress(ExplorerError):
                if KINDS[self.kind].has((run := find_learned(identifier) or store.fetch(identifier)).kind):
                    return run
        return self._opening(subject)

    def _opening(self, subject: Subject) -> Run:
        """The run shown at first; of texts, until the examples change. Raises NothingTrained if there is none."""
        if self.kind == ANSWERS:
            raise NothingTrained("Nothing is trained to find answers yet. Press Train, which takes about a minute.")
        examples, _ = opening_examples(self.kind)
        if (self.kind == TEXTS and self.edited) or not is_quick(subject, examples):
            raise NothingTrained(f"Nothing is trained on these examples with {subject.model_name} yet. Press Train.")
        return opening_run(subject.model_name, self.kind)


def opening_examples(kind: str) -> tuple[AnyExamples, str]:
    """The examples of the run that a new page opens with, and its title."""
    if kind == WORDS:
        words = KINDS[WORDS]
        return built_in(words.opening), words.sets[words.opening].split(":")[0]
    return starter()


def opening_run(model_name: str, kind: str = TEXTS) -> Run:
    """The run that a new page opens with: on the sentences typed there, or on the built-in names."""
    return learn(model_name, *opening_examples(kind), kind)
