"""The numbers of a place as files: all of them as JSON, one part as CSV."""

from contextlib import suppress

from explorer.bert.provenance import provenance_of
from explorer.core.errors import CapabilityError, ExplorerError, InputError
from explorer.export import named
from explorer.export.place import Place, slug, tab_of
from explorer.export.tables import TEXT, as_data, as_json, csv_of, tables_of
from explorer.ui.long_view import LongView
from explorer.ui.pictures.numbers import Table
from explorer.ui.view import Content, View, finding_of


def json_file(place: Place) -> bytes:
    """The JSON of all views of a place, each made by `as_data`, and how they were made. Raises ExplorerError."""
    subject = place.subject
    views = [as_data(view, subject, content, finding_of([view], subject)) for view, content in shown(place)]
    return as_json({"views": views, "provenance": provenance_of(subject.model)}).encode()


def csv_file(place: Place) -> bytes:
    """The CSV of the part that was asked for, or of the main one (see `_main_first`). Raises ExplorerError.

    A part is named `heatmap`, or by its element id on the page, `attention-head-heatmap`.
    """
    wanted = place.part
    found = [(view, name, table) for view, content in shown(place) for name, table in tables_of(view, content).items()]
    found.sort(key=lambda one: _main_first(place, *one))
    for view, name, table in found:
        if wanted in (name, slug(f"{view.name}-{name}")) or (not wanted and table.columns != TEXT):
            return csv_of(table).encode()
    names = ", ".join(name for _, name, _ in found)
    if wanted:
        raise InputError(f"There is no part {wanted[:40]!r} with numbers here; there are {names or 'none'}.")
    raise InputError("Nothing here shows numbers; choose another view, or another input.")


def _main_first(place: Place, view: View, name: str, table: Table) -> tuple[bool, bool, bool, int]:
    """A key that puts first what a place is about.

    Sentences come last, a row of tokens, which repeats the input, before them, and before that the views above all choices of
    the tab. The widest view is the main one, and of a view its first part.
    """
    repeats = name in view.parts and view.parts[name].kind == "tokens"
    return table.columns == TEXT, repeats, type(view) in tab_of(place.tab).above, -view.width


def showable(place: Place) -> list[View]:
    """The views of a place that show something, and quickly enough for a file."""
    needs, found = tab_of(place.tab).needs, []
    if needs and not getattr(place.subject.model.capabilities, needs):
        return []
    for view in place.views:
        with suppress(ExplorerError):
            named.check_shown(view, place.subject)
            found.append(view)
    return found


def has_numbers(place: Place) -> bool:
    """Whether a view of a place shows numbers; long work, which is not begun for this, does."""
    views = [view for view in showable(place) if view.shows_pictures()]
    return any(isinstance(view, LongView) or _numbers_of(view, view.compute(place.subject)) for view in views)


def _numbers_of(view: View, content: Content) -> bool:
    return any(table.columns != TEXT for table in tables_of(view, content).values())


def shown(place: Place) -> list[tuple[View, Content]]:
    """The views of a place that show something, with their content. Raises CapabilityError if none does."""
    if needs := tab_of(place.tab).needs:
        place.subject.model.require(needs)
    views = [(view, view.unless(place.subject)) for view in place.views]
    if views and all(why for _, why in views):
        raise CapabilityError(views[0][1])
    found, refused = [], None
    for view in (view for view, why in views if not why):
        try:
            found.append((view, named.content(view, place.subject)))
        except InputError as error:  # a view that waits to be started is left out if others show something
            refused = error
    if refused and not found:
        raise refused
    return found
