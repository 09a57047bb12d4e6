"""How long a start takes beside the imports it cannot do without: to the first page, and to a Trace in Python."""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks import Comparison, side_by_side
from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
GRADIO = "import gradio"
ENGINE = "import torch; from transformers import BertForPreTraining, BertTokenizerFast"
TRACE = 'import explorer; explorer.load().trace("The man went home.")'
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def run() -> Iterator[Comparison]:
    """Compare the first answered page and the first Trace, each with the imports it needs."""
    for name, what, start, needs, wanted in (
        ("startup", "first page of app.py", first_page, GRADIO, 1.3),
        ("startup-trace", "explorer.load().trace(...)", partial(python, TRACE), ENGINE, 1.15),
    ):
        ours, theirs = side_by_side(start, partial(python, needs))
        yield Comparison(name, what, needs, ours, theirs, "s", f"ratio at most {wanted}")


def python(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, **QUIET)


def first_page() -> None:
    """Start the app in a fresh process and return when it has answered one request."""
    port = free_port()
    with server(["app.py", "--port", str(port)]):
        wait_for(port)


@contextmanager
def app() -> Iterator[int]:
    """The port of the app in a process of its own, with its model loaded."""
    port = free_port()
    with server(["app.py", "--port", str(port)]):
        wait_for(port)
        body = b'{"data": ["The man went [MASK].", "", 3, ""]}'
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/gradio_api/run/fill_mask", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=120) as answer:
            answer.read()
        yield port


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
