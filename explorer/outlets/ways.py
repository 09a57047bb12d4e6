"""The ways out of a place that are files: each is a line here, a download in the page's dialog and an address of the server."""

from collections.abc import Callable
from dataclasses import dataclass

from explorer.outlets import page_file
from explorer.outlets.links import Place


@dataclass(frozen=True)
class Way:
    """One way out: `make` gives the file of a place whose layer and head are chosen. It raises ExplorerError."""

    key: str  # the extension, 'html'
    label: str  # what a person reads: 'One page, interactive and offline'
    media_type: str
    make: Callable[[Place], bytes]


def _page(place: Place) -> bytes:
    return page_file.html(place.views, place.subject).encode("utf-8", "backslashreplace")


WAYS: tuple[Way, ...] = (Way("html", "One page, alive without a server", "text/html", _page),)
