"""Serve what the finder looks through: views, settings, actions, examples, lessons, terms, the guide, and heads by their habit.

An entry is {"kind", "title", "where", "words", "go"}: `where` is said below the title; `words`, and the `text` of a section of
the guide, are searched but not shown; `go` is what the page does: a query, [tab, choice], or the name of an action
(assets/page/finder.js).
"""

from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import urlencode

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.bert.explorer import load
from explorer.core.paths import ASSETS
from explorer.corpus.atlas_words import told as habit_of
from explorer.corpus.compute.atlas import known_atlas
from explorer.guide import glossary
from explorer.guide.pages import pages
from explorer.guide.rendering import anchor
from explorer.page.building import NEEDS
from explorer.page.examples import EXAMPLES
from explorer.server.routes import ASKED_AGAIN, FOR_A_DAY, serve_file
from explorer.tabs import TABS
from explorer.teaching.lessons.reading import lessons
from explorer.text.corpora import built_in
from explorer.ui.tabs import views_in

WORDS = ASSETS / "find" / "words.tsv"
Entry = dict[str, Any]


def finding_routes() -> list[Route]:
    library = serve_file(ASSETS / "vendor" / "minisearch.js", "text/javascript", FOR_A_DAY)
    return [Route("/bx/find.json", _entries), Route("/bx/minisearch.js", library)]


def _entries(request: Request) -> Response:
    return JSONResponse(entries(), headers=ASKED_AGAIN)


@cache
def entries() -> list[Entry]:
    """All entries. Raises ModelError if the default model cannot be loaded, whose heads are named."""
    found = [*_views(), *_named(), *_examples(), *_lessons(), *_terms(), *_guide(), *_heads()]
    return [dict(zip(("kind", "title", "where", "words", "go", "text"), entry, strict=False)) for entry in found]


@cache
def words() -> dict[str, list[str]]:
    """The further cells of each line of WORDS by the first: a view, a query with a setting, !action, or @page#section."""
    lines = (line.split("\t") for line in WORDS.read_text("utf-8").splitlines())
    return {target: cells for target, *cells in lines}


def _views() -> Iterator[tuple]:
    for tab in TABS:
        for choice, rows in {"": [tab.above] if tab.above else [], **tab.choices}.items():
            label = choice if len(tab.choices) > 1 else ""  # one choice alone is not shown
            for view in views_in(rows):
                place = " › ".join(filter(None, (tab.label, label)))
                needs = NEEDS.get(tab.needs or "", "")
                where = f"{place}, needs {needs}" if needs else place
                yield "view", view.question, where, words().get(view.name, [""])[-1], [tab.label, label]


def _named() -> Iterator[tuple]:
    """Settings, such as UMAP, and actions, such as the dark theme."""
    for target, cells in words().items():
        if target.startswith("!"):
            yield "action", cells[0], "", cells[1], target[1:]
        elif target.startswith("@"):
            yield "answer", cells[0], "In the guide", cells[1], f"guide {target[1:]}"
        elif "?" in target:
            tab, _, setting = target.partition("?")
            yield "setting", cells[0], next(one.label for one in TABS if one.id == tab), cells[1], f"tab={tab}&{setting}"


def _examples() -> Iterator[tuple]:
    for label, (a, b) in EXAMPLES.items():
        yield "example", label, f"{a} {b}".strip(), "", urlencode({"a": a, "b": b})


def _lessons() -> Iterator[tuple]:
    for lesson in lessons():
        yield "lesson", lesson.title, f"Lesson {lesson.number}: {lesson.about}", "", f"lesson {lesson.name}"
        for number, step in enumerate(lesson.steps, start=1):
            yield "step", step.title, f"Lesson {lesson.number}.{number}, {lesson.title}", "", f"lesson {lesson.name}.{number}"


def _terms() -> Iterator[tuple]:
    unmarked = {ord("*"): None, ord("`"): None}
    for term in glossary.terms():
        go = f"guide {glossary.PAGE}#{anchor(term.name)}"
        yield "term", term.name, term.meaning.translate(unmarked), ", ".join(term.words), go


def _guide() -> Iterator[tuple]:
    for page in pages().values():
        for section in page.sections if page.name != glossary.PAGE else ():
            where = page.title if section.level > 1 else ""
            yield "guide", section.title, where, "", f"guide {page.name}#{section.anchor}", section.text


def _heads() -> Iterator[tuple]:
    """The bundled model's heads by their habit over the built-in corpus, and its layers."""
    if (atlas := known_atlas(load(), built_in())) is None:
        return
    steady = atlas.offsets.max(-1)  # its largest share at one distance: of heads with the same habit, the clearest comes first
    for layer, head in sorted(np.ndindex(steady.shape), key=lambda place: -steady[place]):
        habit, one = str(atlas.habits[layer, head]), f"{layer + 1}.{head + 1}"
        go = f"tab=attention&view=one-head&layer={layer + 1}&head={head + 1}"
        yield "head", f"Head {one}: {habit}", f"It {habit_of(atlas, layer, head)}.", f"layer {layer + 1} head {head + 1}", go
    for layer in range(1, len(atlas.habits) + 1):
        yield "layer", f"Layer {layer}", "What it does to each token", "", f"tab=hidden&view=layer-by-layer&layer={layer}"
