"""Items as tables: the text around each blank, its two words, and what was measured."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.items import Item, number_groups
from explorer.experiments.compute.summary import at_place
from explorer.text.encoding import MASK
from explorer.ui.pictures.numbers import Table
from explorer.ui.pictures.strip_table import Column, Row, in_context, strip_table

LISTED = 200  # items at most
BESIDE = 60  # characters on each side of a blank
Line = tuple[int, Item, Sequence[str], Sequence[float]]
"""The number of an item from 0, the item, its word and foil, and a number for each title of the table."""


def item_table(lines: Iterable[Line], titles: Sequence[str] = (), label: str = "The items") -> dict[str, Any]:
    """The table of some items, each a button with its number."""
    columns = [*in_context("word / foil"), *(Column(title, "number", form="+.2f") for title in titles)]
    rows = []
    for number, item, words, values in lines:
        before, after = around(item)
        rows.append(Row((before, " / ".join(words), after, *values), number))
    return strip_table(columns, rows, label, "item")


def unasked(items: Sequence[Item]) -> dict[str, Any]:
    """The table of items before they are asked: the first LISTED."""
    words = ([word or "best guess" for word in (item.word, item.foil)] for item in items)
    numbered = zip(range(LISTED), items, words, strict=False)
    return item_table((number, item, both, ()) for number, item, both in numbered)


def around(item: Item) -> tuple[str, str]:
    """The text before and after the blank, cut to BESIDE characters on each side."""
    left, _, right = " / ".join(filter(None, (item.text_a, item.text_b))).partition(MASK)
    return (left if len(left) <= BESIDE else f"…{left[-BESIDE:]}"), (right if len(right) <= BESIDE else f"{right[:BESIDE]}…")


def numbers_of(found: Experiment, at: tuple[int, ...], order: np.ndarray) -> Table:
    """All items in this order, in full, with what was measured at a place."""
    own = at_place(found.values, at)
    more = {
        "group": number_groups(found.items) + 1.0,
        "size": found.sizes,
        "null": None if found.nulls is None else at_place(found.nulls, at),
    }
    more |= {name: at_place(array, at) for name, array in found.also.items()}
    also = {name: one for name, one in more.items() if one is not None}
    rows = [
        [row, *found.items[row].row[:2], *found.pieces[row], float(found.before[row]), float(own[row])]
        + [float(values[row]) for values in also.values()]
        for row in order.tolist()
    ]
    return Table.of(("item", "text_a", "text_b", "word", "foil", "difference", "change", *also), rows)
