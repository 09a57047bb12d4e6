"""A week in an hour: what people do with one app that is never restarted, and what it holds after it.

python -m tests.soak [--calls N] [--pages N] [--trainings N] [--rooms N] [--loads N] [--seed S]

Exits with 1 when memory at the end is more than 5% above that at the beginning, when threads or open files grew, or when
the disk holds more than its limits allow.

It warms up first: every endpoint and every view is asked with a short text and a long one, so that what a first use imports
and sets up is there. Without it a view that is first opened after the beginning would count as growth. The beginning is 1,000
calls, and their share of all else, after that: by then every pool has its threads, and what is kept on purpose is kept, for
which there is little room here.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from explorer.core import limits, process
from tests.benchmarks.startup import server, wait_for
from tests.ports import free_port
from tests.soak.measured import Held, flaws, held, settled
from tests.soak.visits import Visits

CLIENTS = 8
QUIET = 2 * process.EVERY  # seconds until whatever was left has ended, and memory was given back, on a machine with time for it
FULL = {f"{limits.PREFIX}CACHE_MEGABYTES": "32"}  # what is kept on purpose is kept by the beginning
BEGINNING = 1_000  # calls
PARTS = 10  # looks after it
LONG = 60  # seconds of a visit that is told


def play(visits: list[Callable[[], None]], asked: Callable[[], str]) -> Counter:
    """All of them, by eight at once; what went wrong, by its name. Prints those that failed or took long, as `asked` says."""

    def visit(one: Callable[[], None]) -> str:
        begun, wrong = time.monotonic(), ""
        try:
            one()
        except Exception as error:
            wrong = f"{one.__name__}: {error!r}"[:160]
        if wrong or time.monotonic() - begun > LONG:
            print(f"{time.monotonic() - begun:,.0f} s for {one.__name__} {asked()} {wrong}", flush=True)
        return wrong

    with ThreadPoolExecutor(CLIENTS) as pool:
        return Counter(filter(None, pool.map(visit, visits)))


def soak(options: argparse.Namespace, folder: Path) -> list[str]:
    """Play it, print what is held on the way, and return what is wrong in the end."""
    port, places = free_port(), [folder / "runs", folder / "uploads", folder / "tmp"]
    for place in places:
        place.mkdir()
    own = {
        "BERT_EXPLORER_RUNS": str(places[0]),
        "GRADIO_TEMP_DIR": str(places[1]),
        "TMPDIR": str(places[2]),
        "HF_HUB_OFFLINE": "1",
    }
    with (folder / "log.txt").open("w") as log:
        command = ["-c", "from explorer import app; app.SESSIONS = 50; app.main()", "--port", str(port)]
        with server(command, env=os.environ | FULL | own, stdout=log, stderr=log) as process:
            wait_for(port)
            visits = Visits(port, folder, options.seed)
            planned = visits.plan(options.calls, options.pages, options.trainings, options.rooms, options.loads)
            looks, done, start = [], 0, time.monotonic()
            wrong = play(visits.everything(), visits.asked)
            begin = min(0.5, BEGINNING / options.calls)
            for share in (begin / 5, begin, *(begin + (1 - begin) * part / PARTS for part in range(1, PARTS + 1))):
                wrong += play(planned[done : round(share * len(planned))], visits.asked)
                done = round(share * len(planned))
                looks.append(settled(partial(held, process.pid, places, round(share * options.calls)), QUIET))
                print(looks[-1].line(), f"after {time.monotonic() - start:,.0f} s", flush=True)
            print(f"{visits.refused:,} answered with a sentence")
            return [*(f"{number} × {what}" for what, number in wrong.items()), *judged(looks, folder / "log.txt")]


def judged(looks: list[Held], log: Path) -> list[str]:
    """What is wrong with what was held, and with what was logged. Threads of the pools come as long as they are needed."""
    settled = looks[2:-1]  # what the pools need at most is seen on the way
    early = Held(
        looks[1].calls, looks[1].memory, max(one.threads for one in settled), max(one.files for one in settled), looks[1].disk
    )
    tracebacks = log.read_text("utf-8", "replace").count("Traceback")
    room = limits.RUNS_MEGABYTES.most + limits.UPLOADS_MEGABYTES.most
    return flaws(early, looks[-1], room) + ([f"{tracebacks} tracebacks in the log"] if tracebacks else [])


def main() -> int:
    """As the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("calls", 20_000), ("pages", 500), ("trainings", 200), ("rooms", 50), ("loads", 200)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--seed", type=int, default=0)
    with tempfile.TemporaryDirectory() as name:
        found = soak(parser.parse_args(), Path(name))
    print("\n".join(found) or "Nothing grew.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
