"""The examples to learn from: built in, typed, a file, or a data set of the Hub. Settings shared by several views."""

from collections import Counter
from typing import Any

from explorer.bert.explorer import Explorer
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.limits import TABLE_MEGABYTES, TRAINING_EXAMPLES
from explorer.finetune.cards import STARTER, Cards, cards_of
from explorer.finetune.compute.columns import Columns
from explorer.finetune.compute.from_table import BUILT_IN, built_in, examples_from_table
from explorer.finetune.compute.hub_data import EXAMPLE
from explorer.finetune.compute.task import TrainingPlan
from explorer.finetune.compute.text_tasks import TextTask, text_task
from explorer.text import limits
from explorer.text.tables import Table
from explorer.training.examples import Examples, check_classes
from explorer.ui.settings import choice, memory, text, upload
from explorer.ui.view import View

TYPED, READY, FILE, HUB = "Typed here", "Built in", "A file", "From the hub"
NO_COLUMN = "(none)"
NAMES, DATA = "has names", "is data"
AS_THEY_LOOK = "as they look"
TOGETHER = "Variants of one sentence are held out together."

_of_tables: OnceCache[tuple[Table, Columns], tuple[Examples, list[str]]] = OnceCache(4)  # 50,000 rows take seconds


def _column(label: str) -> Any:
    return choice((), label, default="", menu=True, free=True, linked=False, min_width=90, visible=False)


class ExampleSettings(View):
    """The examples to learn from, for every view that needs them."""

    source: str = choice((TYPED, READY, FILE, HUB), "Examples", menu=True, elem_classes="inline")
    ready: str = choice(
        [(title, name) for name, title in BUILT_IN.items()],
        "Built-in set",
        menu=True,
        elem_classes="inline",
        when=lambda v: v.source == READY,
    )
    classes: Cards = memory(STARTER, kept=cards_of)
    table: Table | None = upload(
        label=f"CSV, TSV or JSON, up to {TABLE_MEGABYTES.most} MB",
        height=110,
        visible=False,
        when=lambda view: view.source == FILE,
    )
    data_set: str = text(
        EXAMPLE, "Data set on the Hugging Face hub", heard="submit", scale=4, visible=False, when=lambda view: view.source == HUB
    )
    text_column: str = _column("Text")
    label_column: str = _column("Label")
    second_column: str = _column("Second text")
    first_row: str = choice((NAMES, DATA), "The first row", menu=True, linked=False, min_width=90, visible=False)
    labels_are: str = choice(
        ((AS_THEY_LOOK, ""), ("classes", "classes"), ("numbers", "number")),
        "The labels are",
        menu=True,
        linked=False,
        min_width=90,
        visible=False,
    )

    def examples(self) -> tuple[Examples, str]:
        """The examples, and a note about them. Raises InputError."""
        if self.source == READY:
            examples = built_in(self.ready)
            return examples, TOGETHER if examples.groups else ""
        if self.source == TYPED:
            return self._typed(), ""
        if (table := self.table) is None:
            missing = {FILE: "Choose a CSV, TSV or JSON file.", HUB: "Name a data set and fetch it."}
            raise InputError(missing[self.source])
        second = "" if self.second_column == NO_COLUMN else self.second_column
        columns = Columns(self.text_column, self.label_column, second, kind=self.labels_are)
        examples, notes = _of_tables.get((table, columns), lambda: examples_from_table(table, columns))
        return examples, " ".join(notes)

    def title(self, examples: Examples) -> str:
        if self.source == READY:
            return BUILT_IN[self.ready].split(":")[0]
        return " / ".join(examples.classes)[:40]

    def task(self, model: Explorer, examples: Examples, plan: TrainingPlan) -> TextTask:
        return text_task(model, examples, plan)

    def _typed(self) -> Examples:
        pairs = []
        for number, (name, lines) in enumerate(self.classes, start=1):
            written = [line for line in lines if line.strip()]
            if written and not name.strip():
                raise InputError(f"Class {number} has sentences but no name; give it one.")
            pairs += [(limits.check_text(line, "a line"), name.strip()) for line in written]
        if not pairs:
            raise InputError("There are no sentences yet; type or paste some, one per line.")
        TRAINING_EXAMPLES.check(len(pairs), "sentences")
        check_classes(Counter(label for _, label in pairs))
        texts, labels = zip(*pairs, strict=True)
        return Examples(texts, labels, order=tuple(name.strip() for name, _ in self.classes))


def starter() -> tuple[Examples, str]:
    """The examples typed when the page opens, and the title of a run on them."""
    given = ExampleSettings()
    examples, _ = given.examples()
    return examples, given.title(examples)
