"""The view of the examples to learn from, for every kind of task."""

from base64 import b64decode
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS
from explorer.core.scheduling import FETCHING
from explorer.core.steps import map_steps
from explorer.finetune.cards import OUTSIDE, cards_of, draw_cards, take_in
from explorer.finetune.compute.from_table import ExampleFile, how_read
from explorer.finetune.compute.predictor import Run
from explorer.finetune.compute.texts import HeldOutTexts
from explorer.finetune.pictures import is_in_turn
from explorer.finetune.recipe import HUB, KINDS, TEXTS, TYPED, begin
from explorer.finetune.runs import RunView
from explorer.finetune.sources import IN_FILE, NO_COLUMN, describe, is_few
from explorer.text.characters import decode
from explorer.text.lines import split_lines
from explorer.text.tables import FILE_TYPES, Table, parse_table
from explorer.training.columns import Columns, guess_columns
from explorer.training.hub_data import fetch_data_set
from explorer.training.tagging import TaggedExamples
from explorer.ui.layout import row
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Why, button, part, props, runs_as, sentence, settle

SHOWN_ROWS, SHOWN_COLUMNS, SHOWN_CHARACTERS = 4, 4, 120
SHOWN_WORDS = 40  # of a tagged sentence
PROJECT = "Open in Projection"


class ExamplesView(RunView):
    """The examples to learn from, and the balance of their classes."""

    name, question = "fine-tune/examples", "Which examples does BERT learn from?"
    width = 6
    layout = (
        row("source", "mapped"),
        row("data_set", "fetch"),
        row("text_column", "label_column", "second_column", "labels_are"),
    )
    names = (
        *layout[0].names,
        *("ready", "classes", "cards", "tagged_lines", "tagged", "file"),
        *(*layout[1].names, "read_as", *layout[2].names, *RunView.names),
    )
    mapped = button(PROJECT, optional=True, min_width=140, scale=0)
    cards = part("cards", optional=True)
    tagged = part("words", optional=True)
    fetch = button("Fetch", optional=True, min_width=80, scale=1)
    read_as = sentence(classes="caption", optional=True)
    preview = part("frame", optional=True)
    about = sentence(classes="caption")
    balance = part("bars", optional=True)

    def show_run(self, subject: Subject, run: Run) -> Content:
        return self._show(run)

    def without_run(self, subject: Subject, why: str) -> Content:
        return self._show(None)

    def _show(self, run: Run | None) -> Content:
        """The examples, with the mistakes of a run, or an error; and which boxes are visible."""
        kind = KINDS[self.kind]
        shown: Content = {
            "source": props(choices=list(kind.sources), value=self.origin),
            "ready": props(choices=[(title, name) for name, title in kind.sets.items()], value=self.ready_set),
            **self._columns(),
        }
        if self.source == HUB:
            shown["fetch"] = props(visible=True)
        try:
            examples, note = self.examples()
            shown |= describe(examples, note, is_few(examples) if run is None else is_in_turn(run))
        except InputError as error:
            examples, shown["about"] = None, str(error)
        if self.kind == TEXTS and self.source == TYPED:
            shown |= {"cards": draw_cards(self.classes, mistakes_of(run) if run else {}), "mapped": PROJECT}
            shown.pop("balance", None)  # the cards count them
        if isinstance(examples, TaggedExamples):
            first = examples.sentences[0]
            cells = [(tag, 0.0 if tag == OUTSIDE else 0.6, "") for tag in first.tags[:SHOWN_WORDS]]
            shown["tagged"] = word_grid("word", first.words[:SHOWN_WORDS], ["tag"], [cells])
        return shown

    def on_source(self, subject: Subject, source: str) -> Change:
        nothing = {"file": None, "text_column": "", "label_column": "", "second_column": "", "labels_are": ""}
        return Change(settings=nothing, content={"file": props(value=None)})

    def on_cards(self, subject: Subject, typed: object) -> Change:
        """The cards were changed by hand, [[name, [line, ...]], ...], or a file was dropped on the one with the number `card`."""
        if not isinstance(typed, dict):
            return settle(classes=cards_of(typed))
        cards, card = cards_of(typed.get("cards")), typed.get("card")
        place = card if type(card) is int and card in range(len(cards)) else 0
        table = read_dropped(str(typed.get("name")), str(typed.get("content")))
        taken = take_in(cards, place, table)
        left = len(table.rows) - sum(len(lines) for _, lines in taken) + sum(len(lines) for _, lines in cards)
        note = {"read_as": f"{left:,} row{'s' * (left != 1)} without a text or a label left out."} if left else {}
        return Change(settings={"classes": cards_of(taken)}, content=note)

    def on_mapped(self, subject: Subject, index: None) -> Why:
        named = [(name.replace("|", " ").strip(), lines) for name, lines in self.classes]
        lines = [f"{line} | {name}" for name, lines in named for line in lines if line.strip()]
        return Why("projection", "Map", settings={"source": "Sentences", "sentences": "\n".join(lines), "search": ""})

    def on_file(self, subject: Subject, file: ExampleFile | None) -> Change:
        """A file was uploaded or removed: its kind of task is chosen, and the columns of a table are guessed."""
        found = guess_columns(file) if isinstance(file, Table) else Columns("", "")
        columns = {"text_column": found.text, "label_column": found.label, "second_column": found.text_b or NO_COLUMN}
        kind = self.kind if file is None else IN_FILE[type(file)]
        task = {} if kind == self.kind else {**begin(kind, subject), "source": self.source, "file": file}
        return settle(**task, **columns, labels_are="")

    @runs_as(FETCHING)
    def on_fetch(self, subject: Subject, _: Any) -> Generator[Content, None, Change]:
        try:
            table = yield from map_steps(fetch_data_set(self.data_set), lambda doing: {"about": doing})
        except InputError:
            yield {"about": self._show(None)["about"]}
            raise
        return settle(file=table, **self.on_file(subject, table).settings)

    on_data_set = on_fetch

    def _columns(self) -> Content:
        """The menus of the columns of a table, how it was read, and its first rows with the chosen columns in front."""
        if not isinstance(self.file, Table) or not self.is_labelled_table:
            return {}
        table, names = self.file, list(self.file.columns)
        choices = {"text_column": names, "second_column": [NO_COLUMN, *names], "label_column": names}
        chosen = {name: getattr(self, name) for name in choices}
        seen = [name for name in dict.fromkeys(chosen.values()) if name in names]
        seen += [name for name in names if name not in seen][: SHOWN_COLUMNS - len(seen)]
        cells = [[cell[:SHOWN_CHARACTERS] for cell in table.column(name)[:SHOWN_ROWS]] for name in seen]
        share = 100 // (len(seen) + 2)
        widths = [f"{100 - share * (len(seen) - 1)}%", *[f"{share}%"] * (len(seen) - 1)]
        frame = {"headers": seen, "data": [list(row) for row in zip(*cells, strict=True)]}
        return {
            **{name: props(choices=options, value=chosen[name] or None) for name, options in choices.items()},
            "read_as": " ".join(how_read(table, self.columns)),
            "preview": props(value=frame, column_widths=widths, visible=True),
        }


def read_dropped(name: str, content: str) -> Table:
    """A file that was dropped on a card, from its name and a data URL: read as an uploaded one, and of other texts the lines.

    A pasted table has no name. Raises InputError.
    """
    BOX_CHARACTERS.check(len(content) * 3 // 4, "the file")
    try:
        data = b64decode(content.partition(",")[2], validate=True)
    except ValueError as error:
        raise InputError("The file did not arrive whole. Drop it again.") from error
    ending = Path(name).suffix.lower() if name else ".csv"
    if ending in FILE_TYPES and (ending != ".txt" or b"\t" in data):
        return parse_table(data)
    return Table(("text",), tuple((line,) for line in split_lines(decode(data)[0])), "")


def mistakes_of(run: Run) -> dict[tuple[str, str], str]:
    """The predictions for the sentences that the heads of a run got wrong when left out, by (sentence, label)."""
    if not is_in_turn(run) or not isinstance(held := run.held_out, HeldOutTexts):
        return {}
    labels = run.predictor.labels
    wrong = np.flatnonzero(~held.hits)
    return {(held.texts[row], labels[held.targets[row]]): labels[held.said[row]] for row in wrong}
