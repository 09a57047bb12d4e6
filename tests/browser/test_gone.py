"""A server that hangs: the page and phones say so, and go on by themselves when it is back."""

import json
import re
import signal
import urllib.request

import pytest

from explorer import app
from explorer.core.paths import ASSETS
from explorer.server.rooms import HEARTBEAT
from tests.benchmarks.startup import server, wait_for
from tests.browser.expecting import expect
from tests.browser.steps import chips
from tests.ports import free_port

ANNOUNCED = 5_000  # ms until a server that is gone is announced at the latest


def test_the_silence_that_is_announced_is_shorter_than_it_may_be_and_longer_than_two_signs_take():
    every = float(app.os.environ["GRADIO_HEARTBEAT_INTERVAL"])
    for path, heartbeat in (("components/connection.js", every), ("classroom/news.js", HEARTBEAT)):
        silence = int(re.search(r"SILENCE = ([\d_]+);", (ASSETS / path).read_text("utf-8"))[1])
        assert 2_000 * heartbeat < silence < ANNOUNCED


@pytest.mark.nightly  # by day, a page whose connection broke, in test_components.py
def test_a_page_and_a_phone_tell_that_the_server_hangs_and_go_on(new_page):
    page, phone, port = new_page(), new_page(viewport={"width": 420, "height": 860}), free_port()
    address = f"http://127.0.0.1:{port}"
    with server(["app.py", "--port", str(port)]) as process:
        wait_for(port)
        page.goto(f"{address}/?a=The+cat+sat.")
        expect(chips(page).nth(2)).to_contain_text("cat")
        room = json.loads(urllib.request.urlopen(urllib.request.Request(f"{address}/bx/rooms", b"{}")).read())
        phone.goto(f"{address}/join?room={room['word']}")
        phone.get_by_label("A nickname").fill("Ann")
        phone.get_by_role("button", name="Join").click()
        expect(phone.get_by_text("You are in.")).to_be_visible()
        expect(page.locator("#bx-gone")).to_be_hidden()
        process.send_signal(signal.SIGSTOP)
        expect(page.locator("#bx-gone")).to_contain_text("isn’t responding")
        expect(phone.get_by_text("Connection lost")).to_be_visible()
        process.send_signal(signal.SIGCONT)
        expect(page.locator("#bx-gone")).to_be_hidden()
        expect(phone.get_by_text("Connection lost")).to_be_hidden()
        page.locator("#text-a textarea").fill("A dog ran away.")
        expect(chips(page).nth(2)).to_contain_text("dog")
        for one in (page, phone):
            one.problems.clear()  # the browser tells of each line that broke
            one.goto("about:blank")
