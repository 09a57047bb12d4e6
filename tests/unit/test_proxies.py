"""Who asks: by the line, or by what the proxies in front of the app say, of which a visitor may write the beginning."""

import urllib.request

import pytest
import segno
from gradio import http_server
from starlette.datastructures import Headers
from uvicorn.config import Config

from explorer import app
from explorer.core import hosts
from explorer.core.errors import InputError
from explorer.server import kept, proxies
from explorer.server.protocol import watch_the_line
from tests.ports import free_port
from tests.stranger import Stranger
from tests.waiting import waited

HERE, SPACE = "127.0.0.1", "10.16.3.80"  # of a proxy on this machine, and of one of the hub's as programs on Spaces see it
FORGED, REAL, EDGE = "192.0.2.66", "203.0.113.5", "198.51.100.7"


@pytest.fixture
def seen(monkeypatch):
    """The address and the scheme that the app sees behind a line from `peer`, with settings of the environment."""

    def seen(peer, forwarded, proto="https", **settings):
        for name in ("SPACE_ID", "FORWARDED_ALLOW_IPS", proxies.SETTING):
            monkeypatch.delenv(name, raising=False)
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        found = []

        async def app(scope, receive, send):
            found.append((hosts.visitor(scope["client"]), scope["scheme"]))

        watch_the_line()
        config = Config(app, log_config=None, interface="asgi3")
        config.load()
        lines = [forwarded] if isinstance(forwarded, str) else forwarded
        headers = Headers(raw=[(b"x-forwarded-for", line.encode()) for line in lines] + [(b"x-forwarded-proto", proto.encode())])
        scope = {"type": "http", "scheme": "http", "client": (peer, 50_000), "headers": headers.raw}
        waited(config.loaded_app(scope, None, None))
        return found[0]

    return seen


@pytest.mark.parametrize(
    ("peer", "forwarded", "settings"),
    [
        (SPACE, f"{FORGED}, {REAL}", {"SPACE_ID": "someone/space"}),
        (SPACE, [FORGED, REAL], {"SPACE_ID": "someone/space"}),
        (SPACE, f"{FORGED}, {REAL}, 10.16.31.9", {"SPACE_ID": "someone/space"}),
        (SPACE, f"10.9.9.9, {REAL}:4711, 10.16.31.9", {"SPACE_ID": "someone/space"}),
        (EDGE, f"{FORGED}, {REAL}", {"FORWARDED_ALLOW_IPS": "*"}),
        (EDGE, f"{FORGED}, {REAL}", {"FORWARDED_ALLOW_IPS": EDGE}),
        (HERE, f"{FORGED}, {REAL}", {}),
        (SPACE, f"{FORGED}, {REAL}, {EDGE}", {"SPACE_ID": "someone/space", proxies.SETTING: "2"}),
        (EDGE, f"{FORGED}, {REAL}, 10.0.0.1, 198.51.100.8", {proxies.SETTING: "3"}),
        (EDGE, f"{FORGED}, {REAL}:4711", {proxies.SETTING: "1"}),
    ],
)
def test_what_a_visitor_writes_before_it_is_not_believed(seen, peer, forwarded, settings):
    assert seen(peer, forwarded, **settings) == (REAL, "https")


@pytest.mark.parametrize(
    ("peer", "settings"),
    [
        (REAL, {}),
        (REAL, {"FORWARDED_ALLOW_IPS": EDGE}),
        (REAL, {"SPACE_ID": "someone/space"}),
        (REAL, {"SPACE_ID": "someone/space", "FORWARDED_ALLOW_IPS": "*", proxies.SETTING: "0"}),
    ],
)
def test_who_is_no_proxy_is_who_it_is(seen, peer, settings):
    assert seen(peer, FORGED, **settings) == (REAL, "http")


@pytest.mark.parametrize("written", ["[2001:db8:1:2::9]:443", "[2001:db8:1:2::9]", "2001:db8:1:2::9"])
def test_an_address_may_be_written_with_a_port(seen, written):
    assert seen(EDGE, f"{FORGED}, {written}", **{proxies.SETTING: "1"})[0] == "2001:db8:1:2::/64"


def test_a_proxy_that_says_nothing_of_the_visitor_is_the_visitor(seen):
    assert seen(EDGE, [], **{proxies.SETTING: "1"}) == (EDGE, "https")
    assert seen(EDGE, "", **{proxies.SETTING: "1"}) == (EDGE, "https")
    assert seen(EDGE, REAL, **{proxies.SETTING: "2"}) == (REAL, "https"), "fewer than there should be: none before the first"


@pytest.mark.parametrize("given", ["-1", "two", "1.5", "100"])
def test_a_number_of_proxies_that_makes_no_sense_is_told_at_the_start(monkeypatch, given):
    monkeypatch.setenv(proxies.SETTING, given)
    with pytest.raises(InputError, match=proxies.SETTING):
        proxies.check_environment()


@pytest.mark.parametrize(
    ("address", "visitor"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("::ffff:203.0.113.5", "203.0.113.5"),
        ("2001:db8:1:2:aaaa:bbbb:cccc:dddd", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_one_visitor_is_one_address_however_many_a_line_has(address, visitor):
    assert hosts.visitor((address, 1)) == visitor


def test_nobody_behind_no_line():
    assert hosts.visitor(None) == ""


def test_a_space_answers_what_any_app_answers(monkeypatch):
    monkeypatch.setenv("SYSTEM", "spaces")  # by which Gradio knows one, and closes what goes without its queue
    monkeypatch.setenv("SPACE_ID", "someone/space")
    started = []
    monkeypatch.setattr(http_server, "SpacesReloader", lambda **_: started.append("a program that may be written anew"))
    blocks = app.launch("127.0.0.1", free_port())
    try:
        told = Stranger(blocks.local_url.rstrip("/")).ask("tokens", "The man went home.", "", "")
    finally:
        blocks.close()
    assert told["data"][0]["tokens"][0] == "[CLS]"
    assert not started


ADDRESSED = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Gradio-Server": "https://evil.example"}


def test_a_forged_address_reaches_neither_the_page_nor_its_cache_nor_links(served, monkeypatch):
    monkeypatch.setattr(proxies.BehindProxies, "is_proxy", lambda self, client: False)
    keys = []
    key = kept.Kept._key

    async def watched(self, scope):
        keys.append(await key(self, scope))
        return keys[-1]

    monkeypatch.setattr(kept.Kept, "_key", watched)
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
    assert len(set(keys)) == 4
    assert set(held) == {f"{served}/?v=1&a=x"}
