"""The pages of the guide as HTML: headings with anchors, tables that scroll, and links that work in the app."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from posixpath import normpath

from markdown_it.token import Token

from explorer.core.markdown import markdown
from explorer.core.paths import ASSETS

FOLDER = ASSETS / "guide"
FIRST = "index"  # lists the other pages in their order
APP = "http://127.0.0.1:7860/"  # the app's address in the guide's links, wherever the app runs
UP = "../../"  # from a page of the guide, bx/guide/NAME, to the app's page
BESIDE = {  # other documents of what the app ships with, served with the guide
    "model-card": "models/bert-l6-h384-uncased/README.md",
    "bertviz": "notebooks/bertviz.md",
    "corpus-source": "corpus/README.md",
}

COMMENTS = re.compile(r"^[ \t]*<!--.*?-->[ \t]*\n?", re.DOTALL | re.MULTILINE)  # claims, markers of examples and generated parts
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
HEADINGS = ("h1", "h2", "h3")
HEADING = re.compile(r"<(h[123])>(.*?)</\1>", re.DOTALL)
# Wide tables and code scroll by keyboard; an empty header cell is no header. `<` in texts is escaped.
TAGS = {
    "<pre>": '<pre tabindex="0">',
    "<table>": '<div class="scrolls" role="group" aria-label="Table" tabindex="0"><table>',
    "</table>": "</table></div>",
    "<th></th>": "<td></td>",
}

_MARKDOWN = markdown()


@dataclass(frozen=True)
class Section:
    """A heading of a page with the plain text up to the next heading."""

    anchor: str
    title: str
    level: int  # 1 is the title of the page
    text: str


def anchor(heading: str) -> str:
    """The id that GitHub gives a heading, so that links work there and in the app."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def render(markdown: str, served: Callable[[str], str | None]) -> tuple[str, tuple[Section, ...]]:
    """The HTML of a page, and its sections.

    `served` returns a link's address in the app, or None for a target that the app does not serve: then only the text stays.
    """
    tokens = _MARKDOWN.parse(COMMENTS.sub("", FRONT_MATTER.sub("", markdown)))
    sections = tuple(_sections(tokens))
    anchors = (section.anchor for section in sections)
    for link in (child for token in tokens for child in token.children or () if child.type == "link_open"):
        _lead(link, served)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    for tag, better in TAGS.items():
        html = html.replace(tag, better)
    return HEADING.sub(lambda found: _link_to_itself(*found.groups(), next(anchors)), html), sections


def _link_to_itself(tag: str, heading: str, name: str) -> str:
    return f'<{tag} id="{name}"><a href="#{name}">{heading}</a></{tag}>'


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    """The headings of levels 1 to 3 with their texts; repeated headings get a number, as on GitHub."""
    found: list[tuple[str, int, list[str]]] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open" and before.tag in HEADINGS:
            found.append((_plain(token), int(before.tag[1]), []))
        elif found and (token.type == "inline" or token.type in ("fence", "code_block")):
            found[-1][2].append(_plain(token))
    names: dict[str, int] = {}
    for title, level, texts in found:
        name = anchor(title)
        names[name] = names.get(name, -1) + 1
        yield Section(f"{name}-{names[name]}" if names[name] else name, title, level, " ".join(texts))


def _plain(token: Token) -> str:
    if token.children is None:
        return token.content.strip()
    return "".join(" " if child.type in ("softbreak", "hardbreak") else child.content for child in token.children)


def _lead(link: Token, served: Callable[[str], str | None]) -> None:
    address = str(link.attrGet("href"))
    if address.startswith("#"):
        return
    leads = served(address)
    if leads is None:
        link.attrs = {}  # an <a> without an address is plain text
        return
    link.attrSet("href", leads)
    if leads.startswith(("http://", "https://")):
        link.attrSet("rel", "noreferrer")


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
    html, sections = render(path.read_text("utf-8"), lambda address: address_in_app(address, path))
    return Page(name, path, sections[0].title, html, sections)


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
