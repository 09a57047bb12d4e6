"""The program of a head that was trained to classify."""

from typing import Any

from explorer.bert.families import LABELS
from explorer.ui.programs import Values, programs
from explorer.ui.subject import Subject


def labels(view: Any, subject: Subject) -> Values:
    """What its answers are; not where the model has another head."""
    return {"squash": subject.model.task_head().squash} if subject.model.capabilities.own_head == LABELS else None


program = programs(__file__)
PROGRAMS = {"own-head/labels": program("labels", values=labels, every_family=True)}
