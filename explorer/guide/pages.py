"""The pages of the guide as HTML: headings with anchors, tables that scroll, and links that work in the app; and its glossary."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from posixpath import normpath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from markdown_it.token import Token

from explorer.core.markdown import markdown
from explorer.core.paths import ASSETS

FOLDER = ASSETS / "guide"
FIRST = "index"  # lists the other pages in their order
APP = "http://127.0.0.1:7860/"  # the app's address in the guide's links, wherever the app runs
BESIDE = {  # other documents of what the app ships with, served with the guide
    "model-card": "models/bert-l6-h384-uncased/README.md",
    "bertviz": "notebooks/bertviz.md",
    "corpus-source": "corpus/README.md",
}

COMMENTS = re.compile(r"^[ \t]*<!--.*?-->[ \t]*\n?", re.DOTALL | re.MULTILINE)  # claims, markers of examples and generated parts
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
HEADING = re.compile(r"<(h[123])>(.*?)</\1>", re.DOTALL)
LINKED = '<{0} id="{2}"><a href="#{2}">{1}</a></{0}>'  # a heading that links to itself
# Wide tables and code scroll by keyboard; an empty header cell is no header. `<` in texts is escaped.
TAGS = {
    "<pre>": '<pre tabindex="0">',
    "<table>": '<div class="scrolls" role="group" aria-label="Table" tabindex="0"><table>',
    "</table>": "</table></div>",
    "<th></th>": "<td></td>",
}

_MARKDOWN = markdown()


class Section(NamedTuple):
    """A heading of a page with the plain text up to the next heading."""

    anchor: str
    title: str
    level: int  # 1 is the title of the page
    text: str


def anchor(heading: str) -> str:
    """The id that GitHub gives a heading, so that links work there and in the app."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def render(markdown: str, path: Path) -> tuple[str, tuple[Section, ...]]:
    """The HTML of a page that is in the file at `path`, and its sections."""
    tokens = _MARKDOWN.parse(COMMENTS.sub("", FRONT_MATTER.sub("", markdown)))
    sections = tuple(_sections(tokens))
    anchors = (section.anchor for section in sections)
    for link in (child for token in tokens for child in token.children or () if child.type == "link_open"):
        _lead(link, path)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    for tag, better in TAGS.items():
        html = html.replace(tag, better)
    return HEADING.sub(lambda found: LINKED.format(*found.groups(), next(anchors)), html), sections


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    """The headings of levels 1 to 3 with their texts; repeated headings get a number, as on GitHub."""
    found: list[tuple[str, int, list[str]]] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open" and before.tag in ("h1", "h2", "h3"):
            found.append((_plain(token), int(before.tag[1]), []))
        elif found and token.type in ("inline", "fence", "code_block"):
            found[-1][2].append(_plain(token))
    names: Counter[str] = Counter()
    for title, level, texts in found:
        name = anchor(title)
        yield Section(f"{name}-{names[name]}" if names[name] else name, title, level, " ".join(texts))
        names[name] += 1


def _plain(token: Token) -> str:
    if token.children is None:
        return token.content.strip()
    return "".join(" " if child.type in ("softbreak", "hardbreak") else child.content for child in token.children)


def _lead(link: Token, path: Path) -> None:
    leads = address_in_app(str(link.attrGet("href")), path)
    link.attrs = {} if leads is None else {"href": leads}  # an <a> without an address is plain text
    if leads and leads.startswith(("http://", "https://")):
        link.attrSet("rel", "noreferrer")


class Page(NamedTuple):
    """One page; `name` is the last part of its address."""

    name: str
    path: Path
    title: str
    html: str
    sections: tuple[Section, ...]


@cache
def pages() -> dict[str, Page]:
    """All pages by name: the first, those that it lists, and the documents in BESIDE."""
    read = {name: (path, *render(path.read_text("utf-8"), path)) for name, path in _paths().items()}
    return {name: Page(name, path, sections[0].title, html, sections) for name, (path, html, sections) in read.items()}


@cache
def order() -> tuple[str, ...]:
    """The names of the guide's own pages, in the order of the first one's list."""
    listed = re.findall(r"^- \[[^\]]+\]\(([\w-]+)\.md\)", (FOLDER / f"{FIRST}.md").read_text("utf-8"), re.MULTILINE)
    return (FIRST, *listed)


def _paths() -> dict[str, Path]:
    own = {name: FOLDER / f"{name}.md" for name in order()}
    return own | {name: ASSETS / path for name, path in BESIDE.items()}


def address_in_app(address: str, path: Path) -> str | None:
    """The address in the app of a link in the file at `path`; None if the app does not serve its target."""
    if address.startswith(APP):
        return "../../" + address.removeprefix(APP)  # from bx/guide/NAME
    if address.startswith(("http://", "https://", "#")):
        return address
    file, _, fragment = address.partition("#")
    wanted = normpath((path.parent / file).as_posix())
    name = next((name for name, other in _paths().items() if normpath(other.as_posix()) == wanted), None)
    return None if name is None else f"{name}#{fragment}" if fragment else name


# ---- The glossary. A term is a heading of the third level, the line `<!-- words: ... -->` with the words that stand for it in a
# text, and a paragraph of one sentence that ends in a link to the view that shows it.

GLOSSARY = "glossary"
TERM = re.compile(r"^### (.+)\n<!-- words: (.+) -->\n((?:.+\n)+)", re.MULTILINE)
SHOWN = re.compile(rf"\[([^\[\]]+)\]\({re.escape(APP)}(\S*)\)\s*\Z")  # the link at the end of a paragraph


class Term(NamedTuple):
    """A term; `words` are its forms in lower case, `meaning` is Markdown within a line, `query` that of the link to a view."""

    name: str
    words: tuple[str, ...]
    meaning: str
    where: str  # the view in words
    query: str


@cache
def terms() -> tuple[Term, ...]:
    """All terms, in the order of the page. Raises ValueError for one without a link."""
    return tuple(_term(*found.groups()) for found in TERM.finditer((FOLDER / f"{GLOSSARY}.md").read_text("utf-8")))


def _term(name: str, words: str, paragraph: str) -> Term:
    if (link := SHOWN.search(paragraph)) is None:
        raise ValueError(f"The glossary's {name!r} ends in no link to a view.")
    meaning = " ".join(paragraph[: link.start()].split())
    return Term(name, tuple(words.split(", ")), meaning, link[1], urlsplit(link[2]).query)


@cache
def glossary() -> dict[str, Any]:
    """All terms as JSON for the page, which offers their meanings, as HTML, where its own texts use them."""
    own = [{**term._asdict(), "meaning": _MARKDOWN.renderInline(term.meaning), "anchor": anchor(term.name)} for term in terms()]
    return {"terms": own}
