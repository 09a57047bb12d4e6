"""The tab Its own head: the task head of a fine-tuned checkpoint, or a head that only its family was pre-trained with."""

from typing import Any

from explorer.bert.families import LABELS
from explorer.task_head.heads import OwnAnswer, OwnLabels, OwnTags, ReplacedPieces
from explorer.ui.programs import Values, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Tab


def labels(view: Any, subject: Subject) -> Values:
    """What its answers are; not where the model has another head."""
    return {"squash": subject.model.task_head().squash} if subject.model.capabilities.own_head == LABELS else None


TAB = Tab(
    "own-head",
    "Its own head",
    "What was this checkpoint fine-tuned to predict?",
    {"Its own head": [[OwnLabels], [OwnTags], [OwnAnswer], [ReplacedPieces]]},
    needs="own_head",
    optional=True,
    programs={"own-head/labels": program("labels", values=labels, every_family=True)},
)
