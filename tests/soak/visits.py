"""What people and programs do with a running app, each a whole visit: it begins, it ends well or badly, and it leaves."""

import contextlib
import http.client
import json
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from explorer.server.refusals import FAILED
from tests.benchmarks.texts import labelled_texts
from tests.conftest import write_tiny

PATIENCE = 300  # seconds for an answer
LENGTHS = (1, 1, 1, 2, 4, 12, 40)  # texts that are put one behind the other: up to some 500 tokens
EXAMPLES = [["a happy dog", "happy"], ["a sad cat", "sad"], ["so happy", "happy"], ["so sad", "sad"]] * 12
ENDPOINTS = ("tokens", "fill_mask", "attention", "next_sentence", "hidden_states", "head_metrics", "lens")
QUERY = "v=1&tab=attention&a=The+capital+of+Japan+is+%5BMASK%5D.&b=It+is+old."


class Visits:
    """The app at a port, and the models that it is asked for."""

    def __init__(self, port: int, folder: Path, seed: int) -> None:
        self._port, self._chance, self.refused = port, random.Random(seed), 0
        self._latest = threading.local()  # what each thread asked for
        self._texts = labelled_texts(2_000).texts
        self._models = [str(write_tiny(folder / f"model-{number}")) for number in range(5)]
        config = json.loads(self._send(self._line(), "GET", "/config")[1])
        self._numbers = {one["api_name"]: one["id"] for one in config["dependencies"] if one["api_name"]}
        self._views = [one["name"] for one in self._asked("views", [""])["views"]]
        self._unseen = [
            (name, view, length)
            for name, view in (*((name, "") for name in ENDPOINTS), *(("view", view) for view in self._views))
            for length in (min(LENGTHS), max(LENGTHS))
        ]
        self._chance.shuffle(self._unseen)

    def everything(self) -> list[Callable[[], None]]:
        """Every endpoint and every view with a short text and a long one: a first use imports modules and sets things up."""
        return [self.first] * len(self._unseen)

    def plan(self, calls: int, pages: int, trainings: int, rooms: int, loads: int) -> list[Callable[[], None]]:
        """So many of each, in an order of chance."""
        kinds = ((self.call, calls), (self.page, pages), (self.training, trainings), (self.room, rooms), (self.load, loads))
        planned = [kind for kind, number in kinds for _ in range(number)]
        self._chance.shuffle(planned)
        return planned

    def asked(self) -> str:
        """The path and the arguments of the latest request of this thread, for reports."""
        return str(getattr(self._latest, "request", ""))

    # ---- What is done.

    def first(self) -> None:
        """The next of everything."""
        self._ask(*self._unseen.pop())

    def call(self) -> None:
        """One of seven endpoints, or a view."""
        name = self._chance.choice((*ENDPOINTS, "view"))
        self._ask(name, self._chance.choice(self._views))

    def _ask(self, name: str, view: str, length: int = 0) -> None:
        text, layer = self._text(length), 1 + self._chance.randrange(6)
        arguments = {
            "tokens": [text, "", ""],
            "fill_mask": [f"{text[:400]} [MASK].", "", 5, ""],
            "attention": [text[:300], "", layer, 4, ""],
            "next_sentence": [text, "It was late.", ""],
            "hidden_states": [text[:300], "", layer, ""],
            "head_metrics": [text, "", ""],
            "lens": [f"{text[:200]} [MASK].", "", 3, "", "", "", "raw"],
            "view": [view, text[:300], "", {}, ""],
        }
        self._asked(name, arguments[name])

    def page(self) -> None:
        """A page that is opened, asks by the queue, and is left, now and then before it was answered."""
        session, leaves = secrets.token_hex(5), self._chance.random() < 0.3
        self._send(self._line(), "GET", "/")
        with self._stream(f"/gradio_api/heartbeat/{session}") as heart:
            heart.readline()
            self._queue("view", [self._chance.choice(self._views), self._text()[:300], "", {}, ""], session)
            with self._stream(f"/gradio_api/queue/data?session_hash={session}") as told:
                while not leaves and (line := told.readline()):
                    if b'"process_completed"' in line or b'"close_stream"' in line or b'"unexpected_error"' in line:
                        break

    def training(self) -> None:
        """A training that is begun and given up, by hanging up or by Gradio's own way."""
        session, layers = secrets.token_hex(5), self._chance.choice((0, 0, 1, 6))
        arguments = [EXAMPLES, -1, "cls", 50, 0.001, 8, 0, "", layers]
        patience = self._chance.uniform(0, 3)
        if self._chance.random() < 0.5:
            line = self._line()
            body = json.dumps({"data": arguments, "session_hash": session})
            line.request("POST", "/gradio_api/run/train_head", body, {"Content-Type": "application/json"})
            time.sleep(patience)
            line.close()
            return
        event = self._queue("train_head", arguments, session)
        with self._stream(f"/gradio_api/queue/data?session_hash={session}") as told:
            told.readline()
            time.sleep(patience)
            body = {"session_hash": session, "fn_index": self._numbers["train_head"], "event_id": event}
            self._post("/gradio_api/cancel", body)

    def room(self) -> None:
        """A room with three phones, one question, and its end."""
        room = self._post("/bx/rooms", {})
        if "word" not in room:
            return
        path, key = f"/bx/rooms/{room['word']}", room["key"]
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._stream(f"{path}/news", key)).readline()
            for name in ("Ann", "Ben", "Cem"):
                seat = self._post(f"{path}/join", {"name": name})["token"]
                stack.enter_context(self._stream(f"{path}/news", seat)).readline()
            self._post(f"{path}/ask", {"kind": "blank", "query": QUERY}, key)
            self._post(f"{path}/guess", {"guess": "tokyo"}, seat)
            self._post(f"{path}/reveal", {}, key)
            self._post(f"{path}/follow", {"query": QUERY}, key)
            self._post(f"{path}/end", {}, key)

    def load(self) -> None:
        """One of five models, of which the app keeps three."""
        self._asked("tokens", ["the happy man went to the store", "", self._chance.choice(self._models)])

    # ---- How it is sent.

    def _text(self, length: int = 0) -> str:
        return " ".join(self._chance.choices(self._texts, k=length or self._chance.choice(LENGTHS)))

    def _line(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)

    def _send(
        self, line: http.client.HTTPConnection, method: str, path: str, body: Any = None, key: str = ""
    ) -> tuple[int, bytes]:
        self._latest.request = f"{path} {json.dumps(body)[:400]}"
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        with contextlib.closing(line):
            line.request(method, path, None if body is None else json.dumps(body), headers)
            answer = line.getresponse()
            return answer.status, answer.read()

    def _post(self, path: str, body: dict, key: str = "") -> dict:
        status, told = self._send(self._line(), "POST", path, body, key)
        self.refused += status != 200
        answer = json.loads(told or b"{}") or {}
        if status != 200 and answer.get("error", FAILED) == FAILED:
            raise AssertionError(f"{path} answered {status}: {told[:200]!r}")
        return answer

    def _asked(self, name: str, arguments: list) -> dict:
        """The answer of an endpoint, or {} where it was refused."""
        session = f"soak{self._chance.randrange(500)}"
        told = self._post(f"/gradio_api/run/{name}", {"data": arguments, "session_hash": session})
        return told["data"][0] if "data" in told else {}

    def _queue(self, name: str, arguments: list, session: str) -> str:
        body = {"data": arguments, "fn_index": self._numbers[name], "session_hash": session}
        return self._post("/gradio_api/queue/join", body).get("event_id", "")

    @contextlib.contextmanager
    def _stream(self, path: str, key: str = "") -> Iterator[http.client.HTTPResponse]:
        line = self._line()
        line.request("GET", path, headers={"Authorization": f"Bearer {key}"} if key else {})
        answer = line.getresponse()
        try:
            yield answer
        finally:
            answer.close()
            line.close()
