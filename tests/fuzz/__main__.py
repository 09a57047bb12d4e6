"""Send thousands of hostile calls to an app of its own; exits with 1 when a promise is broken.

python -m tests.fuzz --calls 10000 [--seed S] [--only PART]
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.benchmarks.startup import ROOT, server, wait_for
from tests.conftest import write_tiny
from tests.fuzz.surfaces import all_surfaces
from tests.fuzz.visitor import Visitor, Watch
from tests.ports import free_port

LOG_LINES = 2


@contextlib.contextmanager
def app(folder: Path, model: Path) -> Iterator[str]:
    """The address of the app in a process of its own, that has its runs, uploads and log in a folder."""
    port = free_port()
    own = {"BERT_EXPLORER_RUNS": str(folder / "runs"), "GRADIO_TEMP_DIR": str(folder / "uploads"), "HF_HUB_OFFLINE": "1"}
    environment = os.environ | own | {"OMP_NUM_THREADS": "1"}
    with (folder / "log.txt").open("w") as log:
        command = [str(ROOT / "app.py"), "--port", str(port)]
        with server(command, cwd=folder, env=environment, stdout=log, stderr=log) as process:
            try:
                wait_for(port)
                yield f"http://127.0.0.1:{port}"
            finally:
                if process.poll() is not None:
                    print(f"The server ended with {process.returncode}.", (folder / "log.txt").read_text()[-2000:])


def fuzz(surface, watch: Watch, examples: int, seed: int) -> Exception | None:
    """Send so many examples through a way in; what went wrong with the smallest of them, or None."""

    @hypothesis.seed(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(surface.examples)
    def send(example):
        watch.promptly(lambda: surface.send(example))

    try:
        send()
    except Exception as error:
        return error
    return None


def tell(name: str, error: BaseException, log: Path) -> None:
    """Print what was broken and by what, and what the server has to say of it, since the smallest example was the last."""
    print(f"\n{name}: {error}"[:2000])
    for part in [error, *getattr(error, "exceptions", ())]:
        print("\n".join(str(note)[:1500] for note in getattr(part, "__notes__", ())))
    print("\n".join(log.read_text("utf-8", "replace").splitlines()[-LOG_LINES:]), flush=True)


def main() -> int:
    """As the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000, help="examples in all; most make one call (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only ways in whose name holds this")
    options = parser.parse_args()
    broken, start = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["BERT_EXPLORER_RUNS"] = str(folder / "own-runs")
        model = write_tiny(folder / "models" / "bert")
        with app(folder, model) as address:
            places = (str(ROOT), sys.prefix, str(folder), str(Path.home()) + "/")
            visitor, watch = Visitor(address, places), Watch(address)
            chosen = [one for one in all_surfaces(visitor, str(model)) if options.only in one.name]
            share = options.calls / sum(one.weight for one in chosen)
            for surface in chosen:
                error = fuzz(surface, watch, max(1, round(share * surface.weight)), options.seed)
                if error is not None:
                    broken += 1
                    tell(surface.name, error, folder / "log.txt")
            seconds = time.monotonic() - start
    refused = f"{visitor.refused:,} answered with a sentence"
    print(f"{visitor.calls:,} calls in {seconds:.0f} s, {refused}; {len(chosen)} ways in, {broken} of them broken.")
    return 1 if broken else 0  # the log of the server goes with its folder


if __name__ == "__main__":
    sys.exit(main())
