"""Scripts of the Inside a head tab: queries, keys and values, the steps of a layer, a causal mask, a batch, positions."""

from typing import Any

from explorer.inside_head.positions import MOST_POSITIONS
from explorer.ui.attention_data import telling_of
from explorer.ui.names import Names
from explorer.ui.subject import Subject
from explorer.ui.view import View
from explorer.ui.writing import Script


def _layer_read(subject: Subject) -> dict[str, Any]:
    """The chosen layer, and whether it has a sliding window."""
    at = subject.selection.attention_layer
    kind = getattr(subject.model.layers[at].module, "attention_type", "")
    return {"number": at + 1, "is_sliding": kind == "sliding_attention"}


def dots(view: View, subject: Subject) -> Script | None:
    """One query and every key."""
    found = telling_of(subject)
    token = subject.token if subject.selection.token is not None or found.query is None else found.query
    return Script("dots.py", token=token, **_layer_read(subject))


def whole_layer(view: View, subject: Subject) -> Script | None:
    """Every step from one hidden state to the next."""
    networks = getattr(subject.model.module.config, "num_feedforward_networks", 1) > 1
    parts: dict[str, Any] = {"has_parts": bool(subject.model.family.parts), "has_networks": networks}
    return Script("layer.py", **_layer_read(subject), **parts)


def batch(view: Any, subject: Subject) -> Script | None:
    """Two inputs in one batch, with and without the attention mask."""
    read = view.read_together(subject)
    token = 0 if read.real.all() else view.query(subject, read)
    (second,) = Names(subject.model).texts(view.second)
    return Script("batch.py", second_a=second, row=read.row, token=token)


def positions(view: View, subject: Subject) -> Script | None:
    """The learned vectors of positions beside sinusoids, and how alike their rows are."""
    every = -(-len(subject.model.position_table) // MOST_POSITIONS)
    return Script("positions.py", first=subject.model.first_position, every=every)


CODE = {
    "inside-head/dots": dots,
    "inside-head/layer": whole_layer,
    "inside-head/decoder": Script("decoder.py"),
    "inside-head/batch": batch,
    "inside-head/positions": positions,
}
