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

_MODULES = {
    "bert.explorer": "Explorer Trace load",
    "experiments.compute.experiment": "experiment repeat",
    "experiments.compute.items": "Item items_from_lines",
    "experiments.compute.minimal_pairs": "suite_items",
    "experiments.compute.runs": "compare_experiments open_experiment over_checkpoints save_experiment",
    "export.notebook": "Viewed compare settings show view",
    "finetune.compute.from_table": "read_examples",
    "techniques.single": "ablate attribute patch routes",
}
_AT_FIRST_USE = {name: f"explorer.{module}" for module, names in _MODULES.items() for name in names.split()}
__all__ = [*_AT_FIRST_USE, "CapabilityError", "ExplorerError", "InputError", "ModelError"]


def __getattr__(name: str) -> object:
    if name in _AT_FIRST_USE:
        return getattr(import_module(_AT_FIRST_USE[name]), name)
    raise AttributeError(f"module 'explorer' has no attribute {name!r}")
