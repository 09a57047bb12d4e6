"""The pages of the guide: their list and order, and where their links lead in the app."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from posixpath import normpath

from explorer.core.paths import ASSETS
from explorer.guide.rendering import Section, render, without_comments

FOLDER = ASSETS / "guide"
FIRST = "index"  # lists the other pages in their order
APP = "http://127.0.0.1:7860/"  # the app's address in the guide's links, wherever the app runs
UP = "../../"  # from a page of the guide, bx/guide/NAME, to the app's page
BESIDE = {  # other documents of what the app ships with, served with the guide
    "model-card": "models/bert-l6-h384-uncased/README.md",
    "bertviz": "notebooks/bertviz.md",
    "corpus-source": "corpus/README.md",
}


@dataclass(frozen=True)
class Page:
    """One page; `name` is the last part of its address."""

    name: str
    path: Path
    title: str
    html: str
    sections: tuple[Section, ...]


@cache
def pages() -> dict[str, Page]:
    """All pages by name: the first, those that it lists, and the documents in BESIDE."""
    return {name: _read(name, path) for name, path in _paths().items()}


@cache
def order() -> tuple[str, ...]:
    """The names of the guide's own pages, in the order of the first one's list."""
    listed = re.findall(r"^- \[[^\]]+\]\(([\w-]+)\.md\)", (FOLDER / f"{FIRST}.md").read_text("utf-8"), re.MULTILINE)
    return (FIRST, *listed)


def _paths() -> dict[str, Path]:
    own = {name: FOLDER / f"{name}.md" for name in order()}
    return own | {name: ASSETS / path for name, path in BESIDE.items()}


def _read(name: str, path: Path) -> Page:
    text = path.read_text("utf-8")
    html, sections = render(text, lambda address: address_in_app(address, path))
    title = re.search(r"^# (.+)$", without_comments(text), re.MULTILINE)
    return Page(name, path, title[1] if title else name, html, sections)


def address_in_app(address: str, path: Path) -> str | None:
    """The address in the app of a link in the file at `path`; None if the app does not serve its target."""
    if address.startswith(APP):
        return UP + address.removeprefix(APP)
    if address.startswith(("http://", "https://")):
        return address
    file, _, fragment = address.partition("#")
    wanted = normpath((path.parent / file).as_posix())
    name = next((name for name, other in _paths().items() if normpath(other.as_posix()) == wanted), None)
    return None if name is None else f"{name}#{fragment}" if fragment else name
