"""Many clients at once, over plain HTTP with a session each: what a class does to one machine."""

import http.client
import itertools
import json
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import explorer
from explorer.core.limits import CACHE_MEGABYTES
from tests.benchmarks import Comparison
from tests.benchmarks.startup import server, wait_for
from tests.benchmarks.texts import labelled_texts
from tests.ports import free_port
from tests.tabs import open_tab

REQUESTS = 300  # of one round
ROUNDS = 3
SESSION = itertools.count()
LONG_TRAINING = {"epochs": 100, "layers_trained": 6}


def mixed(text: str, turn: int) -> tuple[str, list]:
    """One of five endpoints in turn, and its arguments."""
    return (
        ("tokens", [text, "", ""]),
        ("fill_mask", [f"{text} [MASK].", "", 5, ""]),
        ("attention", [text, "", 3, 4, ""]),
        ("next_sentence", [text, "It was late.", ""]),
        ("hidden_states", [text, "", 6, ""]),
    )[turn % 5]


class Client:
    """One session on one connection."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.session = f"load-{next(SESSION)}"

    def ask(self, name: str, arguments: list) -> tuple[float, bool]:
        """How many seconds a call took, and whether it was answered."""
        start = time.perf_counter()
        body = json.dumps({"data": arguments, "session_hash": self.session})
        self.connection.request("POST", f"/gradio_api/run/{name}", body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        found = json.loads(answer.read())  # all of it, whatever it is: the connection is used again
        return time.perf_counter() - start, "data" in found


@contextmanager
def app(**environment: str) -> Iterator[tuple[int, int]]:
    """The app in a process of its own, with its model loaded: its port and its process."""
    port = free_port()
    with server(["app.py", "--port", str(port)], env=os.environ | environment) as process:
        wait_for(port)
        Client(port).ask(*mixed("Hello there.", 1))
        yield port, process.pid


def new_texts() -> Callable[[int], list[str]]:
    """Hands out texts that nobody has had before."""
    left = iter(labelled_texts(REQUESTS * 16).texts)
    return lambda number: list(itertools.islice(left, number))


def ask_all(port: int, clients: int, texts: list[str]) -> list[tuple[float, bool]]:
    """Every text asked for once, by so many clients at the same time."""
    turns = iter(enumerate(texts))
    taking = threading.Lock()

    def work(_: int) -> list[tuple[float, bool]]:
        client, answers = Client(port), []
        while True:
            with taking:
                turn = next(turns, None)
            if turn is None:
                return answers
            answers.append(client.ask(*mixed(turn[1], turn[0])))

    with ThreadPoolExecutor(clients) as pool:
        return [answer for answers in pool.map(work, range(clients)) for answer in answers]


def run(clients: int) -> Iterator[Comparison]:
    """Requests a second with the passes a second of a bare loop over the same texts; the 95th percentile; errors."""
    model, texts = explorer.load(), new_texts()
    name, rates, bare, answers = f"load-{clients}", [], [], []
    with app() as (port, _):
        for _ in range(ROUNDS):
            own = texts(REQUESTS)
            encodings = [model.encode(text) for text in own]
            bare.append(REQUESTS / _seconds(lambda read=encodings: [model.hidden_states(one) for one in read]))
            start = time.perf_counter()
            answers += ask_all(port, clients, own)
            rates.append(REQUESTS / (time.perf_counter() - start))
    yield Comparison(
        name, "requests", "bare passes", statistics.median(rates), statistics.median(bare), "a second", "ratio at least 1"
    )
    seconds = sorted(taken for taken, _ in answers)
    middle = seconds[len(seconds) // 2]
    yield Comparison(f"{name}-p50", "half of the answers within", "the limit", middle, 2, "s", "ratio at most 1")
    yield Comparison(f"{name}-p95", "95 % of the answers within", "the limit", _late(seconds), 2, "s", "ratio at most 1")
    failed = sum(not fine for _, fine in answers)
    yield Comparison(f"{name}-errors", "errors", "answers", failed, len(answers), "", "ratio 0")


def sessions() -> Iterator[Comparison]:
    """Thirty first calls of new sessions at once, beside as many calls within one session."""
    texts = new_texts()
    with app() as (port, _):
        one, times = Client(port), {"new": [], "old": []}
        for _ in range(ROUNDS):
            own = texts(60)
            new = [Client(port) for _ in range(30)]
            with ThreadPoolExecutor(30) as pool:
                asked = partial(pool.map, lambda client, text: client.ask("tokens", [text, "", ""]), new)
                times["new"].append(_seconds(lambda asked=asked, own=own: list(asked(own[:30]))))
            times["old"].append(_seconds(lambda own=own: [one.ask("tokens", [text, "", ""]) for text in own[30:]]))
    ours, theirs = (statistics.median(times[kind]) / 30 * 1000 for kind in ("new", "old"))
    yield Comparison("sessions", "a call of a new session", "a call within a session", ours, theirs, "ms", "10 ms more at most")


def load_training() -> Iterator[Comparison]:
    """The 95th percentile of five clients beside a training of all layers, with that of an idle app."""
    texts = new_texts()
    labelled = labelled_texts(300)
    examples = [list(row) for row in zip(labelled.texts, labelled.labels, strict=True)]
    with app() as (port, _):
        idle = sorted(taken for taken, _ in ask_all(port, 5, texts(REQUESTS)))
        arguments = [examples, -1, "cls", LONG_TRAINING["epochs"], 0.01, 32, 0, "", LONG_TRAINING["layers_trained"]]
        training = threading.Thread(target=lambda: Client(port).ask("train_head", arguments), daemon=True)
        training.start()
        time.sleep(5)  # it reads its examples first
        busy = sorted(taken for taken, _ in ask_all(port, 5, texts(REQUESTS)))
        still = training.is_alive()
    what = "95 % beside a training" if still else "95 %, but the training had ended"
    yield Comparison("load-training", what, "in an idle app", _late(busy), _late(idle), "s", "ratio at most 3")


def soak() -> Iterator[Comparison]:
    """The memory of the server after 2,000 mixed requests with that after 200, and after 1,000 more.

    Few traces are kept, so that what grows is not what is kept on purpose.
    """
    texts = new_texts()
    with app(**{CACHE_MEGABYTES.setting: "32"}) as (port, process):
        held = []
        for number in (200, 1800, 1000):
            ask_all(port, 10, texts(number))
            held.append(_megabytes(process))
    yield Comparison("soak", "after 2,000 requests", "after 200", held[1], held[0], "MB", "ratio at most 1.05")
    yield Comparison("soak-on", "after 3,000 requests", "after 2,000", held[2], held[1], "MB", "ratio at most 1.05")


def sent_bytes() -> Iterator[Comparison]:
    """What a browser receives for opening the page and then each tab, as it comes over the wire, and unpacked."""
    from playwright.sync_api import sync_playwright

    from explorer.tabs import TABS
    from tests.browser.conftest import FLAGS, browser_path

    with app() as (port, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        page = browser.new_page()
        received = {"wire": 0, "whole": 0}

        def count(event: dict) -> None:
            received["wire"] += event["encodedDataLength"]
            received["whole"] += event["dataLength"]

        watched = page.context.new_cdp_session(page)
        watched.send("Network.enable")
        watched.on("Network.dataReceived", count)
        page.goto(f"http://127.0.0.1:{port}/")
        for label in ("the page", *(tab.label for tab in TABS)):
            if label != "the page":
                open_tab(page, label)
            page.wait_for_timeout(6000)
            wire, whole = (received[kind] / 1000 for kind in ("wire", "whole"))
            yield Comparison(f"bytes · {label}", "over the wire", "unpacked", wire, max(whole, 0.001), "kB", "below 1")
            received.update(wire=0, whole=0)
        browser.close()


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _late(seconds: list[float]) -> float:
    """The 95th percentile of sorted seconds."""
    return seconds[int(len(seconds) * 0.95)]


def _megabytes(process: int) -> float:
    """What a process holds in memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
