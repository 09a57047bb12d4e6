"""Render the guide's Markdown to HTML: headings with anchors, tables that scroll, and links that work in the app."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from explorer.core.markdown import markdown

COMMENTS = re.compile(r"^[ \t]*<!--.*?-->[ \t]*\n?", re.DOTALL | re.MULTILINE)  # claims, markers of examples and generated parts
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
HEADINGS = ("h1", "h2", "h3")
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


def without_comments(markdown: str) -> str:
    return COMMENTS.sub("", FRONT_MATTER.sub("", markdown))


def render(markdown: str, served: Callable[[str], str | None]) -> tuple[str, tuple[Section, ...]]:
    """The HTML of a page, and its sections.

    `served` returns a link's address in the app, or None for a target that the app does not serve: then only the text stays.
    """
    tokens = _MARKDOWN.parse(without_comments(markdown))
    sections = tuple(_sections(tokens))
    anchors = iter(sections)
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag in HEADINGS:
            _link_to_itself(token, tokens[place + 1], next(anchors).anchor)
        for child in token.children or ():
            if child.type == "link_open":
                _lead(child, served)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    for tag, better in TAGS.items():
        html = html.replace(tag, better)
    return html, sections


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


def _link_to_itself(heading: Token, inline: Token, name: str) -> None:
    heading.attrSet("id", name)
    opening, closing = Token("link_open", "a", 1), Token("link_close", "a", -1)
    opening.attrSet("href", f"#{name}")
    inline.children = [opening, *(inline.children or []), closing]


def _lead(link: Token, served: Callable[[str], str | None]) -> None:
    """Set a link's address in the app."""
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
