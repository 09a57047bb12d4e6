"""The endpoint of the Model tab: the models that are here."""

from typing import Any

from explorer.bert import checkpoints
from explorer.bert.explorer import list_loaded, load


def models() -> dict[str, Any]:
    """The default model and the loaded models of the Hub, with their capabilities; models that visitors trained are not listed.

    Returns:
        `default`, and `models` with `name`, `layers`, `heads`, `hidden_size`, `vocab_size`, `parameters`, `fill_mask`,
        `next_sentence`, `segments`.
    """
    default = load("")
    known = [model for model in list_loaded() if model.from_hub or model.name == checkpoints.BUNDLED]
    every = {model.name: model.capabilities for model in [default, *known]}
    fields = ("layers", "heads", "hidden_size", "vocab_size", "parameters", "fill_mask", "next_sentence", "segments")
    return {
        "default": default.name,
        "models": [{"name": name} | {field: getattr(each, field) for field in fields} for name, each in every.items()],
    }


ENDPOINTS = (models,)
