"""Views by name, for programs: reading their settings, computing their content within limits, describing them."""

import difflib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import fields
from math import isfinite
from typing import Any

from explorer.bert.capabilities import Capabilities
from explorer.core.errors import CapabilityError, InputError
from explorer.core.limits import VIEW_SECONDS
from explorer.core.steps import finished
from explorer.export.asking import OF_THE_PAGE, choose
from explorer.export.place import Place, seen_in, where
from explorer.export.tables import settings_of
from explorer.tabs import VIEWS
from explorer.ui.edits import edits_from_one
from explorer.ui.long_view import LongView, seconds
from explorer.ui.settings import plain_value
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View

MOST_NAME = 40  # characters of a name in a sentence


def view_named(name: object) -> type[View]:
    """The view with a name. Raises InputError, which suggests similar names."""
    if isinstance(name, str) and name in VIEWS:
        return VIEWS[name]
    near = difflib.get_close_matches(str(name)[:80], VIEWS, 3, 0.4)
    meant = f"perhaps {' or '.join(near)} is meant" if near else "/views and explorer.settings() list them all"
    raise InputError(f"The app has no view {str(name)[:MOST_NAME]!r}; {meant}.")


def read(name: object, given: object, subject: Subject) -> tuple[View, Place]:
    """The named view with these settings, and the place where it is shown, with the most telling layer and head.

    The settings may include the page's selection (`OF_THE_PAGE`). Raises ExplorerError.
    """
    kind, capabilities = view_named(name), subject.model.capabilities
    if not isinstance(given, Mapping):
        raise InputError('Send the settings as an object, such as {"layer": 3, "head": 7}.')
    tab, choice = where(kind)
    if tab.needs:
        subject.model.require(tab.needs)
    (view,), subject = read_settings([kind], given, subject)
    beside = (other.read({}, capabilities) for other in seen_in(tab, choice) if other is not kind)
    return view, Place(subject, tab.id, choice, (view, *beside)).opened()


def read_settings(kinds: Sequence[type[View]], given: Mapping[str, Any], subject: Subject) -> tuple[list[View], Subject]:
    """The views, each with those of the settings that it has, and the subject with the selection. Raises InputError."""
    known = {name: setting for kind in kinds for name, setting in kind.settings.items()}
    if closed := [name for name in given if name in known and not known[name].is_open]:
        raise InputError(f"The setting {closed[0]!r} belongs to the page. Leave it out.")
    if unknown := [str(name) for name in given if name not in known and name not in OF_THE_PAGE]:
        has = ", ".join([*OF_THE_PAGE, *(name for name, setting in known.items() if setting.is_open)])
        raise InputError(f"This view has no setting {unknown[0][:MOST_NAME]!r}. Its settings: {has}.")
    own = {name: list(value) if isinstance(value, tuple | range) else value for name, value in given.items() if name in known}
    capabilities = subject.model.capabilities
    views = [kind.read({name: value for name, value in own.items() if name in kind.settings}, capabilities) for kind in kinds]
    for name in OF_THE_PAGE:
        if name not in own and given.get(name) is not None:
            subject = choose(subject, name, given[name])
    return views, subject


def chosen_in(view: View, subject: Subject) -> dict[str, Any]:
    """What `read_settings` makes this view and this selection of: what was chosen, other than the defaults."""
    chosen = subject.selection
    page: dict[str, Any] = {"layer": chosen.layer, "head": chosen.head} if chosen.picked else {}
    page["token"] = chosen.token
    page |= {"off": chosen.off_from_one, "cut": chosen.cut_from_one}
    page |= {name: plain_value(getattr(chosen, name)) for name in ("swap", "patch")} | edits_from_one(subject)
    page = {name: value for name, value in page.items() if name in ("layer", "head") or value not in (None, [])}
    defaults = {field.name: plain_value(field.default) for field in fields(view)}
    own = settings_of(view)
    if "swap" in own:  # a setting of the view by this name
        page.pop("patch", None)  # which needs the page's swap
    return {
        **{name: value for name, value in page.items() if name not in own},
        **{name: value for name, value in own.items() if value != defaults[name]},
    }


def is_long(view: View, subject: Subject) -> bool:
    """Whether its work takes more than about a second, so that only a few may run at the same time."""
    return isinstance(view, LongView) and (not view.start or seconds(subject, view.passes(subject)) > 1)


def content(view: View, subject: Subject, run: Callable[[Generator[Any, None, Any]], Any] = finished) -> Content:
    """A view's content; long work is done by `run`. Raises ExplorerError if it shows nothing here, or would take too long."""
    if why := view.unless(subject):
        raise CapabilityError(why)
    if not isinstance(view, LongView):
        return view.compute(subject)
    if not view.start:
        return view.draw(subject, run(view.work(subject)))
    found = view.known(subject)
    if found is None:
        wanted = seconds(subject, view.passes(subject))
        if not isfinite(wanted):
            raise InputError(f"How long {view.name} takes cannot be predicted. Start it on the page, where you can stop it.")
        VIEW_SECONDS.check(round(wanted))
        found = run(view.work(subject))
        view.keep(subject, found)
    return view.draw(subject, found)


def describe(kind: type[View], capabilities: Capabilities) -> dict[str, Any]:
    """A view's description for programs: name, question, needs and settings, with the ranges of a model."""
    defaults = {field.name: field.default for field in fields(kind)}
    own = {
        name: {**setting.describe(capabilities), "default": plain_value(defaults[name]), "label": setting.label}
        for name, setting in kind.settings.items()
        if setting.is_open
    }
    page = {name: about for name, about in _of_the_page(capabilities).items() if name not in own}
    needs = where(kind)[0].needs or ""
    return {"name": kind.name, "question": kind.question, "needs": needs, "settings": own | page}


def _of_the_page(has: Any) -> dict[str, dict[str, Any]]:
    return {
        "layer": {"type": "integer", "range": [0, has.layers], "default": None, "label": "Layer"},
        "head": {"type": "integer", "range": [1, has.heads], "default": None, "label": "Head"},
        "token": {"type": "integer", "range": [0, has.max_tokens - 1], "default": None, "label": "Token, by its position"},
        "off": {"type": "list", "default": [], "label": "Heads switched off, each [layer, head]"},
        "cut": {"type": "list", "default": [], "label": "Weights cut, each [layer, query, key, head or 0 for all]"},
        "swap": {"type": "list", "default": None, "label": "A word, and its replacement"},
        "patch": {"type": "list", "default": None, "label": "Hidden state and token that the swapped run gets from the other"},
        "move": {"type": "list", "default": None, "label": "A vector moved: [state, token, word, other word, strength]"},
        "path": {"type": "list", "default": None, "label": "Who sends and who reads it: [[layer, head], [layer, head, part]]"},
    }
