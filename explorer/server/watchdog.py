"""End the process when its event loop has not moved for a while, so that systemd or the container starts it again.

Code in C may hold the interpreter's lock for hours. No thread of the process runs then, and Python handles no signal, not even
SIGTERM. So a process of its own watches, which this file is the program of: it uses nothing but the standard library.
"""

import contextlib
import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uvicorn

STEPS = 12  # of the time without a sign of life: only those count in which neither process was stopped
LATE = 2.0  # seconds that a step may take longer; beyond them the machine slept
REST = 5.0  # seconds from the traceback to the end that nothing can delay
AT_EVERY_TICK = -(10**12)  # seconds between two signs of life: uvicorn compares times of day, which may be set back
ENDS = getattr(signal, "SIGUSR1", signal.SIGTERM)


def start(server: "uvicorn.Server", seconds: float) -> subprocess.Popen[bytes] | None:
    """Watch the event loop of a running server, unless a debugger may hold it or `seconds` is 0."""
    if not seconds or sys.gettrace() is not None:
        return None
    _leave_on_signal()
    command = [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(seconds)]
    watcher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0)
    assert watcher.stdin is not None
    line = watcher.stdin.fileno()
    os.set_blocking(line, False)

    async def live() -> None:
        with contextlib.suppress(OSError):  # the watcher is stopped, or gone
            os.write(line, b".")

    server.config.callback_notify, server.config.timeout_notify = live, AT_EVERY_TICK
    return watcher


def _leave_on_signal() -> None:
    """Let the signal print where every thread is, and then exit, without the interpreter.

    The first process of a container survives what has no handler, SIGKILL too, so the handler is the C library's own `_exit`.
    """
    if os.name == "posix":
        library = ctypes.CDLL(None)
        library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
        library.signal(ENDS, ctypes.cast(library._exit, ctypes.c_void_p))
        faulthandler.register(ENDS, file=2, all_threads=True, chain=True)


def watch(process: int, seconds: float) -> None:
    """End the process that writes to this one's standard input when it is silent for so long; until its end."""
    heard, step, silent = threading.Event(), seconds / STEPS, 0
    threading.Thread(target=_listen, args=(heard,), daemon=True).start()
    while silent < STEPS:
        began = time.monotonic()
        time.sleep(step)
        slept = time.monotonic() - began > step + LATE
        silent = 0 if heard.is_set() or slept or _is_stopped(process) else silent + 1
        heard.clear()
    print(f"The event loop has not moved for {seconds:g} s; the process ends, so that it can be started again.", file=sys.stderr)
    os.kill(process, ENDS)
    time.sleep(REST)
    os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _listen(heard: threading.Event) -> None:
    """Note each sign of life, and end with the process that sends them."""
    while os.read(0, 4_096):
        heard.set()
    os._exit(0)


def _is_stopped(process: int) -> bool:
    """Whether a process is suspended or traced: it will go on by itself."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            state = file.read().rpartition(b") ")[2]
    except OSError:
        state = subprocess.check_output(["ps", "-o", "state=", "-p", str(process)]) if os.name == "posix" else b""
    return state[:1] in (b"T", b"t")


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # as sent to a whole group: the process that is watched may take its time
        signal.signal(number, signal.SIG_IGN)
    watch(int(sys.argv[1]), float(sys.argv[2]))
