"""Tokens: what is read, and what is added up for each token."""

from operator import attrgetter
from typing import Any

from explorer.ui.subject import Subject
from explorer.ui.view import View
from explorer.ui.writing import Script


def embeddings(view: View, subject: Subject) -> Script | None:
    """The parts whose sum is hidden state 0."""
    model, family = subject.model, subject.model.family
    values: dict[str, Any] = {
        "has_positions": bool(family.position_embeddings),
        "before_first": model.first_position - 1,
        "has_segments": len(model.segment_table) > 0,
        "is_projected": bool(family.projection) and _has(model.encoder, family.projection),
    }
    return Script("embeddings.py", **values)


def _has(module: Any, path: str) -> bool:
    *above, name = path.split(".")
    return hasattr(attrgetter(".".join(above))(module) if above else module, name)


pieces = Script("pieces.py")
CODE = {"tokens/pieces": pieces, "fill-mask/words": pieces, "tokens/embeddings": embeddings}
WITHOUT = {
    "tokens/vocabulary": "A search is made by hand, in the page.",
    "tokens/byte-pairs": "It counts pairs of letters, without a model.",
}
