"""The examples to learn from: built in, typed, a file, or a data set of the Hub. Settings shared by several views."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from explorer.bert.explorer import Explorer
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, LABEL, TABLE_MEGABYTES, TRAINING_EXAMPLES
from explorer.finetune.compute.columns import Columns
from explorer.finetune.compute.from_table import BUILT_IN, built_in, examples_from_table
from explorer.finetune.compute.hub_data import EXAMPLE
from explorer.finetune.compute.task import TrainingPlan
from explorer.finetune.compute.text_tasks import TextTask, text_task
from explorer.text import limits
from explorer.text.lines import split_lines
from explorer.text.tables import Table
from explorer.training.examples import Examples, check_classes
from explorer.ui.settings import choice, memory, text, upload
from explorer.ui.view import View

TYPED, READY, FILE, HUB = "Typed here", "Built in", "A file", "From the hub"
MOST_CLASSES = 6
NO_COLUMN = "(none)"
NAMES, DATA = "has names", "is data"
AS_THEY_LOOK = "as they look"
STARTER = (
    (
        "animal",
        "The fox slipped under the fence.\nA heron stood still in the shallow water.\nOur hamster sleeps all day.\n"
        "The lioness carried her cubs to the shade.\nBees were humming around the lavender.\nA stray dog followed us home.",
    ),
    (
        "vehicle",
        "The lorry blocked both lanes.\nMy bicycle has a flat tyre.\nThe tram rattled round the corner.\n"
        "She parked the van behind the shop.\nThe ferry left the harbour at dawn.\nHis motorbike would not start.",
    ),
    (
        "food",
        "The soup needs a little more salt.\nI baked a lemon cake for the party.\nWe had fried rice with vegetables.\n"
        "The bread is still warm from the oven.\nCheese and olives go well together.\nShe peeled an orange after lunch.",
    ),
)
FEWEST_CLASSES = 2
TOGETHER = "Variants of one sentence are held out together."

_of_tables: OnceCache[tuple[Table, Columns], tuple[Examples, list[str]]] = OnceCache(4)  # 50,000 rows take seconds


def _number_of_classes(value: Any) -> int:
    in_range = isinstance(value, int) and FEWEST_CLASSES <= value <= MOST_CLASSES
    return value if in_range else len(STARTER)


def _is_typed(number: int) -> Callable[[Any], bool]:
    return lambda view: view.source == TYPED and number <= view.classes


def _class(number: int) -> Any:
    name = STARTER[number - 1][0] if number <= len(STARTER) else ""
    look = {"visible": False, "max_length": LABEL.most, "min_width": 90}
    return text(name, f"Class {number}", when=_is_typed(number), **look)


def _lines(number: int) -> Any:
    """The box for the sentences of a class."""
    lines = STARTER[number - 1][1] if number <= len(STARTER) else ""
    look = {"visible": False, "lines": 6, "max_lines": 8, "min_width": 200}
    return text(lines, f"Sentences {number}, one a line", when=_is_typed(number), limit=BOX_CHARACTERS, **look)


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
    classes: int = memory(len(STARTER), kept=_number_of_classes)
    class_1: str = _class(1)
    lines_1: str = _lines(1)
    class_2: str = _class(2)
    lines_2: str = _lines(2)
    class_3: str = _class(3)
    lines_3: str = _lines(3)
    class_4: str = _class(4)
    lines_4: str = _lines(4)
    class_5: str = _class(5)
    lines_5: str = _lines(5)
    class_6: str = _class(6)
    lines_6: str = _lines(6)
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
        for number in range(1, MOST_CLASSES + 1):
            name, lines = getattr(self, f"class_{number}").strip(), split_lines(getattr(self, f"lines_{number}"))
            if lines and not name:
                raise InputError(f"Class {number} has sentences but no name; give it one.")
            pairs += [(limits.check_text(line, "a line"), name[: LABEL.most]) for line in lines]
        if not pairs:
            raise InputError("There are no sentences yet; type or paste some, one a line.")
        TRAINING_EXAMPLES.check(len(pairs), "sentences")
        check_classes(Counter(label for _, label in pairs))
        texts, labels = zip(*pairs, strict=True)
        return Examples(texts, labels)


def starter() -> tuple[Examples, str]:
    """The examples typed when the page opens, and the title of a run on them."""
    given = ExampleSettings()
    examples, _ = given.examples()
    return examples, given.title(examples)
