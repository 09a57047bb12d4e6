"""The view of the examples to learn from, for every kind of task."""

from collections.abc import Generator
from typing import Any

import numpy as np

from explorer.core.errors import InputError
from explorer.core.scheduling import FETCHING
from explorer.core.steps import map_steps
from explorer.finetune.cards import OUTSIDE, cards_of, draw_cards, take_in
from explorer.finetune.compute.columns import Columns, guess_columns
from explorer.finetune.compute.from_table import AnyExamples, ExampleFile, how_read
from explorer.finetune.compute.texts import HeldOutTexts
from explorer.finetune.recipe import HUB, KINDS, READY, TEXTS, TYPED, begin
from explorer.finetune.runs import find_learned, is_quick, learn, run_id, run_ids
from explorer.finetune.sources import IN_FILE, NO_COLUMN, ExampleSettings, describe, is_few, starter
from explorer.text.hub_data import fetch_data_set
from explorer.text.tables import Table
from explorer.training.tagging import TaggedExamples
from explorer.ui.layout import row
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Why, button, part, props, runs_as, sentence, settle

SHOWN_ROWS, SHOWN_COLUMNS, SHOWN_CHARACTERS = 4, 4, 120
SHOWN_WORDS = 40  # of a tagged sentence
PROJECT = "Open in Projection"


class ExamplesView(ExampleSettings):
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
        *("ready", "classes", "cards", "tagged_lines", "tagged", "table"),
        *(*layout[1].names, "read_as", *layout[2].names),
    )
    run: str | None = memory(None, kept=run_id, linked=False)
    runs: tuple[str, ...] = memory((), kept=run_ids, linked=False, stored="bert-explorer-runs")
    edited: bool = memory(False, kept=bool, linked=False)
    seen: str = memory("", kept=str, linked=False)  # a key of the examples that were shown last
    mapped = button(PROJECT, optional=True, min_width=140, scale=0)
    cards = part("cards", optional=True)
    tagged = part("words", optional=True)
    fetch = button("Fetch", optional=True, min_width=80, scale=1)
    read_as = sentence(classes="caption", optional=True)
    preview = part("frame", optional=True)
    about = sentence(classes="caption")
    balance = part("bars", optional=True)

    def compute(self, subject: Subject) -> Content:
        """The examples, or an error; and which boxes are visible."""
        typed, labelled, kind = self.source == TYPED, self.kind == TEXTS, KINDS[self.kind]
        shown: Content = {
            "source": props(choices=list(kind.sources), value=self.origin),
            "ready": props(choices=[(title, name) for name, title in kind.sets.items()], value=self.ready_set),
            **self._columns(),
        }
        if labelled and typed:
            shown |= {"cards": draw_cards(self.classes, {}), "mapped": PROJECT}
        if self.source == HUB:
            shown["fetch"] = props(visible=True)
        examples: AnyExamples | None = None
        try:
            examples, note = self.examples()
            shown |= describe(subject, examples, note)
            shown |= self._learn(subject, examples) if labelled else {}
        except InputError as error:
            shown |= {"about": str(error), **(self._looked_at(str(error)) if labelled else {})}
        if labelled and typed and examples is not None:
            shown.pop("balance", None)  # the cards count them
            if run := shown.get("run", self.run):
                shown["cards"] = draw_cards(self.classes, mistakes_of(run))
        if isinstance(examples, TaggedExamples):
            first = examples.sentences[0]
            cells = [(tag, 0.0 if tag == OUTSIDE else 0.6, "") for tag in first.tags[:SHOWN_WORDS]]
            shown["tagged"] = word_grid("word", first.words[:SHOWN_WORDS], ["tag"], [cells])
        return shown

    def _looked_at(self, key: str) -> Content:
        """What to show of runs, by the key of the examples: none of other examples."""
        if not self.seen and self.runs:  # a reloaded page shows the newest run of its browser
            return {"seen": key}
        if key == (self.seen or str(hash(starter()[0]))):
            return {}
        return {"seen": key, "run": None, "edited": True}

    def _learn(self, subject: Subject, examples: Any) -> Content:
        """The run of these examples if they are few, or the page's own, unless another run is shown."""
        content = self._looked_at(str(hash(examples)))
        runs = () if content.get("edited", self.edited) else self.runs
        if not all(find_learned(identifier) for identifier in (content.get("run", self.run), *runs) if identifier):
            return content
        ours = (self.source == READY and self.ready_set == KINDS[TEXTS].opening) or examples == starter()[0]
        if not is_quick(subject, examples, 3 if ours else 1) or not (ours or is_few(examples)):
            return content
        found = learn(subject.model_name, examples, self.title(examples))
        return {**content, "run": found.id}

    def on_examples(self, subject: Subject, _: Any) -> Change:
        return settle(run=self.run)

    on_ready = on_text_column = on_label_column = on_second_column = on_labels_are = on_examples

    def on_source(self, subject: Subject, source: str) -> Change:
        nothing = {"table": None, "text_column": "", "label_column": "", "second_column": "", "labels_are": ""}
        return Change(settings=nothing | {"run": self.run}, content={"table": props(value=None)})

    def on_cards(self, subject: Subject, typed: object) -> Change:
        """The cards were changed by hand, [[name, [line, ...]], ...], or a table, {"cards", "table"}, was dropped on them."""
        if not isinstance(typed, dict):
            return settle(classes=cards_of(typed), run=self.run)
        cards = take_in(cards_of(typed.get("cards")), str(typed.get("table")))
        return settle(classes=cards_of(cards), run=self.run)

    def on_mapped(self, subject: Subject, index: None) -> Why:
        named = [(name.replace("|", " ").strip(), lines) for name, lines in self.classes]
        lines = [f"{line} | {name}" for name, lines in named for line in lines if line.strip()]
        return Why("projection", "Map", settings={"source": "Sentences", "sentences": "\n".join(lines), "search": ""})

    def on_table(self, subject: Subject, table: ExampleFile | None) -> Change:
        """A file was uploaded or removed: its kind of task is chosen, and the columns of a table are guessed."""
        found = guess_columns(table) if isinstance(table, Table) else Columns("", "")
        columns = {"text_column": found.text, "label_column": found.label, "second_column": found.text_b or NO_COLUMN}
        kind = self.kind if table is None else IN_FILE[type(table)]
        task = {} if kind == self.kind else {**begin(kind, subject), "source": self.source, "table": table}
        return settle(**{"run": self.run, **task, **columns, "labels_are": ""})

    @runs_as(FETCHING)
    def on_fetch(self, subject: Subject, _: Any) -> Generator[Content, None, Change]:
        try:
            table = yield from map_steps(fetch_data_set(self.data_set), lambda doing: {"about": doing})
        except InputError:
            yield {"about": self.compute(subject)["about"]}
            raise
        return settle(table=table, **self.on_table(subject, table).settings)

    on_data_set = on_fetch

    def _columns(self) -> Content:
        """The menus of the columns of a table, how it was read, and its first rows with the chosen columns in front."""
        if self.kind != TEXTS or not isinstance(self.table, Table):
            return {name: props(visible=False) for name in self.layout[2].names}
        table, names = self.table, list(self.table.columns)
        choices = {"text_column": names, "second_column": [NO_COLUMN, *names], "label_column": names}
        chosen = {name: getattr(self, name) for name in choices}
        seen = [name for name in dict.fromkeys(chosen.values()) if name in names]
        seen += [name for name in names if name not in seen][: SHOWN_COLUMNS - len(seen)]
        cells = [[cell[:SHOWN_CHARACTERS] for cell in table.column(name)[:SHOWN_ROWS]] for name in seen]
        share = 100 // (len(seen) + 2)
        widths = [f"{100 - share * (len(seen) - 1)}%", *[f"{share}%"] * (len(seen) - 1)]
        frame = {"headers": seen, "data": [list(row) for row in zip(*cells, strict=True)]}
        return {
            **{name: props(choices=options, value=chosen[name] or None, visible=True) for name, options in choices.items()},
            "labels_are": props(value=self.labels_are, visible=True),
            "read_as": props(value=" ".join(how_read(table, self.columns)), visible=True),
            "preview": props(value=frame, column_widths=widths, visible=True),
        }


def mistakes_of(identifier: str) -> dict[tuple[str, str], str]:
    """What the heads said of the sentences that they got wrong, by (sentence, label), for a run trained as one types."""
    if (run := find_learned(identifier)) is None or not isinstance(held := run.held_out, HeldOutTexts):
        return {}
    labels = run.predictor.labels
    wrong = np.flatnonzero(~held.hits)
    return {(held.texts[row], labels[held.targets[row]]): labels[held.said[row]] for row in wrong}
