"""A process whose event loop does not move is ended, and no other one is."""

import os
import signal
import subprocess
import sys
import time

import pytest

from explorer.server import watchdog
from tests.ports import free_port

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
SECONDS = 2.4
PROGRAM = f"""
import asyncio, re, sys, threading, time, types
from explorer.server import watchdog

server = types.SimpleNamespace(config=types.SimpleNamespace())
watcher = watchdog.start(server, {SECONDS})
print(watcher.pid if watcher else 0, flush=True)

async def serve(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.sleep(0.1)
        if watcher:
            await server.config.callback_notify()

def backtrack():
    re.match("(a+)+$", "a" * 60 + "b")

"""
FREEZES = {
    "holding the interpreter": "backtrack()",
    "in another thread": "threading.Thread(target=backtrack).start(); asyncio.run(serve(600))",
    "waiting": "threading.Lock().acquire(); lock = threading.Lock(); lock.acquire(); lock.acquire()",
}
MOVES = f"asyncio.run(serve({4 * SECONDS})); print('went on')"


def started(then: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", PROGRAM + then], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("then", FREEZES.values(), ids=FREEZES)
def test_a_process_that_does_not_move_ends_with_a_traceback(then):
    process = started(f"asyncio.run(serve(1)); {then}")
    _, told = process.communicate(timeout=120)
    assert process.returncode == watchdog.ENDS, "as the signal's number, and by no signal"
    assert "The event loop has not moved" in told
    assert "most recent call first" in told
    assert ("backtrack" in told) == ("backtrack" in then)


def test_a_process_that_moves_goes_on_and_its_watcher_ends_with_it():
    process = started(MOVES)
    told, errors = process.communicate(timeout=120)
    watcher, went_on = told.split("\n", 1)
    assert (process.returncode, went_on, errors) == (0, "went on\n", "")
    assert gone(int(watcher))


@pytest.mark.parametrize("both", [False, True], ids=["alone", "with its watcher, as the whole machine"])
def test_a_process_that_was_stopped_goes_on(both):
    process = started(MOVES)
    watcher = int(process.stdout.readline())
    stopped = [watcher, process.pid] if both else [process.pid]
    for one in stopped:
        os.kill(one, signal.SIGSTOP)
    time.sleep(2 * SECONDS)
    for one in stopped:
        os.kill(one, signal.SIGCONT)
    told, errors = process.communicate(timeout=120)
    assert (process.returncode, told, errors) == (0, "went on\n", "")


@pytest.mark.parametrize(("before", "seconds"), [("sys.settrace(lambda *_: None)", SECONDS), ("", 0)])
def test_a_debugger_and_a_limit_of_zero_turn_it_off(before, seconds):
    program = f"import sys; {before}\nfrom explorer.server import watchdog; print(watchdog.start(None, {seconds}))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120).stdout == "None\n"


THE_APP = """
import re, sys, threading, time
from explorer import app
from explorer.core.engine import when_loaded

def freeze():
    time.sleep(8)  # longer than the limit: as long as the loop moves, nothing happens
    print("frozen", flush=True)
    re.match("(a+)+$", "a" * 60 + "b")

when_loaded(lambda: threading.Thread(target=freeze, daemon=True).start())
app.main(["--port", sys.argv[1]])
"""


def test_the_app_is_watched(tmp_path):
    own = {"BERT_EXPLORER_MAX_FROZEN_SECONDS": "5", "BERT_EXPLORER_RUNS": str(tmp_path), "GRADIO_TEMP_DIR": str(tmp_path)}
    command = [sys.executable, "-c", THE_APP, str(free_port())]
    ended = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=300)
    assert ended.returncode == watchdog.ENDS
    assert "frozen" in ended.stdout
    assert "in freeze" in ended.stderr


def gone(process: int) -> bool:
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False
