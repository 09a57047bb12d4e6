"""The app as a Space starts it: a fresh virtual environment, an account without a home, a code folder that nobody can write."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.benchmarks.startup import ROOT, wait_for
from tests.ports import free_port

HOST = "someone-bert-explorer.hf.space"
EXAMPLES = [["a happy dog", "happy"], ["a sad cat", "sad"], ["so happy", "happy"], ["so sad", "sad"]] * 3
PROXIES = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}  # what the hub's say of a visitor


def python_of_a_space() -> str:
    """The Python that the front matter of the README names, or else the one of the tests."""
    places = [*Path("~/.pyenv/versions").expanduser().glob("3.12.*/bin/python3.12"), shutil.which("python3.12")]
    return next((str(place) for place in places if place), sys.executable)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of a fresh virtual environment with what requirements.txt asks for; SPACE_PYTHON names one made before."""
    if named := os.environ.get("SPACE_PYTHON"):
        return named
    folder = tmp_path_factory.mktemp("space") / "venv"
    subprocess.run([python_of_a_space(), "-m", "venv", str(folder)], check=True)
    options = os.environ.get("PIP_OPTIONS", "").split()
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "-q", *options, "-r", ROOT / "requirements.txt"], check=True)
    return str(folder / "bin/python")


class Space:
    """A running one, as the hub's proxy asks it for a visitor."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port, self.folder = port, folder

    def ask(self, path: str, body: object = None, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        sent = {"Host": HOST, "Content-Type": "application/json", **PROXIES, **headers}
        line.request("GET" if data is None else "POST", path, data, sent)
        answer = line.getresponse()
        found = answer.status, answer.headers, answer.read()
        line.close()
        return found

    def call(self, name: str, *arguments: object) -> dict:
        return json.loads(self.ask(f"/gradio_api/run/{name}", {"data": arguments})[2])


def contents(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@contextmanager
def started(python: str, place: Path):
    """A Space of this checkout in a folder. Without rights over files and with nobody's name, where the kernel allows it."""
    code = place / "app"
    for name in ("explorer", "assets"):
        shutil.copytree(ROOT / name, code / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("app.py", "requirements.txt", "README.md"):
        shutil.copy(ROOT / name, code / name)
    before = contents(code)
    for path in [*code.rglob("*"), code]:
        path.chmod(path.stat().st_mode & ~0o222)
    (place / "tmp").mkdir()
    nobody = ["unshare", "--user"] if shutil.which("unshare") and not subprocess.call(["unshare", "--user", "true"]) else []
    port = free_port()
    environment = {"PATH": os.environ["PATH"], "SPACE_ID": "someone/bert-explorer", "SPACE_HOST": HOST, "SYSTEM": "spaces"}
    environment |= {"TMPDIR": str(place / "tmp"), "BERT_EXPLORER_PORT": str(port)}
    with (place / "log.txt").open("w") as log:
        process = subprocess.Popen([*nobody, python, "app.py"], cwd=code, env=environment, stdout=log, stderr=log)
        try:
            yield Space(port, place)
        finally:
            ended = process.poll()
            process.kill()
            process.wait()
    assert ended is None, "it ended by itself"
    told = (place / "log.txt").read_text("utf-8")
    assert "Traceback" not in told, told[-2_000:]
    assert contents(code) == before
    for path in [*code.rglob("*"), code]:
        path.chmod(path.stat().st_mode | 0o200)


@pytest.fixture(scope="module")
def space(installed):
    with tempfile.TemporaryDirectory() as place, started(installed, Path(place)) as ready:
        start = time.monotonic()
        wait_for(ready.port)
        page = time.monotonic() - start
        told = ready.call("tokens", "The man went home.", "", "")
        assert "data" in told, (told, (Path(place) / "log.txt").read_text("utf-8")[-2_000:])
        print(f"The page after {page:.1f} s, the first answer after {time.monotonic() - start:.1f} s")
        yield ready


def test_a_visitor_sees_the_page_at_the_space_s_own_name(space):
    status, headers, page = space.ask("/")
    assert status == 200
    assert b"gradio_config" in page
    assert f"http://{HOST}".encode() not in page
    assert "https://huggingface.co" in headers["Content-Security-Policy"], "where the hub shows it in a frame"
    assert space.ask("/", Host="elsewhere.example")[0] == 400
    assert space.ask("/metrics")[0] == 403
    assert space.ask("/healthz")[0] == 200


def test_a_visitor_may_ask_upload_train_and_use_what_was_trained(space):
    assert space.call("fill_mask", "The capital of France is [MASK].", "", 3, "")["data"][0]["masks"]
    form = b'--edge\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\ntext,label\na,b\n\r\n--edge--\r\n'
    assert space.ask("/gradio_api/upload", form, **{"Content-Type": "multipart/form-data; boundary=edge"})[0] == 200
    told = space.call("train_head", EXAMPLES, -1, "mean", 2, 0.01, 8, 0, "", 0)
    head = told["data"][0]["head"]
    assert space.call("classify", ["so happy"], head)["data"][0]["labels"][0] in ("happy", "sad")
    status, _, told = space.ask("/bx/rooms", {})
    assert (status, json.loads(told)["address"]) == (200, f"https://{HOST}/join")
    assert (space.folder / "tmp" / "bert-explorer-runs" / head / "run.json").is_file()


def test_a_visitor_opens_no_folder_and_asks_no_more_than_the_public_limits_allow(space):
    assert "error" in space.call("tokens", "Hello.", "", str(space.folder / "app/assets/models/bert-l6-h384-uncased"))
    assert "shorten it to 20,000" in space.call("tokens", "x" * 20_001, "", "")["error"]
    assert "error" in space.call("tokens", "Hello.", "", "someone/model-that-nobody-has")
