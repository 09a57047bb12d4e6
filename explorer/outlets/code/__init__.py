"""The Python script of a view: transformers, torch and numpy only, short enough to read."""

from collections.abc import Callable
from typing import Any

from explorer.outlets.code import (
    answers,
    attention,
    corpus,
    experiments,
    fill_mask,
    hidden_states,
    inside_head,
    overview,
    own_head,
    pairs,
    projection,
    side_by_side,
    tokens,
    weights,
)
from explorer.views import TABS
from explorer.views.subject import Subject
from explorer.views.view import View

_TABS = (
    *(overview, tokens, attention, inside_head, hidden_states, fill_mask, answers, pairs),
    *(own_head, projection, corpus, experiments, side_by_side, weights),
)
_CODE: dict[str, Callable[[Any, Subject], str]] = {name: make for tab in _TABS for name, make in tab.CODE.items()}
_NEEDS = {view.name: tab.needs for tab in TABS if tab.needs for view in tab.views}
_TRAINED = "A run is taken home as a zip, with a predict.py that needs nothing of ours."
WITHOUT = {
    **{
        name: reason
        for tab in (overview, tokens, attention, fill_mask, side_by_side, corpus, experiments, weights)
        for name, reason in tab.WITHOUT.items()
    },
    **dict.fromkeys((view.name for tab in TABS if tab.id == "fine-tune" for view in tab.views), _TRAINED),
}


def of(view: View, subject: Subject) -> str:
    """A script that computes the numbers of this view with its settings.

    '' if there is none, for one of the reasons in WITHOUT, or because the view shows nothing for this model and input.
    Raises ModelError and InputError as the view does.
    """
    make, needs = _CODE.get(view.name), _NEEDS.get(view.name)
    if make is None or (needs and not getattr(subject.model.capabilities, needs)) or view.unless(subject):
        return ""
    return make(view, view.first(subject))
