"""Scripts of the model's own task head, by the transformers class that it was saved from."""

from collections.abc import Callable
from typing import Any

from explorer.bert.families import ANSWER, LABELS, REPLACED, TAGS
from explorer.techniques.own_head import LONGEST_ANSWER
from explorer.ui.subject import Subject
from explorer.ui.writing import Script


def _for(task: str) -> Callable[[Any, Subject], Script | None]:
    """The script of a task, for models whose head has it only; the file is called like the task."""

    def make(view: Any, subject: Subject) -> Script | None:
        model, values = subject.model, dict[str, Any]()
        if model.capabilities.own_head != task or (task == ANSWER and not subject.text_b.strip()):
            return None
        if task == ANSWER:
            values = {"longest": LONGEST_ANSWER}
        if task == LABELS:
            values = {"squash": model.task_head().squash}
        kind = "" if task == REPLACED else type(model.task_head().module).__name__
        return Script(f"{task}.py", kind=kind, **values)

    return make


CODE = {f"own-head/{task}": _for(task) for task in (LABELS, TAGS, ANSWER, REPLACED)}
