"""Views by name, for programs: reading their settings, computing their content within limits, describing them."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import fields
from math import isfinite
from typing import Any

from explorer.bert.capabilities import Capabilities
from explorer.core.errors import CapabilityError, InputError
from explorer.core.limits import VIEW_SECONDS
from explorer.core.steps import finished
from explorer.export.place import Place, seen_in, where
from explorer.export.tables import is_open, plain_value
from explorer.tabs import VIEWS
from explorer.text import limits
from explorer.ui.long_view import LongView, seconds
from explorer.ui.settings import Choice, Number, Setting, Several, Sheet, Switch, Text
from explorer.ui.subject import Subject, in_order
from explorer.ui.view import Content, View

OF_THE_PAGE = ("layer", "head", "token", "off", "cut")  # selection parameters that every view takes among its settings
MOST_NAME = 60


def read(name: object, given: object, subject: Subject) -> tuple[View, Place]:
    """The named view with these settings, and the place where it is shown, with the most telling layer and head.

    The settings may include the page's selection: layer and head from 1, a token from 0, heads switched off, and attention
    weights cut.
    Raises ExplorerError.
    """
    if not isinstance(name, str) or name not in VIEWS:
        shown = repr(name[:MOST_NAME]) if isinstance(name, str) else "of that kind"
        raise InputError(f"There is no view {shown}; /views tells the names of all that there are.")
    if not isinstance(given, Mapping):
        raise InputError('Send the settings as an object, such as {"layer": 3, "head": 7}.')
    kind, capabilities = VIEWS[name], subject.model.capabilities
    tab, choice = where(kind)
    if tab.needs:
        subject.model.require(tab.needs)
    if closed := [one for one in given if one in kind.settings and not is_open(kind.settings[one])]:
        raise InputError(f"The setting {closed[0]!r} belongs to the page; leave it out.")
    own = {one: value for one, value in given.items() if one in kind.settings or one not in OF_THE_PAGE}
    view = kind.read(_declared(kind) | own, capabilities)
    chosen = {one: value for one, value in given.items() if one not in own and value is not None}
    subject = subject.select(**_selected(chosen, subject)) if chosen else subject
    beside = (other.read(_declared(other), capabilities) for other in seen_in(tab, choice) if other is not kind)
    return view, Place(subject, tab.id, choice, (view, *beside)).opened()


def _declared(kind: type[View]) -> dict[str, Any]:
    """The declared defaults; the view fits them to the model."""
    return {one.name: one.default for one in fields(kind) if not isinstance(kind.settings[one.name], Sheet)}


def _selected(chosen: Mapping[str, Any], subject: Subject) -> dict[str, Any]:
    """The checked selection. Raises InputError."""
    has, checked = subject.model.capabilities, dict(chosen)
    if "layer" in chosen:
        checked["layer"] = limits.check_integer(chosen["layer"], "the layer", 0, has.layers)
    if "head" in chosen:
        checked["head"] = limits.check_integer(chosen["head"], "the head", 1, has.heads)
    if "token" in chosen:
        checked["token"] = limits.check_integer(chosen["token"], "the token", 0, subject.trace.kept - 1)
    if "off" in chosen:
        checked["off"] = tuple(sorted(limits.head_indices(chosen["off"], has.layers, has.heads)))
    if "cut" in chosen:
        checked["cut"] = in_order(limits.cut_weights(chosen["cut"], has.layers, has.heads, subject.trace.kept))
    return checked


def is_long(view: View, subject: Subject) -> bool:
    """Whether its work takes more than about a second, so that only a few may run at once."""
    return isinstance(view, LongView) and (not view.start or seconds(subject, view.passes(subject)) > 1)


def content(view: View, subject: Subject, run: Callable[[Generator[Any, None, Any]], Any] = finished) -> Content:
    """A view's content; long work is done by `run`. Raises ExplorerError if it shows nothing here, or would take too long."""
    check_shown(view, subject)
    if not isinstance(view, LongView):
        return view.compute(subject)
    found = view.known(subject) if view.start else None
    if found is None:
        found = run(view.work(subject))
        if view.start:
            view.keep(subject, found)
    return view.draw(subject, found)


def check_shown(view: View, subject: Subject) -> None:
    """Raises ExplorerError if a view shows nothing here, or its work would take too long."""
    if why := view.unless(subject):
        raise CapabilityError(why)
    if not isinstance(view, LongView) or not view.start or view.known(subject) is not None:
        return
    wanted = seconds(subject, view.passes(subject))
    if not isfinite(wanted):
        raise InputError(f"Nobody can tell how long {view.name} takes; start it on the page, where it can be stopped.")
    VIEW_SECONDS.check(round(wanted))


def described(kind: type[View], capabilities: Capabilities) -> dict[str, Any]:
    """A view's description for programs: name, question, needs and settings, with the ranges of a model."""
    declared = {one.name: one.default for one in fields(kind)}
    own = {
        name: {**_type(setting, capabilities), "default": plain_value(declared[name]), "label": setting.label}
        for name, setting in kind.settings.items()
        if is_open(setting)
    }
    page = {name: about for name, about in _of_the_page(capabilities).items() if name not in own}
    needs = where(kind)[0].needs or ""
    return {"name": kind.name, "question": kind.question, "needs": needs, "settings": own | page}


def _of_the_page(has: Any) -> dict[str, dict[str, Any]]:
    """The selection parameters that every view takes; by default, the most telling values are used."""
    return {
        "layer": {"type": "integer", "range": [0, has.layers], "default": None, "label": "Layer"},
        "head": {"type": "integer", "range": [1, has.heads], "default": None, "label": "Head"},
        "token": {"type": "integer", "range": [0, has.max_tokens - 1], "default": None, "label": "Token, by its position"},
        "off": {"type": "list", "default": [], "label": "Heads switched off, each [layer, head]"},
        "cut": {"type": "list", "default": [], "label": "Weights cut, each [layer, query, key, head or 0 for all]"},
    }


def _type(setting: Setting, capabilities: Capabilities) -> dict[str, Any]:
    """The type of a setting, and its allowed values."""
    match setting:
        case Choice(free=False):
            return {"type": "choice", "choices": setting.values}
        case Choice():
            return {"type": "text"}
        case Several():
            return {"type": "list", "choices": list(setting.options(capabilities))}
        case Switch():
            return {"type": "boolean"}
        case Number():
            return {"type": "integer" if isinstance(setting.step, int) else "number", "range": list(setting.range(capabilities))}
        case Text():
            return {"type": "text", "range": [0, setting.limit.most]}
        case Sheet():
            return {"type": "rows", "columns": list(setting.columns)}
    return {"type": "any"}
