"""Model: its size, its parts, its configuration and its weights."""

from typing import Any

from explorer.model_card.weights import _most_uneven, _names
from explorer.ui.statements import Source
from explorer.ui.subject import Subject
from explorer.ui.view import View
from explorer.ui.writing import Script


def _whole(name: str, subject: Subject, **values: Any) -> Script:
    """Of the model with its task head, if it has one."""
    own = subject.model.own_head
    return Script(name, kind=type(own.module).__name__ if own else "", **values)


def parameters(view: View, subject: Subject) -> Script | None:
    """How many parameters each part has."""
    family = subject.model.family
    path = f"{family.encoder}.{family.layers}".replace(".", r"\.")
    inside = rf"\.{family.shared_layers}\.\d+" if family.shared_layers else ""
    values = {"encoder": family.encoder, "pooler": family.pooler, "are_shared": bool(inside)}
    return _whole("parameters.py", subject, layer=Source(rf'r"{path}\.(\d+){inside}\.(att|sa_)?"'), **values)


def cost(view: View, subject: Subject) -> Script | None:
    """Multiplications and memory."""
    return Script("cost.py", width=subject.model.layers[0].attention_dense.in_features)


def weights(view: Any, subject: Subject) -> Script | None:
    """The size of every weight of every layer, and the numbers in one."""
    model, rows = subject.model, _names(subject.model)
    row, column = view.cell or next(iter(_most_uneven(model, rows)), (0, 0))
    row, column = min(row, len(rows) - 1), min(column, len(model.layer_weights) - 1)
    if rows[row] not in model.layer_weights[column]:
        return None
    shared = bool(model.family.shared_layers)
    return Script("weights.py", are_shared=shared, place=column, matrix=rows[row])


CODE = {
    "model/summary": lambda view, subject: _whole("summary.py", subject),
    "model/parameters": parameters,
    "model/configuration": lambda view, subject: _whole("configuration.py", subject),
    "model/modules": lambda view, subject: _whole("modules.py", subject),
    "model/cost": cost,
    "model/weights": weights,
}
WITHOUT = {
    "model/drawing": "It draws what the parameters by part count.",
    "model/origin": "It tells of files and computes nothing.",
    "model/on-paper": "Its numbers are those of papers.",
    "model/recipe": "Its numbers are those of papers.",
}
