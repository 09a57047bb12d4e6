"""The export formats: each is a line here, a download in the page's dialog and a route of the server.

The dialog offers all of them for every place; one that a place does not have is refused with the reason.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from explorer.bert.provenance import describe, provenance_of
from explorer.core.errors import CapabilityError, InputError
from explorer.export import code, named, page_file, papers
from explorer.export.links import query
from explorer.export.place import Place, slug, tab_of
from explorer.export.tables import TEXT, as_data, csv_of, settings_of, tables_of
from explorer.ui.pictures.numbers import Table
from explorer.ui.view import Content, View, finding_of

NO_PYTHON = "A training has no script: save the run as a zip, which has a predict.py."


@dataclass(frozen=True)
class Way:
    """An export format: `make` returns the file of an opened place, or raises ExplorerError."""

    key: str  # the extension, 'html'
    label: str  # for the dialog, such as 'One interactive page, without a server'
    media_type: str
    make: Callable[[Place], bytes]
    is_quick: bool = False  # it computes no view


def page(place: Place) -> bytes:
    return page_file.html(place.views, place.subject).encode("utf-8", "backslashreplace")


# ---- The numbers.


def all_numbers(place: Place) -> bytes:
    """The JSON of all views of a place, each made by `as_data`, and how they were made.

    Raises ExplorerError, and ValueError for NaN, which JSON does not have.
    """
    subject = place.subject
    views = [as_data(view, subject, content, finding_of([view], subject)) for view, content in compute_views(place)]
    made = {"views": views, "provenance": provenance_of(subject.model)}
    return json.dumps(made, ensure_ascii=False, allow_nan=False).encode()


def one_table(place: Place) -> bytes:
    """The CSV of the part that was asked for, or of the main one (see `_main_first`). Raises ExplorerError.

    A part is named `heatmap`, or by its element id on the page, `attention-head-heatmap`.
    """
    wanted = place.part
    found = [(view, name, table) for view, content in compute_views(place) for name, table in tables_of(view, content).items()]
    found.sort(key=lambda one: _main_first(place, *one))
    for view, name, table in found:
        if wanted in (name, slug(f"{view.name}-{name}")) or (not wanted and table.columns != TEXT):
            return csv_of(table).encode()
    names = ", ".join(name for _, name, _ in found)
    if wanted:
        raise InputError(f"No part {wanted[:40]!r} has numbers; these have: {names or 'none'}.")
    raise InputError("This view shows no numbers. Choose another view or another input.")


def _main_first(place: Place, view: View, name: str, table: Table) -> tuple[bool, bool, bool, int]:
    """A key that puts first what a place is about.

    Sentences come last, a row of tokens, which repeats the input, before them, and before that the views above all choices of
    the tab. The widest view is the main one, and of a view its first part.
    """
    repeats = name in view.parts and view.parts[name].kind == "tokens"
    return table.columns == TEXT, repeats, type(view) in tab_of(place.tab).above, -view.width


def compute_views(place: Place) -> list[tuple[View, Content]]:
    """The views of a place that show something, with their content. Raises CapabilityError or InputError if none does."""
    if needs := tab_of(place.tab).needs:
        place.subject.model.require(needs)
    found, refused = [], []
    for view in place.views:
        try:
            found.append((view, named.content(view, place.subject)))
        except (CapabilityError, InputError) as error:  # a view that shows nothing is left out if others show something
            refused.append(error)
    if refused and not found:
        raise refused[0]
    return found


# ---- Python, and where all of it comes from.


def python(place: Place) -> bytes:
    """The programs of a place, then lines with this package for its other views. Raises InputError if there is neither."""
    subject = place.subject
    programs = {view.name: code.program(view, subject) for view in place.views}
    rest = [view for view in place.views if not programs[view.name] and code.of(view, subject)]
    beside = [view for view in rest if type(view) not in tab_of(place.tab).above] if any(programs.values()) else rest
    parts = [*dict.fromkeys(filter(None, programs.values())), *([code.lines(beside, subject)] if beside else [])]
    if not parts:
        raise InputError(NO_PYTHON)
    line = "\n# " + "-" * 78 + "\n\n"
    return f"{line.join(parts)}\n# {describe(provenance_of(subject.model))}\n".encode()


def about(place: Place) -> bytes:
    """What reproduces and proves the files of a place, and whom to cite, as JSON."""
    subject = place.subject
    found: dict[str, Any] = {
        "link": query(place),
        "texts": [subject.text_a, subject.text_b],
        "views": {view.name: {"question": view.question, "settings": settings_of(view)} for view in place.views},
        "provenance": provenance_of(subject.model),
        "cite": papers.cite(place.views, subject.model),
    }
    return json.dumps(found, ensure_ascii=False, indent=2).encode()


ABOUT = Way("about.json", "About these files: model, settings, versions, whom to cite", "application/json", about, is_quick=True)
WAYS: tuple[Way, ...] = (
    Way("html", "One interactive page, without a server", "text/html", page),
    Way("csv", "The numbers of the main picture", "text/csv; charset=utf-8", one_table),
    Way("json", "All numbers, with settings and checks", "application/json", all_numbers),
    Way("py", "Python that computes the numbers", "text/x-python", python),
    ABOUT,
)
