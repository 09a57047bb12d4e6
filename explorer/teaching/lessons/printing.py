"""Lessons on paper: for each lesson a hand-out without answers and a teacher's sheet with them, as self-contained HTML.

`python -m explorer.teaching.lessons.printing OUT --address https://name.hf.space/` writes them all.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from explorer.core.errors import ExplorerError, InputError
from explorer.core.hosts import is_loopback
from explorer.core.paths import ASSETS
from explorer.export import qr
from explorer.export.named import content
from explorer.export.place import VERSION
from explorer.export.tables import tables_of
from explorer.teaching.lessons import reading
from explorer.teaching.lessons.lesson import Example, Lesson, Option, Step
from explorer.teaching.lessons.sending import as_html, within_a_line
from explorer.ui.pictures.numbers import Table

HERE = "http://127.0.0.1:7860/"  # the app's address, unless another one is given
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
CHECKED_AT = "exercises"  # below the app's address: the page where a teacher has students' links checked
LINES = 4  # empty lines to write on, for a question without options
ROUNDS = {"blank": "“Fill the blank”", "pair": "“Does B follow A?”", "target": "“Where does a head look?”"}  # as on the board
CELL, LABEL, LETTER = 16, 76, 11  # in units of the drawing: a cell's side, the room for a token, the size of its letters
NOT_FOR_PHONES = (
    "No phone reaches {host}. Open the app at an address that phones reach and print this from there, or make it with --address."
)


def checked(address: str) -> str:
    """The app's address, ending with a slash. Raises InputError if it is not a web address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InputError(f"{address!r} is no address of an app; give one such as https://name.hf.space/.")
    return address.rstrip("/") + "/"


def link(lesson: Lesson, number: int, address: str = HERE) -> str:
    """The link that opens a step, counted from 1, with the lesson beside it."""
    return f"{address}#lesson={lesson.name}.{number}"


def handout(lesson: Lesson, address: str = HERE) -> str:
    """The students' sheet: each step with room for the answer and a QR code. Raises InputError if the address is too long."""
    steps = "".join(_asked(lesson, number, address) for number, _ in enumerate(lesson.steps, start=1))
    names = '<p class="names"><span>Name</span><span>Date</span></p>'
    kind = f'<p class="kind">Lesson {lesson.number}{f" · {lesson.minutes} minutes" if lesson.minutes else ""}</p>'
    where = f'<p class="where">Each code opens its step in BERT Explorer, at {escape(address)}</p>'
    return _page(lesson.title, f"{names}{kind}{_head(lesson)}{where}{steps}", address, "handout")


def teacher_sheet(lesson: Lesson, address: str = HERE) -> str:
    """The teacher's sheet: minutes, what to type, and each step with its answers."""
    steps = "".join(_told(lesson, number, address) for number, _ in enumerate(lesson.steps, start=1))
    links = escape(f"{address}{CHECKED_AT}")
    exercises = f'<p class="where">Students’ links to what they solved are checked at <a href="{links}">{links}</a></p>'
    tried = _examples("Known to work", lesson.works) + _examples("Known to fail", lesson.fails)
    sources = f'<p class="sources">Sources: {escape("; ".join(lesson.sources))}.</p>'
    kind = f'<p class="kind">Teacher’s sheet · lesson {lesson.number} · {_length(lesson)}</p>'
    body = f"{kind}{_head(lesson)}{_aims(lesson)}{sources}{exercises if lesson.exercises else ''}{tried}{steps}"
    return _page(f"{lesson.title} · Teacher’s sheet", body, address, "teacher")


def contents(lessons: Sequence[Lesson], address: str = HERE) -> str:
    """The page that lists all lessons, with links to the files that `files` makes."""
    rows = "".join(
        f"<tr><td><b>{lesson.number} · {escape(lesson.title)}</b><br>{escape(lesson.about)}<td>{lesson.minutes or '–'}"
        f'<td><a href="{lesson.name}-handout.html">Hand-out</a><td><a href="{lesson.name}-teacher.html">Teacher’s sheet</a>'
        for lesson in lessons
    )
    total = sum(lesson.minutes for lesson in lessons)
    hours = f"{total} minutes in all, {total / 60:.1f} hours."
    table = f'<table class="all"><tr><th>Lesson<th>Minutes<th><th>{rows}</table>'
    return _page("Lessons", f"<h1>Lessons</h1><p>{len(lessons)} lessons, {hours}</p>{table}", address, "teacher")


def files(lessons: Sequence[Lesson], address: str = HERE) -> dict[str, str]:
    """The HTML of all sheets by file name, with index.html, which links to them."""
    made = {"index.html": contents(lessons, address)}
    for lesson in lessons:
        made[f"{lesson.name}-handout.html"] = handout(lesson, address)
        made[f"{lesson.name}-teacher.html"] = teacher_sheet(lesson, address)
    return made


def _page(title: str, body: str, address: str, kind: str) -> str:
    style = (ASSETS / "lessons" / "sheet.css").read_text("utf-8")
    host = urlsplit(address).hostname or ""
    note = f'<p class="note">{escape(NOT_FOR_PHONES.format(host=host))}</p>' if is_loopback(host) else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escape(title)} · BERT Explorer</title><style>{style}</style></head>"
        f'<body class="{kind}"><main>{note}{body}</main></body></html>\n'
    )


def _head(lesson: Lesson) -> str:
    return f'<h1>{escape(lesson.title)}</h1><p class="about">{escape(lesson.about)}</p>'


def _aims(lesson: Lesson) -> str:
    items = "".join(f"<li>{within_a_line(aim)}" for aim in lesson.aims)
    return f'<div class="aims"><p>Afterwards, students can</p><ul>{items}</ul></div>' if items else ""


def _length(lesson: Lesson) -> str:
    steps = f"{len(lesson.steps)} steps"
    return f"{lesson.minutes} minutes, {steps}" if lesson.minutes else steps


def _asked(lesson: Lesson, number: int, address: str) -> str:
    step = lesson.steps[number - 1]
    options = "".join(f"<li>{escape(option.text)}" for option in step.options)
    room = f'<ul class="options">{options}</ul>{_lines(1, "Because")}' if options else _lines(LINES)
    to = link(lesson, number, address)
    code = f'<a class="code" href="{escape(to)}" aria-label="Step {number} in the app">{qr.svg(to).decode()}</a>'
    return f"<section>{code}{_beginning(lesson, number)}{as_html(step.before)}{picture(step)}{room}{_task(step)}</section>"


def _lines(number: int, label: str = "") -> str:
    return f'<div class="lines">{f"<span>{label}</span>" if label else ""}{"<i></i>" * number}</div>'


def _told(lesson: Lesson, number: int, address: str) -> str:
    step, to = lesson.steps[number - 1], escape(link(lesson, number, address))
    options = "".join(map(_answer, step.options))
    table = f"<table>{options}</table>" if options else ""
    after = f'<div class="after">{as_html(step.after)}</div>' if step.after else ""
    where = f'<p class="where"><a href="{to}">{to}</a>{_round(step)}</p>'
    told = f"{_beginning(lesson, number)}{where}{as_html(step.before)}{table}"
    return f"<section><div>{told}</div>{after}{_task(step)}{_solution(step, address)}</section>"


def _task(step: Step) -> str:
    """What the app checks in this step."""
    return f'<p class="task"><b>Make it so.</b> {within_a_line(step.exercise.task)}</p>' if step.exercise else ""


def _solution(step: Step, address: str) -> str:
    """One way to do it, with the link that shows it."""
    if not step.exercise:
        return ""
    written = "; ".join(f"{name.removeprefix('set.')}: {value}" for name, value in step.exercise.solution.items())
    to = f"{address}?{urlencode({'v': VERSION, **step.link, **step.exercise.solution})}"
    return f'<p class="solution">One solution: <a href="{escape(to)}">{escape(written)}</a></p>'


def _round(step: Step) -> str:
    """The round that fits a step, and the text to ask about if it is another than the step's."""
    if not step.round:
        return ""
    return f". In a room: {ROUNDS[step.round]}{f' with <b>{escape(step.round_text)}</b>' if step.round_text else ''}"


def _beginning(lesson: Lesson, number: int) -> str:
    """A step's heading, and its texts if they differ from the previous step's."""
    step = lesson.steps[number - 1]
    same = number > 1 and _texts(lesson.steps[number - 2]) == _texts(step)
    minutes = f" <small>{step.minutes} min</small>" if step.minutes else ""
    return f"<h2>{number}. {escape(step.title)}{minutes}</h2>{'' if same else _typed(_texts(step))}"


def _answer(option: Option) -> str:
    sign, kind = ("✓", "right") if option.right else ("", "wrong")
    return f'<tr class="{kind}"><td>{sign}<td>{escape(option.text)}<td>{within_a_line(option.feedback)}'


def _examples(heading: str, examples: Iterable[Example]) -> str:
    rows = "".join(f"<tr><td>{_typed(example.texts)}<td>{within_a_line(example.outcome)}" for example in examples)
    return f'<section class="tried"><h2>{heading}</h2><table>{rows}</table></section>' if rows else ""


def _texts(step: Step) -> tuple[str, ...]:
    return tuple(step.link[name] for name in "ab" if step.link.get(name))


def _typed(texts: tuple[str, ...]) -> str:
    """The texts to type, marked A and B if there are two."""
    letters = [f"<b>{letter}</b>" for letter in "AB"] if len(texts) > 1 else [""]
    lines = "".join(f"<span>{letter}{escape(text)}</span>" for letter, text in zip(letters, texts, strict=True))
    return f'<p class="typed">{lines}</p>'


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


def write(out: Path, address: str) -> None:
    """Write all sheets into a folder. Raises InputError."""
    made = files(reading.lessons(), checked(address))
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, page in made.items():
            (out / name).write_text(page, "utf-8")
    except OSError as error:
        raise InputError(f"The sheets cannot be written to {out}: {error.strerror}.") from error
    print(f"{len(made)} pages; open {out / 'index.html'}.")


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m explorer.teaching.lessons.printing", description="Write the lessons as pages to print."
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for the pages, made if it is not there")
    parser.add_argument("--address", default=HERE, help="where phones reach the app; the codes lead there (default %(default)s)")
    args = parser.parse_args()
    try:
        write(args.out, args.address)
    except ExplorerError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
