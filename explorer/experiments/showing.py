"""What views of a run have in common: the mean of every place, the chosen one on the other half, every item, its methods."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from explorer.core.errors import InputError
from explorer.experiments import sentences
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.items import Item, number_groups
from explorer.experiments.compute.question import Question
from explorer.experiments.compute.summary import at_place
from explorer.experiments.pictures import Interval, beside, board, intervals, shown_places
from explorer.experiments.sentences import null_of
from explorer.text import limits
from explorer.text.encoding import MASK
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.pictures.strip_table import Column, Row, in_context, strip_table
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, NewInput, View, button, chart, part, props, prose, read, sentence, settle, show

PIECES = 1.3  # tokens of a word
NAME = 24  # characters of a checkpoint's name beside its mean
MOST_PLACES = 10_000  # in a direction
LISTED = 200  # items at most
BESIDE = 60  # characters on each side of a blank
Line = tuple[int, Item, Sequence[str], Sequence[float]]
"""The number of an item from 0, the item, its word and foil, and a number for each title of the table."""


def kept_place(value: object) -> tuple[int, ...]:
    """A place that a click left behind, () for none."""
    fine = isinstance(value, list | tuple) and len(value) <= 2 and all(type(at) is int and 0 <= at < MOST_PLACES for at in value)
    return tuple(value) if fine else ()  # type: ignore[arg-type]


def find_clicked(found: Experiment, index: object) -> tuple[int, ...]:
    """The place of a click on the picture: [row, column], or the number of a row; () for none."""
    at = kept_place(index if isinstance(index, list | tuple) else [index])
    shown = shown_places(found)
    inside = len(at) == len(shown) and all(place < len(places) for place, places in zip(at, shown, strict=True))
    return tuple(int(places[place]) for place, places in zip(at, shown, strict=True)) if inside else ()


def place_in(found: Experiment, place: tuple[int, ...]) -> tuple[int, ...]:
    """A place that was clicked, where the run has it; else the selected one."""
    shape = found.summary.q.shape
    fits = len(place) == len(shape) and all(at < most for at, most in zip(place, shape, strict=True))
    return place if fits else found.summary.selected


def passes_for(asked: Question, items: Sequence[Item], subject: Subject) -> float:
    """About how many runs of the page's input take as long as a question of some items."""
    tokens = sum(PIECES * len(f"{item.text_a} {item.text_b}".split()) + 2 for item in items)
    return tokens / subject.trace.kept * asked.cost[1]


class RunView(View):
    """A view that shows one run, with one place chosen."""

    board = chart("The mean of every place", height=330, hides_empty=True)
    about = sentence(classes="caption")
    hint = prose(
        value="Click a place to see it in each item, and an item to open it in the page.", classes="caption", visible=False
    )
    describe = button("Methods text for a paper", visible=False, more=True)
    methods = part("code", lines=14, visible=False)
    chosen = sentence(keep_height=True)
    interval = chart("The selected place on the other half, beside what it is judged by", height=150, hides_empty=True)
    beside = chart("What else was measured, beside the means", height=230, hides_empty=True)
    each = part("strips", height=300)
    place: tuple[int, ...] = memory((), kept=kept_place)

    nothing: ClassVar[str]  # what a click says without a run

    @property
    def file_name(self) -> str:
        return "run.json"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.names = sorted(cls.names, key=RunView.names.__contains__)  # from top to bottom: first what only this view has

    @abstractmethod
    def found(self, subject: Subject) -> Experiment | None:
        """The run that is shown, if there is one."""

    def run_of(self, subject: Subject) -> Experiment:
        """The run that is shown. Raises InputError without one."""
        if (found := self.found(subject)) is None:
            raise InputError(self.nothing)
        return found

    def on_describe(self, subject: Subject, _: None) -> Change:
        """The methods section for a paper. Raises InputError without a run."""
        return show(methods=props(value=sentences.methods(self.run_of(subject), self.file_name), visible=True))

    def on_board(self, subject: Subject, index: object) -> Change:
        """Another place: [row, column], or the number of a row, zero-based. Raises InputError without a run."""
        return settle(place=find_clicked(self.run_of(subject), index))

    def on_each(self, subject: Subject, index: object) -> NewInput:
        return open_item(subject, self.run_of(subject).items, index)


def show_run(found: Experiment, at: tuple[int, ...]) -> Content:
    """The pictures and sentences of a run, with one place chosen."""
    return {
        "board": board(found, at),
        "about": sentences.about(found),
        "chosen": sentences.chosen(found, at),
        "interval": _held_out(found),
        "beside": beside(found, at),
        "each": _each(found, at),
        **_offered(True),
    }


def show_nothing() -> Content:
    """The same before there is a run."""
    return {**dict.fromkeys(("board", "interval", "beside", "each")), "chosen": "", "about": "", **_offered(False)}


def _offered(visible: bool) -> Content:
    """The hint and the button for the methods section, and no text of a former run."""
    return {"hint": props(visible=visible), "describe": props(visible=visible), "methods": props(value="", visible=False)}


def item_table(lines: Iterable[Line], titles: Sequence[str] = (), label: str = "The items") -> dict[str, Any]:
    """The table of some items, each a button with its number: the text around the blank, both words, and some numbers."""
    columns = [*in_context("word / foil"), *(Column(title, "number", form="+.2f") for title in titles)]
    rows = []
    for number, item, words, values in lines:
        left, _, right = " / ".join(filter(None, (item.text_a, item.text_b))).partition(MASK)
        before = left if len(left) <= BESIDE else f"…{left[-BESIDE:]}"
        after = right if len(right) <= BESIDE else f"{right[:BESIDE]}…"
        rows.append(Row((before, " / ".join(words), after, *values), number))
    return strip_table(columns, rows, label, "item")


def open_item(subject: Subject, items: Sequence[Item], index: object) -> NewInput:
    """The item of a clicked row as the page's input, with its first blank as the chosen token. Raises InputError."""
    item = items[limits.check_integer(index, "the item", 0, len(items) - 1)]
    blanks = subject.model.mask_positions(subject.model.encode(item.text_a, item.text_b))
    return read(item.text_a, item.text_b, token=blanks[0] if blanks else None)


def preview_items(items: Sequence[Item]) -> dict[str, Any]:
    """The table of items before they are asked: the first LISTED."""
    return item_table(
        (number, item, [word or "best guess" for word in (item.word, item.foil)], ())
        for number, item in enumerate(items[:LISTED])
    )


def _held_out(found: Experiment) -> Any:
    """The selected place on the other half, what it is judged by, and the same place of other checkpoints over all items."""
    held, at = found.summary.held_out, found.summary.selected
    rows = [
        Interval(f"{found.short(at)} on the other {held.items}", held.effect, held.low, held.high),
        Interval(null_of(found), held.random, held.random_low, held.random_high, faint=True),
    ]
    for run in [found, *found.others] if found.others else []:
        name = run.provenance["model"].rstrip("/").rpartition("/")[2]
        rows.append(Interval(shorten(name, NAME), *run.summary.at(at)[:3]))
    return intervals(rows, found.question.unit)


def _each(found: Experiment, at: tuple[int, ...]) -> dict[str, Any]:
    """Items with the value of the chosen place, the largest first."""
    asked, own = found.question, at_place(found.values, at)
    order = np.argsort(-np.abs(own), kind="stable")
    before, title = asked.each
    columns = {before: found.before} if before else {}
    columns |= {title.format(found.short(at)): own + found.before if asked.adds_before else own}
    lines = (
        (item, found.items[item], found.pieces[item], [float(values[item]) for values in columns.values()])
        for item in order[:LISTED].tolist()
    )
    table = item_table(lines, list(columns), "The items, those with the largest values first")
    return keep(table, lambda: _numbers(found, at, order))


def _numbers(found: Experiment, at: tuple[int, ...], order: np.ndarray) -> Table:
    """All items in this order, in full, with what was measured at a place."""
    columns = {"difference": found.before, "change": at_place(found.values, at), "group": number_groups(found.items) + 1.0}
    columns |= {} if found.sizes is None else {"size": found.sizes}
    columns |= {} if found.nulls is None else {"null": at_place(found.nulls, at)}
    columns |= {name: at_place(array, at) for name, array in found.also.items()}
    rows = [
        [row, *found.items[row].row[:2], *found.pieces[row], *(float(values[row]) for values in columns.values())]
        for row in order.tolist()
    ]
    return Table.of(("item", "text_a", "text_b", "word", "foil", *columns), rows)
