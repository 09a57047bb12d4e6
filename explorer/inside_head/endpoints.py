"""The endpoint of the Inside a head tab: the steps inside a layer."""

from typing import Any

from explorer.bert.explorer import load
from explorer.techniques.inside import layer_steps
from explorer.text import limits


def inside_layer(text_a: str, text_b: str = "", layer: int = 1, model: str = "") -> dict[str, Any]:
    """Every step inside a layer with the shape of its result, and the difference of the last one from the model's output.

    Returns:
        `steps` with `name` and `shape`, `max_error`.
    """
    explorer = load(model)
    index = limits.layer_index(layer, explorer.capabilities.layers)
    steps, error = layer_steps(explorer.trace(text_a, text_b), index)
    return {"steps": [{"name": step.name, "shape": list(step.shape)} for step in steps], "max_error": error}


ENDPOINTS = (inside_layer,)
