"""Headers that do not end, and long ones that do, on the line of the app as it is served."""

import contextlib
import http.client
import socket
import time
from urllib.parse import urlsplit

import pytest

from explorer.outlets import links
from explorer.server.protocol import HEADER_BYTES, BoundedHTTP

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
