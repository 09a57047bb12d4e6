"""A server that hangs, dies or is started anew: the page and phones say so, and go on by themselves when it is back."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from explorer import app
from explorer.core.paths import ASSETS
from explorer.server.rooms import HEARTBEAT
from tests.browser.expecting import expect
from tests.browser.steps import chips
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
ANNOUNCED = 5_000  # ms until a server that is gone is announced at the latest


class Server:
    """The app in a process of its own, which may be stopped, killed, and started anew at the same address."""

    def __init__(self, runs: Path) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._environment = os.environ | {"BERT_EXPLORER_RUNS": str(runs)}
        self.start()

    def start(self) -> None:
        command = [sys.executable, "app.py", "--port", str(self.port)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, cwd=ROOT, env=self._environment, **quiet)
        end = time.monotonic() + 120
        while not self._answers():
            assert self.process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/healthz", timeout=60) as answer:
                return json.loads(answer.read())["model"] == "loaded"
        except urllib.error.URLError:
            return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("runs"))
    yield made
    made.kill()


def test_the_silence_that_is_announced_is_shorter_than_it_may_be_and_longer_than_two_signs_take():
    every = float(app.os.environ["GRADIO_HEARTBEAT_INTERVAL"])
    for path, heartbeat in (("components/alive.js", every), ("classroom/news.js", HEARTBEAT)):
        silence = int(re.search(r"SILENCE = ([\d_]+);", (ASSETS / path).read_text("utf-8"))[1])
        assert 2_000 * heartbeat < silence < ANNOUNCED


def test_a_page_and_a_phone_tell_that_the_server_hangs_and_go_on(server, new_page):
    page, phone = new_page(), new_page(viewport={"width": 420, "height": 860})
    page.goto(f"{server.address}/?a=The+cat+sat.")
    expect(chips(page).nth(2)).to_contain_text("cat")
    room = json.loads(urllib.request.urlopen(urllib.request.Request(f"{server.address}/bx/rooms", b"{}")).read())
    phone.goto(f"{server.address}/join?room={room['word']}")
    phone.get_by_label("A nickname").fill("Ann")
    phone.get_by_role("button", name="Join").click()
    expect(phone.get_by_text("You are in.")).to_be_visible()
    expect(page.locator("#bx-gone")).to_have_count(0)
    os.kill(server.process.pid, signal.SIGSTOP)
    expect(page.locator("#bx-gone")).to_contain_text("does not answer")
    expect(phone.get_by_text("The line is broken")).to_be_visible()
    os.kill(server.process.pid, signal.SIGCONT)
    expect(page.locator("#bx-gone")).to_be_hidden()
    expect(phone.get_by_text("The line is broken")).to_be_hidden()
    page.locator("#text-a textarea").fill("A dog ran away.")
    expect(chips(page).nth(2)).to_contain_text("dog")
    for one in (page, phone):
        one.problems.clear()  # the browser tells of each line that broke


def test_a_page_of_a_server_that_was_started_anew_is_where_it_was(server, new_page):
    page = new_page()
    page.goto(f"{server.address}/?tab=tokens&a=The+cat+sat.")
    expect(chips(page).nth(2)).to_contain_text("cat")
    page.locator("#text-a textarea").fill("A dog ran away.")
    expect(page).to_have_url(re.compile("dog"))
    server.kill()
    expect(page.locator("#bx-gone")).to_contain_text("does not answer")
    with page.expect_navigation():
        server.start()
    expect(page.locator("#bx-gone")).to_have_count(0)
    expect(chips(page).nth(2)).to_contain_text("dog")
    page.locator("#text-a textarea").fill("A fox ran away.")
    expect(chips(page).nth(2)).to_contain_text("fox")
    page.problems.clear()
