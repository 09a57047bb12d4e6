"""What must hold when many ask at once, whichever way they ask, and when those who asked have gone."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
import torch

import explorer
from explorer.api import callers
from explorer.core import jobs, process
from explorer.core.errors import BusyError
from explorer.core.hosts import MINUTE
from explorer.core.limits import REQUESTS, TRAINING_MINUTES, WAITING, WAITING_WORKS, WORKS
from explorer.core.scheduling import PLACES, TRAINING, Places
from explorer.core.steps import finished
from explorer.finetune import endpoints as api_training
from explorer.finetune.compute import store, task
from explorer.finetune.compute.finetune import Progress
from explorer.finetune.compute.task import Task, make_plan, run_training
from explorer.server.bounds import Rates
from explorer.server.refusals import Refused
from explorer.training.examples import Examples
from tests.asking import ask
from tests.stranger import Stranger
from tests.waiting import set_clock, wait_until

EXAMPLES = [[f"{word} {i}", label] for i in range(6) for word, label in [("good", "yes"), ("bad", "no")]]
SOON = 60  # seconds; only a test that fails waits as long


class Work:
    """Plays long work that goes on until it is told to end, and knows how much of it runs."""

    def __init__(self):
        self.running = self.most = self.started = 0
        self.changed, self.end = threading.Condition(), threading.Event()

    def __call__(self, *arguments, **named):
        with self.changed:
            self.running += 1
            self.started += 1
            self.most = max(self.most, self.running)
            self.changed.notify_all()
        try:
            while not self.end.wait(0.02):
                yield Progress(0.0, "at it")
        finally:
            with self.changed:
                self.running -= 1
                self.changed.notify_all()

    def wait_for(self, condition, seconds=SOON):
        with self.changed:
            return self.changed.wait_for(lambda: condition(self), seconds)


@pytest.fixture
def work(monkeypatch):
    """In the place of every training that an endpoint starts."""
    work = Work()
    monkeypatch.setattr(api_training, "run_training", work)
    yield work
    work.end.set()
    assert work.wait_for(lambda work: not work.running)


def test_no_more_trainings_run_at_once_than_may_whichever_way_they_are_asked_for(stranger, work):
    with ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(stranger.ask, "train_head", EXAMPLES, *DEFAULTS) for _ in range(6)]
        try:
            assert work.wait_for(lambda work: work.running >= WORKS.most)
            assert stranger.ask("tokens", "others are answered meanwhile", "", "")["data"]
            assert not work.wait_for(lambda work: work.running > WORKS.most, 1)
        finally:
            work.end.set()
        for answer in answers:
            answer.result(SOON)
    assert work.started == 6
    assert work.most == WORKS.most


RUN = "/gradio_api/run/tokens"
DEFAULTS = (-1, "cls", 10, 0.01, 32, 0, "", 0)


def connect(address, method, path, body=None, **more):
    """A connection on which a request has been sent, whose answer nobody has read."""
    where = urlsplit(address)
    data = json.dumps(body).encode() if body is not None else b""
    headers = {"Host": where.netloc, "Content-Type": "application/json", "Content-Length": len(data), **more}
    head = "".join(f"{line}\r\n" for line in (f"{method} {path} HTTP/1.1", *(f"{key}: {headers[key]}" for key in headers), ""))
    connection = socket.create_connection((where.hostname, where.port))
    connection.sendall(head.encode() + data)
    return connection


def test_a_training_ends_when_its_client_has_gone(served, work):
    connection = connect(served, "POST", "/gradio_api/run/train_head", {"data": [EXAMPLES, *DEFAULTS]})
    assert work.wait_for(lambda work: work.running == 1)
    connection.close()
    assert work.wait_for(lambda work: work.running == 0)
    assert not work.end.is_set()


def test_calls_of_one_address_hold_up_nobody_elsewhere_and_those_that_hung_up_never_begin(served, serving, monkeypatch):
    begun, end = [], threading.Event()
    encode = explorer.Explorer.encode

    def held(self, text_a, text_b=""):
        if text_a.startswith("held"):
            begun.append(text_a)
            assert end.wait(SOON)
        return encode(self, text_a, text_b)

    monkeypatch.setattr(explorer.Explorer, "encode", held)
    most = PLACES - PLACES // 3
    crowd = {"X-Forwarded-For": "203.0.113.1"}
    lines = [connect(served, "POST", RUN, {"data": [f"held {number}", "", ""]}, **crowd) for number in range(40)]
    try:
        wait_until(lambda: len(begun) == most and len(serving.turns) == 40 - most)
        bystander = connect(served, "POST", RUN, {"data": ["a bystander", "", ""]}, **{"X-Forwarded-For": "203.0.113.2"})
        assert bystander.recv(100).startswith(b"HTTP/1.1 200")
        bystander.close()
        for line in lines:
            line.close()
        wait_until(lambda: len(serving.turns) == 0)
    finally:
        end.set()
    wait_until(lambda: not serving.turns._held)
    assert len(begun) == most


def test_a_training_from_the_queue_ends_when_nobody_listens_any_more(served, stranger, work):
    function = next(one["id"] for one in stranger.config["dependencies"] if one["api_name"] == "train_head")
    body = {"data": [EXAMPLES, *DEFAULTS], "fn_index": function, "session_hash": stranger.session}
    assert "event_id" in stranger.post("/gradio_api/queue/join", body)
    connection, heard = connect(served, "GET", f"/gradio_api/queue/data?session_hash={stranger.session}"), b""
    while b"process_starts" not in heard:
        heard += connection.recv(1_000)
    assert work.wait_for(lambda work: work.running == 1)
    connection.close()
    assert work.wait_for(lambda work: work.running == 0)
    assert not work.end.is_set()


def test_long_work_leaves_half_of_the_cores_to_the_others(monkeypatch):
    monkeypatch.setattr(process, "cores", lambda: 2)
    seen, all_of_them = [], torch.get_num_threads()

    def steps():
        for _ in range(2):
            seen.append(torch.get_num_threads())
            yield

    work = callers.bound(steps, TRAINING["concurrency_id"])()
    for _ in range(2):
        next(work)
        assert torch.get_num_threads() == all_of_them
    assert list(work) == []
    callers.bound(lambda: seen.append(torch.get_num_threads()), TRAINING["concurrency_id"])()
    assert seen == [1, 1, 1]
    assert torch.get_num_threads() == all_of_them


def test_too_many_do_not_even_wait_and_what_fails_frees_its_place(monkeypatch, refusal):
    monkeypatch.setattr(WAITING_WORKS, "most", 1)
    places, waits, told = Places(1, WAITING_WORKS), threading.Event(), threading.Event()

    def give_up():
        raise KeyError

    def leave():
        with places.place_of_thread(give_up):
            raise ZeroDivisionError

    def wait():
        with places.place_of_thread(waits.set):
            told.set()

    thread = threading.Thread(target=wait)
    with places.place_of_thread():
        with pytest.raises(KeyError):  # it had to wait
            leave()
        thread.start()
        assert waits.wait(SOON)
        refusal(BusyError, leave)
    assert told.wait(SOON)
    thread.join()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            leave()


def test_a_training_takes_no_longer_than_it_may(tiny, monkeypatch):
    examples = Examples(*zip(*EXAMPLES, strict=True))
    plan = make_plan(tiny, -1, "mean", epochs=50)
    assert len(finished(run_training(Task(tiny, examples, plan))).history) == 50
    monkeypatch.setattr(TRAINING_MINUTES, "most", 3)
    clock = iter(range(0, 10**6, 60))  # a minute passes between two looks
    set_clock(monkeypatch, task.__name__, lambda: next(clock))
    assert 1 <= len(finished(run_training(Task(tiny, examples, plan))).history) < 5


def test_a_training_that_a_program_asked_for_is_kept_when_the_app_ends(tiny_folder, monkeypatch):
    monkeypatch.setattr(jobs, "_closing", threading.Event())
    monkeypatch.setattr(api_training, "tell", lambda: lambda step: step[1].startswith("Epoch 1 ") and jobs.stop_all(0))
    answer = api_training.train_head(EXAMPLES, epochs=50, model=str(tiny_folder))
    assert 1 <= len(answer["history"]) < 50
    assert len(store.fetch(answer["head"]).history) == len(answer["history"])


def test_who_comes_when_many_wait_gets_a_503_and_one_sentence(served, monkeypatch):
    monkeypatch.setattr(Places, "__len__", lambda turns: WAITING.most)
    status, _, body = ask(served, "POST", RUN, {"data": ["One more.", "", ""]})
    assert (status, json.loads(body)["error"]) == (503, WAITING.tell())


def test_requests_a_minute_are_counted_for_each_address(monkeypatch):
    requests, now = Rates(), time.monotonic()
    monkeypatch.setattr("explorer.core.hosts.monotonic", lambda: now)  # not that of the server's loop

    def passed(number, address, method="POST", path="/"):
        """How many of so many requests pass."""
        for count in range(number):
            try:
                requests.check({"type": "http", "method": method, "client": (address, 5), "path": path})
            except Refused:
                return count
        return number

    assert passed(50, "a") == 50, "locally there is no such limit"
    monkeypatch.setattr(REQUESTS, "most", 3)
    assert passed(5, "a") == 3
    assert passed(1, "b") == 1
    assert passed(5, "a", "GET") == 5
    now += MINUTE + 1
    assert passed(1, "a") == 1
    assert passed(4, "c", "GET", "/bx/rooms/nope/code.svg") == 3


def test_a_page_whose_state_was_forgotten_goes_on_where_it_was(served, serving, tiny_folder):
    visitor = Stranger(served)
    sessions = serving.app.state_holder
    on_the_page = {"model-name": str(tiny_folder), "open-tab": "tokens", "text-a": "the man", "text-b": ""}
    before = visitor.press("text-a", "change", **on_the_page)
    assert visitor.session in sessions.session_data
    sessions.session_data.pop(visitor.session)
    after = visitor.press("text-a", "change", **on_the_page)
    assert "error" not in after
    strip = next(one for one in after["data"] if isinstance(one, dict) and "tokens" in one)
    assert strip["tokens"] == list(explorer.load(tiny_folder).trace("the man").tokens)
    assert json.dumps(strip) in {json.dumps(one) for one in before["data"]}
