"""Workers read for the page: what they answer, what happens when they die, and the command of the guide that starts them."""

import importlib.util
import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest

from explorer import app
from explorer.bert import features as module
from explorer.bert import replicas, worker
from explorer.bert.features import SHARED_FROM, features
from explorer.bert.pooled import pooled
from explorer.bert.replicas import TRIES, Replicas, Scale
from explorer.core.errors import InputError
from explorer.core.steps import ahead
from explorer.server.metrics import as_text
from explorer.server.routes import healthz
from tests.ports import free_port
from tests.waiting import waited

ROOT = Path(__file__).resolve().parents[2]
LISTENING = "0A"  # of /proc/net/tcp
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
MANY = [f"the {size} {who} bought milk number {n}" for size in ("sad", "slow") for who in "ab" for n in range(SHARED_FROM // 4)]
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None or not sys.platform.startswith("linux"),
    reason="needs Ray (pip install -r requirements-workers.txt), and /proc to find its workers",
)


class Running:
    """The app as the guide starts it with workers, in a process of its own."""

    def __init__(self, port: int, process: subprocess.Popen) -> None:
        self.port, self.process = port, process

    def ask(self, name: str, *arguments):
        body = json.dumps({"data": arguments}).encode()
        address = f"http://127.0.0.1:{self.port}/gradio_api/run/{name}"
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        return json.loads(urllib.request.urlopen(request, timeout=120).read())["data"][0]

    def vectors(self, *texts: str) -> np.ndarray:
        return np.array(self.ask("hidden_states", *texts, *[""] * (2 - len(texts)), -1, "")["vectors"])

    def counted(self, what: str) -> int | None:
        """A number of /metrics, None while there is none."""
        try:
            numbers = urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=120).read().decode()
        except urllib.error.URLError:
            return None
        found = re.search(rf"^bert_explorer_{what} (\S+)$", numbers, re.MULTILINE)
        return found and int(float(found[1]))

    def workers(self) -> list[int]:
        """The processes below the app that carry the name of a worker."""
        return [process for process, name in below(self.process.pid).items() if name.startswith(b"ray::ServeReplica:")]


def below(top: int) -> dict[int, bytes]:
    """The processes below one, itself among them, and their names."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            names[int(folder.name)] = (folder / "cmdline").read_bytes()
        except OSError:  # it has ended just now
            continue

    def is_below(process):
        return process == top or (process in parents and is_below(parents[process]))

    return {process: name for process, name in names.items() if is_below(process)}


def listened_on(process: int) -> set[str]:
    """The addresses that a process listens on, as the system writes them: little-endian, by words."""
    found = set()
    try:
        own = {os.readlink(link) for link in Path(f"/proc/{process}/fd").glob("*")}
        for table in ("tcp", "tcp6"):
            for row in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
                cells = row.split()
                if cells[3] == LISTENING and f"socket:[{cells[9]}]" in own:
                    found.add(cells[1].partition(":")[0])
    except FileNotFoundError:  # it has ended just now, or closed a file
        return found
    return found


@pytest.fixture(scope="module")
def running(tiny_folder, guide, tmp_path_factory):
    command = shlex.split(re.search(r"<!-- workers command -->\n```bash\n.*&& (.+)\n```", guide["scaling"])[1])
    port = free_port()
    runs = tmp_path_factory.mktemp("runs")
    environment = os.environ | {
        **{"BERT_EXPLORER_RUNS": str(runs), "BERT_EXPLORER_MODEL": str(tiny_folder), "BERT_EXPLORER_PORT": str(port)}
    }
    with (runs / "log").open("w") as log:
        process = subprocess.Popen([sys.executable, *command[1:]], cwd=ROOT, env=environment, stdout=log, stderr=log)
        found, seen = Running(port, process), []
        try:
            while not seen or seen[-1] != 2:
                told = (runs / "log").read_text()
                assert process.poll() is None, told
                assert told.count("could not be started") < 4, told  # a busy machine is slow, and Ray may give up on it
                seen += [number for number in [found.counted("workers")] if number is not None]
                time.sleep(0.2)
            assert seen[0] == 0, "they are counted from the start"
            found.vectors("milk")  # the front end knows the way
            yield found
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0, (runs / "log").read_text()
            assert not found.workers()
        finally:
            process.kill()
            process.wait()


@needs_ray
def test_nothing_that_workers_bring_listens_to_the_network(running):
    listening = {name[:60]: listened_on(process) for process, name in below(running.process.pid).items()}
    assert any(listening.values())
    assert {name: found - LOOPBACK for name, found in listening.items() if found - LOOPBACK} == {}


@needs_ray
def test_two_workers_answer_what_is_read_here(running, tiny):
    assert len(running.workers()) == 2
    before = running.counted("worker_answers_total")
    pairs = [("the man",), ("the happy dog bought milk",), ("milk " * 100,), ("the man went", "he was sad"), ("he", "milk " * 40)]
    for texts in pairs:
        np.testing.assert_allclose(running.vectors(*texts), tiny.trace(*texts).hidden_states[-1], atol=1e-5, rtol=0)
    assert running.counted("worker_answers_total") == before + len(pairs)


def test_a_worker_has_run_the_model_before_it_is_asked(tiny, monkeypatch):
    monkeypatch.setattr(worker, "_listen_here_only", lambda: None)
    opened, passes = [], []
    monkeypatch.setattr(worker, "Network", lambda checkpoint: opened.append(checkpoint) or tiny)
    monkeypatch.setattr(worker, "pooled", lambda *about: passes.append(about) or pooled(*about))
    made = worker.Worker(tiny.checkpoint)
    assert opened == [tiny.checkpoint]
    assert len(passes) == 1
    [[states]] = waited(made.states([(tiny.checkpoint, [tiny.encode("milk")])]))
    assert len(states) == tiny.capabilities.layers + 1
    assert len(opened) == 1


FAILING_ONCE = """
import time
from explorer.bert import replicas
from explorer.bert.worker import ray

replicas.PAUSES = (1.0, 1.0)
replicas.start(replicas.Scale(1, 1))  # which sets how Ray works, before Ray is loaded
node, starts = ray._private.node.Node, []
works = node.start_ray_processes

def start(self):
    starts.append(self)
    if len(starts) == 1:
        raise OSError("no raylet this time")
    works(self)

node.start_ray_processes = start
while replicas.running() is None:
    time.sleep(0.1)
print(len(starts), replicas.ready(), flush=True)
input()
replicas.stop()
"""


@needs_ray
def test_a_start_that_fails_leaves_nothing_behind_and_the_next_one_works(tiny_folder):
    environment = os.environ | {"BERT_EXPLORER_MODEL": str(tiny_folder)}
    lines = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", FAILING_ONCE], cwd=ROOT, env=environment, **lines) as process:
        try:
            said = [process.stdout.readline() for _ in range(2)]
            assert sorted(said) == ["* 1 worker ready\n", "2 1\n"]
            assert sum(b"gcs_server" in name.split(b"\0")[0] for name in below(process.pid).values()) == 1
            process.stdin.write("\n")
            process.stdin.close()
            assert process.wait() == 0
        finally:
            process.kill()


class Clock(threading.Event):
    """An event that nobody waits for: it records the pauses, and is set after the last."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.pauses, self.last = [], last

    def wait(self, timeout=None):
        self.pauses.append(timeout)
        if len(self.pauses) == self.last:
            self.set()
        return self.is_set()


def test_workers_that_do_not_start_or_stop_answering_are_tried_again_after_longer_pauses(monkeypatch, capsys):
    clock, seen, left = Clock(15), [], []
    fails = [*[OSError("no Ray")] * 9, None, *[OSError("still none")] * 9]

    def deployed(scale):
        seen.append((replicas.ready(), replicas.running()))
        if error := fails.pop(0):
            raise error
        return Replicas(None, 2)

    def count():
        if clock.pauses.count(replicas.LOOK) == 2:
            raise ConnectionError("Ray is gone")
        return 2

    monkeypatch.setattr(replicas, "LOOK", 7.0)
    monkeypatch.setattr(replicas, "_ended", clock)
    monkeypatch.setattr(replicas, "_wanted", Scale(2, 2))
    monkeypatch.setattr(replicas, "_deployed", deployed)
    monkeypatch.setattr(replicas, "_ready", count)
    monkeypatch.setattr(replicas, "_clear_up", lambda error: left.append(error) or 1 / 0)
    replicas._keep_running(Scale(2, 2))
    rising = [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert clock.pauses == [*rising, replicas.LOOK, replicas.LOOK, *rising[:4]]
    assert set(seen) == {(0, None)}
    assert len(left) == 13, "Ray is left after every failure"
    assert capsys.readouterr().out == "* 2 workers ready\n"


@pytest.mark.parametrize(("wanted", "workers", "told"), [(None, None, None), (Scale(1, 2), None, 0), (Scale(1, 2), 2, 2)])
def test_operators_see_how_many_workers_are_ready_whenever_they_asked_for_any(monkeypatch, wanted, workers, told):
    running = None if workers is None else Replicas(None, 2)
    if running:
        running.ready = workers
    monkeypatch.setattr(replicas, "_wanted", wanted)
    monkeypatch.setattr(replicas, "_running", running)
    with gr.Blocks() as page:
        pass
    page.turns = ()
    numbers = as_text(page).decode()
    assert re.findall(r"^bert_explorer_workers (\S+)$", numbers, re.MULTILINE) == ([] if told is None else [f"{told:.1f}"])
    health = json.loads(waited(healthz(None)).body)
    assert health.get("workers") == told


@needs_ray
def test_workers_read_large_tables(running, tiny):
    from explorer.projection.endpoints import projection

    before = running.counted("worker_answers_total")
    there, here = running.ask("projection", MANY, "pca", -1, "mean", 2, "", 15, 0.1, 0), projection(MANY, model=tiny.name)
    np.testing.assert_allclose(there["points"], here["points"], atol=1e-3)
    assert running.counted("worker_answers_total") >= before + len(MANY) // module.BATCH_SIZE


@needs_ray
def test_workers_that_die_under_load_are_not_noticed(running, tiny):
    enough, numbers = threading.Event(), itertools.count()

    def client(_) -> int:
        asked = 0
        while not enough.is_set():
            text = f"the man went to store {next(numbers)}"
            np.testing.assert_allclose(running.vectors(text), tiny.trace(text).hidden_states[-1], atol=1e-5, rtol=0)
            asked += 1
        return asked

    before = running.counted("worker_answers_total")
    with ThreadPoolExecutor(8) as pool:
        clients = [pool.submit(client, number) for number in range(8)]
        try:
            for dying in (1, 2):  # one of them, then all that there are
                time.sleep(2)
                for worker in running.workers()[:dying]:
                    os.kill(worker, signal.SIGKILL)
            time.sleep(2)
        finally:
            enough.set()
        assert all(client.result() > 1 for client in clients)
    assert running.counted("worker_answers_total") > before


class Handle:
    """A handle of Ray Serve that always answers in one way."""

    def __init__(self, answer):
        self.answer, self.asked = answer, 0
        self.states = self.pooled = self

    def remote(self, *arguments):
        self.asked += 1
        self.arguments = arguments
        return self

    def cancel(self):
        assert isinstance(self.answer, TimeoutError)

    def result(self, timeout_s):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(*self.arguments)


@pytest.mark.parametrize(("error", "tries"), [(RuntimeError(), TRIES), (TimeoutError(), 1)])
def test_without_an_answer_the_front_end_reads_and_asks_nobody_for_a_while(tiny, monkeypatch, error, tries):
    handle = Handle(error)
    monkeypatch.setattr(replicas, "_running", Replicas(handle, 2))
    for text in ("the sad dog", "the sad cat"):
        trace = tiny.trace(text, f"{tries}")  # that nobody has read
        np.testing.assert_array_equal(trace.hidden_states, tiny.hidden_states(trace.encoding).numpy())
    assert handle.asked == tries
    monkeypatch.setattr(replicas._running, "_rests_until", 0.0)
    tiny.trace("the sad man", f"{tries}")
    assert handle.asked == 2 * tries


def test_no_text_is_sent_along(tiny):
    handle = Handle(lambda asked: [tiny.hidden_states(one).numpy() for one in asked[1]])
    encoding = tiny.encode("the happy dog", "milk !")
    [states] = Replicas(handle, 2).states(tiny.checkpoint, [encoding])
    np.testing.assert_array_equal(states, tiny.hidden_states(encoding).numpy())
    [(_, [sent])] = handle.arguments
    assert (sent.text_a, sent.text_b, sent.tokens) == ("", "", ())


@pytest.mark.parametrize("answers", [True, False])
def test_features_of_large_tables_come_from_workers_and_can_be_stopped(tiny, monkeypatch, answers):
    module.forget()
    here = features(tiny, MANY)
    module.forget()
    handle = Handle((lambda checkpoint, *about: pooled(tiny, *about)) if answers else RuntimeError())
    monkeypatch.setattr(replicas, "_running", Replicas(handle, 2))
    np.testing.assert_allclose(features(tiny, MANY), here, atol=1e-6)
    assert handle.asked >= (len(MANY) // module.BATCH_SIZE if answers else TRIES)
    module.forget()
    handle.asked = 0
    features(tiny, MANY[:9])
    assert not handle.asked, "few texts are read in a moment anyway"
    shares = module.features_in_steps(tiny, MANY)
    assert 0 < next(shares) < 1
    shares.close()


def test_ahead_keeps_the_order_and_begins_no_more_than_there_are_places():
    begun = []
    assert list(ahead(lambda item: item * 2, range(20), 4)) == list(range(0, 40, 2))
    for places in (1, 3):
        begun.clear()
        steps = ahead(lambda item: begun.append(item) or item, range(20), places)
        assert next(steps) == 0
        steps.close()
        assert len(begun) <= places


@pytest.mark.parametrize(("given", "scale"), [("", None), ("0", None), ("2", Scale(2, 2)), ("2-8", Scale(2, 8))])
def test_how_many_workers(given, scale, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setenv("BERT_EXPLORER_WORKERS", given)
    assert app.parse([]).workers == scale
    assert app.parse(["--workers", given]).workers == scale


@pytest.mark.parametrize("given", ["two", "-1", "8-2", "0-2", "2-", "1-2-3", "1e3", "٣", "9999"])
def test_workers_that_make_no_sense_are_told_at_the_start(given, refusal, capsys):
    sentence = refusal(InputError, lambda: Scale.of(given))
    with pytest.raises(SystemExit):
        app.parse([f"--workers={given}"])
    assert sentence in capsys.readouterr().err


def test_without_ray_one_sentence_says_what_to_install(monkeypatch, refusal):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    sentence = refusal(InputError, lambda: Scale.of("2"))
    assert replicas.RAY in sentence
    assert re.search(rf"^{re.escape(replicas.RAY)} ", (ROOT / "requirements-workers.txt").read_text(), re.MULTILINE)


def test_no_ray_that_we_start_or_tell_others_to_start_reports_or_opens_a_dashboard(guide, monkeypatch):
    quiet = {"--disable-usage-stats", "--include-dashboard=false"}
    told = [line for page in guide.values() for line in re.findall(r"ray start [^`\n]*", page)]
    heads = [line for line in told if "--head" in line]
    assert heads
    assert [line for line in heads if not quiet <= set(line.split())] == []
    sources = {path.name: path.read_text("utf-8") for path in (ROOT / "explorer").rglob("*.py")}
    assert [name for name, text in sources.items() if "ray.init(" in text or "ray start" in text] == ["replicas.py"]
    given = []
    monkeypatch.setattr(replicas, "ray", SimpleNamespace(init=lambda **options: given.append(options) or 1 / 0))
    monkeypatch.setattr(replicas, "threading", SimpleNamespace(Thread=lambda **about: SimpleNamespace(start=lambda: None)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", os.environ.copy())
        patch.delenv("RAY_ADDRESS", raising=False)
        patch.setattr(replicas, "_wanted", None)
        patch.setattr(replicas, "_thread", None)
        replicas.start(Scale(1, 1))
        with pytest.raises(ZeroDivisionError):
            replicas._deployed(Scale(1, 1))
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert given[0]["include_dashboard"] is False


@needs_ray
def test_ray_has_the_flags_that_the_guide_gives():
    from ray.scripts.scripts import start

    options = {name for option in start.params for name in option.opts}
    assert {"--head", "--port", "--address", "--disable-usage-stats", "--include-dashboard"} <= options
