"""Modules to watch or to change a little, without touching those that everybody shares."""

from __future__ import annotations

import copy

from explorer.base.engine import torch


def of(module: torch.nn.Module) -> torch.nn.Module:
    """A copy whose weights are the module's own: it costs next to nothing, and a hook on it is nobody else's."""
    shared = [*module.parameters(), *module.buffers(), *(part.config for part in module.modules() if hasattr(part, "config"))]
    return copy.deepcopy(module, {id(one): one for one in shared})
