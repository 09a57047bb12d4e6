"""The engine: torch, transformers and the libraries that build on them. No other module of the app imports these.

They are imported when one of their names is first used, completely, while other calls wait (see `lazy`), so every module can
import them at the top. Decorators and registrations that need torch when a module is imported have replacements here.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from explorer.core.lazy import LOCK, Library, at_first_call, load

__all__ = ["LOCK", "inference_mode", "no_grad", "safetensors_torch", "torch", "transformers", "when_loaded"]

P = ParamSpec("P")
R = TypeVar("R")

# What transformers itself imports on first use. Model classes are not listed: there are many, and each is resolved under the lock
# when a model of its family is opened.
_NEEDED = (
    *("masking_utils", "modeling_outputs", "modeling_utils", "integrations.sdpa_attention", "utils.logging"),
    *("AttentionInterface", "AutoConfig", "AutoModel", "AutoTokenizer", "BatchEncoding"),
    *("PreTrainedConfig", "PreTrainedModel", "PreTrainedTokenizerBase"),
)
_waiting: list[Callable[[], object]] = []  # to be done once, as soon as the engine is loaded
_loaded = False


def when_loaded(work: Callable[[], object]) -> Callable[[], object]:
    """Decorator: run a function immediately after the engine is loaded, before anything else uses it, or now if it is loaded."""
    with LOCK:
        if _loaded:
            work()
        else:
            _waiting.append(work)
    return work


def inference_mode(function: Callable[P, R]) -> Callable[P, R]:
    """Like `@torch.inference_mode()`, for functions of modules that are imported before torch."""
    return at_first_call(function, lambda own: torch.inference_mode()(own))  # torch's own decorator, which handles generators


def no_grad(function: Callable[P, R]) -> Callable[P, R]:
    """Like `@torch.no_grad()`, for functions of modules that are imported before torch."""
    return at_first_call(function, lambda own: torch.no_grad()(own))


def _prepare() -> None:
    """Resolve the names of transformers that are needed, and run what waits for the engine."""
    global _loaded
    for name in _NEEDED:
        attrgetter(name)(transformers)
    _loaded = True
    while _waiting:
        _waiting.pop(0)()


if TYPE_CHECKING:
    import torch
    import transformers
else:
    transformers = Library("transformers", _prepare)
    torch = Library("torch", lambda: load(transformers))
safetensors_torch = Library("safetensors.torch", lambda: load(transformers))
