"""The run shown: the selected one, the newest of this browser, or what a page opens with.

The ids of runs come from the browser, which can send anything.
"""

import contextlib
from abc import abstractmethod

from explorer.core import jobs
from explorer.core.errors import ExplorerError, InputError
from explorer.finetune import live
from explorer.finetune.compute import store
from explorer.finetune.compute.run import Run
from explorer.finetune.kinds import ANSWERS, KINDS, TEXTS, WORDS, of_kind
from explorer.finetune.sources import AnyExamples, starter
from explorer.training.tagging import built_in_tagged
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View

LAST_MOMENT = 5.0  # seconds in which a training whose page was closed may end and be stored


def run_id(value: object) -> str | None:
    """The id of a run if the value has its form, else None."""
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
        aside = self.aside if self.kind == TEXTS else ()
        for identifier in (identifier for identifier in (self.run, *self.runs) if identifier not in aside):
            with contextlib.suppress(ExplorerError):
                if (run := live.find(identifier) or store.fetch(identifier)).kind in KINDS[self.kind].runs:
                    return run
        return self._opening(subject)

    def _opening(self, subject: Subject) -> Run:
        """The run shown at first; of texts, until the examples change. Raises NothingTrained if there is none."""
        if self.kind == ANSWERS:
            raise NothingTrained("Nothing is trained to find answers yet; press Train, which takes about a minute.")
        examples, _ = opening_examples(self.kind)
        if (self.kind == TEXTS and self.aside) or not live.is_quick(subject, examples):
            raise NothingTrained(f"Nothing is trained on these examples with {subject.model_name} yet; press Train.")
        return opening_run(subject.model_name, self.kind)


def opening_examples(kind: str) -> tuple[AnyExamples, str]:
    """The examples of the run that a new page opens with, and its title."""
    if kind == WORDS:
        words = KINDS[WORDS]
        return built_in_tagged(words.opening), words.sets[words.opening].split(":")[0]
    return starter()


def opening_run(model_name: str, kind: str = TEXTS) -> Run:
    """The run that a new page opens with: on the sentences typed there, or on the built-in names."""
    return live.brought(model_name, *opening_examples(kind), kind)
