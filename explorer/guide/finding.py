"""What the finder looks through: views, settings, actions, examples, lessons, terms, the guide, and heads by their habit.

An entry is {"kind", "title", "where", "words", "go", "text", "near"}: `where` appears below the title. `words`, `near` (the
glossary's words for what a view shows, its settings) and `text` are searched but not shown. `go` is what the page does: a query,
[tab, choice], or the name of an action (assets/page/finder.js). Concepts are lists of words that mean the same.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np

from explorer.bert.explorer import Explorer, list_loaded, load
from explorer.core.paths import ASSETS
from explorer.corpus.atlas_words import describe as habit_of
from explorer.corpus.compute.atlas import known_atlas
from explorer.export.place import slug
from explorer.guide.pages import GLOSSARY, anchor, pages, terms
from explorer.page.examples import EXAMPLES
from explorer.tabs import TABS
from explorer.teaching.lessons.reading import lessons
from explorer.text.corpora import built_in
from explorer.ui.settings import Choice
from explorer.ui.tabs import views_in
from explorer.ui.view import View

WORDS = ASSETS / "find" / "words.tsv"
CONCEPTS = ASSETS / "find" / "concepts.txt"
FIELDS = ("kind", "title", "where", "words", "go", "text", "near")

Entry = dict[str, Any]


def list_everything(model: str | None) -> dict[str, list[Any]]:
    """All that the finder looks through; with the heads and layers of a model of this name, unless it is None."""
    return {"entries": entries() + (heads_of(model) if model is not None else []), "concepts": concepts()}


@cache
def entries() -> list[Entry]:
    return _name_fields([*_views(), *_list_named(), *_examples(), *_lessons(), *_terms(), *_guide()])


def heads_of(name: str) -> list[Entry]:
    """The heads and layers of the model that goes by this name, '' for the default one; none while it is not loaded."""
    open_now = {model.checkpoint.name: model for model in list_loaded()}
    model = open_now.get(name) if name else load()
    return _name_fields([*_heads(model), *_layers(model)]) if model else []


def _name_fields(found: list[tuple]) -> list[Entry]:
    return [dict(zip(FIELDS, entry, strict=False)) for entry in found]


@cache
def concepts() -> list[list[str]]:
    return [line.split(", ") for line in CONCEPTS.read_text("utf-8").splitlines() if line]


@cache
def words() -> dict[str, list[str]]:
    """The further cells of each line of WORDS by the first.

    That is a view, a query with a setting, !action, @page#section, or =title of an example, a lesson or a term.
    """
    lines = (line.split("\t") for line in WORDS.read_text("utf-8").splitlines())
    return {target: cells for target, *cells in lines}


def _views() -> Iterator[tuple]:
    shown = _terms_by_place()
    for tab in TABS:
        for choice, rows in {"": [tab.above] if tab.above else [], **tab.choices}.items():
            label = choice if len(tab.choices) > 1 else ""  # one choice alone is not shown
            for view in views_in(rows):
                where = " › ".join(filter(None, (tab.label, label)))
                near = ", ".join([*shown.pop((tab.id, choice), []), *_labels(view)])  # terms: of the first view of a choice
                yield "view", view.question, where, words().get(view.name, [""])[-1], [tab.label, label], "", near


def _terms_by_place() -> dict[tuple[str, str], list[str]]:
    """The glossary's words by the tab's id and the choice that shows them."""
    found: dict[tuple[str, str], list[str]] = {}
    choices = {(tab.id, slug(choice)): choice for tab in TABS for choice in tab.choices}
    for term in terms():
        query = dict(parse_qsl(term.query))
        first = next(slug(choice) for tab in TABS if tab.id == query["tab"] for choice in tab.choices)
        place = query["tab"], query.get("view", first)
        found.setdefault((place[0], choices.get(place, "")), []).extend([term.name, *term.words])
    return found


def _labels(view: type[View]) -> Iterator[str]:
    for setting in view.settings.values():
        yield setting.label
        if isinstance(setting, Choice):
            yield from (str(option[0] if isinstance(option, tuple) else option) for option in setting.options)
    for part in view.parts.values():
        yield part.options.get("label", "")


def _list_named() -> Iterator[tuple]:
    """Settings, such as UMAP, and actions, such as the dark theme."""
    for target, cells in words().items():
        if target.startswith("!"):
            yield "action", cells[0], "", cells[1], target[1:]
        elif "?" in target and target[0] != "=":
            name, _, setting = target.partition("?")
            yield "setting", cells[0], next(tab.label for tab in TABS if tab.id == name), cells[1], f"tab={name}&{setting}"


def _examples() -> Iterator[tuple]:
    for label, (a, b) in EXAMPLES.items():
        yield "example", label, f"{a} {b}".strip(), words().get(f"={label}", [""])[-1], urlencode({"a": a, "b": b})


def _lessons() -> Iterator[tuple]:
    for lesson in lessons():
        known = words().get(f"={lesson.title}", [""])[-1]
        yield "lesson", lesson.title, f"Lesson {lesson.number}: {lesson.about}", known, f"lesson {lesson.name}"
        for number, step in enumerate(lesson.steps, start=1):
            yield "step", step.title, f"Lesson {lesson.number}.{number}, {lesson.title}", "", f"lesson {lesson.name}.{number}"


def _terms() -> Iterator[tuple]:
    unmarked = {ord("*"): None, ord("`"): None}
    for term in terms():
        go = f"guide {GLOSSARY}#{anchor(term.name)}"
        known = ", ".join([*term.words, *words().get(f"={term.name}", [])])
        yield "term", term.name, term.meaning.translate(unmarked), known, go, "", "definition"


def _guide() -> Iterator[tuple]:
    for page in pages().values():
        for section in page.sections[:1] if page.name == GLOSSARY else page.sections:  # the rest are terms
            where, address = page.title if section.level > 1 else "", f"{page.name}#{section.anchor}"
            known = words().get(f"@{address}", [""])[-1]
            yield "answer" if known else "guide", section.title, where, known, f"guide {address}", section.text


def _heads(model: Explorer) -> Iterator[tuple]:
    """A model's heads, by their habit over the built-in corpus once that is known."""
    size, atlas = model.capabilities, known_atlas(model, built_in())
    places = list(np.ndindex(size.layers, size.heads))
    if atlas:
        # Of heads with the same habit the clearest comes first: by the largest share at one distance.
        steady = atlas.offsets.max(-1)
        places.sort(key=lambda place: -steady[place])
    for layer, head in places:
        title = f"Head {layer + 1}.{head + 1}" + (f": {atlas.habits[layer, head]}" if atlas else "")
        where = f"It {habit_of(atlas, layer, head)}." if atlas else "Corpus › Heads and neurons finds its habit"
        go = f"tab=attention&view=one-head&layer={layer + 1}&head={head + 1}"
        yield "head", title, where, f"layer {layer + 1} head {head + 1}", go


def _layers(model: Explorer) -> Iterator[tuple]:
    for layer in range(1, model.capabilities.layers + 1):
        yield "layer", f"Layer {layer}", "What it does to each token", "", f"tab=hidden&view=layer-by-layer&layer={layer}"
