"""The app as a process of its own: what it logs, how it ends, what memory it gives back, and how it is packed."""

import faulthandler
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

from explorer import app
from explorer.core import disk, process
from explorer.core.errors import ExplorerError
from explorer.server import stopping
from explorer.server.metrics import REFUSALS, as_text
from tests.ports import free_port
from tests.waiting import waited

ROOT = Path(__file__).resolve().parents[2]
MARKER = "zanzibarquokka"  # a word that nothing of ours contains
EPOCHS = 200
# The app, with a training that goes on until it is asked to stop, and an endpoint that fails in a way nobody foresaw.
PROCESS = f"""
import sys, threading, time
from explorer import app
from explorer.core import jobs; from explorer.finetune.compute import store

def train(folder):
    import explorer
    from explorer.finetune.compute.from_table import built_in
    from explorer.finetune.compute.task import Task, make_plan, run_training
    examples, model, identifier = built_in("sentiment"), explorer.load(folder), store.new_id()
    encode = explorer.Explorer.encode
    def broken(self, text_a, text_b=""):
        if "unforeseen" in text_a:
            raise ZeroDivisionError(text_a)
        return encode(self, text_a, text_b)
    explorer.Explorer.encode = broken
    with jobs.job(identifier) as stop:
        plan = make_plan(model, -1, "mean", epochs={EPOCHS})
        steps = run_training(Task(model, examples, plan), stop.is_set)
        try:
            while True:
                step = next(steps)
                if step.epoch is not None and step.epoch.epoch == 2:
                    print("trains", flush=True)
                    stop.wait()
        except StopIteration as done:
            store.new_run(done.value, "Sentiment", identifier)

threading.Thread(target=train, args=[sys.argv.pop()]).start()
app.main()
"""
CALLS = (
    ("tokens", [f"the {MARKER} man", "", ""]),
    ("tokens", [f"the {MARKER} man", "", f"no/{MARKER}"]),
    ("tokens", [f"unforeseen {MARKER}", "", ""]),
    ("tokens", [{"path": f"/{MARKER}", "meta": {"_type": "gradio.FileData"}}, "", ""]),
    ("tokens", [MARKER * 20_000, "", ""]),
    ("fill_mask", [f"{MARKER} [MASK]", "", 5, ""]),
    ("vocabulary", [MARKER, MARKER, ""]),
    (MARKER, [MARKER]),
    ("train_head", [[[MARKER, "a"], [MARKER, MARKER]]] + [0] * 8),
    ("classify", [[MARKER], MARKER]),
)


@pytest.fixture(scope="module")
def ended(tiny_folder, tmp_path_factory):
    """What is left of the app, asked this and that and then told to end: its exit code, what it wrote, its runs, the modes of
    files that were uploaded, and its own folders in the temporary one."""
    runs, temporary = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("temporary")
    port = free_port()
    environment = os.environ | {
        **{"BERT_EXPLORER_RUNS": str(runs), "BERT_EXPLORER_MODEL": str(tiny_folder), "BERT_EXPLORER_LOG": "json"},
        **{"BERT_EXPLORER_PORT": str(port), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
        "TMPDIR": str(temporary),
    }
    environment.pop("GRADIO_TEMP_DIR", None)
    command = [sys.executable, "-c", PROCESS, str(tiny_folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            said = []
            while not said or "trains" not in said[-1]:
                said.append(process.stdout.readline())
                assert said[-1], process.stderr.read()
            for path, body in _requests():
                _post(port, path, body)
            modes = [stat.S_IMODE(path.stat().st_mode) for path in temporary.rglob("a.csv")]
            process.send_signal(signal.SIGTERM)
            output, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    return process.returncode, "".join(said) + output + errors, runs, modes, list(temporary.glob("bert-explorer-*"))


def _requests():
    for name, data in CALLS:
        yield f"/gradio_api/run/{name}", json.dumps({"data": data}).encode()
        yield f"/gradio_api/call/{name}", json.dumps({"data": data}).encode()
    for path in ("queue/join", "cancel", "reset"):  # what Gradio does not know is a KeyError to it
        unknown = {"data": [MARKER], "fn_index": 10**6, "session_hash": MARKER, "event_id": MARKER}
        yield f"/gradio_api/{path}", json.dumps(unknown).encode()
    yield "/gradio_api/component_server", json.dumps({"data": MARKER, "component_id": 1, "fn_name": MARKER}).encode()
    yield f"/gradio_api/run/{MARKER}", b'{"data": ' + MARKER.encode()
    yield f"/gradio_api/custom_component/{MARKER}/client/{MARKER}/{MARKER}", b""
    yield "/gradio_api/upload", MARKER.encode()
    part = 'Content-Disposition: form-data; name="files"; filename="a.csv"'
    yield "/gradio_api/upload", f"--{MARKER}\r\n{part}\r\n\r\n{MARKER}\r\n--{MARKER}--\r\n".encode()


def _post(port: int, path: str, body: bytes) -> None:
    """Sends it, once the app listens."""
    for kind in ("application/json", f"multipart/form-data; boundary={MARKER}"):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {"Content-Type": kind})
        end = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(request, timeout=120).read()
            except urllib.error.HTTPError as refused:
                refused.close()
                break
            except urllib.error.URLError:
                assert time.monotonic() < end
                time.sleep(0.1)
                continue
            break


def test_a_call_is_logged_and_what_was_sent_is_not(ended):
    _, written, *_ = ended
    lines = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    calls = [line for line in lines if line["message"] == "call"]
    assert {"ok", "InputError", "ModelError", "internal", "unfit"} <= {line["outcome"] for line in calls}
    assert {"/tokens", "/fill_mask", "/vocabulary", "/train_head", "/classify"} == {line["call"] for line in calls}
    assert all(line["seconds"] >= 0 for line in calls)
    errors = [line["error"] for line in lines if line["message"] == "A handler failed"]
    assert errors
    assert all(error.startswith("ZeroDivisionError at ") for error in errors)
    assert MARKER not in written
    assert "Traceback" not in written


def test_the_end_keeps_what_a_training_has_learnt(ended):
    code, written, runs, *_ = ended
    assert code == 0, written
    about = [json.loads(path.read_text("utf-8")) for path in runs.glob("*/run.json")]
    assert len(about) == 1
    assert not list(runs.glob(".*"))
    assert 2 <= len(about[0]["history"]) < EPOCHS


@pytest.mark.skipif(os.name == "nt", reason="no such rights")
def test_what_is_uploaded_is_for_its_owner_only_and_gone_at_the_end(ended):
    *_, modes, left = ended
    assert set(modes) == {0o600}
    assert left == []


def test_plain_lines_hide_what_was_sent_too(caplog):
    import logging

    from explorer.server.logs import Lines

    try:
        raise ValueError(MARKER) from KeyError(MARKER)
    except ValueError:
        logging.getLogger("explorer").error("It failed", exc_info=True)
        logging.getLogger("asyncio").error(f"exception=ValueError('{MARKER}')", exc_info=True)
    for formatter in (Lines(""), Lines("json")):
        ours, others = map(formatter.format, caplog.records)
        assert MARKER not in ours + others
        assert re.search(r"It failed.*ValueError at .*test_operating\.py:\d+ .* because of KeyError", ours)
        assert "asyncio at " in others


@pytest.mark.parametrize("setting", ["BERT_EXPLORER_RUNS", "GRADIO_TEMP_DIR"])
def test_a_named_folder_that_cannot_be_written_ends_the_start(tmp_path, monkeypatch, capsys, setting):
    (file := tmp_path / "a file").write_text("")
    monkeypatch.setenv(setting, str(file / "below"))
    with pytest.raises(SystemExit) as end:
        app.parse([])
    assert end.value.code == 2
    assert disk.CLOSED.format(setting=setting, place=file / "below") in capsys.readouterr().err
    monkeypatch.setenv(setting, str(tmp_path / "new" / "folder"))
    app.parse([])
    assert list((tmp_path / "new" / "folder").iterdir()) == []


def test_runs_go_nowhere_else_than_into_the_named_folder(tmp_path, monkeypatch, refusal):
    (file := tmp_path / "a file").write_text("")
    monkeypatch.setattr(disk, "RUNS", tmp_path / "own")
    monkeypatch.setenv("BERT_EXPLORER_RUNS", str(file / "runs"))  # it was there at the start
    assert refusal(ExplorerError, disk.folder) == disk.NOWHERE
    assert not (tmp_path / "own").exists()
    monkeypatch.delenv("BERT_EXPLORER_RUNS")
    assert disk.folder() == tmp_path / "own"


def test_as_many_files_may_be_open_as_the_account_allows():
    script = (
        "import resource\n"
        "from explorer.core.process import ENOUGH, most_files, raise_most_files\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))\n"
        "raise_most_files()\n"
        "print(most_files() == (ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)))\n"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "True\n"


@pytest.fixture
def watched_calls(monkeypatch):
    """What a watch asks of faulthandler, in order."""
    called = []
    monkeypatch.setattr(faulthandler, "dump_traceback_later", lambda *given, **named: called.append((given, named)))
    monkeypatch.setattr(sys, "gettrace", lambda: None)
    return called


def _watch(seconds):
    server = SimpleNamespace(config=SimpleNamespace(callback_notify=None))
    return stopping.Watch(server, seconds), server.config


def test_each_tick_of_the_loop_puts_off_the_end_of_the_process(watched_calls, monkeypatch):
    watch, config = _watch(60)
    watch.begin()
    assert watched_calls == []
    waited(config.callback_notify())
    assert watched_calls == [((60,), {"exit": True})]
    watch, config = _watch(0)
    watch.begin()
    assert config.callback_notify is None
    monkeypatch.setattr(sys, "gettrace", lambda: print)
    watch, config = _watch(60)
    watch.begin()
    assert config.callback_notify is None, "a debugger may hold the loop"


def test_the_unit_of_systemd_waits_for_the_end(guide):
    [unit] = re.findall(r"```ini\n(.*?)```", guide["operating"], re.DOTALL)
    assert {"Restart=always", "TimeoutStopSec=25"} <= set(unit.splitlines())
    assert stopping.BOUND < 25


def test_alert_rules_are_about_numbers_that_there_are(guide):
    [rules] = re.findall(r"```yaml\n(groups.*?)```", guide["operating"], re.DOTALL)
    with gr.Blocks() as page:
        page.turns = ()
    REFUSALS.labels("internal").inc()
    given = set(re.findall(r"^(\w+)(?:{.*})? \S+$", as_text(page).decode(), re.MULTILINE))
    asked = set(re.findall(r"\b(?:bert_explorer|process)_\w+", rules))
    assert len(asked) > 4
    assert asked <= given


def test_the_container_is_made_of_what_is_here(readme):
    made = (ROOT / "Dockerfile").read_text("utf-8")
    python = re.search(r'python_version: "([\d.]+)"', readme)[1]
    assert f"FROM python:{python}-" in made, "the Python of the Space"
    copied = [name for line in re.findall(r"^COPY (?:--\S+ )*(.+) \S+$", made, re.MULTILINE) for name in line.split()]
    assert set(copied) >= {"requirements.txt", "app.py", "explorer", "assets"}
    assert all((ROOT / name).exists() for name in copied)
    left_out = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert not {name.strip("/") for name in left_out} & set(copied)
    settings = set(re.findall(r"BERT_EXPLORER_\w+", made))
    code = "".join(path.read_text("utf-8") for path in [ROOT / "app.py", *(ROOT / "explorer").rglob("*.py")])
    assert "BERT_EXPLORER_PROFILE=public" in made, "a container serves strangers"
    arguments = {f"BERT_EXPLORER_{name.upper()}" for name in re.findall(r'add\("(\w+)"', code)}
    assert all(setting in code for setting in settings - arguments)
    assert re.search(r"^USER (?!root)", made, re.MULTILINE)
    assert "/healthz" in made


HOLES = """
import ctypes
from pathlib import Path
from explorer.core import process

def megabytes():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmRSS"))

held = [bytes(60_000) for _ in range(4_000)]  # 240 MB in pieces that the C library takes from its heap
kept = held[::40]
full = megabytes()
del held
before = megabytes()
print(process.give_back_memory(), full - before < 100, before - megabytes() > 150)
"""


def test_what_is_free_between_what_is_used_goes_back_to_the_system():
    if not process.give_back_memory():
        pytest.skip("the C library of this machine has no malloc_trim; others give memory back by themselves")
    said = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", "True", "True"]
