"""What requests may bring: bodies are measured before they are parsed, and there is only so much room for uploads."""

import contextlib
import errno
import http.client
import json
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from gradio.route_utils import GradioUploadFile
from starlette.responses import PlainTextResponse

from explorer.core.formats import has_more_values, longest_text
from explorer.core.limits import BOX_CHARACTERS, MEGABYTE, UPLOAD_MEGABYTES, UPLOADS_MEGABYTES, Limit
from explorer.core.process import most_files
from explorer.export import links
from explorer.server import bounds
from explorer.server.bounds import TOO_LARGE, VALUES, Bodies
from explorer.server.refusals import BODY_MEGABYTES, NO_ROOM, Refusals
from explorer.server.serving import HEADER_BYTES, MOST_CONNECTIONS
from tests.asking import ask, ask_app
from tests.waiting import set_clock

RUN = "/gradio_api/run/tokens"


@pytest.fixture
def send():
    """Sends the parts of a body; gives the status, the sentence or text, and what reached the app."""

    def sent(*parts, path=RUN, method="POST", ends=True, **headers):
        reached = []

        async def app(scope, receive, send):
            while True:
                message = await receive()
                reached.append(message.get("body"))
                if not message.get("more_body"):
                    break
            await PlainTextResponse("read")(scope, receive, send)

        answer = ask_app(Refusals(Bodies(app)), *parts, headers=headers, ends=ends, method=method, path=path)
        if not answer:
            return None, "", reached
        body = answer[1]["body"].decode()
        return answer[0]["status"], json.loads(body)["error"] if answer[0]["status"] > 200 else body, reached

    return sent


def test_a_body_arrives_whole_and_an_upload_as_it_comes(send):
    assert send(b'{"data"', b": [1]}") == (200, "read", [b'{"data": [1]}'])
    assert send(method="GET")[0] == 200
    assert send(b"a" * 10, b"\0,", path="/gradio_api/upload")[2] == [b"a" * 10, b"\0,", b""]
    assert send(b"half", ends=False) == (None, "", []), "whoever hangs up reaches nobody"


@pytest.mark.parametrize(
    ("path", "most", "told"),
    [
        (RUN, BODY_MEGABYTES.bytes, BODY_MEGABYTES.tell()),
        ("/login/", 16 * 1024, TOO_LARGE.format(16)),
        ("/bx/rooms/blue-otter/join", 256 * 1024, TOO_LARGE.format(256)),
    ],
)
def test_what_is_too_large_reaches_nobody(send, path, most, told):
    part = b" " * (most // 4 + 1)
    assert send(*[part] * 4, path=path) == (413, told, [])
    assert send(content_length=str(most + 1), path=path) == (413, told, [])
    assert send(*[part] * 3, path=path)[0] == 200


@pytest.mark.parametrize(
    "many",
    [
        b"[" + b"1," * 1_000 + b"1]",
        b'{"data": [[' + b'"a",' * 1_000 + b'1], ""]}',
        b"[" + b"[]," * 1_000 + b"1]",
        b"{" + b'"a":1,' * 1_000 + b'"b": 2}',
        b'["\\"", ' + b"1," * 1_000 + b"1]",
        b'["\\\\", ' + b"1," * 1_000 + b"1]",
        b'["\\\\\\"", ' + b'"\\\\",' * 1_000 + b"1]",
    ],
)
def test_values_are_counted_without_parsing(many):
    json.loads(many)
    assert has_more_values(many, 1_000)
    assert not has_more_values(many, 1_010)


def test_commas_within_texts_are_no_values():
    text = 'He said, "well, a, b, c, \\", and, \\\\", and went.' * 1_000
    assert not has_more_values(json.dumps({"data": [text, text, ""]}).encode(), 100)
    assert not has_more_values(json.dumps({"data": [text] * 50}, ensure_ascii=False).encode(), 100)


@pytest.mark.parametrize("letter", ["a", "é", "\n", '"', "\\", ", ", '\\"'])
@pytest.mark.parametrize("escaped", [False, True])
def test_the_longest_text_is_measured_without_parsing(send, monkeypatch, letter, escaped):
    text = letter * 1_000
    body = json.dumps({"data": ["a b", text, 7]}, ensure_ascii=escaped).encode()
    assert longest_text(body) == len(text)
    assert longest_text(b"[1, 2]") == 0
    for most, refused in ((len(text), False), (len(text) - 1, True)):
        monkeypatch.setattr(BOX_CHARACTERS, "most", most)
        status, sentence, reached = send(body)
        assert (status, reached) == ((413, []) if refused else (200, [body]))
        assert (f"Shorten it to {most:,}" in sentence) == refused


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_other_encodings_of_unicode_hide_nothing(send, encoding):
    assert send('{"data": [1, 1]}'.encode(encoding))[::2] == (400, [])


def test_too_many_values_are_never_parsed(served, monkeypatch):
    parsed, loads = [], json.loads
    monkeypatch.setattr(json, "loads", lambda given, **named: parsed.append(len(given)) or loads(given, **named))
    monkeypatch.setattr(VALUES, "most", 1_000)
    body = b'{"data": [[' + b"1," * 1_001 + b'1], "", ""]}'
    for path in (RUN, "/gradio_api/call/tokens", "/gradio_api/queue/join", "/gradio_api/cancel", "/bx/rooms"):
        status, _, told = ask(served, "POST", path, body, Content_Type="application/json")
        assert status == 413
        assert max(parsed, default=0) < len(body)
        assert json.JSONDecoder().decode(told.decode())["error"] == VALUES.tell()


# Uploads

HEAD = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
END = b"\r\n--b--\r\n"
KIND = {"Content_Type": "multipart/form-data; boundary=b"}


@pytest.fixture
def left(serving):
    """What is in the folder of uploads that was not there before."""
    folder = Path(serving.app.uploaded_file_dir)
    there = set(folder.rglob("*")) if folder.exists() else set()
    return lambda: [path for path in folder.rglob("*") if path not in there and path.is_file()]


@pytest.fixture
def upload(served):
    """Uploads a file, from an address that a proxy on this machine tells; gives the status and the answer."""

    def upload(content, address="203.0.113.1", before=HEAD):
        given = before + content + END
        status, _, body = ask(served, "POST", "/gradio_api/upload", given, **KIND, X_Forwarded_For=address)
        return status, json.loads(body)

    return upload


def test_an_upload_that_breaks_off_leaves_nothing(served, left):
    address = urlsplit(served)
    with socket.create_connection((address.hostname, address.port)) as line:
        kind = f"Content-Type: {KIND['Content_Type']}"
        line.sendall(f"POST /gradio_api/upload HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: 9000000\r\n\r\n".encode())
        line.sendall(HEAD + b"a,b\n" * 100_000)
        end = time.monotonic() + 60
        while not left():  # until it is being written
            assert time.monotonic() < end
            time.sleep(0.05)
    while left():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("fails", ["write", "seek"])
def test_a_full_disk_is_told_and_the_next_upload_arrives(left, upload, monkeypatch, fails):
    async def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(GradioUploadFile, fails, full)
        assert upload(b"a,b\n" * 1_000) == (507, {"error": NO_ROOM})
        assert left() == []
    status, (path,) = upload(f"c,{fails}\n".encode() * 1_000)
    assert status == 200
    assert left() == [Path(path)]


def test_a_part_that_is_no_file_is_not_collected_without_end(left, upload):
    status, told = upload(b"a" * 1_000_000, before=b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n')
    assert (status, list(told)) == (400, ["error"])
    assert left() == []


def test_one_request_brings_no_more_than_one_file_may_have(left, upload, monkeypatch):
    monkeypatch.setattr(UPLOAD_MEGABYTES, "most", 1)
    half = b"a" * (MEGABYTE * 2 // 3)
    assert upload(half + b"\r\n" + HEAD + half) == (413, {"error": UPLOAD_MEGABYTES.tell()})
    assert left() == []
    assert upload(half)[0] == 200


@pytest.fixture
def uploads(monkeypatch):
    """Room for three MB within an hour, two from one address: `put(address, megabytes)` gives the status."""
    monkeypatch.setattr(UPLOADS_MEGABYTES, "most", 3)
    monkeypatch.setattr(bounds, "VISITOR_UPLOADS_MEGABYTES", Limit(2, ""))
    around = bounds.Uploads(PlainTextResponse("kept"))

    def put(address, megabytes=1.0, app=None, **headers):
        if app is not None:
            around._app = app
        given = {"content-length": str(round(megabytes * MEGABYTE)), **headers}
        return ask_app(Refusals(around), headers=given, path="/gradio_api/upload", client=(address, 1))[0]["status"]

    return put


def test_one_address_has_a_share_of_the_room_and_old_files_make_room(uploads, monkeypatch):
    assert [uploads("one") for _ in range(3)] == [200, 200, 429]
    assert [uploads("other") for _ in range(2)] == [200, 503]
    now = time.monotonic()
    set_clock(monkeypatch, bounds.__name__, lambda: now + bounds.KEPT + 1)
    assert [uploads("one") for _ in range(3)] == [200, 200, 429]


def test_a_thousand_empty_files_take_room_too(uploads):
    most = 3 * MEGABYTE // bounds.LEAST
    assert [uploads(f"address {number}", 0) for number in range(most + 1)] == [200] * most + [503]


def test_what_does_not_arrive_takes_no_room_and_what_does_not_say_its_size_is_refused(uploads):
    fails = PlainTextResponse("no", 400)
    assert [uploads("one", app=fails) for _ in range(5)] == [400] * 5
    assert uploads("one", **{"transfer-encoding": "chunked"}) == uploads("one", **{"content-length": "x"}) == 411
    assert uploads("one", **{"content-length": "9" * 20}) == 413
    assert [uploads("one", app=PlainTextResponse("kept")) for _ in range(3)] == [200, 200, 429]


@pytest.fixture
def line(served):
    address = urlsplit(served)
    with socket.create_connection((address.hostname, address.port), timeout=60) as opened:
        yield opened


def answered(line: socket.socket) -> int:
    answer = http.client.HTTPResponse(line)
    answer.begin()
    return answer.status


@pytest.mark.parametrize("part", [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", b"GET /healthz?"])
def test_a_header_without_end_is_refused_and_the_next_request_is_answered(served, line, part):
    with contextlib.suppress(OSError):  # it hangs up on what is still being sent
        line.sendall(part + b"a" * 20_000_000)
        assert answered(line) == 400
    assert ask(served, "GET", "/healthz")[0] == 200


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


def test_uvicorn_leaves_files_for_more_than_connections(serving):
    assert 0 < serving.server.config.limit_concurrency <= min(MOST_CONNECTIONS, most_files() or MOST_CONNECTIONS)
