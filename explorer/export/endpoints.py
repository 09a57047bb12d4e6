"""Endpoints for the views: which there are, and the numbers of each."""

from typing import Any

from explorer.api.callers import bound, run_while_wanted
from explorer.bert.explorer import load
from explorer.core.scheduling import TRAINING
from explorer.export import code, links, named
from explorer.export.tables import as_data
from explorer.tabs import VIEWS
from explorer.text import limits
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View, finding_of

NO_SETTINGS: dict[str, Any] = {}
ANSWERED = ("finding", "check", "tables")


def views(model: str = "") -> dict[str, Any]:
    """Every view with its question, what it needs of a model, and its settings: their type, default, choices or range.

    Among them is the selection of the page: `layer` and `head` from 1, `token` from 0, and what is switched off, cut, swapped
    and patched. By default a view opens with the most telling layer, head and token of the input.

    Returns:
        `views`: `name`, `question`, `needs` (of the model), `settings` by name, each with `type`, `default`, `label`, and
        `choices` or `range`.
    """
    capabilities = load(model).capabilities
    return {"views": [named.describe(kind, capabilities) for kind in VIEWS.values()]}


def view(name: str, text_a: str, text_b: str = "", settings: dict[str, Any] = NO_SETTINGS, model: str = "") -> dict[str, Any]:
    """The numbers of a view: its finding, its check, and for each of its parts a table with columns and rows.

    `name` and `settings` are as in /views. `code` is Python for the same numbers, with transformers alone where a program exists.
    `link` is the query string of the page that shows them.

    Returns:
        `finding`, `check`, `tables` (for each part `columns` and `rows`), `code` (Python), `link` (a query).
    """
    texts = limits.check_optional_text(text_a, "text A"), limits.check_optional_text(text_b, "text B")
    shown, place = named.read(name, settings, Subject(load(model).name, *texts))
    subject = place.subject
    content = (_long if named.is_long(shown, subject) else _short)(shown, subject)
    data = as_data(shown, subject, content, finding_of((shown, *place.views), subject))
    return {**{key: data[key] for key in ANSWERED}, "code": code.of(shown, subject), "link": links.of(shown, subject)}


def _short(view: View, subject: Subject) -> Content:
    return named.content(view, subject, run_while_wanted)


_long = bound(_short, TRAINING["concurrency_id"])

ENDPOINTS = (views, view)
