"""The Python script of a view: transformers, torch and numpy only, short enough to read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.attention import script as attention
from explorer.corpus import script as corpus
from explorer.experiments import script as experiments
from explorer.fill_mask import script as fill_mask
from explorer.hidden_states import script as hidden_states
from explorer.inside_head import script as inside_head
from explorer.model_card import script as model_card
from explorer.next_sentence import script as next_sentence
from explorer.overview import script as overview
from explorer.projection import script as projection
from explorer.side_by_side import script as side_by_side
from explorer.tabs import TABS
from explorer.task_head import script as task_head
from explorer.tokens import script as tokens
from explorer.ui import answer_scripts as answers
from explorer.ui.subject import Subject
from explorer.ui.view import View
from explorer.ui.writing import Script, write

_TABS = (
    *(overview, tokens, attention, inside_head, hidden_states, fill_mask, answers, next_sentence),
    *(task_head, projection, corpus, experiments, side_by_side, model_card),
)
Made = Script | Callable[[Any, Subject], Script | None]
_CODE: dict[str, Made] = {name: made for tab in _TABS for name, made in tab.CODE.items()}
_FOLDERS = {name: Path(str(tab.__file__)).resolve().with_name("scripts") for tab in _TABS for name in tab.CODE}
_NEEDS = {view.name: tab.needs for tab in TABS if tab.needs for view in tab.views}
_TRAINED = "A run is taken home as a zip, with a predict.py that needs nothing of ours."
WITHOUT = {
    **{
        name: reason
        for tab in (overview, tokens, attention, fill_mask, side_by_side, corpus, experiments, model_card)
        for name, reason in tab.WITHOUT.items()
    },
    **dict.fromkeys((view.name for tab in TABS if tab.id == "fine-tune" for view in tab.views), _TRAINED),
}


def of(view: View, subject: Subject) -> str:
    """A script that computes the numbers of this view with its settings.

    '' if there is none, for one of the reasons in WITHOUT, or because the view shows nothing for this model and input.
    Raises ModelError and InputError as the view does.
    """
    made, needs = _CODE.get(view.name), _NEEDS.get(view.name)
    if made is None or (needs and not getattr(subject.model.capabilities, needs)) or view.unless(subject):
        return ""
    subject = view.first(subject)
    script = made if isinstance(made, Script) else made(view, subject)
    return write(_FOLDERS[view.name], script, view, subject) if script else ""
