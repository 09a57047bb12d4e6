"""The engine: torch, transformers and what builds on them. No other module of the app imports these libraries.

They are loaded by the first use of a name of theirs, all that is needed of them before any thread gets one: see `lazy`. A
call that comes while they are loaded waits. So every module can import what it needs at the top of its file, and none of
these imports takes time. What needs torch when a module is imported, such as a decorator or a registration, has a way here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from explorer.base.lazy import LOCK, Library, load

__all__ = ["LOCK", "captum", "inference_mode", "no_grad", "safetensors_torch", "torch", "transformers", "when_loaded"]

P = ParamSpec("P")
R = TypeVar("R")

# What transformers imports by itself when it is first asked for. The class of a model is not here: there are many, and
# each is resolved under the lock when a model of its family is opened.
_NEEDED = (
    *("masking_utils", "modeling_outputs", "modeling_utils", "integrations.sdpa_attention", "utils.logging"),
    *("AttentionInterface", "AutoConfig", "AutoModel", "AutoTokenizer", "BatchEncoding"),
    *("PreTrainedConfig", "PreTrainedModel", "PreTrainedTokenizerBase"),
)
_waiting: list[Callable[[], None]] = []  # what is done once, as soon as the engine is loaded
_loaded = False


def when_loaded(work: Callable[[], None]) -> Callable[[], None]:
    """Have something done right after the engine is loaded, before anybody else uses it; at once when it is loaded already."""
    with LOCK:
        if _loaded:
            work()
        else:
            _waiting.append(work)
    return work


def inference_mode(function: Callable[P, R]) -> Callable[P, R]:
    """What `@torch.inference_mode()` does, for a function of a module that is imported before torch is."""
    return _within("inference_mode", function)


def no_grad(function: Callable[P, R]) -> Callable[P, R]:
    """What `@torch.no_grad()` does, for a function of a module that is imported before torch is."""
    return _within("no_grad", function)


def _within(mode: str, function: Callable[P, R]) -> Callable[P, R]:
    @functools.cache
    def decorated() -> Callable[P, R]:
        return getattr(torch, mode)()(function)  # by torch itself, which knows what to do with generators

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return decorated()(*args, **kwargs)

    return run


def _prepare() -> None:
    """Resolve what is used of transformers, and do what waits for the engine."""
    global _loaded
    for name in _NEEDED:
        attrgetter(name)(transformers)
    _loaded = True
    while _waiting:
        _waiting.pop(0)()


if TYPE_CHECKING:
    import captum
    import torch
    import transformers
    from safetensors import torch as safetensors_torch
else:
    transformers = Library("transformers", _prepare)
    torch = Library("torch", lambda: load(transformers))
    captum = Library("captum", lambda: load(transformers))
    safetensors_torch = Library("safetensors.torch", lambda: load(transformers))
