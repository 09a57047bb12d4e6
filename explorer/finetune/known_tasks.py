"""The kind of task, and tasks with well-known names: the kind of each, and the matching examples of this app."""

from typing import Any

from explorer.finetune.kinds import KINDS, MIDDLE, READY, TEXTS, of_kind
from explorer.finetune.opening import TASKS, KnownTask
from explorer.finetune.recipe import defaults
from explorer.ui.layout import col, row
from explorer.ui.settings import choice
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, View, sentence, settle

HINT = "A task you know by name …"


def describe_task(task: KnownTask, layers: int) -> str:
    """The task, and the examples chosen for it, in a sentence."""
    head = f", and a head on hidden state {place}" if (place := read_after(task, layers)) else ""
    chosen = KINDS[task.kind].sets[task.ready].split(":")[0]
    return f"{task.called}: {task.given} → {task.wanted} ({task.source}). Chosen: {chosen}, in our own words{head}."


def read_after(task: KnownTask, layers: int) -> int:
    """The hidden state that the head reads in a model with this number of layers; 0: as the kind has it."""
    return 0 if task.kind != TEXTS or task.ready == KINDS[TEXTS].opening else round(MIDDLE * layers)


class KnownTasks(View):
    """The kind of task, and a menu of well-known tasks, which leads to a kind with a built-in set."""

    name, question = "fine-tune/known-tasks", "What kind is a task that you know?"
    layout = (row(col("kind", width=6), col("task", "about", width=6)),)
    kind: str = of_kind(here=True)
    task: str = choice([(HINT, ""), *TASKS], "A task you know", menu=True, show_label=False)
    about = sentence(classes="caption")

    def compute(self, subject: Subject) -> Content:
        return {"about": describe_task(TASKS[self.task], subject.model.capabilities.layers) if self.task else ""}

    def on_kind(self, subject: Subject, kind: str) -> Change:
        """Another kind of task: its own examples and settings."""
        return settle(task="", **begin(kind, subject))

    def on_task(self, subject: Subject, name: str) -> Change:
        """The kind, examples of that kind, and the best hidden state for the head."""
        if not name:
            return settle()
        task = TASKS[name]
        head = {"layer": place} if (place := read_after(task, subject.model.capabilities.layers)) else {}
        return settle(**{**begin(task.kind, subject), "source": READY, "ready": task.ready, **head})


def begin(kind: str, subject: Subject) -> dict[str, Any]:
    """The settings with which a kind of task begins."""
    first = KINDS[kind]
    examples = {"source": first.sources[0], "ready": first.opening, "table": None}
    return {"kind": kind, **examples, **defaults(kind, subject.model.capabilities)}
