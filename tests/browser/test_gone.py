"""A server that hangs, dies or is started anew: the page and phones say so, and go on by themselves when it is back."""

import json
import re
import socket
import threading
import urllib.request
from contextlib import suppress

import pytest

from explorer import app
from explorer.core.paths import ASSETS
from explorer.server.rooms import HEARTBEAT
from tests.browser.expecting import expect
from tests.browser.steps import chips

ANNOUNCED = 5_000  # ms until a server that is gone is announced at the latest


class Line:
    """The way to a server, which may hang, break off, or lead to another server."""

    def __init__(self, server: str) -> None:
        self.server, self.goes_on, self._ends = server, threading.Event(), []
        self.goes_on.set()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._let_in, daemon=True).start()

    def close(self) -> None:
        self.break_off()
        self.goes_on.set()
        self._door.close()

    def _let_in(self) -> None:
        with suppress(OSError):  # until it is closed
            while True:
                visitor, _ = self._door.accept()
                self._connect(visitor)

    def _connect(self, visitor: socket.socket) -> None:
        if not self.server:
            visitor.close()
            return
        there = socket.create_connection(("127.0.0.1", int(self.server.rpartition(":")[2])))
        self._ends += [visitor, there]
        for come, go in ((visitor, there), (there, visitor)):
            threading.Thread(target=self._pass_on, args=[come, go], daemon=True).start()

    def _pass_on(self, come: socket.socket, go: socket.socket) -> None:
        with suppress(OSError):
            while data := come.recv(65_536):
                self.goes_on.wait()
                go.sendall(data)
            go.shutdown(socket.SHUT_WR)


@pytest.fixture
def line(served):
    made = Line(served)
    yield made
    made.close()


def test_the_silence_that_is_announced_is_shorter_than_it_may_be_and_longer_than_two_signs_take():
    every = float(app.os.environ["GRADIO_HEARTBEAT_INTERVAL"])
    for path, heartbeat in (("components/connection.js", every), ("classroom/news.js", HEARTBEAT)):
        silence = int(re.search(r"SILENCE = ([\d_]+);", (ASSETS / path).read_text("utf-8"))[1])
        assert 2_000 * heartbeat < silence < ANNOUNCED


@pytest.mark.nightly  # by day, a page whose connection broke, in test_components.py
def test_a_page_and_a_phone_tell_that_the_server_hangs_and_go_on(line, new_page):
    page, phone = new_page(), new_page(viewport={"width": 420, "height": 860})
    page.goto(f"{line.address}/?a=The+cat+sat.")
    expect(chips(page).nth(2)).to_contain_text("cat")
    room = json.loads(urllib.request.urlopen(urllib.request.Request(f"{line.address}/bx/rooms", b"{}")).read())
    phone.goto(f"{line.address}/join?room={room['word']}")
    phone.get_by_label("A nickname").fill("Ann")
    phone.get_by_role("button", name="Join").click()
    expect(phone.get_by_text("You are in.")).to_be_visible()
    expect(page.locator("#bx-gone")).to_be_hidden()
    line.goes_on.clear()
    expect(page.locator("#bx-gone")).to_contain_text("isn’t responding")
    expect(phone.get_by_text("Connection lost")).to_be_visible()
    line.goes_on.set()
    expect(page.locator("#bx-gone")).to_be_hidden()
    expect(phone.get_by_text("Connection lost")).to_be_hidden()
    end = f"{line.address}/bx/rooms/{room['word']}/end"
    urllib.request.urlopen(urllib.request.Request(end, b"{}", {"Authorization": f"Bearer {room['key']}"}))
    page.locator("#text-a textarea").fill("A dog ran away.")
    expect(chips(page).nth(2)).to_contain_text("dog")
    for one in (page, phone):
        one.problems.clear()  # the browser tells of each line that broke
