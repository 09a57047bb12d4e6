"""BERT Explorer: look inside BERT, in a page or in a notebook.

    import explorer
    model = explorer.load()
    trace = model.trace("The man went to the [MASK].", "He bought milk.")
    trace.attention(0)  # [heads, query, key] of the first layer
    trace.show("attention/head", layer=6, head=11)  # the view of the app, drawn in the notebook
    trace.view("fill-mask/lens").tables  # its numbers, as data frames
    explorer.ablate(model, "The keys to the cabinet [MASK] old.", word="are", foil="is").table  # every head off, one at a time
    explorer.settings("attention/head")  # what can be set of it
    explorer.read_examples("reviews.csv").notes  # how a file of labelled texts is read

Importing this package is instant: torch and transformers are loaded by the first use of a name below.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from explorer.core.errors import CapabilityError, ExplorerError, InputError, ModelError

if TYPE_CHECKING:
    from explorer.bert.explorer import Explorer as Explorer
    from explorer.bert.explorer import load as load
    from explorer.bert.trace import Trace as Trace
    from explorer.experiments.compute.items import Item as Item

_AT_FIRST_USE = {
    **dict.fromkeys(("Explorer", "Trace", "load"), "explorer.bert.explorer"),
    **dict.fromkeys(("ablate", "attribute", "patch", "routes"), "explorer.techniques.single"),
    "compare_experiments": "explorer.experiments.compute.runs",
    **dict.fromkeys(("experiment", "repeat"), "explorer.experiments.compute.experiment"),
    **dict.fromkeys(("open_experiment", "save_experiment"), "explorer.experiments.compute.runs"),
    **dict.fromkeys(("Item", "items_from_lines", "suite_items"), "explorer.experiments.compute.items"),
    "over_checkpoints": "explorer.experiments.compute.runs",
    "read_examples": "explorer.finetune.compute.from_table",
    **dict.fromkeys(("Viewed", "compare", "settings", "show", "view"), "explorer.export.notebook"),
}
__all__ = [*_AT_FIRST_USE, "CapabilityError", "ExplorerError", "InputError", "ModelError"]


def __getattr__(name: str) -> object:
    if name in _AT_FIRST_USE:
        return getattr(import_module(_AT_FIRST_USE[name]), name)
    raise AttributeError(f"module 'explorer' has no attribute {name!r}")
