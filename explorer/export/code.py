"""The Python of a view: a program with transformers alone where there is one, else a few lines with this package."""

from collections.abc import Sequence
from typing import Any

from explorer.bert.checkpoints import TUNED
from explorer.export.named import chosen_in
from explorer.export.place import where
from explorer.tabs import TABS
from explorer.ui.subject import Subject
from explorer.ui.view import View

_PROGRAMS = {name: program for tab in TABS for name, program in tab.programs.items()}
NOTEBOOK = '''"""In a notebook: show draws a view, trace.view(...) in its place has the numbers, as .tables."""

import explorer
'''
TRAINED = {view.name for tab in TABS if tab.id == "fine-tune" for view in tab.views}
"""Views of a training: a run is saved as a zip, with a predict.py that does not need this package."""


def of(view: View, subject: Subject) -> str:
    """The Python that computes this view with its settings. Raises ModelError and InputError as the view does.

    '' for a training, except its loop, and if the view shows nothing for this model and input.
    """
    return program(view, subject) or (lines([view], subject) if _is_shown(view, subject) and view.name not in TRAINED else "")


def program(view: View, subject: Subject) -> str:
    """The program with transformers alone; '' if there is none for this view, model and settings. Raises as `of` does."""
    made = _PROGRAMS.get(view.name, ())
    if not made or not _is_shown(view, subject):
        return ""
    subject = view.first(subject)
    return next(filter(None, (each.write(view, subject) for each in (made if isinstance(made, tuple) else [made]))), "")


def lines(views: Sequence[View], subject: Subject) -> str:
    """Lines with this package that show the views in a notebook."""
    texts = [subject.text_a, subject.text_b] if subject.text_b else [subject.text_a or "[MASK]"]
    where = "  # tuned in the app: name a folder that holds it" if subject.model_name.startswith(TUNED) else ""
    shown = [f"trace.show({_arguments(view.name, **chosen_in(view, subject))})" for view in views]
    trace = f"trace = explorer.load({subject.model_name!r}).trace({_arguments(*texts)}){where}"
    return "\n".join([NOTEBOOK, trace, *shown, ""])


def _arguments(*values: Any, **named: Any) -> str:
    return ", ".join([*map(repr, values), *(f"{name}={value!r}" for name, value in named.items())])


def _is_shown(view: View, subject: Subject) -> bool:
    needs = where(type(view))[0].needs
    return (not needs or getattr(subject.model.capabilities, needs)) and not view.unless(subject)
