"""Headers that do not end, and long ones that do, on the line of the app as it is served."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from explorer.core.limits import CONNECTIONS
from explorer.export import links
from explorer.server import protocol
from explorer.server.protocol import HEADER_BYTES, BoundedHTTP
from tests.ports import free_port

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


def send_all(line: socket.socket, data: bytes) -> None:
    """Send it, or as much as is taken before the other side hangs up."""
    with contextlib.suppress(OSError):
        line.sendall(data)


@pytest.mark.parametrize("part", [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", b"GET /healthz?"])
def test_a_header_without_end_is_refused_at_once_and_nobody_waits(served, line, part):
    pytest.importorskip("httptools")  # which has no limit, and which uvicorn prefers
    start = time.monotonic()
    send_all(line, part + b"a" * 20_000_000)
    with contextlib.suppress(ConnectionError):  # it hung up on what was still being sent
        assert answered(line) == 400
    bystander = http.client.HTTPConnection(urlsplit(served).netloc, timeout=60)
    bystander.request("GET", "/healthz")
    assert bystander.getresponse().status == 200
    bystander.close()
    assert time.monotonic() - start < QUICK


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_who_still_sends_what_is_refused_reads_why(line, version):
    head = b"POST /gradio_api/upload HTTP/%b\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 300000000\r\n\r\n"
    line.sendall(head % version)
    line.sendall(b"a" * 20_000_000)
    assert answered(line) == 413


def test_a_line_that_is_refused_ends_though_nobody_hangs_up(line, monkeypatch):
    monkeypatch.setattr(protocol, "REST_SECONDS", 0.1)
    line.sendall(b"POST /gradio_api/upload HTTP/1.0\r\nHost: localhost\r\nContent-Length: 300000000\r\n\r\n")
    assert answered(line) == 413
    with contextlib.suppress(OSError):
        while True:
            line.sendall(b"a" * 100_000)
            time.sleep(0.05)


def test_it_is_our_protocol_that_is_spoken(serving):
    assert serving.server.config.http_protocol_class is BoundedHTTP


def test_a_header_over_the_limit_is_told(line):
    send_all(line, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (HEADER_BYTES + 1))
    assert answered(line) == 400


def test_the_longest_link_may_come_in_two_parts(line):
    query = f"v=1&a={'x' * (links.LONGEST - 6)}"
    sent = f"GET /healthz?{query} HTTP/1.1\r\nHost: localhost\r\nCookie: {'c' * 8_000}\r\n\r\n".encode()
    line.sendall(sent[:-100])
    time.sleep(0.3)
    line.sendall(sent[-100:])
    assert answered(line) == 200


# ---- Who keeps it waiting, and how many lines there are.


def hangs_up(line: socket.socket) -> bool:
    """Whether the other side does, however long it takes."""
    with contextlib.suppress(ConnectionResetError):
        while line.recv(1_000):
            pass
    return True


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.3)


@pytest.mark.parametrize("half", [b"", b"GET / HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "])
def test_half_a_header_holds_no_line(quick, line, half):
    line.sendall(half)
    assert hangs_up(line)


def test_nor_does_one_that_comes_drop_by_drop(quick, line):
    with contextlib.suppress(OSError):
        for _ in range(600):
            line.sendall(b"a")
            time.sleep(0.1)
        pytest.fail("it was waited for")


def test_nor_does_half_a_header_after_a_whole_one(quick, line):
    line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = http.client.HTTPResponse(line)
    answer.begin()
    assert answer.read()
    line.sendall(b"GET /healthz HTTP/1.1\r\n")
    assert hangs_up(line)


def test_half_a_body_holds_no_line(monkeypatch, line):
    monkeypatch.setattr(protocol, "BODY_SECONDS", 0.3)
    line.sendall(b"POST /gradio_api/run/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\nhalf")
    assert hangs_up(line)


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
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "192.0.2.1")
    protocol.watch_the_line()
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
    """The status and the body of an answer on a line of its own."""
    with socket.create_connection(address, timeout=60, source_address=(VISITOR, 0)) as line:
        with contextlib.suppress(OSError):
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = http.client.HTTPResponse(line)
        answer.begin()
        return answer.status, answer.read()


@contextlib.contextmanager
def held(address, number: int, visitor: str = VISITOR):
    """Lines with half a request each; a server takes lines in the order in which they came."""
    with contextlib.ExitStack() as opened:
        lines = [
            opened.enter_context(socket.create_connection(address, timeout=60, source_address=(visitor, 0)))
            for _ in range(number)
        ]
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\n")
        yield lines


def test_one_address_holds_only_so_many_lines(small, monkeypatch):
    monkeypatch.setenv(CONNECTIONS.setting, "3")
    with held(small, 3) as lines:
        status, told = asked(small)
        assert (status, json.loads(told)) == (503, {"error": CONNECTIONS.tell()})
        lines[0].close()
        end = time.monotonic() + 60
        while protocol.BoundedHTTP.lines[VISITOR] > 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert asked(small) == (200, b"hello")
        monkeypatch.setenv(CONNECTIONS.setting, "0")
        with held(small, 5):
            assert asked(small)[0] == 200


def test_a_proxy_holds_lines_for_many(served, monkeypatch):
    monkeypatch.setenv(CONNECTIONS.setting, "1")
    address = urlsplit(served).hostname, urlsplit(served).port
    with held(address, 5, "127.0.0.1"), socket.create_connection(address, timeout=60) as one_more:
        one_more.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answered(one_more) == 200


def test_there_are_no_more_lines_than_files_may_be_open(small, monkeypatch):
    monkeypatch.setattr(protocol, "most_files", lambda: protocol.OTHER_FILES + 2)
    with held(small, 2):
        status, told = asked(small)
        assert (status, json.loads(told)) == (503, {"error": protocol.CROWDED})


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
