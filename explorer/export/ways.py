"""The export formats: each is a line here, a download in the page's dialog and a route of the server."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from explorer.bert.provenance import provenance_of
from explorer.core.errors import ExplorerError
from explorer.export import bundle, page_file
from explorer.export.data_files import csv_file, has_numbers, json_file, showable
from explorer.export.place import Place
from explorer.export.python_file import python, scripts_of
from explorer.export.tables import as_json


@dataclass(frozen=True)
class Way:
    """An export format: `make` returns the file of an opened place, or raises ExplorerError."""

    key: str  # the extension, 'html'
    label: str  # for the dialog, such as 'One page, alive without a server'
    media_type: str
    make: Callable[[Place], bytes]
    offered: Callable[[Place], object] = lambda place: True  # whether an opened place has it


def offered(place: Place) -> list[Way]:
    """The ways out that an opened place has."""
    found = []
    for way in WAYS:
        with contextlib.suppress(ExplorerError):
            if way.offered(place):
                found.append(way)
    return found


def _page(place: Place) -> bytes:
    return page_file.html(place.views, place.subject).encode("utf-8", "backslashreplace")


def _zip(place: Place) -> bytes:
    """All other files of the place that can be made."""
    files = {}
    for way in WAYS:
        with contextlib.suppress(ExplorerError):  # a format that this view does not have is left out
            if way.key != "zip":
                files[f"{place.name}.{way.key}"] = way.make(place)
    return bundle.zipped(place, files)


def _provenance(place: Place) -> bytes:
    return as_json(provenance_of(place.subject.model)).encode()


PROVENANCE = Way("provenance", "How it was made, for the pictures that a browser saves", "application/json", _provenance)
WAYS: tuple[Way, ...] = (
    Way("html", "One page, alive without a server", "text/html", _page, showable),
    Way("csv", "The numbers of the main picture", "text/csv; charset=utf-8", csv_file, has_numbers),
    Way("json", "All numbers, with settings and checks", "application/json", json_file, showable),
    Way("py", "Python: the numbers with transformers and torch alone", "text/x-python", python, scripts_of),
    Way("zip", "Everything: page, data, settings, check, citation", "application/zip", _zip, showable),
)
