"""Where the examples come from: built in, typed, a file, or a data set of the hub."""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from explorer.base.cache import OnceCache
from explorer.base.errors import InputError
from explorer.base.limits import BOX_CHARACTERS, LABEL, TABLE_MEGABYTES, TRAINING_EXAMPLES
from explorer.figures.bars import bars
from explorer.text import limits
from explorer.text.lines import split_lines
from explorer.text.tables import Table
from explorer.training import store
from explorer.training.examples import Examples, ScoredExamples, check_classes
from explorer.training.from_table import BUILT_IN, Columns, built_in, examples_from_table, guess_columns
from explorer.training.hub_data import EXAMPLE
from explorer.views.finetune import live
from explorer.views.finetune.ids import run_id, run_ids
from explorer.views.settings import choice, memory, text, upload
from explorer.views.subject import Subject
from explorer.views.view import Change, Content, View, button, part, props, sentence, settle

if TYPE_CHECKING:
    from explorer.model.explorer import Explorer
    from explorer.training.training import Task, TrainingPlan

TYPED, READY, FILE, HUB = "Typed here", "Built in", "A file", "From the hub"
MOST_CLASSES = 6
NO_COLUMN = "(none)"
OPENING = "sentiment"  # the built-in set whose run is there at once
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
FEW = 100  # examples: a fifth of fewer says little
FEWEST_CLASSES = 2
MOST_BARS = 8
TOGETHER = "Variants of one sentence are held out together."
SHOWN_ROWS, SHOWN_COLUMNS, SHOWN_CHARACTERS = 4, 4, 120

_of_tables: OnceCache[tuple[Table, Columns], tuple[Examples, str]] = OnceCache(4)  # of 50,000 rows they take seconds


def _number_of_classes(value: Any) -> int:
    in_range = isinstance(value, int) and FEWEST_CLASSES <= value <= MOST_CLASSES
    return value if in_range else len(STARTER)


def _is_typed(number: int) -> Callable[[Any], bool]:
    return lambda view: view.source == TYPED and number <= view.classes


def _class(number: int) -> Any:
    """The box for the name of a class."""
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
    """What to learn from, for every view that needs examples."""

    source: str = choice((TYPED, READY, FILE, HUB), "Examples", container=False, show_label=False)
    ready: str = choice([(title, name) for name, title in BUILT_IN.items()], menu=True, when=lambda v: v.source == READY)
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
        label=f"CSV, TSV or JSON lines, up to {TABLE_MEGABYTES.most} MB",
        height=110,
        visible=False,
        when=lambda view: view.source == FILE,
    )
    data_set: str = text(
        EXAMPLE, "Data set on the Hugging Face hub", heard="", scale=4, visible=False, when=lambda view: view.source == HUB
    )
    text_column: str = _column("Text")
    label_column: str = _column("Label")
    second_column: str = _column("Second text")

    def examples(self) -> tuple[Examples, str]:
        """The examples, and what is to be said of them. Raises InputError."""
        if self.source == READY:
            examples = built_in(self.ready)
            return examples, TOGETHER if examples.groups else ""
        if self.source == TYPED:
            return self._typed(), ""
        if self.table is None:
            missing = {FILE: "Choose a CSV, TSV or JSON-lines file.", HUB: "Name a data set and fetch it."}
            raise InputError(missing[self.source])
        second = "" if self.second_column == NO_COLUMN else self.second_column
        columns = Columns(self.text_column, self.label_column, second)
        return _of_tables.get((self.table, columns), lambda: examples_from_table(self.table, columns))

    def title(self, examples: Examples) -> str:
        """What a run on these examples is called."""
        if self.source == READY:
            return BUILT_IN[self.ready].split(":")[0]
        return " / ".join(examples.classes)[:40]

    def task(self, model: "Explorer", examples: Examples, plan: "TrainingPlan") -> "Task":
        """What is learnt from examples."""
        from explorer.training.text_tasks import text_task

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
    """What is typed when the page opens, and what a run on it is called."""
    given = ExampleSettings()
    examples, _ = given.examples()
    return examples, given.title(examples)


def _key(examples: Examples) -> str:
    return str(hash(examples))


class ExamplesView(ExampleSettings):
    """What there is to learn from, and how the classes are balanced."""

    name, question = "fine-tune/examples", "What is there to learn from?"
    width = 6
    boxes = (
        *(("class_1", "class_2", "class_3"), ("lines_1", "lines_2", "lines_3")),
        *(("class_4", "class_5", "class_6"), ("lines_4", "lines_5", "lines_6")),
    )
    side_by_side = (("source",), ("ready",), *boxes, ("data_set", "fetch"), ("text_column", "label_column", "second_column"))
    layout = (
        *("source", "ready", "classes", *(name for row in boxes for name in row), "add_class"),
        *("table", *side_by_side[-2], *side_by_side[-1]),
    )
    by_hand: ClassVar = {
        "fetch": "It tells how far the download is, and must not wait for a training.",
        "data_set": "What is typed there means nothing before it is fetched.",
    }
    run: str | None = memory(None, kept=run_id, linked=False)
    runs: tuple[str, ...] = memory((), kept=run_ids, linked=False, stored="bert-explorer-runs")
    aside: tuple[str, ...] = memory((), kept=run_ids, linked=False)
    seen: str = memory("", kept=str, linked=False)  # what the examples are known by that were looked at last
    add_class = button("Add a class", optional=True, wide=True)
    fetch = button("Fetch", optional=True, min_width=80, scale=1)
    preview = part("frame", optional=True)
    about = sentence(classes="caption")
    balance = part("bars")

    def compute(self, subject: Subject) -> Content:
        """What the examples are, or what is missing; which boxes are to be seen."""
        shown: Content = {**self._columns(), **self._preview()}
        if self.source == TYPED:
            shown["add_class"] = props(visible=True, interactive=self.classes < MOST_CLASSES)
        if self.source == HUB:
            shown["fetch"] = props(visible=True)
        try:
            examples, note = self.examples()
            shown |= _describe(examples, note)
            return shown | self._learnt(subject, examples)
        except InputError as error:
            return {**shown, "about": str(error), "balance": None, **self._looked_at(str(error))}

    def _looked_at(self, key: str) -> Content:
        """Which run, by what the examples are known by: what was learnt of others is put aside."""
        if not self.seen and self.runs:  # a page that was opened again shows the newest run of its browser
            return {"seen": key}
        if key == (self.seen or _key(starter()[0])):
            return {}
        seen = self.run or store.new_id()  # the id of no run is as good: that something is aside says that examples changed
        return {"seen": key, "run": None, "aside": run_ids((seen, *self.runs))}

    def _learnt(self, subject: Subject, examples: Examples) -> Content:
        """The run of these examples, where they are few or the page brings them, unless another one is looked at."""
        content = self._looked_at(_key(examples))
        run, aside = content.get("run", self.run), content.get("aside", self.aside)
        if any(one and one not in aside and not live.is_of_examples(one) for one in (run, *self.runs)):
            return content
        about = subject.model_name, examples, self.title(examples)
        ours = (self.source == READY and self.ready == OPENING) or examples == starter()[0]
        if not live.is_quick(subject, examples, 3 if ours else 1) or not (ours or live.is_few(examples)):
            return content
        found = live.brought(*about) if ours else live.learnt(*about)
        return {**content, "run": found.id, "aside": tuple(one for one in aside if one != found.id)}

    def on_examples(self, subject: Subject, _: Any) -> Change:
        """Other examples: whatever is seen of a run follows."""
        return settle(run=self.run)

    on_ready = on_text_column = on_label_column = on_second_column = on_examples
    on_class_1 = on_class_2 = on_class_3 = on_class_4 = on_class_5 = on_class_6 = on_examples
    on_lines_1 = on_lines_2 = on_lines_3 = on_lines_4 = on_lines_5 = on_lines_6 = on_examples

    def on_source(self, subject: Subject, source: str) -> Change:
        """Examples from somewhere else: the table of before is put away."""
        nothing = {"table": None, "text_column": "", "label_column": "", "second_column": ""}
        return Change(settings=nothing | {"run": self.run}, content={"table": props(value=None)})

    def on_add_class(self, subject: Subject, _: None) -> Change:
        """Boxes for one more class."""
        return settle(classes=min(self.classes + 1, MOST_CLASSES))

    def on_table(self, subject: Subject, table: Table | None) -> Change:
        """A table has come, or is taken away: which column is what is guessed."""
        found = guess_columns(table) if table else Columns("", "")
        columns = {"text_column": found.text, "label_column": found.label, "second_column": found.text_b or NO_COLUMN}
        return settle(**columns, run=self.run)

    def _columns(self) -> Content:
        names = list(self.table.columns) if self.table else []
        choices = {"text_column": names, "label_column": names, "second_column": [NO_COLUMN, *names]}
        there = self.table is not None
        return {
            name: props(choices=options, value=getattr(self, name) or None, visible=there) for name, options in choices.items()
        }

    def _preview(self) -> Content:
        """The first rows, with the chosen columns in front."""
        if self.table is None:
            return {}
        columns = list(self.table.columns)
        chosen = [self.text_column, self.second_column, self.label_column]
        seen = [name for name in dict.fromkeys(chosen) if name in columns]
        seen += [name for name in columns if name not in seen][: SHOWN_COLUMNS - len(seen)]
        cells = [[cell[:SHOWN_CHARACTERS] for cell in self.table.column(name)[:SHOWN_ROWS]] for name in seen]
        share = 100 // (len(seen) + 2)
        widths = [f"{100 - share * (len(seen) - 1)}%", *[f"{share}%"] * (len(seen) - 1)]
        frame = {"headers": seen, "data": [list(row) for row in zip(*cells, strict=True)]}
        return {"preview": props(value=frame, column_widths=widths, visible=True)}


def _describe(examples: Examples, note: str) -> Content:
    kind = "pairs of sentences" if examples.texts_b else "sentences"
    held_out = "a part of each class is held out, a fifth unless you choose another, and never trained on"
    if live.is_few(examples):
        held_out = "a head alone learns from so few at once, all of them, and each is left out in turn to judge it"
    if isinstance(examples, ScoredExamples):
        about = f"{len(examples):,} {kind}, each with a number; {held_out.replace('class', 'fifth of the numbers')}. {note}"
        return {"about": about, "balance": bars(_spread(examples))}
    largest = sorted(examples.counts.items(), key=lambda item: -item[1])[:MOST_BARS]
    more = ""
    if len(examples.classes) > len(largest):
        more = f" The {len(largest)} largest of {len(examples.classes)} classes:"
    return {
        "about": f"{len(examples):,} {kind}; {held_out}. {note}{more}",
        "balance": bars([(label, count / len(examples), f"{count:,}") for label, count in largest]),
    }


def _spread(examples: ScoredExamples) -> list[tuple[str, float, str]]:
    """How many of the numbers are in each fifth of their range."""
    counts, edges = np.histogram(examples.numbers, bins=5)
    ranges = zip(counts, edges, edges[1:], strict=False)
    return [(f"{low:.3g} to {high:.3g}", count / len(examples), f"{count:,}") for count, low, high in ranges]
