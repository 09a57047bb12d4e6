"""Lessons on paper: for each lesson a hand-out without answers and a teacher's sheet with them, as self-contained HTML."""

from html import escape
from urllib.parse import urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from explorer.core.hosts import is_loopback
from explorer.core.paths import ASSETS
from explorer.export import qr
from explorer.export.named import content
from explorer.export.place import VERSION
from explorer.export.tables import tables_of
from explorer.teaching.lessons.lesson import Lesson, Step
from explorer.teaching.lessons.sending import as_html, within_a_line
from explorer.ui.pictures.numbers import Table

HERE = "http://127.0.0.1:7860/"  # the app's address, unless another one is given
ROUNDS = {"blank": "“Fill the blank”", "pair": "“Does B follow A?”", "target": "“Where does a head look?”"}  # as on the board
CELL, LABEL, LETTER = 16, 76, 11  # in units of the drawing: a cell's side, the room for a token, the size of its letters


def handout(lesson: Lesson, address: str = HERE) -> str:
    """The students' sheet: each step with room for the answer and a QR code. Raises InputError if the address is too long."""
    return _render("handout", lesson, address)


def teacher_sheet(lesson: Lesson, address: str = HERE) -> str:
    """The teacher's sheet: minutes, what to type, and each step with its answers."""
    return _render("teacher", lesson, address)


def link(lesson: Lesson, number: int, address: str = HERE) -> str:
    """The link that opens a step, counted from 1, with the lesson beside it."""
    return f"{address}#lesson={lesson.name}.{number}"


def _link_to_solution(step: Step, address: str) -> str:
    assert step.exercise is not None
    return f"{address}?{urlencode({'v': VERSION, **step.link, **step.exercise.solution})}"


def _render(kind: str, lesson: Lesson, address: str) -> str:
    """The sheet that `assets/lessons` has a template for. Every text is escaped unless a filter makes Markup of it."""
    templates = Environment(loader=FileSystemLoader(ASSETS / "lessons"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    templates.filters |= {
        "line": lambda text: Markup(within_a_line(text)),
        "markdown": lambda text: Markup(as_html(text)),
        "picture": lambda step: Markup(picture(step)),
        "qr": lambda text: Markup(qr.svg(text).decode()),
        "link": link,
        "solution": _link_to_solution,
    }
    templates.tests["loopback"] = is_loopback
    host = urlsplit(address).hostname or ""
    return templates.get_template(f"{kind}.html").render(kind=kind, lesson=lesson, address=address, host=host, rounds=ROUNDS)


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
            return _draw_weights(table) if table and {"query", "key", "weight"} <= set(table.columns) else ""
    return ""


def _draw_weights(table: Table) -> str:
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
