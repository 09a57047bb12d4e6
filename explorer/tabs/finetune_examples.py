"""Fine-tune, first part: where the examples come from."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd

from explorer.base.errors import InputError
from explorer.page.components import Bars, Notice
from explorer.page.wiring import Page, Updates, typed_in
from explorer.text import limits
from explorer.text.lines import split_lines
from explorer.text.tables import FILE_TYPES, Table, read_table
from explorer.training.examples import Examples, check_classes
from explorer.training.from_table import BUILT_IN, Columns, built_in, examples_from_table, guess_columns
from explorer.training.hub_data import EXAMPLE, fetch_data_set

READY, TYPED, FILE, HUB = "Built in", "Typed here", "A file", "From the hub"
MOST_CLASSES = 6
NO_COLUMN = "(none)"
STARTER = [
    (
        "praise",
        "The staff could not have been kinder.\nI would come back just for the soup.\n"
        "Everything arrived early and in one piece.\nBest afternoon we have had in months.",
    ),
    (
        "complaint",
        "We waited an hour and nobody came.\nThe zip broke on the second day.\n"
        "They charged me twice and will not answer.\nCold food, dirty glasses, loud music.",
    ),
]
FEW = 100  # examples: a fifth of fewer says little
SHOWN_ROWS, SHOWN_CHARACTERS = 4, 120


@dataclass(eq=False)
class Sources:
    """The components that say what to train on."""

    source: gr.Radio
    ready: gr.Dropdown
    table: gr.State
    columns: list[gr.Dropdown]  # text, label, second text
    names: list[gr.Textbox]  # of the typed classes
    lines: list[gr.Textbox]
    groups: dict[str, gr.Column]
    about: Notice
    balance: Bars
    preview: gr.Dataframe

    @property
    def inputs(self) -> list[gr.components.Component]:
        """What `examples_from` takes, in its order."""
        return [self.source, self.ready, self.table, *self.columns, *self.names, *self.lines]

    @property
    def outputs(self) -> list[Any]:
        """What `describe` changes."""
        return [*self.groups.values(), self.about, self.balance]

    def describe(self, *values: Any) -> Updates:
        """What the examples are, or what is missing; which part is to be seen."""
        shown: Updates = {group: gr.Column(visible=name == values[0]) for name, group in self.groups.items()}
        try:
            examples, said = examples_from(*values)
        except InputError as error:
            return {**shown, self.about: str(error), self.balance: None}
        kind = "pairs of sentences" if examples.texts_b else "sentences"
        held_out = "a part of each class is held out, a fifth unless you choose another, and never trained on"
        if len(examples) < FEW:
            held_out += "; with so few, what is right there is much a matter of luck"
        rows = [(label, count / len(examples), f"{count:,}") for label, count in _largest(examples)]
        more = (
            f" The {len(rows)} largest of {len(examples.classes)} classes:" if len(examples.classes) > len(rows) else ""
        )
        return {
            **shown,
            self.about: f"{len(examples):,} {kind}; {held_out}. {said}{more}",
            self.balance: Bars.pack(rows),
        }


def _largest(examples: Examples, most: int = 8) -> list[tuple[str, int]]:
    return sorted(examples.counts.items(), key=lambda item: -item[1])[:most]


def examples_from(
    source: str, ready: str, table: Table | None, text: str, label: str, second: str, *typed: str
) -> tuple[Examples, str]:
    """The examples that the page holds, and what is to be said of them. Raises InputError."""
    if source == READY:
        return built_in(ready), ""
    if source == TYPED:
        return _typed(typed[: len(typed) // 2], typed[len(typed) // 2 :]), ""
    if table is None:
        raise InputError("Choose a CSV, TSV or JSON-lines file." if source == FILE else "Name a data set and fetch it.")
    return examples_from_table(table, Columns(text or "", label or "", "" if second in (None, NO_COLUMN) else second))


def _typed(names: tuple[str, ...], blocks: tuple[str, ...]) -> Examples:
    pairs = []
    for number, (name, block) in enumerate(zip(names, blocks, strict=True), start=1):
        lines = split_lines(block)
        if lines and not (name or "").strip():
            raise InputError(f"Class {number} has sentences but no name; give it one.")
        pairs += [(limits.check_text(line, "a line"), name.strip()[:100]) for line in lines]
    if not pairs:
        raise InputError("There are no sentences yet; type or paste some, one a line.")
    if len(pairs) > limits.MAX_TEXTS:
        raise InputError(f"There are {len(pairs):,} sentences; keep {limits.MAX_TEXTS:,} of them or fewer.")
    check_classes(Counter(label for _, label in pairs))
    texts, labels = zip(*pairs, strict=True)
    return Examples(texts, labels)


def build_sources(page: Page) -> Sources:
    """Make and wire the components."""
    source = gr.Radio([READY, TYPED, FILE, HUB], value=READY, label="Examples", elem_id="examples-source")
    groups = {}
    with gr.Column(visible=True, elem_classes="source") as groups[READY]:
        choices = [(title, name) for name, title in BUILT_IN.items()]
        ready = gr.Dropdown(choices, value="sentiment", show_label=False, container=False, elem_id="built-in")
    with gr.Column(visible=False, elem_classes="source") as groups[TYPED]:
        names, lines, rows = _build_typed()
        more = gr.Button("Add a class", size="sm", elem_id="add-class")
    table = gr.State(None)
    with gr.Column(visible=False, elem_classes="source") as groups[FILE]:
        file = gr.File(
            file_types=[*FILE_TYPES], label="CSV, TSV or JSON lines, up to 10 MB", height=110, elem_id="examples-file"
        )
    with gr.Column(visible=False, elem_classes="source") as groups[HUB], gr.Row(equal_height=True):
        name = gr.Textbox(EXAMPLE, label="Data set on the Hugging Face hub", elem_id="data-set", scale=4)
        fetch = gr.Button("Fetch", size="sm", elem_id="fetch-data-set", min_width=80, scale=1)
    with gr.Row(visible=False) as chosen:
        labels = ("Text", "Label", "Second text")
        columns = [gr.Dropdown([], label=title, min_width=90, elem_id=f"column-{i}") for i, title in enumerate(labels)]
    preview = gr.Dataframe(visible=False, interactive=False, wrap=True, show_label=False, elem_id="preview")
    about = Notice(elem_classes="caption", elem_id="examples-about")
    balance = Bars(elem_id="balance")
    made = Sources(source, ready, table, columns, names, lines, groups, about, balance, preview)
    _wire_typed(page, made, more, rows)
    _wire_tables(page, made, file, name, fetch, chosen)

    def start_over() -> Updates:
        return {chosen: gr.Row(visible=False), preview: gr.Dataframe(visible=False), table: None, file: None}

    page.run([source.input], start_over, [chosen, preview, table, file], queue=False)
    for trigger in (source.input, ready.input, *(column.input for column in columns)):
        page.run([trigger], made.describe, made.outputs, made.inputs)
    return made


def _build_typed() -> tuple[list[gr.Textbox], list[gr.Textbox], list[gr.Row]]:
    names, lines, rows = [], [], []
    for number in range(MOST_CLASSES):
        name, text = STARTER[number] if number < len(STARTER) else ("", "")
        with gr.Row(visible=number < len(STARTER)) as row:
            names.append(
                gr.Textbox(
                    name,
                    label=f"Class {number + 1}",
                    max_length=100,
                    min_width=90,
                    scale=1,
                    elem_id=f"class-{number + 1}",
                )
            )
            lines.append(
                gr.Textbox(
                    text, label="Sentences, one a line", lines=4, max_lines=8, scale=3, elem_id=f"lines-{number + 1}"
                )
            )
        rows.append(row)
    return names, lines, rows


def _wire_typed(page: Page, made: Sources, more: gr.Button, rows: list[gr.Row]) -> None:
    seen = gr.State(len(STARTER))

    def add(count: int) -> Updates:
        count = min(count + 1, MOST_CLASSES)
        shown = {row: gr.Row(visible=number < count) for number, row in enumerate(rows)}
        return {**shown, seen: count, more: gr.Button(interactive=count < MOST_CLASSES)}

    page.run([more.click], add, [*rows, seen, more], [seen], queue=False)
    for box in (*made.names, *made.lines):
        page.run([box.change], made.describe, made.outputs, made.inputs, **typed_in(box))


def _wire_tables(page: Page, made: Sources, file: gr.File, name: gr.Textbox, fetch: gr.Button, chosen: gr.Row) -> None:
    def opened(table: Table) -> Updates:
        guessed = guess_columns(table)
        columns = list(table.columns)
        choices = (columns, columns, [NO_COLUMN, *columns])
        values = (guessed.text, guessed.label or None, guessed.text_b or NO_COLUMN)
        seen = [name for name in dict.fromkeys([guessed.text, guessed.text_b, guessed.label]) if name]
        seen += [name for name in columns if name not in seen][: 4 - len(seen)]
        cells = {name: [cell[:SHOWN_CHARACTERS] for cell in table.column(name)[:SHOWN_ROWS]] for name in seen}
        share = 100 // (len(seen) + 2)
        widths = [f"{100 - share * (len(seen) - 1)}%", *[f"{share}%"] * (len(seen) - 1)]
        return {
            made.table: table,
            chosen: gr.Row(visible=True),
            made.preview: gr.Dataframe(pd.DataFrame(cells), column_widths=widths, visible=True),
            **{
                box: gr.Dropdown(all_, value=value)
                for box, all_, value in zip(made.columns, choices, values, strict=True)
            },
            made.about: table.about,
        }

    def read(path: str | None) -> Updates:
        if path is None:
            return {made.table: None, chosen: gr.Row(visible=False), made.preview: gr.Dataframe(visible=False)}
        return opened(read_table(Path(path)))

    def from_hub(given: str, progress: gr.Progress = gr.Progress()) -> Updates:  # noqa: B008
        return opened(fetch_data_set(given, lambda share, what: progress(share, desc=what)))

    outputs = [made.table, chosen, made.preview, *made.columns, made.about]
    opening = {"concurrency_id": "fetch", "concurrency_limit": 2}
    read_it = page.run([file.change], read, outputs, [file], **opening)
    shown = {"show_progress": "full", "show_progress_on": made.about}
    fetched = page.run([fetch.click, name.submit], from_hub, outputs, [name], **opening, **shown)
    for done in (read_it, fetched):
        page.run(done.success, made.describe, made.outputs, made.inputs)
