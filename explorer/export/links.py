"""Links that reopen a view: their query parameters, written and read in one place."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from explorer.bert import checkpoints
from explorer.bert.capabilities import Capabilities
from explorer.core.errors import InputError
from explorer.export.asking import Asked, pack
from explorer.export.place import SETTING, VERSION, Place, seen_in, slug, tab_of, where
from explorer.text import limits
from explorer.ui.edits import edits_from_one
from explorer.ui.subject import Subject
from explorer.ui.tabs import Tab
from explorer.ui.view import View

APART = "#"  # before what the page's own requests carry, and no link
LONGEST = 16_000  # characters of a query; servers and chats cut longer ones
PARAMETERS = {
    "v": "version of the link, 1",
    "model": "a hub id, or a folder where the app may open one; left out for the model the app opens with",
    "tab": "the tab",
    "view": "the choice in the tab; left out if the tab has only one",
    "a": "text A",
    "b": "text B; left out if empty",
    "layer": "the layer, from 1, or a hidden state, from 0; left out if none was picked",
    "head": "the head, from 1; left out if none was picked",
    "token": "the token, from 0",
    "off": "heads that are switched off, as layer.head, with commas between them",
    "swap": "a word of the input and its replacement, with a comma between them",
    "patch": "hidden state and token, from 0, that the swapped run gets from the other, as 6.3",
    "cut": "attention weights that are zero, as layer.query.key.head, tokens from 0 and head 0 for all, with commas between them",
    "move": "a direction added to a vector: hidden state, token, the words from and to which it leads, and strength, with commas",
    "path": "who sends (layer.head or layer.query.key), a comma, and who reads it (layer.head.part or state.token)",
    "set.NAME": "a setting of the view that is not at its default, by the name it has in the code",
}
"""The query parameters of a link and their meaning; the guide's table is made from it."""


def query(place: Place) -> str:
    """The query string of the link to a place. Raises InputError for texts that are too long for a link."""
    subject, tab = place.subject, tab_of(place.tab)
    parameters: dict[str, Any] = {"v": VERSION}
    if subject.model_name != checkpoints.default_name():
        parameters["model"] = subject.model_name
    parameters["tab"] = place.tab
    if len(tab.choices) > 1:  # for the first choice as well: a later version may put another one before it
        parameters["view"] = slug(place.choice)
    parameters["a"] = pack(limits.check_optional_text(subject.text_a, "text A"))
    if text_b := limits.check_optional_text(subject.text_b, "text B"):
        parameters["b"] = pack(text_b)
    parameters |= _selected(subject)
    parameters |= {SETTING + name: pack(text) for name, text in place.settings.items()}
    made = urlencode(parameters, safe="/:,")
    if len(made) > LONGEST:
        raise InputError(f"This is too long for a link of {LONGEST:,} characters. Shorten the texts or the settings.")
    return made


def query_of_page(place: Place) -> str:
    """The query of the link to a place and, apart from it, what the page's own requests carry besides. Raises InputError."""
    remembered = {SETTING + name: pack(text) for name, text in place.remembered.items()}
    return APART.join(filter(None, (query(place), urlencode(remembered))))


def _selected(subject: Subject) -> dict[str, Any]:
    chosen = subject.chosen
    parameters: dict[str, Any] = {"layer": chosen.layer, "head": chosen.head} if chosen.picked else {}
    if chosen.token is not None:
        parameters["token"] = chosen.token
    edits = edits_from_one(subject) if chosen.move or chosen.path else {}
    cuts = subject.selection.cut_from_one if chosen.cut else []  # without cuts that were made in other texts
    written = {
        "off": _rows(chosen.off_from_one),
        "swap": ",".join(chosen.swap or ()),
        "patch": ".".join(map(str, chosen.patch or ())),
        "cut": _rows(cuts),
        "move": ",".join(map(str, edits.get("move", ()))),
        "path": _rows(edits.get("path", ())),
    }
    return parameters | {name: text for name, text in written.items() if text}


def _rows(rows: Iterable[Iterable[int | str]]) -> str:
    return ",".join(".".join(map(str, row)) for row in rows)


def of(view: View, subject: Subject) -> str:
    """The query string of the link to one view with its settings. Raises InputError."""
    tab, choice = where(type(view))
    beside = (other() for other in seen_in(tab, choice) if other is not type(view))
    return query(Place(subject, tab.id, choice, (view, *beside)))


def views_of(query: str, tab: Tab, choice: str, capabilities: Capabilities) -> tuple[View, ...]:
    """The views of a choice with the settings in a link's query; with defaults if the link leads elsewhere."""
    parameters = dict(parse_qsl(query.partition(APART)[0][:LONGEST], keep_blank_values=True))
    there = parameters.get("tab") == tab.id and parameters.get("view", slug(next(iter(tab.choices)))) == slug(choice)
    return Asked(parameters if there else {}).views(seen_in(tab, choice), capabilities)


def asks(parameters: Iterable[str]) -> bool:
    """Whether any of the parameter names is a link's own; those that begin with __ are Gradio's."""
    return any(not name.startswith("__") for name in parameters)


def read(parameters: Mapping[str, str], default: Subject, with_files: bool = False) -> Place:
    """The place that a link's parameters name; missing ones are taken from `default` or the views' defaults.

    Valid ones replace invalid ones, with a sentence for the user. A page's own request may carry settings `with_files` too.
    Raises ModelError if even the default model cannot be loaded.
    """
    asked = Asked(parameters, with_files)
    subject = asked.subject(default)
    capabilities = subject.model.capabilities
    tab, choice = asked.choice(capabilities)
    views = asked.views(seen_in(tab, choice), capabilities)
    return Place(subject, tab.id, choice, views, tuple(dict.fromkeys(asked.told)))


def follow(query: str, default: Subject) -> Place:
    """The place that the query of a page's request names, as `read`. Raises InputError if it cannot be followed exactly."""
    place = read(dict(parse_qsl(query, keep_blank_values=True)), default, with_files=True)
    if place.told:
        raise InputError(place.told[0])
    return place
