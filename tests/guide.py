"""Markdown helpers for the tests of README and guide: sections, anchors, and checks of links."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from explorer.export import links
from explorer.guide.pages import render
from explorer.page.examples import first_subject


def section(markdown: str, heading: str) -> str:
    """The text below a second-level heading, up to the next one."""
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", markdown, flags=re.MULTILINE | re.DOTALL)[1]


def anchors(path: Path) -> set[str]:
    """The ids of the headings in a Markdown file."""
    _, sections = render(path.read_text("utf-8"), path)
    return {one.anchor for one in sections}


def leads_somewhere(address: str, path: Path) -> None:
    """Fail if a link in a file leads to no file, or to no heading of it."""
    file, _, fragment = address.partition("#")
    found = (path.parent / file).resolve() if file else path
    assert found.exists(), f"{path.name}: {address}"
    assert not fragment or fragment in anchors(found), f"{path.name}: {address}"


def opens_as_it_is(address: str) -> None:
    """Fail if a link to the app opens another tab than it names, or causes a message."""
    parts = urlsplit(address)
    if not parts.query:
        return
    parameters = dict(parse_qsl(parts.query))
    place = links.read(parameters, first_subject())
    assert (place.told, place.tab) == ((), parameters["tab"]), address
