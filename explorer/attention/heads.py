"""All heads at a glance, and one of them in full."""

import itertools
from typing import Any

import numpy as np

from explorer.analysis.attention import DIRECTIONS, GROUPS, WHOLE_SCALE, Choice, ChosenWeights, Side, choose
from explorer.analysis.head_metrics import HABITS
from explorer.attention.pictures import attention_lines
from explorer.text import limits
from explorer.ui import settings
from explorer.ui.attention_data import (
    ALL_MEAN,
    HEAD_MEAN,
    LAYER_MEAN,
    ONE_HEAD,
    VALUE,
    WEIGHT,
    attention_check,
    head_sentence,
    heads_table,
    most_telling_first,
    name_of,
    overview_of,
    prepare_effects,
    show_switched_off,
    tell_quickly,
    weights_of,
)
from explorer.ui.layout import row
from explorer.ui.pictures.attention import WeightScale, attention_heatmap, with_cell
from explorer.ui.pictures.base import shorten, token_places
from explorer.ui.pictures.head_grid import head_grid
from explorer.ui.pictures.numbers import Places, Table, beside, identifier, keep, matrix
from explorer.ui.settings import choice, number, several, use
from explorer.ui.subject import Subject
from explorer.ui.view import (
    Change,
    Content,
    Finding,
    View,
    Why,
    button,
    caption,
    chart,
    check,
    part,
    prose,
    select,
    sentence,
    show,
)
from explorer.ui.what_if import WhatIf, toggle

HEATMAP, LINES = "Heatmap", "Lines"
SPECIALS = {  # for each setting its label, and what the rows sum to
    "all": ("All tokens", "rows sum to 1"),
    "hidden": ("Without [CLS] and [SEP], weights as they are", "weights as they are, so rows sum to less than 1"),
    "renormalised": ("Without [CLS] and [SEP], rows renormalised", "each row divided by what is left of it"),
}
SENTENCES, SENTENCE_LETTERS = GROUPS[-1], 22
HEIGHT = 430  # with its column labels, it ends about where a projector's first screen does
SQUARE_ROOT = settings.Switch(label="Square-root colours", more=True)


class Heads(View):
    """Every head of every layer as a small picture."""

    name, question = "attention/heads", "Which head is worth a look?"
    width, shows_changes = 5, True
    grid = part("head_grid", marks=True)
    about = prose(classes="caption", answer=True)
    square_root: bool = use(SQUARE_ROOT, True, here=False)

    first = staticmethod(most_telling_first)

    def compute(self, subject: Subject) -> Content:
        return {"grid": lambda: self._grid(subject), "about": self._about(subject)}

    def finding(self, subject: Subject) -> Finding | None:
        if (found := tell_quickly(subject)) is None:
            return None
        inside = None if found.query is None else Why("inside-head", "One head", found.selection)
        return Finding(head_sentence(subject, found), show_switched_off(found) if found.word else inside)

    def on_grid(self, subject: Subject, index: list[int]) -> Change:
        """Select another head: [layer, head], zero-based."""
        layer, head = limits.check_cell(index)
        return select(layer=layer + 1, head=head + 1)

    def on_grid_switch(self, subject: Subject, index: list[int]) -> Change:
        """Switch a head off, or on again: [layer, head], zero-based."""
        return toggle(subject, limits.check_cell(index))

    def _grid(self, subject: Subject) -> dict[str, Any]:
        seen = overview_of(subject)
        layers, heads = seen.patterns.shape
        notes = [[_note(subject, (layer, head)) for head in range(heads)] for layer in range(layers)]
        selected = (subject.selection.attention_layer, subject.selection.head_index)
        off = subject.selection.off
        grid = head_grid(seen.small, selected, self.square_root, notes=notes, off=off)
        return keep(grid, lambda: heads_table(seen).with_columns(off=lambda row: (row[0] - 1, row[1] - 1) in off))

    def _about(self, subject: Subject) -> str:
        seen, selection = overview_of(subject), subject.selection
        at = (selection.attention_layer, selection.head_index)
        entropy, distance = seen.metrics["entropy"][at], seen.metrics["distance"][at]
        named, does = name_of(subject, at).name, HABITS[str(seen.patterns[at])].does
        root = " by square root" * self.square_root
        end = "1" if subject.trace.kept <= WHOLE_SCALE else "its largest weight"
        return (
            f"Layer {at[0] + 1}, head {at[1] + 1}: **{named}**: it {does}. One thumbnail per head: rows attend to columns, "
            f"darker (lighter on dark) means more weight, from 0 to {end}{root}. Click a thumbnail, or use the arrow keys.\n\n"
            f"In numbers: a token attends {distance:.1f} tokens away on average, with an entropy of {entropy:.2f} (0: each "
            f"attends to one token; 1: to all equally)."
        )


def _note(subject: Subject, place: tuple[int, int]) -> str:
    name, seen = name_of(subject, place), overview_of(subject)
    return f"{name}; entropy {seen.metrics['entropy'][place]:.2f}, strongest weight {seen.strongest[place]:.2f}"


class HeadWhatIf(WhatIf):
    """The model's answers without the selected head, or with another change."""

    name = "attention/what-if"
    width = 5
    this_head = True
    note = "The pictures show the run as it is, with every head on. In the grid, X or a double click switches a head off and on."


class OneHead(View):
    """One head in full: a heatmap or lines."""

    name, question = "attention/head", "Who looks at whom?"
    width = 6
    layout = (row("title", "look"),)
    title = prose(classes="detail-title")
    look: str = choice((HEATMAP, ("Arcs", LINES)), "Drawn as", scale=0, min_width=216, show_label=False)
    heatmap = chart("Attention of one head", height=HEIGHT, optional=True)
    also: tuple[int, ...] = several(
        label="Together with heads",
        elem_classes="inline",
        options=lambda model: range(1, model.heads + 1),
        when=lambda view: view.look == LINES and view.average == ONE_HEAD,
    )
    lines = part("lines", height=HEIGHT, optional=True)
    cell = sentence(keep_height=True)
    specials: str = choice([(label, key) for key, (label, _) in SPECIALS.items()], "[CLS] and [SEP]", menu=True, more=True)
    square_root: bool = use(SQUARE_ROOT, True)
    group: str = choice(GROUPS, "Show rows and columns as", more=True)
    direction: str = choice([("From any text to any", "all"), *DIRECTIONS[1:]], "Direction", menu=True, more=True, line=True)
    top_p: float = number(100, "Strongest weights, % of each row", low=10, high=100, more=True)
    average: str = choice((ONE_HEAD, LAYER_MEAN, HEAD_MEAN, ALL_MEAN), "Weights of", menu=True, more=True, line=True)
    measure: str = choice(
        (("Attention weight α", WEIGHT), ("Weight × value ‖αf(x)‖", VALUE)), "Measure of a weight", menu=True, more=True
    )
    help = caption(
        "Words and sentences: the sum over the attended pieces, the mean over the attending ones. Weight × value: the length "
        "of the vector that a key adds, ‖αf(x)‖ with f(x) = (x W_V + b_V) W_O (Kobayashi et al. 2020); its rows do not "
        "sum to 1. Attention is not explanation: a weight shows where a vector comes from, not that the prediction depends on "
        "that vector (Jain & Wallace 2019).",
        more=True,
    )
    elsewhere = button("This head in other sentences →", more=True)
    check = check()

    prepare_rest = staticmethod(prepare_effects)

    def compute(self, subject: Subject) -> Content:
        chosen = self._chosen(subject)
        shown = {"title": self._title(subject), "cell": self._hint(chosen), "check": attention_check(subject, self.measure)}
        row = chosen.queries.row_of(subject.selection.token)
        if self.look == LINES:
            return {**shown, "lines": self._lines(subject, chosen, row)}
        picture = self._heatmap(chosen, row, self._telling(subject, chosen))
        return {**shown, "heatmap": beside(picture, **self._whose(subject))}

    def on_heatmap(self, subject: Subject, index: list[int]) -> Change:
        """Show the exact weight of a cell: [row, column]."""
        return show(cell=_cell(self._chosen(subject), *limits.check_cell(index)))

    def on_elsewhere(self, subject: Subject, index: None) -> Why:
        chosen = {"layer": subject.selection.attention_layer + 1, "head": subject.selection.head}
        return Why("corpus", "Heads and neurons", chosen)

    def _chosen(self, subject: Subject) -> ChosenWeights:
        part = Choice(self.specials, self.direction, self.group, self.top_p / 100)
        return choose(weights_of(subject, self.average, self.measure), subject.trace.encoding, part)

    def _heads(self, subject: Subject) -> list[int]:
        """The heads that are drawn together, counted from 1; none if it is one alone, or a mean."""
        if self.look != LINES or self.average != ONE_HEAD or not {*self.also} - {subject.selection.head}:
            return []
        return sorted({subject.selection.head, *self.also})

    def _lines(self, subject: Subject, chosen: ChosenWeights, row: int | None) -> dict[str, Any] | None:
        if not chosen.weights.size:
            return None
        queries, keys, heads = chosen.queries, chosen.keys, self._heads(subject)
        each = [self._chosen(subject.select(head=head)).weights for head in heads] or [chosen.weights]
        names = {"key_tokens": keys.names, "key_kinds": keys.kinds}
        lines = attention_lines(np.stack(each), queries.names, queries.kinds, row, **names, heads=heads)
        sides = Places.of_tokens(queries.names, "query", queries.places), Places.of_tokens(keys.names, "key", keys.places)
        lines |= {"places": {"query": token_places(queries.places), "key": token_places(keys.places)}}
        whose = [{**self._whose(subject), **({"head": head} if head else {})} for head in heads or [0]]

        def numbers() -> Table:
            tables = (matrix(weights, *sides, identifier(self._unit)) for weights in each)
            return Table.join([table.beside(**one) for table, one in zip(tables, whose, strict=True)])

        return keep(lines, numbers)

    def _telling(self, subject: Subject, chosen: ChosenWeights) -> tuple[int, int] | None:
        found = tell_quickly(subject) if self.average == ONE_HEAD else None
        if found is None or found.query is None or found.key is None or not found.names_a_key:
            return None
        row, column = chosen.queries.row_of(found.query), chosen.keys.row_of(found.key)
        return None if row is None or column is None else (row, column)

    def _heatmap(self, chosen: ChosenWeights, row: int | None, cell: tuple[int, int] | None) -> object:
        queries, keys = (_labels(side, self.group) for side in (chosen.queries, chosen.keys))
        scale = WeightScale(self.square_root, self._unit)
        places = chosen.queries.places, chosen.keys.places
        return with_cell(attention_heatmap(chosen.weights, queries, keys, scale, row, places), cell)

    @property
    def _unit(self) -> str:
        return "‖αf(x)‖" if self.measure == VALUE else "weight"

    def _whose(self, subject: Subject) -> dict[str, int | str]:
        layer = "mean" if self.average in (HEAD_MEAN, ALL_MEAN) else subject.selection.attention_layer + 1
        return {"layer": layer, "head": "mean" if self.average in (LAYER_MEAN, ALL_MEAN) else subject.selection.head}

    def _title(self, subject: Subject) -> str:
        layer, head, heads = subject.selection.attention_layer + 1, subject.selection.head, self._heads(subject)
        named = {
            ONE_HEAD: f"Layer {layer}, head{'s' * bool(heads)} {', '.join(map(str, heads)) or head}",
            LAYER_MEAN: f"Layer {layer}, mean of its heads",
            HEAD_MEAN: f"Head {head}, mean of all layers",
            ALL_MEAN: "Mean of all heads of all layers",
        }[self.average]
        _, sums = SPECIALS[self.specials]
        if self.measure == VALUE:
            sums = "length of what each key adds, from 0 up"
        elif self.top_p < 100 or self.direction != "all":
            sums = "only a part of each row is shown"
        return f"**{named}**: row → column; {sums}."

    def _hint(self, chosen: ChosenWeights) -> str:
        if not chosen.weights.size:
            return "This direction needs a second text. Type a text B above."
        return "" if self.look == LINES else "Click a cell for its exact weight. Click a token above to outline its row."


def _labels(side: Side, group: str) -> list[str]:
    """The labels of rows or columns: for a sentence its number and its beginning."""
    if group != SENTENCES:
        return side.names
    numbers = itertools.count(1)
    return [
        name if kind == "special" else f"{next(numbers)} · {shorten(name, SENTENCE_LETTERS)}"
        for name, kind in zip(side.names, side.kinds, strict=True)
    ]


def _cell(chosen: ChosenWeights, row: int, column: int) -> str:
    if not (0 <= row < chosen.weights.shape[0] and 0 <= column < chosen.weights.shape[1]):
        return ""
    weight = float(chosen.weights[row, column])
    rank = 1 + int((chosen.weights[row] > chosen.weights[row, column]).sum())
    query, key = chosen.queries, chosen.keys
    places = f"{query.names[row]} (token {query.groups[row][0]}) → {key.names[column]} (token {key.groups[column][0]})"
    return f"{places}: {weight:.6f}, number {rank} of {len(key.names)} in its row."
