"""The door of an app that asks for a password: what is behind it, and how often somebody may guess."""

import itertools
import json
import re
from functools import partial

import pytest

from explorer.page.components import PLOTLY_ADDRESS
from explorer.server import bounds
from explorer.server.gate import BEFORE_LOGIN, CLOSED
from tests import asking
from tests.waiting import at_once

VISITORS = itertools.count(1)
FORM = {"Content_Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def asked(locked):
    """Asks the locked app; gives the status, the headers and the beginning of the body."""
    return partial(asking.ask, locked, most=1_000)


@pytest.fixture
def guess(asked):
    """Tries a password, from an address of this test's own that a proxy on this machine tells, or from another."""
    own = f"203.0.113.{next(VISITORS)}"

    def guess(password, address=own, path="/login"):
        name = {"X-Forwarded-For": address}
        return asked("POST", path, f"username=teacher&password={password}", **FORM, **name)

    return guess


def test_every_address_of_gradio_is_behind_the_door_but_those_of_the_login_page(serving, locked, asked):
    tried = 0
    routers = [router for one in serving.app.routes if (router := getattr(one, "original_router", None))]
    for route in [route for router in routers for route in router.routes]:
        path, methods = getattr(route, "path", ""), getattr(route, "methods", None) or set()
        if not path.startswith("/gradio_api/") or path.removeprefix("/gradio_api/").rstrip("/") in BEFORE_LOGIN:
            continue
        for method in methods & {"GET", "POST"}:
            tried += 1
            filled = path.replace("{", "").replace("}", "").replace(":path", "")
            for address in (filled, f"{filled}/"):
                status, _, answer = asked(method, address, "{}" if method == "POST" else None)
                assert status in (401, 404), (method, path)
                assert json.loads(answer)["error"].endswith(".")
    assert tried > 20


def test_the_guide_lists_every_address_that_answers_without_a_password(serving, asked, guide):
    def routes(found):
        for one in found:
            yield from routes(router.routes) if (router := getattr(one, "original_router", None)) else [one]

    opened = set()
    for route in routes(serving.app.routes):
        path = (
            getattr(route, "path", "").rstrip("/").replace(":path", "").replace(PLOTLY_ADDRESS, "bx/{version}/plotly.min.js")
            or "/"
        )
        if path.startswith("/gradio_api") or CLOSED.search(path):
            continue
        for method in (getattr(route, "methods", None) or set()) & {"GET", "POST"}:
            answer = asked(method, path.replace("{", "").replace("}", ""), "{}" if method == "POST" else None)
            opened |= {path.replace(PLOTLY_ADDRESS, "bx/{version}/plotly.min.js")} if answer[0] != 401 else set()
    [table] = re.findall(r"<!-- open -->(.*?)<!-- end -->", guide["operating"], re.DOTALL)
    assert set(re.findall(r"`(/[^`]*)`", table)) == opened
    [gradios] = re.findall(r"asks `/gradio_api/` for (.*)\.\n", guide["operating"])
    assert set(re.findall(r"`([^`]+)`", gradios)) == BEFORE_LOGIN


def test_an_address_of_ours_is_behind_the_door_unless_it_is_named(asked):
    for path in ("/bx/new", "/bx/guide/new", "/bx/guide.js/new", "/bx/fonts"):
        assert asked("GET", path)[0] == 401, path


def test_who_has_logged_in_is_heard(asked, locked):
    cookie = asking.log_in(locked)
    status, _, body = asked("GET", "/gradio_api/heartbeat/a", Cookie=cookie)
    assert (status, body) == (200, b"data: ALIVE\n\n")
    assert asked("POST", "/gradio_api/reset", {"event_id": "a"}, Cookie=cookie)[0] == 200


def test_logins_from_one_address_end_and_nobody_else_waits(guess, monkeypatch):
    monkeypatch.setattr(bounds, "MOST_LOGINS", 5)
    said = [guess(password, path=path) for password, path in zip(("wrong", "secret") * 3, ("/login", "/login/") * 3, strict=True)]
    assert [status for status, _, _ in said] == [400, 200, 400, 200, 400, 429]
    _, headers, body = said[-1]
    assert int(headers["Retry-After"]) > 0
    assert json.loads(body)["error"] == bounds.TOO_MANY_LOGINS
    assert guess("secret", "198.51.100.1")[0] == 200


def test_guesses_at_once_are_no_more_than_guesses_in_turn(guess, monkeypatch):
    monkeypatch.setattr(bounds, "MOST_LOGINS", 5)
    assert sorted(at_once(30, lambda _: guess("wrong")[0])) == [400] * 5 + [429] * 25
