"""Large files are read in a process of their own, so that no visitor waits while another's file is parsed.

A parser written in C holds Python's lock until it ends, and a file of a million tiny values takes seconds and gigabytes. The
process has limits of time and memory, and ends with this one. It leaves its answer in a file, which is read in parts, and other
threads run between two of them.
"""

import functools
import gc
import hashlib
import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable, Hashable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import is_dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from tempfile import TemporaryFile
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from explorer.core.cache import OnceCache
from explorer.core.errors import BusyError, ExplorerError, InputError
from explorer.core.limits import MEGABYTE, WAITING_WORKS, WORK_MEGABYTES
from explorer.core.process import resource
from explorer.core.scheduling import Places

P = ParamSpec("P")
R = TypeVar("R")

SMALL = MEGABYTE  # bytes of a file that is read here: it takes about as long as a process takes to start
KEPT = 32 * MEGABYTE  # bytes of answers that are kept, as they were written
FILE_READERS = 2  # files that are read at the same time, one of each address
FILE_SECONDS = 60  # of processor time for reading one file
MOST_ANSWER = 256 * MEGABYTE  # bytes of one answer: an experiment has as many numbers
PATIENCE = 10  # how many times longer than its processor time a process may take beside others
ROOT = Path(__file__).resolve().parents[2]
FAILED = 3  # the exit status of a process in which our own code failed
CHILD = "from explorer.core.apart import serve; serve()"
ARRAYS = {("numpy._core.numeric", "_frombuffer"), ("numpy", "ndarray"), ("numpy", "dtype")}
BUSY = "Many large files are being read. Try again in a minute."

VISITOR: ContextVar[str] = ContextVar("VISITOR", default="")
"""Whose file is read: one of a visitor's at a time."""

READERS: list[str] = []
"""The functions that read files apart, as `module:name`."""

_inside = False  # in the process that reads


def apart(read: Callable[Concatenate[Path, P], R]) -> Callable[Concatenate[str | Path, P], R]:
    """Decorator: run a function of a path in another process if the file is over 1 MB. Its ExplorerErrors are raised here.

    Arguments and values consist of our dataclasses, arrays and Python's plain values. A value is cached by file: no caller may
    change it. Raises InputError when reading takes too much time or memory, and BusyError when many such files wait.
    """
    name = f"{read.__module__}:{read.__qualname__}"
    READERS.append(name)

    @functools.wraps(read)
    def run(path: str | Path, *args: P.args, **kwargs: P.kwargs) -> R:
        path = Path(path)
        if _inside or not path.is_file() or path.stat().st_size <= SMALL:
            return read(path, *args, **kwargs)
        given = pickle.dumps((args, kwargs))
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
        question = pickle.dumps((name, str(path), given))
        value, _ = _answers.get((name, digest, path.name, given), lambda: _ask(question))
        if isinstance(value, ExplorerError):
            raise type(value)(*value.args)
        return cast(R, value)

    return cast(Callable[Concatenate[str | Path, P], R], run)


Answer = tuple[Any, int]
"""A function's value or the error that it raised, and its size in bytes as it was written."""

_answers: OnceCache[Hashable, Answer] = OnceCache(KEPT, lambda answer: answer[1])
_places = Places(FILE_READERS, WAITING_WORKS, BUSY)


def _ask(question: bytes) -> Answer:
    """The answer of another process, whose standard input stays open as long as this one lives. Raises BusyError."""
    command = [sys.executable, "-P", "-c", CHILD, question.hex(), str(FILE_SECONDS)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # each reserves memory
    environment = os.environ | threads | {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), *sys.path)))}
    with _places.place_of_thread(address=VISITOR.get()), TemporaryFile() as written:
        with Popen(command, stdin=PIPE, stdout=written, env=environment, start_new_session=True) as process:
            try:
                status = process.wait(PATIENCE * FILE_SECONDS)
            except TimeoutExpired:
                raise BusyError(BUSY) from None
            finally:
                process.kill()
        if status == FAILED:
            raise RuntimeError("Reading the file failed. The log shows where.")
        size = written.seek(0, os.SEEK_END)
        written.seek(0)
        if status or size > MOST_ANSWER:
            return InputError(WORK_MEGABYTES.tell()), 0
        return _Plain(written).load(), size


class _Plain(pickle.Unpickler):
    """Makes arrays, our own records and errors, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """A class that a question or an answer may hold. Raises UnpicklingError for others."""
        found = super().find_class(module, name) if module.startswith("explorer.") or (module, name) in ARRAYS else None
        if (module, name) in ARRAYS or is_dataclass(found) or (isinstance(found, type) and issubclass(found, ExplorerError)):
            return found
        raise pickle.UnpicklingError(f"{module}.{name}")


def serve() -> None:
    """Answer the question in the command line: the other process runs this."""
    global _inside
    _inside = True
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no part of the answer
    name, path, given = _Plain(BytesIO(bytes.fromhex(sys.argv[1]))).load()
    args, kwargs = _Plain(BytesIO(given)).load()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    module, _, function = name.partition(":")
    read = getattr(import_module(module), function)
    gc.disable()  # which looks at all values again and again, while their number grows; nothing of them is left behind
    _bound(int(sys.argv[2]))
    value: Any
    try:
        value = read(Path(path), *args, **kwargs)
    except ExplorerError as error:
        value = error
    except MemoryError:
        value = InputError(WORK_MEGABYTES.tell())
    except Exception as error:  # without its message, which may hold the visitor's text
        print(type(error).__name__, *traceback.format_tb(error.__traceback__), sep="\n", file=sys.stderr, flush=True)
        os._exit(FAILED)
    try:
        pickle.dump(value, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
    except (OSError, MemoryError):  # it is too large
        os._exit(1)
    os._exit(0)  # without taking a million objects apart


def _end_with_parent() -> None:
    """End this process when the other end of standard input is closed."""
    while os.read(0, 1):
        pass
    os._exit(1)


def _bound(seconds: int) -> None:
    """Limit the memory, the processor time and the answer of this process, where the system can."""
    if resource is None:
        return
    bounds = {resource.RLIMIT_CPU: seconds, resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: MOST_ANSWER}
    if sys.platform == "linux":
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        bounds[resource.RLIMIT_AS] = used + WORK_MEGABYTES.bytes
    for what, most in bounds.items():
        with suppress(ValueError, OSError):  # there is a lower limit already
            resource.setrlimit(what, (most, most))
