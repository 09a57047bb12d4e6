"""Which heads decide between two words, over many items."""

from collections.abc import Generator, Hashable
from typing import Any

import numpy as np

from explorer.experiments.compute.file import shipped
from explorer.experiments.compute.heads import MOST_SEED, Experiment, experiment_in_steps
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.suites import TITLES
from explorer.experiments.pictures.heads import SURE, Interval, head_board, intervals, told_q
from explorer.experiments.source import ItemsView
from explorer.text import limits
from explorer.text.encoding import MASK
from explorer.ui.layout import col, row
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.settings import number
from explorer.ui.subject import Subject, head_name
from explorer.ui.view import Change, Content, Finding, NewInput, Why, caption, chart, note, part, read, select, sentence

PIECES = 1.3  # tokens of a word
LISTED = 200  # items, those that change most
BESIDE = 60  # characters on each side of a blank in the list
ABOUT = (
    "Mean over {items} of the change of the logit difference, word minus foil, without each head alone; with all heads it is "
    "{before}. Blue: the head helps the word. A dot: q below 0.05, {sure} of {heads} heads; a head drawn by lot changes it by "
    "{random}."
)


class HeadsDecide(ItemsView):
    """Every head switched off in every item."""

    name, question = "experiments/heads", "Which heads decide?"
    start = "Switch every head off in every item"
    layout = (*ItemsView.layout, row(col("board", "about", "hint", "help"), col("chosen", "interval", "each")))
    board = chart("The mean effect of every head", height=330)
    about = sentence(classes="caption")
    hint = note("Click a head to see what it does in each item, and an item to open it in the page.")
    help = caption(
        "A head is off when its output before W_O is replaced at every token. The effect is the logit difference without the "
        "head minus that with it, as in *Switch heads off*. The interval is a 95 % bootstrap over items. q is the p value of a "
        "test that flips the signs of items by lot, after Benjamini and Hochberg (1995) over all heads. One half of the items, "
        "drawn by the seed, selects the head with the lowest mean; the other half, which had no part in that, tests it. "
        "If one word is right in most items, a head that always prefers it counts too, so use as many items the other way round."
    )
    chosen = sentence(keep_height=True)
    interval = chart("The selected head on the other half, beside a random one", height=150)
    each = part("strips", height=300)
    seed: int = number(0, "Seed of halves, intervals and tests", low=0, high=MOST_SEED, box=True, more=True)

    def first(self, subject: Subject) -> Subject:
        """The selected head, unless one was picked."""
        if subject.chosen.picked or not isinstance(found := self.known(subject), Experiment):
            return subject
        layer, head = found.summary.selected
        return subject.select(layer=layer + 1, head=head + 1, picked=False)

    def passes(self, subject: Subject) -> float:
        """A head alone needs, on average, less than half of the layers."""
        if self.problem(subject) or self._shipped(subject):
            return 0
        model = subject.model.capabilities
        tokens = sum(PIECES * len(f"{one.text_a} {one.text_b}".split()) + 2 for one in self.items)
        return tokens / subject.trace.kept * model.layers * model.heads / 3

    def key(self, subject: Subject) -> Hashable:
        """The model, the items, and how heads are switched off."""
        return self.name, subject.model.checkpoint, () if self.problem(subject) else self.items, self.how, self.seed

    def known(self, subject: Subject) -> Experiment | str | None:
        """The result, or why there can be none."""
        return self.problem(subject) or super().known(subject)

    def work(self, subject: Subject) -> Generator[float, None, Experiment | str]:
        """Measure every head in every item; returns the problem with the items, if there is one."""
        if problem := self.problem(subject):
            return problem
        if (known := self._shipped(subject)) is not None:
            return known
        return (yield from experiment_in_steps(subject.model, self.items, how=self.how, seed=self.seed))

    def waiting(self, subject: Subject) -> Content:
        """Nothing, or what is missing."""
        return {"board": None, "interval": None, "each": None, "chosen": self.problem(subject), "about": ""}

    def draw(self, subject: Subject, found: Experiment | str) -> Content:
        """The board, and the chosen head in each item."""
        if isinstance(found, str):
            return self.waiting(subject)
        chosen, summary = subject.selection, found.summary
        head = (chosen.attention_layer, chosen.head_index) if chosen.picked else summary.selected
        return {
            "board": head_board(summary.effects, summary.low, summary.high, summary.p, summary.q, head),
            "about": _about(found),
            "chosen": _chosen(found, head),
            "interval": _held_out(found),
            "each": _each(found, head),
        }

    def finding(self, subject: Subject) -> Finding | None:
        """The selected head on the items that it was not selected on."""
        if not isinstance(found := self.known(subject), Experiment):
            return None
        summary, held_out = found.summary, found.summary.held_out
        (layer, head), name = summary.selected, head_name(summary.selected).capitalize()
        told = (
            f"{name}, selected on {len(found.items) - held_out.items} items, changes the logit difference of the other "
            f"{held_out.items} by {_signed(held_out.effect)} of {_number(found.held_out_before)} (95 % interval "
            f"{_signed(held_out.low)} to {_signed(held_out.high)}; rank {held_out.rank} of {summary.q.size}); a head drawn by "
            f"lot by {_signed(held_out.random)}."
        )
        if held_out.low <= 0 <= held_out.high:
            told = f"No head decides for certain: {told[0].lower()}{told[1:]}"
        return Finding(told, Why("attention", "One head", {"layer": layer + 1, "head": head + 1}))

    def _shipped(self, subject: Subject) -> Experiment | None:
        """What comes with the app for its own suites."""
        return shipped(subject.model, self.source, self.how, self.seed) if self.source in TITLES else None

    def on_board(self, subject: Subject, index: object) -> Change:
        """Another head: [layer, head], zero-based."""
        layer, head = limits.check_cell(index)
        return select(layer=layer + 1, head=head + 1)

    def on_each(self, subject: Subject, index: object) -> NewInput:
        """An item becomes the page's input."""
        items = self.items
        item = items[limits.check_integer(index, "the item", 0, len(items) - 1)]
        return read(item.text_a, item.text_b)


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _signed(effect: float) -> str:
    return f"{effect:+.2f}".replace("-", "−")


def _about(found: Experiment) -> str:
    summary = found.summary
    return ABOUT.format(
        items=f"{len(found.items):,} items",
        before=_number(float(found.before.mean())),
        sure=int((summary.q < SURE).sum()),
        heads=summary.q.size,
        random=_signed(summary.random),
    )


def _chosen(found: Experiment, head: tuple[int, int]) -> str:
    summary = found.summary
    mean, low, high, q = (float(getattr(summary, name)[head]) for name in ("effects", "low", "high", "q"))
    helped = int((found.changes[:, head[0], head[1]] < 0).sum())
    return (
        f"{head_name(head).capitalize()}: {_signed(mean)} (95 % interval {_signed(low)} to {_signed(high)}, {told_q(q)}); it "
        f"helps the word in {helped:,} of {len(found.items):,} items."
    )


def _held_out(found: Experiment) -> Any:
    summary, held_out = found.summary, found.summary.held_out
    name = f"{summary.selected[0] + 1}.{summary.selected[1] + 1} on the other {held_out.items}"
    rows = [
        Interval(name, held_out.effect, held_out.low, held_out.high),
        Interval("a random head", held_out.random, held_out.random_low, held_out.random_high, faint=True),
    ]
    return intervals(rows, "change of the logit difference")


def _each(found: Experiment, head: tuple[int, int]) -> dict[str, Any]:
    """Items with the change that the head makes, the largest first."""
    own = found.changes[:, head[0], head[1]]
    order = np.argsort(-np.abs(own), kind="stable")
    columns = [Column("before", "before"), Column("word / foil", "name"), Column("after", "after")]
    columns += [Column("all heads", "number", form="+.2f"), Column(f"without {head[0] + 1}.{head[1] + 1}", "number", form="+.2f")]
    rows = []
    for at in order[:LISTED].tolist():
        item, before = found.items[at], float(found.before[at])
        left, right = _around(item)
        rows.append(Row((left, " / ".join(found.pieces[at]), right, before, before + float(own[at])), at))
    return keep(strip_table(columns, rows, "The items, those that change most first", "item"), lambda: _items(found, own, order))


def _around(item: Item) -> tuple[str, str]:
    """The text before and after the blank, cut to BESIDE characters on each side."""
    left, _, right = " / ".join(filter(None, (item.text_a, item.text_b))).partition(MASK)
    return (left if len(left) <= BESIDE else f"…{left[-BESIDE:]}"), (right if len(right) <= BESIDE else f"{right[:BESIDE]}…")


def _items(found: Experiment, own: np.ndarray, order: np.ndarray) -> Table:
    """All items, in full."""
    rows = [
        [at, found.items[at].text_a, found.items[at].text_b, *found.pieces[at], float(found.before[at]), float(own[at])]
        for at in order.tolist()
    ]
    return Table.of(("item", "text_a", "text_b", "word", "foil", "difference", "change"), rows)
