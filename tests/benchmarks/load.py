"""Many clients at once, over plain HTTP with a session each: what a class does to one machine."""

import http.client
import itertools
import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import explorer
from tests.benchmarks import Comparison
from tests.benchmarks.startup import server, wait_for
from tests.benchmarks.texts import labelled_texts
from tests.ports import free_port

REQUESTS = 300  # of one round
ROUNDS = 3
SESSION = itertools.count()


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
def app() -> Iterator[int]:
    """The port of the app in a process of its own, with its model loaded."""
    port = free_port()
    with server(["app.py", "--port", str(port)]):
        wait_for(port)
        Client(port).ask(*mixed("Hello there.", 1))
        yield port


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
    with app() as port:
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
    yield Comparison(f"{name}-p95", "95% of the answers within", "the limit", _late(seconds), 2, "s", "ratio at most 1")
    failed = sum(not fine for _, fine in answers)
    yield Comparison(f"{name}-errors", "errors", "answers", failed, len(answers), "", "ratio 0")


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _late(seconds: list[float]) -> float:
    """The 95th percentile of sorted seconds."""
    return seconds[int(len(seconds) * 0.95)]
