"""The pictures and tables of an atlas of heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.analysis.resampling import wilson
from explorer.corpus.atlas_words import describe
from explorer.corpus.compute.atlas_file import HeadAtlas
from explorer.corpus.compute.attention_sums import DIRECTIONS
from explorer.corpus.pictures.head_atlas import colours_of, few_names, typical_pictures
from explorer.text.tagged import plain
from explorer.ui.pictures.bars import percent
from explorer.ui.pictures.head_grid import head_grid
from explorer.ui.pictures.maps import number_classes
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.pictures.text_map import TextMap, draw_map
from explorer.ui.telling import interval


def grid(atlas: HeadAtlas, layer: int, head: int) -> dict[str, Any]:
    """The average attention of every head, with the color of its family; the zero-based (layer, head) is selected."""
    small = typical_pictures(atlas.offsets, atlas.cls, atlas.sep)
    few = _families(atlas)
    colours = colours_of(few)
    bars = np.array([colours[name] for name in few]).reshape(atlas.families.shape).tolist()
    named = [f"{describe(atlas, *place)}; family {plain(str(atlas.families[place]))}" for place in np.ndindex(*atlas.cls.shape)]
    notes = np.array(named, dtype=object).reshape(atlas.cls.shape).tolist()
    drawn = head_grid(small, (layer, head), notes=notes, marks=np.ones(atlas.cls.shape), colours=bars)
    return keep(drawn, lambda: _table(atlas))


def _families(atlas: HeadAtlas) -> list[str]:
    """The family of each head in plain words, with the rarest grouped together."""
    return few_names([plain(name) for name in atlas.families.ravel().tolist()])


def _table(atlas: HeadAtlas) -> Table:
    """All numbers of every head, layer by layer."""
    rows = []
    for layer, head in np.ndindex(*atlas.cls.shape):
        numbers = [float(measure[layer, head]) for measure in (atlas.cls, atlas.sep, atlas.same_token, atlas.entropy)]
        names = str(atlas.families[layer, head]), str(atlas.habits[layer, head])
        rows.append([layer + 1, head + 1, *names, *numbers, *atlas.offsets[layer, head].tolist()])
    reach = atlas.offsets.shape[-1] // 2
    offsets = [f"before_{by}" for by in range(reach, 0, -1)] + ["itself"] + [f"behind_{by}" for by in range(1, reach + 1)]
    return Table.of(("layer", "head", "family", "habit", "cls", "sep", "same_token", "entropy", *offsets), rows)


def heads_map(atlas: HeadAtlas, layer: int, head: int) -> dict[str, Any]:
    """A point for each head, in the colour of its family; the selected one stands out."""
    heads = atlas.cls.shape[1]
    labels, classes = number_classes(_families(atlas))
    drawn = TextMap(
        texts=[f"{at // heads + 1}.{at % heads + 1}" for at in range(atlas.cls.size)],
        places=atlas.points,
        labels=labels,
        classes=classes,
        notes=[plain(habit) for habit in atlas.habits.ravel().tolist()],
        picked=layer * heads + head,
        even=True,
    )
    return draw_map(drawn, f"A map of {atlas.cls.size} heads by what they do; {layer + 1}.{head + 1} is selected.")


def relations(atlas: HeadAtlas, layer: int, head: int) -> dict[str, Any] | None:
    """All relations, the significant ones first, each by its lead."""
    columns = [
        Column("relation", "name", name="meaning"),
        Column("this head", "number", name="share"),
        Column("95%", "text", name="interval"),
        Column("best offset", "number", name="baseline"),
        Column("words", "number", form=",d"),
        Column("link", "text", name="direction"),
        Column("called", "text", name="relation"),
    ]
    if not len(atlas.relations):
        return None
    rows, numbers = [], []
    for at in np.lexsort((-atlas.leads[layer, head], ~atlas.significant[layer, head])).tolist():
        name, count, offset = str(atlas.relations[at]), int(atlas.counts[at]), int(atlas.baseline_offsets[at])
        share, usual = float(atlas.best[layer, head, at]), float(atlas.baselines[at])
        direction = atlas.direction(layer, head, at)
        usually = f"{percent(usual)} at {offset:+d}"
        low, high = wilson(round(share * count), count)
        ends = interval(low, high).replace(" to ", "–\u2060")  # a word joiner: the interval stays on one line
        link = "to its head" if direction.startswith("dep") else "from its head"
        rows.append(
            Row([plain(name), percent(share), ends, usually, count, link, name], strong=bool(atlas.significant[layer, head, at]))
        )
        q = float(atlas.q[layer, head, DIRECTIONS.index(direction), at])
        numbers.append([layer + 1, head + 1, name, share, usual, offset, count, direction, plain(name), low, high, q])
    names = ("layer", "head", "relation", "share", "baseline", "baseline_offset", "words", "direction", "meaning")
    return keep(strip_table(columns, rows, "Relations"), lambda: Table.of((*names, "low", "high", "q"), numbers))
