"""The view of the examples to learn from."""

from collections.abc import Generator
from typing import Any

import numpy as np

from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.scheduling import FETCHING
from explorer.core.steps import map_steps
from explorer.finetune import live
from explorer.finetune.cards import cards_of, draw_cards
from explorer.finetune.compute import store
from explorer.finetune.compute.columns import Columns, guess_columns
from explorer.finetune.compute.from_table import heading
from explorer.finetune.compute.hub_data import fetch_data_set
from explorer.finetune.compute.run import HeldOutTexts
from explorer.finetune.example_settings import DATA, HUB, NAMES, NO_COLUMN, READY, TYPED, ExampleSettings, starter
from explorer.finetune.run import run_id, run_ids
from explorer.text.tables import Table
from explorer.training.examples import Examples, ScoredExamples
from explorer.ui.layout import row
from explorer.ui.pictures.bars import bars
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, button, part, props, runs_as, sentence, settle

OPENING = "sentiment"  # the built-in set with a run ready at once
MOST_BARS = 8
SHOWN_ROWS, SHOWN_COLUMNS, SHOWN_CHARACTERS = 4, 4, 120


_guesses: OnceCache[Table, Columns] = OnceCache(4)


def _key(examples: Examples) -> str:
    return str(hash(examples))


def size_of(value: object) -> tuple[int, int]:
    """The number of examples and of their words, from a browser's memory."""
    fine = isinstance(value, list | tuple) and len(value) == 2 and all(type(one) is int and 0 <= one < 2**40 for one in value)
    return (value[0], value[1]) if fine else (0, 0)  # type: ignore[index]


class ExamplesView(ExampleSettings):
    """The examples to learn from, and the balance of their classes."""

    name, question = "fine-tune/examples", "What is there to learn from?"
    width = 6
    layout = (
        row("source", "ready"),
        row("data_set", "fetch"),
        row("text_column", "label_column", "second_column", "first_row", "labels_are"),
    )
    names = (*layout[0].names, "classes", "cards", "table", *layout[1].names, "read_as", *layout[2].names)
    run: str | None = memory(None, kept=run_id, linked=False)
    runs: tuple[str, ...] = memory((), kept=run_ids, linked=False, stored="bert-explorer-runs")
    aside: tuple[str, ...] = memory((), kept=run_ids, linked=False)
    seen: str = memory("", kept=str, linked=False)  # a key of the examples that were shown last
    size: tuple[int, int] = memory((0, 0), kept=size_of, linked=False)
    cards = part("cards", optional=True)
    fetch = button("Fetch", optional=True, min_width=80, scale=1)
    read_as = sentence(classes="caption", optional=True)
    preview = part("frame", optional=True)
    about = sentence(classes="caption")
    balance = part("bars", optional=True)

    def compute(self, subject: Subject) -> Content:
        """The examples, or an error; and which boxes are visible."""
        shown: Content = {**self._columns(), **self._preview()}
        if self.source == TYPED:
            shown["cards"] = draw_cards(self.classes, {})
        if self.source == HUB:
            shown["fetch"] = props(visible=True)
        try:
            examples, note = self.examples()
            shown |= _describe(examples, note)
            shown["size"] = (len(examples), sum(len(text.split()) for pair in examples.pairs for text in pair))
            if self.source == TYPED:  # the cards count them
                del shown["balance"]
            shown |= self._learnt(subject, examples)
        except InputError as error:
            return {**shown, "about": str(error), **self._looked_at(str(error))}
        if self.source == TYPED and (run := shown.get("run", self.run)):
            shown["cards"] = draw_cards(self.classes, mistakes_of(run))
        return shown

    def _looked_at(self, key: str) -> Content:
        """The run to show, by the key of the examples: runs of other examples are put aside."""
        if not self.seen and self.runs:  # a reloaded page shows the newest run of its browser
            return {"seen": key}
        if key == (self.seen or _key(starter()[0])):
            return {}
        seen = self.run or store.new_id()  # without a run, any id in `aside` says that the examples have changed
        return {"seen": key, "run": None, "aside": run_ids((seen, *self.runs))}

    def _learnt(self, subject: Subject, examples: Examples) -> Content:
        """The run of these examples if they are few, or the page's own, unless another run is shown."""
        content = self._looked_at(_key(examples))
        run, aside = content.get("run", self.run), content.get("aside", self.aside)
        shown = (identifier for identifier in (run, *self.runs) if identifier and identifier not in aside)
        if not all(map(live.is_of_examples, shown)):
            return content
        about = subject.model_name, examples, self.title(examples)
        ours = (self.source == READY and self.ready == OPENING) or examples == starter()[0]
        if not live.is_quick(subject, examples, 3 if ours else 1) or not (ours or live.is_few(examples)):
            return content
        found = live.brought(*about) if ours else live.learnt(*about)
        return {**content, "run": found.id, "aside": tuple(identifier for identifier in aside if identifier != found.id)}

    def on_examples(self, subject: Subject, _: Any) -> Change:
        """The examples have changed: everything shown of a run follows."""
        return settle(run=self.run)

    on_ready = on_text_column = on_label_column = on_second_column = on_labels_are = on_examples

    def on_source(self, subject: Subject, source: str) -> Change:
        """Examples from another source: the previous table is removed."""
        nothing = {"table": None, "text_column": "", "label_column": "", "second_column": "", "labels_are": ""}
        return Change(settings=nothing | {"run": self.run}, content={"table": props(value=None)})

    def on_cards(self, subject: Subject, typed: object) -> Change:
        """The cards were changed by hand: [[name, [line, ...]], ...]."""
        return settle(classes=cards_of(typed), run=self.run)

    def on_table(self, subject: Subject, table: Table | None) -> Change:
        """A table was uploaded or removed: guess its columns."""
        found = _guess(table) if table else Columns("", "")
        columns = {"text_column": found.text, "label_column": found.label, "second_column": found.text_b or NO_COLUMN}
        return settle(**columns, labels_are="", run=self.run)

    def on_first_row(self, subject: Subject, meaning: str) -> Change:
        """The first row names the columns, or is data: guess the columns of the table that it makes."""
        if self.table is None:
            return settle()
        table = self.table.with_names(meaning == NAMES)
        return settle(table=table, **self.on_table(subject, table).settings)

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
        names = list(self.table.columns) if self.table else []
        choices = {"text_column": names, "label_column": names, "second_column": [NO_COLUMN, *names]}
        there = self.table is not None
        shown: Content = {
            name: props(choices=options, value=getattr(self, name) or None, visible=there) for name, options in choices.items()
        }
        shown["labels_are"] = props(value=self.labels_are, visible=there)
        shown["first_row"] = props(visible=False)
        if self.table is not None:
            shown["read_as"] = props(value=_read_as(self.table, self.text_column, self.label_column), visible=True)
        if self.table is not None and self.table.first:
            shown["first_row"] = props(value=NAMES if self.table.headed else DATA, visible=True)
        return shown

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


def mistakes_of(identifier: str) -> dict[tuple[str, str], str]:
    """What the heads said of the sentences that they got wrong, by (sentence, label), for a run trained as one types."""
    run = live.find(identifier) or (store.fetch(identifier) if live.is_of_examples(identifier) else None)
    if run is None or not isinstance(held := run.held_out, HeldOutTexts):
        return {}
    labels = run.predictor.labels
    wrong = np.flatnonzero(held.said != held.targets)
    return {(held.texts[row], labels[held.targets[row]]): labels[held.said[row]] for row in wrong}


def _guess(table: Table) -> Columns:
    return _guesses.get(table, lambda: guess_columns(table))


def _read_as(table: Table, text: str, label: str) -> str:
    """How a table was read, and how its columns were guessed while they are those."""
    guessed = _guess(table)
    why = [guessed.why] if (text, label) == (guessed.text, guessed.label) else []
    return " ".join([table.about, *table.notes, *heading(table), *why])


def _describe(examples: Examples, note: str) -> Content:
    kind = "pairs of sentences" if examples.texts_b else "sentences"
    held_out = "a part of each class is held out, a fifth unless you choose another, and never trained on"
    if live.is_few(examples):
        held_out = "each is left out in turn, to judge a head alone"
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
    """The share of the numbers in each fifth of their range."""
    counts, edges = np.histogram(examples.numbers, bins=5)
    ranges = zip(counts, edges, edges[1:], strict=False)
    return [(f"{low:.3g} to {high:.3g}", count / len(examples), f"{count:,}") for count, low, high in ranges]
