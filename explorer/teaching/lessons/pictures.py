"""Pictures of a lesson for paper: the attention weights that a step points at, as SVG."""

from html import escape

from explorer.export.named import content
from explorer.export.tables import tables_of
from explorer.teaching.lessons.lesson import Step
from explorer.ui.pictures.numbers import Table

CELL, LABEL, LETTER = 16, 76, 11  # in units of the drawing: a cell's side, the room for a token, the size of its letters


def picture(step: Step) -> str:
    """The weights that a step points at as SVG, a row for each token that looks; '' if it points at none, or hides them.

    Raises ExplorerError if they cannot be computed.
    """
    if not step.point or step.cover:
        return ""
    place = step.place
    for view in place.views:
        part = step.point.removeprefix(f"{view.name.replace('/', '-')}-")
        if part in view.parts:
            table = tables_of(view, content(view, place.opened().subject)).get(part)
            return _drawn(table) if table and {"query", "key", "weight"} <= set(table.columns) else ""
    return ""


def _drawn(table: Table) -> str:
    columns = dict(zip(table.columns, table.cells, strict=True))
    tokens = dict(zip(columns["key_position"], columns["key"], strict=True))
    order = {position: index for index, position in enumerate(tokens)}
    side = LABEL + CELL * len(order)
    marks = [_label(str(token), index) for index, token in enumerate(tokens.values())]
    for row, column, weight in zip(columns["query_position"], columns["key_position"], columns["weight"], strict=True):
        if row in order and weight is not None:
            x, y = (LABEL + CELL * order[position] for position in (column, row))
            marks.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill-opacity="{weight:.3f}" stroke-width=".4"/>')
    return (
        f'<svg class="weights" viewBox="0 0 {side} {side}" role="img" aria-label="Attention weights, rows look at columns" '
        f'stroke="#bbb" font-size="{LETTER}">{"".join(marks)}</svg>'
    )


def _label(token: str, index: int) -> str:
    """A token beside its row and above its column."""
    along, across = LABEL + CELL * (index + 0.72), LABEL - 5
    text = f'stroke="none" text-anchor="{{}}">{escape(token)}</text>'
    beside = f'<text x="{across}" y="{along:g}" {text.format("end")}'
    return beside + f'<text transform="translate({along:g} {across}) rotate(-90)" {text.format("start")}'
