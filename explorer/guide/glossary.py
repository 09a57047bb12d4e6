"""The terms of the guide's glossary as data: the page offers their meanings where its own texts use them.

A term of `assets/guide/glossary.md` is a heading of the third level, the line `<!-- words: ... -->` with the words that stand for
it in a text, and a paragraph of one sentence that ends in a link to the view that shows it.
"""

import functools
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from explorer.core.markdown import markdown
from explorer.guide.pages import APP, FOLDER, anchor

PAGE = "glossary"
TERM = re.compile(r"^### (.+)\n<!-- words: (.+) -->\n((?:.+\n)+)", re.MULTILINE)
SHOWN = re.compile(rf"\[([^\[\]]+)\]\({re.escape(APP)}(\S*)\)\s*\Z")  # the link at the end of a paragraph

_MARKDOWN = markdown()


@dataclass(frozen=True)
class Term:
    """A term; `words` are its forms in lower case, `meaning` is Markdown within a line, `query` that of the link to a view."""

    name: str
    words: tuple[str, ...]
    meaning: str
    where: str  # the view in words
    query: str


@functools.cache
def terms() -> tuple[Term, ...]:
    """All terms, in the order of the page. Raises ValueError for one without a link."""
    text = (FOLDER / f"{PAGE}.md").read_text("utf-8")
    return tuple(_term(*found.groups()) for found in TERM.finditer(text))


def _term(name: str, words: str, paragraph: str) -> Term:
    if (link := SHOWN.search(paragraph)) is None:
        raise ValueError(f"The glossary's {name!r} ends in no link to a view.")
    meaning = " ".join(paragraph[: link.start()].split())
    return Term(name, tuple(words.split(", ")), meaning, link[1], urlsplit(link[2]).query)


@functools.cache
def as_json() -> dict[str, Any]:
    """All terms as JSON for the page, with their meanings as HTML."""
    own = [{**vars(term), "meaning": _MARKDOWN.renderInline(term.meaning), "anchor": anchor(term.name)} for term in terms()]
    return {"terms": own}
