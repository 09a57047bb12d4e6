"""Libraries that are imported at their first use, completely, by one thread at a time.

Some libraries, transformers among them, replace themselves in `sys.modules` while they are imported; another thread that
imports one meanwhile goes on with the old module, which lacks most names. So libraries that are slow to import, or optional,
are imported here, under one lock, and all other modules import these objects at the top of the file.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
FASTER = {"contract", "reassoc", "nsz", "arcp"}  # sums in any order; NaN and infinity stay what they are

LOCK = threading.RLock()
"""Held while a library is imported. Hold it too around calls into a library that imports more of itself."""


class Library(ModuleType):
    """A library that is imported by the first use of one of its names. Raises ImportError where it is not installed.

    Every name is looked up in the library itself, so that a change there is seen; one that is not resolved yet, such as a
    submodule, is resolved under the lock. Attributes of this class begin with `_lazy`, since each hides a name of the library.
    """

    def __init__(self, name: str, after: Callable[[], object] = lambda: None) -> None:
        super().__init__(name)
        self._lazy_after: Callable[[], object] | None = after  # until it begins
        self._lazy_ready = False  # for all threads

    def __getattr__(self, name: str) -> Any:
        if self._lazy_ready:
            try:
                return sys.modules[self.__name__].__dict__[name]
            except (AttributeError, KeyError):  # not resolved yet, or the module was removed
                pass
        elif (name.startswith("__") and name != "__version__") or name == "_mock_name":  # tools that inspect all ask for these
            raise AttributeError(name)
        with LOCK:
            library = load(self)
            try:
                return getattr(library, name)
            except AttributeError:
                path = f"{self.__name__}.{name}"  # of a submodule; the name of a class may come from a checkpoint
                if not (name.isidentifier() and hasattr(library, "__path__") and importlib.util.find_spec(path)):
                    raise
                return importlib.import_module(path)


def load(library: Library) -> ModuleType:
    """The library itself, imported and prepared. Raises ImportError."""
    with LOCK:
        module = importlib.import_module(library.__name__)
        if (after := library._lazy_after) is not None:
            library._lazy_after = None  # because it may use `library`
            try:
                after()
            except BaseException:
                library._lazy_after = after
                raise
            library._lazy_ready = True
        return module


def _keep_kernels() -> None:
    """Let numba keep all it compiles for UMAP, not only what is marked there: a process's first map takes 10 s less."""
    dispatcher = sys.modules["numba.core.dispatcher"].Dispatcher
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] in ("umap", "pynndescent")]
    for kernel in {value for module in modules for value in vars(module).values() if isinstance(value, dispatcher)}:
        with suppress(RuntimeError):  # where no folder can be written to
            kernel.enable_caching()


datasets = Library("datasets")
joblib = Library("joblib")
numba = Library("numba")
scipy = Library("scipy")
seqeval = Library("seqeval")
sklearn = Library("sklearn")
umap = Library("umap", _keep_kernels)
if TYPE_CHECKING:
    import pandas as pandas  # whose class is the type of some results
else:
    pandas = Library("pandas")


def at_first_call(function: Callable[P, R], decorate: Callable[[Callable[P, R]], Callable[P, R]]) -> Callable[P, R]:
    """The function as a decorator makes it whose library is loaded by the first call."""

    @functools.cache
    def decorated() -> Callable[P, R]:
        with LOCK:
            return decorate(function)

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return decorated()(*args, **kwargs)

    return run


def compile_with(*types: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: let numba compile a function at its first call, for these types as it writes them. Others raise TypeError.

    It runs without Python's lock. It is cached beside the module or in the user's cache folder, if one of them can be written.
    """
    options = {"signature_or_function": f"void({', '.join(types)})", "nogil": True, "fastmath": FASTER}

    def compile_it(function: Callable[P, R]) -> Callable[P, R]:
        try:
            return numba.njit(**options, cache=True)(function)
        except RuntimeError:  # no folder to cache it in
            return numba.njit(**options)(function)

    return lambda function: at_first_call(function, compile_it)
