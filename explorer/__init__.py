"""BERT Explorer: look inside BERT, in a page or in a notebook.

    import explorer
    model = explorer.load()
    trace = model.trace("The man went to the [MASK].", "He bought milk.")
    trace.attention(0)  # [heads, query, key] of the first layer

Importing this package is instant: torch and transformers are loaded by the first use of a name below.
"""

from typing import TYPE_CHECKING

from explorer.base.errors import CapabilityError, ExplorerError, InputError, ModelError

if TYPE_CHECKING:
    from explorer.model.explorer import Explorer, load
    from explorer.model.trace import Trace

__all__ = ["CapabilityError", "Explorer", "ExplorerError", "InputError", "ModelError", "Trace", "load"]


def __getattr__(name: str) -> object:
    if name in ("Explorer", "Trace", "load"):
        from explorer.model import explorer as model

        return getattr(model, name)
    raise AttributeError(f"module 'explorer' has no attribute {name!r}")
