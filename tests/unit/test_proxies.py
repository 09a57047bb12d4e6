"""Whose a request is: proxies are believed, visitors are not, and no header gives the page another address."""

import urllib.request

import pytest
import segno

from explorer.core import hosts
from explorer.core.errors import InputError
from explorer.server import gate, page
from explorer.server.gate import ADDRESSES, BehindProxies
from tests.waiting import waited

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
