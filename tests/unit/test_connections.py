"""Connections of the app as it is served: whose they are, headers that do not end, and how many there may be."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from urllib.parse import urlsplit

import pytest
import segno
import uvicorn
from gradio import http_server
from starlette.responses import PlainTextResponse

from explorer import app
from explorer.core import hosts
from explorer.core.errors import InputError
from explorer.core.limits import CONNECTIONS, UPLOAD_MEGABYTES
from explorer.export import links
from explorer.server import connections, page
from explorer.server.connections import ADDRESSES, HEADER_BYTES, BehindProxies, BoundedHTTP
from tests.ports import free_port
from tests.stranger import Stranger
from tests.waiting import waited

# Proxies

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
    connections.check_environment()
    monkeypatch.setenv(ADDRESSES, value)
    assert ADDRESSES in refusal(InputError, connections.check_environment)


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


@pytest.mark.nightly  # test_who_is_no_proxy and test_server.test_a_space_may_be_framed_by_its_host cover Spaces in part
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
    monkeypatch.setattr(connections, "is_proxy", lambda client: False)
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
    assert len(set(keys)) == 4
    assert set(held) == {f"{served}/?v=1&a=x"}


# Headers and bodies

QUICK = 3.0  # seconds, on a busy machine


@pytest.fixture
def line(served):
    address = urlsplit(served)
    with socket.create_connection((address.hostname, address.port), timeout=60) as opened:
        yield opened


def answered(line: socket.socket) -> int:
    """The status of the answer."""
    answer = http.client.HTTPResponse(line)
    answer.begin()
    return answer.status


@pytest.mark.parametrize("part", [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", b"GET /healthz?"])
def test_a_header_without_end_is_refused_at_once_and_nobody_waits(served, line, part):
    start = time.monotonic()
    with contextlib.suppress(OSError):  # it hangs up on what is still being sent
        line.sendall(part + b"a" * 20_000_000)
        assert answered(line) == 400
    bystander = http.client.HTTPConnection(urlsplit(served).netloc, timeout=60)
    bystander.request("GET", "/healthz")
    assert bystander.getresponse().status == 200
    bystander.close()
    assert time.monotonic() - start < QUICK


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_who_still_sends_what_is_refused_reads_why(line, version, monkeypatch):
    monkeypatch.setattr(UPLOAD_MEGABYTES, "most", 1)
    head = b"POST /gradio_api/upload HTTP/%b\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 20000000\r\n\r\n"
    line.sendall(head % version)
    line.sendall(b"a" * 20_000_000)
    assert answered(line) == 413


def test_the_longest_link_may_come_in_two_parts_and_a_longer_header_is_told(line):
    query = f"v=1&a={'x' * (links.LONGEST - 6)}"
    sent = f"GET /healthz?{query} HTTP/1.1\r\nHost: localhost\r\nCookie: {'c' * 8_000}\r\n\r\n".encode()
    line.sendall(sent[:-100])
    time.sleep(0.3)
    line.sendall(sent[-100:])
    answer = http.client.HTTPResponse(line)
    answer.begin()
    assert answer.read()
    assert answer.status == 200
    line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (HEADER_BYTES + 1))
    assert answered(line) == 400


# Who keeps it waiting, and how many connections there are


def hangs_up(line: socket.socket) -> bool:
    """Whether the other side does, however long it takes."""
    with contextlib.suppress(ConnectionResetError):
        while line.recv(1_000):
            pass
    return True


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.3)


WHOLE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
POSTED = b"POST /gradio_api/run/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\nhalf"


@pytest.mark.parametrize("half", [b"", WHOLE[:-2] + b"X: ", WHOLE + WHOLE[:-2], POSTED])
def test_half_a_request_holds_no_connection(quick, line, half):
    line.sendall(half)
    assert hangs_up(line)


def test_nor_does_one_that_comes_drop_by_drop(quick, line):
    with contextlib.suppress(OSError):
        for _ in range(600):
            line.sendall(b"a")
            time.sleep(0.1)
        pytest.fail("it was waited for")


def test_a_stream_is_heard_for_longer_than_a_header_may_take(quick, line):
    line.sendall(b"GET /gradio_api/heartbeat/a HTTP/1.1\r\nHost: localhost\r\n\r\n")
    heard = b""
    while heard.count(b"ALIVE") < 2:  # two seconds lie between them
        more = line.recv(1_000)
        assert more
        heard += more


@pytest.fixture
def small(monkeypatch):
    """The address of a server that trusts no proxy on this machine."""
    monkeypatch.setenv(ADDRESSES, "192.0.2.1")
    connections.configure_uvicorn()
    config = uvicorn.Config(PlainTextResponse("hello"), port=free_port(), log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield "127.0.0.1", config.port
    server.should_exit = True
    thread.join()


VISITOR = "127.0.0.9"  # whom nothing else in these tests is


def asked(address) -> tuple[int, bytes]:
    """The status and the body of an answer on a connection of its own."""
    with socket.create_connection(address, timeout=60, source_address=(VISITOR, 0)) as line:
        with contextlib.suppress(OSError):
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = http.client.HTTPResponse(line)
        answer.begin()
        return answer.status, answer.read()


@contextlib.contextmanager
def held(address, number: int, visitor: str = VISITOR):
    """Connections with half a request each; a server takes them in the order in which they came."""
    with contextlib.ExitStack() as opened:
        lines = [
            opened.enter_context(socket.create_connection(address, timeout=60, source_address=(visitor, 0)))
            for _ in range(number)
        ]
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\n")
        yield lines


def test_one_address_holds_only_so_many_connections(small, monkeypatch):
    monkeypatch.setattr(CONNECTIONS, "most", 3)
    with held(small, 3) as lines:
        status, told = asked(small)
        assert (status, json.loads(told)) == (503, {"error": CONNECTIONS.tell()})
        lines[0].close()
        end = time.monotonic() + 60
        while BoundedHTTP.open[VISITOR] > 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert asked(small) == (200, b"hello")
        monkeypatch.setattr(CONNECTIONS, "most", 0)
        with held(small, 5):
            assert asked(small)[0] == 200


def test_a_proxy_holds_connections_for_many(served, monkeypatch):
    monkeypatch.setattr(CONNECTIONS, "most", 1)
    address = urlsplit(served).hostname, urlsplit(served).port
    with held(address, 5, "127.0.0.1"), socket.create_connection(address, timeout=60) as one_more:
        one_more.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answered(one_more) == 200


def test_there_are_no_more_connections_than_files_may_be_open(small, monkeypatch):
    monkeypatch.setattr(connections, "most_files", lambda: connections.OTHER_FILES + 2)
    with held(small, 2):
        status, told = asked(small)
        assert (status, json.loads(told)) == (503, {"error": connections.CROWDED})


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
