"""The steppers for layer and head in the bar, shown where what is open depends on them: the values of their components."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.ui.subject import Subject


@dataclass(frozen=True)
class Stepper:
    """A number of the selection: its label, its field in Selection, its least value, and its largest for a model."""

    label: str
    field: str
    low: int
    high: str  # of the model's capabilities


STEPPERS: Mapping[str, Stepper] = {
    "layer": Stepper("Layer", "layer", 1, "layers"),
    "head": Stepper("Head", "head", 1, "heads"),
    "hidden_state": Stepper("Hidden state", "layer", 0, "layers"),  # 0: the embeddings
}


def steppers_of(subject: Subject, names: Sequence[str]) -> list[dict[str, Any]]:
    """The component's value: each stepper's position and range; a stepper with a single value is left out."""
    chosen, found = subject.selection, []
    for name in names:
        one = STEPPERS[name]
        high, at = getattr(subject.model.capabilities, one.high), max(getattr(chosen, one.field), one.low)
        if one.low < high:
            found.append({"name": name, "label": one.label, "low": one.low, "high": high, "at": at})
    return found


def suggestion_of(subject: Subject, names: Sequence[str], chooses: bool) -> dict[str, Any] | None:
    """The chip beside the steppers `names`: the most telling layer and head, or those that were chosen; a click switches.

    What was chosen holds in all tabs, a layer as the hidden state after it. None where nothing was chosen, and no view `chooses`.
    """
    picked = subject.selection.picked
    if not (chooses or picked):
        return None
    if not picked:
        return {"label": f"{_name(subject, names)}: most telling here", "chips": [f"keep {STEPPERS[names[-1]].label.lower()}"]}
    offer = ["suggest another"] if chooses else []  # finding them takes long, so it is done after the click
    return {"label": f"{_name(subject, names)}: chosen for all tabs", "chips": offer}


def _name(subject: Subject, names: Sequence[str]) -> str:
    chosen = subject.selection
    told = [f"{STEPPERS[name].label.lower()} {max(getattr(chosen, STEPPERS[name].field), STEPPERS[name].low)}" for name in names]
    after = [f"after layer {chosen.layer}"] if "hidden_state" in names and chosen.layer else []
    return ", ".join([*told, *after]).capitalize()
