"""Whose a request is, what is behind the door of an app with a password, and how often somebody may guess."""

import itertools
import json
import re
import urllib.request
from functools import partial

import pytest
import segno

from explorer.core import hosts
from explorer.core.errors import InputError
from explorer.page.components import PLOTLY_ADDRESS
from explorer.server import bounds, gate, page
from explorer.server.gate import ADDRESSES, BEFORE_LOGIN, CLOSED, BehindProxies
from tests import asking
from tests.waiting import at_once, waited

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


def addresses(routes):
    """The paths and methods of the app's routes and of those of its routers."""
    for route in routes:
        if router := getattr(route, "original_router", None):
            yield from addresses(router.routes)
        for method in {"GET", "POST"} & (getattr(route, "methods", None) or set()):
            yield getattr(route, "path", ""), method


def test_every_address_of_gradio_is_behind_the_door_but_those_of_the_login_page(serving, locked, asked):
    tried = 0
    for path, method in addresses(serving.app.routes):
        if path.startswith("/gradio_api/") and path.removeprefix("/gradio_api/").rstrip("/") not in BEFORE_LOGIN:
            tried += 1
            filled = path.replace("{", "").replace("}", "").replace(":path", "")
            for address in (filled, f"{filled}/"):
                status, _, answer = asked(method, address, "{}" if method == "POST" else None)
                assert status in (401, 404), (method, path)
                assert json.loads(answer)["error"].endswith(".")
    assert tried > 20


def test_the_guide_lists_every_address_that_answers_without_a_password(serving, asked, guide):
    opened = set()
    for found, method in addresses(serving.app.routes):
        path = found.rstrip("/").replace(":path", "").replace(PLOTLY_ADDRESS, "bx/{version}/plotly.min.js") or "/"
        if path.startswith("/gradio_api") or CLOSED.search(path):
            continue
        answer = asked(method, path.replace("{", "").replace("}", ""), "{}" if method == "POST" else None)
        opened |= {path} if answer[0] != 401 else set()
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


HERE, SPACE = "127.0.0.1", "10.16.3.80"  # of a proxy on this machine, and of one of the hub's as programs on Spaces see it
FORGED, REAL, EDGE = "192.0.2.66", "203.0.113.5", "198.51.100.7"
ON_A_SPACE = {"SPACE_ID": "someone/space"}


@pytest.fixture
def seen(monkeypatch):
    """The address and the scheme that the app sees of a connection from `peer`, with settings of the environment."""

    def seen(peer, forwarded, **settings):
        for name in ("SPACE_ID", ADDRESSES):
            monkeypatch.delenv(name, raising=False)
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        found = []

        async def app(scope, receive, send):
            found.append((hosts.visitor(scope["client"]), scope["scheme"]))

        lines = [forwarded] if isinstance(forwarded, str) else forwarded
        headers = [(b"x-forwarded-for", line.encode()) for line in lines] + [(b"x-forwarded-proto", b"https")]
        scope = {"type": "http", "scheme": "http", "client": (peer, 50_000), "headers": headers}
        waited(BehindProxies(app)(scope, None, None))
        return found[0]

    return seen


@pytest.mark.parametrize(
    ("peer", "forwarded", "settings"),
    [
        (SPACE, f"{FORGED}, {REAL}", ON_A_SPACE),
        (SPACE, [FORGED, REAL], ON_A_SPACE),
        (SPACE, f"{FORGED}, {REAL}, 10.16.31.9", ON_A_SPACE),
        (SPACE, f"10.9.9.9, {REAL}:4711, 10.16.31.9", ON_A_SPACE),
        (EDGE, f"{FORGED}, {REAL}", {ADDRESSES: EDGE}),
        (EDGE, f"{FORGED}, {REAL}", {ADDRESSES: "198.51.100.0/24"}),
        (HERE, f"{FORGED}, {REAL}", {}),
    ],
)
def test_what_a_visitor_writes_before_it_is_not_believed(seen, peer, forwarded, settings):
    assert seen(peer, forwarded, **settings) == (REAL, "https")


@pytest.mark.parametrize("settings", [{}, {ADDRESSES: EDGE}, ON_A_SPACE, {**ON_A_SPACE, ADDRESSES: ""}])
def test_who_is_no_proxy_is_who_it_is(seen, settings):
    assert seen(REAL, FORGED, **settings) == (REAL, "http")


def test_a_proxy_that_says_nothing_of_the_visitor_is_the_visitor(seen):
    assert seen(EDGE, [], **{ADDRESSES: EDGE}) == seen(EDGE, "", **{ADDRESSES: EDGE}) == (EDGE, "https")


@pytest.mark.parametrize("value", ["*", "10.0.0.1, *"])
def test_proxies_without_an_address_are_refused_at_the_start(monkeypatch, value, refusal):
    gate.check_environment()
    monkeypatch.setenv(ADDRESSES, value)
    assert ADDRESSES in refusal(InputError, gate.check_environment)


@pytest.mark.parametrize(
    ("address", "visitor"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("::ffff:203.0.113.5", "203.0.113.5"),
        ("2001:db8:1:2:aaaa:bbbb:cccc:dddd", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_one_visitor_is_one_address_however_many_a_line_has(address, visitor):
    assert hosts.visitor((address, 1)) == visitor
    assert hosts.visitor(None) == ""


ADDRESSED = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Gradio-Server": "https://evil.example"}


def test_a_forged_address_reaches_neither_the_page_nor_its_cache_nor_links(served, serving, monkeypatch):
    monkeypatch.setattr(serving, "view_of", lambda link: {})  # a page has its view only if that is quickly made
    monkeypatch.setattr(gate, "OF_NONE", gate.OF_NONE | gate.OF_PROXIES)  # as if no proxy stood on this machine
    keys = []
    key = page.Kept._key

    async def watched(self, scope):
        keys.append(await key(self, scope))
        return keys[-1]

    monkeypatch.setattr(page.Kept, "_key", watched)
    held, make = [], segno.make
    monkeypatch.setattr(segno, "make", lambda content, **options: held.append(content) or make(content, **options))

    def told(**forged):
        answers = []
        for path in ("/", "/?a=hello", "/config", "/gradio_api/info", "/bx/take/link.svg?v=1&a=x"):
            request = urllib.request.Request(served + path, headers=forged)
            with urllib.request.urlopen(request, timeout=120) as answer:
                answers.append(answer.read())
        return answers

    plain = told()
    for name, value in ADDRESSED.items():
        assert told(**{name: value}) == plain, name
    assert told(**ADDRESSED) == plain
    assert len(set(keys)) == 3  # a page, whatever a link says of its place, /config and info
    assert set(held) == {f"{served}/?v=1&a=x"}
