"""What all questions of an experiment show: the mean of every place, the chosen one on a held-out half and in every item."""

from abc import abstractmethod
from collections.abc import Callable, Generator, Hashable, Sequence
from math import isnan
from typing import Any, ClassVar

import numpy as np

from explorer.analysis.resampling import FEWEST_GROUPS
from explorer.core import downloads
from explorer.core.errors import InputError
from explorer.experiments.compute.experiment import MOST_SEED, Experiment, experiment_in_steps
from explorer.experiments.compute.file import shipped, written
from explorer.experiments.compute.suites import TITLES
from explorer.experiments.compute.summary import HeldOut, at_place
from explorer.experiments.listing import LISTED, item_table, numbers_of, unasked
from explorer.experiments.naming import in_groups, kept_place, of_heads, of_items, place_in, place_name, short
from explorer.experiments.pictures.places import SURE, Interval, board, intervals, told_q
from explorer.experiments.source import ITEMS, NO_FILE, NOTHING_TYPED, ItemsView
from explorer.text import limits
from explorer.ui.layout import LayoutRow, col, row
from explorer.ui.pictures.bars import SEEN, signed
from explorer.ui.pictures.numbers import keep
from explorer.ui.settings import memory, number
from explorer.ui.subject import Subject
from explorer.ui.view import (
    Change,
    Content,
    Finding,
    NewInput,
    Why,
    button,
    chart,
    part,
    props,
    prose,
    read,
    select,
    sentence,
    settle,
    show,
)

TESTS = (
    " Items of one group are similar, so all inference is by group. Intervals: 95%, studentized bootstrap over groups. q: the "
    "larger p value of a sign-flip test and that bootstrap, corrected for all places (Benjamini & Hochberg 1995). Half of the "
    "groups select a place, and the other half test it."
)
FEW_GROUPS = 8  # below, a sentence warns
PIECES = 1.3  # tokens of a word
NOTHING_YET = "There is no run to save yet; ask the question of your items first."
PREVIEW = "{:,} items, of which the first {:,} are listed; nothing is asked of them yet."


def results(*settings: str) -> LayoutRow:
    """The board, with settings of its own below it, beside the chosen place."""
    return row(col("problem", "board", *settings, "about", "hint", "save", "download", "help"), col("chosen", "interval", "each"))


class AskingView(ItemsView):
    """One question asked of all items; a subclass says what its numbers are."""

    name, question = "experiments", ""
    layout: ClassVar[Sequence[LayoutRow]] = (*ITEMS, results())
    unit: ClassVar[str] = "logit difference"  # of a value
    beside: ClassVar[str]  # what the chosen place is judged by
    is_share: ClassVar[bool] = False  # whether no value is below 0
    columns_each: ClassVar[tuple[str, str]]  # titles in the list of items: `before` ("" for none), and the value
    adds_before: ClassVar[bool] = False  # whether the value in the list is `before` plus what was measured
    problem = sentence(optional=True)
    board = chart("The mean of every place", height=330, hides_empty=True)
    about = sentence(classes="caption")
    hint = prose(value="Click a place to see it in each item, and an item to open it in the page.", classes="caption")
    save = button("Save this run as a file", visible=False)
    download = button("Download", optional=True, wide=True)
    chosen = sentence(keep_height=True)
    interval = chart("The selected place on the other half, beside what it is judged by", height=150, hides_empty=True)
    each = part("strips", height=300)
    seed: int = number(0, "Seed of the halves", low=0, high=MOST_SEED, box=True, elem_classes="inline")
    place: tuple[int, ...] = memory((), kept=kept_place)

    def first(self, subject: Subject) -> Subject:
        """The selected head, unless one was picked."""
        if subject.chosen.picked or not isinstance(found := self.known(subject), Experiment) or not of_heads(found):
            return subject
        layer, head = found.summary.selected
        return subject.select(layer=layer + 1, head=head + 1, picked=False)

    def passes(self, subject: Subject) -> float:
        """In forward passes of the page's input."""
        if self.refusal(subject) or self._shipped(subject):
            return 0
        tokens = sum(PIECES * len(f"{item.text_a} {item.text_b}".split()) + 2 for item in self.items_of(subject.model))
        return tokens / subject.trace.kept * self.asked(subject).passes

    def key(self, subject: Subject) -> Hashable:
        items = () if self.refusal(subject) else self.items_of(subject.model)
        groups = tuple(item.group for item in items)
        return self.name, subject.model.checkpoint, items, groups, self.chosen_way, self.chosen_target, self.seed

    def known(self, subject: Subject) -> Experiment | str | None:
        return self.refusal(subject) or super().known(subject)

    def work(self, subject: Subject) -> Generator[float, None, Experiment | str]:
        """Ask every item; returns the problem with the items, if there is one."""
        if problem := self.refusal(subject):
            return problem
        if (known := self._shipped(subject)) is not None:
            return known
        given = self.asks, self.chosen_way, self.seed, self.chosen_target
        try:
            return (yield from experiment_in_steps(subject.model, self.items_of(subject.model), *given))
        except InputError as error:  # too few items turned out to be of use
            return str(error)

    def waiting(self, subject: Subject) -> Content:
        nothing: Content = {"board": None, "interval": None, "save": props(visible=False)}
        if problem := self.refusal(subject):
            return {**nothing, **_refused(problem), "chosen": "", "about": "", "each": None}
        items = self.items_of(subject.model)
        about = PREVIEW.format(len(items), min(len(items), LISTED))
        return {**nothing, "hint": props(visible=True), "chosen": "", "about": about, "each": unasked(items)}

    def draw(self, subject: Subject, found: Experiment | str) -> Content:
        if isinstance(found, str):
            return self.waiting(subject) | _refused(found)
        return {**self.shown(found, self._at(subject, found)), "hint": props(visible=True), "save": props(visible=True)}

    def shown(self, found: Experiment, at: tuple[int, ...]) -> Content:
        """The pictures and sentences of a run of this question, also of one that was saved."""
        return {
            "board": board(found.summary, found.axes, at, self.unit, self.is_share),
            "about": self.told(found) + _few_groups(found) + _left_out(found),
            "chosen": self._chosen(found, at),
            "interval": self._held_out(found),
            "each": self._each(found, at),
        }

    def null(self, found: Experiment) -> str:
        """What a run's chosen place is judged by, in words."""
        return self.beside

    def told(self, found: Experiment) -> str:
        """What the board shows, in a sentence or two."""
        summary = found.summary
        return (
            f"Mean over {in_groups(len(found.items), summary.groups)}. A dot: q below 0.05, "
            f"{int((summary.q < SURE).sum())} of {summary.q.size}; {self.null(found)}: {signed(summary.random)}."
        )

    def finding(self, subject: Subject) -> Finding | None:
        """The selected place on the items that it was not selected on."""
        if not isinstance(found := self.known(subject), Experiment):
            return None
        held = found.summary.held_out
        if abs(held.effect) < SEEN:
            tried = f"what {of_items(len(found.items) - held.items)} selected, the other {held.items} do not confirm"
            return Finding(f"Nothing stands out: {tried} ({between(held)}).")
        return Finding(self.tell(found), _why(found))

    @abstractmethod
    def tell(self, found: Experiment) -> str:
        """The finding, as a sentence: the selected place on the other half of the items."""

    def _at(self, subject: Subject, found: Experiment) -> tuple[int, ...]:
        if of_heads(found):
            chosen = subject.selection
            return (chosen.attention_layer, chosen.head_index) if chosen.picked else found.summary.selected
        return place_in(found, self.place)

    def _shipped(self, subject: Subject) -> Experiment | None:
        """What comes with the app for its own suites."""
        if self.source not in TITLES:
            return None
        return shipped(subject.model, self.source, self.asks, self.chosen_way, self.seed, self.chosen_target)

    def _chosen(self, found: Experiment, at: tuple[int, ...]) -> str:
        summary = found.summary
        mean, low, high, q = (float(getattr(summary, name)[at]) for name in ("effects", "low", "high", "q"))
        null = "" if summary.nulls is None else f"; {self.null(found)}: {plain(float(summary.nulls[at]))}"
        return (
            f"{capital(place_name(found.axes, at))}: {signed(mean)} ({interval_of(low, high, summary.groups, signed)}, "
            f"{told_q(q)}){null}{self.counted(found, at)}."
        )

    def counted(self, found: Experiment, at: tuple[int, ...]) -> str:
        """In how many items it is so."""
        lead = found.values if found.nulls is None else found.values - found.nulls
        above = int((at_place(lead, at) > 0).sum())
        return f"; above {'0' if found.nulls is None else 'that'} in {above:,} of {of_items(len(found.items))}"

    def _held_out(self, found: Experiment) -> Any:
        held = found.summary.held_out
        rows = [
            Interval(f"{short(found.axes, found.summary.selected)} on the other {held.items}", held.effect, held.low, held.high),
            Interval(self.null(found), held.random, held.random_low, held.random_high, faint=True),
        ]
        return intervals(rows, self.unit)

    def _each(self, found: Experiment, at: tuple[int, ...]) -> dict[str, Any]:
        """Items with the value of the chosen place, the largest first."""
        own = at_place(found.values, at)
        order = np.argsort(-np.abs(own), kind="stable")
        before, title = self.columns_each
        shown = own + found.before if self.adds_before else own
        columns = {before: found.before} if before else {}
        columns |= {title.format(short(found.axes, at)): shown}
        lines = (
            (item, found.items[item], found.pieces[item], [float(values[item]) for values in columns.values()])
            for item in order[:LISTED].tolist()
        )
        table = item_table(lines, list(columns), "The items, those with the largest values first")
        return keep(table, lambda: numbers_of(found, at, order))

    def on_save(self, subject: Subject, _: None) -> Change:
        """Write the run into a file, and offer it for download. Raises InputError without a run."""
        if not isinstance(found := self.known(subject), Experiment):
            raise InputError(NOTHING_YET)
        text, name = written(found), f"{self.asks}-{self.source}.json"
        label = f"Download {name} ({len(text.encode()) / 1e6:.1f} MB)"
        return show(download=props(value=label, link=f"download/{downloads.offer_text(name, text)}", visible=True))

    def on_board(self, subject: Subject, index: object) -> Change:
        """Another place: [row, column], or the number of a row, zero-based."""
        found = self.known(subject)
        if isinstance(found, Experiment) and not of_heads(found):
            return settle(place=kept_place(index if isinstance(index, list | tuple) else [index]))
        layer, head = limits.check_cell(index)
        return select(layer=layer + 1, head=head + 1)

    def on_each(self, subject: Subject, index: object) -> NewInput:
        """An item becomes the page's input."""
        found = self.known(subject)
        items = found.items if isinstance(found, Experiment) else self.items_of(subject.model)
        item = items[limits.check_integer(index, "the item", 0, len(items) - 1)]
        return read(item.text_a, item.text_b)


def plain(value: float) -> str:
    """A number with two digits behind the point."""
    return signed(value).removeprefix("+")


def capital(told: str) -> str:
    """A sentence's beginning."""
    return told[:1].upper() + told[1:]


def interval_of(low: float, high: float, groups: int, written: Callable[[float], str] = plain) -> str:
    """An interval in words, or why there is none."""
    if isnan(low):
        return f"no interval from {groups} group{'s' * (groups != 1)}"
    return f"95% interval {written(low)} to {written(high)}"


def between(held: HeldOut, written: Callable[[float], str] = plain) -> str:
    """Where the mean on the other half lies, in a sentence."""
    return interval_of(held.low, held.high, held.groups, written)


def doubt(held: HeldOut) -> str:
    """What a sentence adds where the other half does not rule out 0, by its interval and its test."""
    return "" if held.is_sure else ", which is not certain"


def percent(held: HeldOut) -> str:
    """A share on the other half, with its interval."""
    return f"{100 * held.effect:.0f}% ({interval_of(100 * held.low, 100 * held.high, held.groups, lambda end: f'{end:.0f}%')})"


def helping(found: Experiment, at: tuple[int, ...]) -> str:
    """In how many items a place helps the word, so that without it the difference is smaller."""
    return f"; it helps the word in {int((at_place(found.values, at) < 0).sum()):,} of {of_items(len(found.items))}"


def _why(found: Experiment) -> Why | None:
    """Where the selected place is seen in one sentence."""
    if of_heads(found):
        layer, head = found.summary.selected
        return Why("attention", "One head", {"layer": layer + 1, "head": head + 1})
    return None


def _refused(why: str) -> Content:
    """Why the items cannot be asked, below them, without the hint to click; only what is missing is no error."""
    return {"problem": why if why in (NO_FILE, NOTHING_TYPED) else {"text": why, "kind": "error"}, "hint": props(visible=False)}


def _few_groups(found: Experiment) -> str:
    """A warning where little varies independently."""
    summary, least = found.summary, FEWEST_GROUPS
    if summary.held_out.groups >= least and summary.groups >= FEW_GROUPS:
        return ""
    return (
        f" Only {summary.groups} group{'s' * (summary.groups != 1)} of independent items, {summary.held_out.groups} to test: an "
        f"interval needs {least}. Add items that share neither text nor words."
    )


def _left_out(found: Experiment) -> str:
    """How many items could not be asked, and why not the first."""
    if not found.left_out:
        return ""
    number, why = next(iter(found.left_out.items()))
    rest = (
        f" {len(found.left_out):,} items are left out; item {number}:"
        if len(found.left_out) > 1
        else f" Item {number} is left out:"
    )
    return f"{rest} {why}"
