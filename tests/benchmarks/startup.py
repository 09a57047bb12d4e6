"""From `python app.py` to the first page answered, beside a bare Gradio app; and to the first Trace."""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks import Comparison, side_by_side
from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
BARE = """
import gradio, sys
with gradio.Blocks(analytics_enabled=False) as blocks:
    pass
blocks.launch(server_port=int(sys.argv[1]), quiet=True)
"""
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def run() -> Iterator[Comparison]:
    """Compare the first answered page with that of `import gradio` and a bare `Blocks().launch()`."""
    ours, theirs = side_by_side(lambda: first_page(["app.py", "--port"]), lambda: first_page(["-c", BARE]))
    yield Comparison("startup", "first page of app.py", "bare Blocks().launch()", ours, theirs, "s", "ratio at most 1.2")
    limit = 8.0
    trace, _ = side_by_side(first_trace, lambda: None, rounds=3)
    yield Comparison("startup-trace", "start to the first Trace", "the limit", trace, limit, "s", "ratio at most 1")


def first_page(command: list[str]) -> None:
    """Start a server in a fresh process and return when it has answered one request."""
    port = free_port()
    with server([*command, str(port)]):
        wait_for(port)


def first_trace() -> None:
    """Start the app in a fresh process and return when its API has answered with the tokens of a Trace."""
    port = free_port()
    with server(["app.py", "--port", str(port)]):
        wait_for(port)
        from gradio_client import Client

        Client(f"http://127.0.0.1:{port}", verbose=False).predict("The man went home.", api_name="/attention")


@contextmanager
def server(command: list[str], **options: Any) -> Iterator[subprocess.Popen]:
    """A server in a process of its own, which ends with the block; `options` are those of Popen."""
    process = subprocess.Popen([sys.executable, *command], **{"cwd": ROOT, **QUIET, **options})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(port: int) -> None:
    """Return when the server on a port has answered."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
                answer.read()
                return
        except OSError:
            time.sleep(0.02)
    raise TimeoutError("The server did not answer within two minutes.")
