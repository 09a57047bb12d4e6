"""What a request brings: measured before it is parsed, refused when it is too much."""

import json
from collections import Counter

import pytest
from starlette.responses import PlainTextResponse

from explorer.core.formats import has_more_values, longest_text
from explorer.core.limits import BOX_CHARACTERS
from explorer.server.bodies import TOO_LARGE, VALUES, Bodies
from explorer.server.refusals import BODY_MEGABYTES
from tests.waiting import waited

RUN = "/gradio_api/run/tokens"


@pytest.fixture
def send():
    """Sends the parts of a body; gives the status, the sentence or text, and what reached the app."""

    def sent(*parts, path=RUN, method="POST", ends=True, **headers):
        reached, answer = [], []

        async def app(scope, receive, send):
            while True:
                message = await receive()
                reached.append(message.get("body"))
                if not message.get("more_body"):
                    break
            await PlainTextResponse("read")(scope, receive, send)

        class Refused:
            refused = staticmethod(Counter().update)

        messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        messages.append({"type": "http.request", "body": b""} if ends else {"type": "http.disconnect"})
        coming = iter(messages)

        async def receive():
            return next(coming)

        async def keep(message):
            answer.append(message)

        given = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
        waited(Bodies(app, Refused)({"type": "http", "method": method, "path": path, "headers": given}, receive, keep))
        if not answer:
            return None, "", reached
        body = answer[1]["body"].decode()
        return answer[0]["status"], json.loads(body)["error"] if answer[0]["status"] > 200 else body, reached

    return sent


def test_a_body_arrives_whole(send):
    assert send(b'{"data"', b": [1]}") == (200, "read", [b'{"data": [1]}'])
    assert send(method="GET")[0] == 200


@pytest.mark.parametrize(
    ("path", "most", "told"),
    [
        (RUN, BODY_MEGABYTES.bytes, BODY_MEGABYTES.tell()),
        ("/login", 16 * 1024, TOO_LARGE.format(16)),
        ("/login/", 16 * 1024, TOO_LARGE.format(16)),
        ("/bx/rooms/blue-otter/join", 256 * 1024, TOO_LARGE.format(256)),
        ("/bx/rooms", 256 * 1024, TOO_LARGE.format(256)),
    ],
)
def test_what_is_too_large_reaches_nobody(send, path, most, told):
    part = b" " * (most // 4 + 1)
    assert send(*[part] * 4, path=path) == (413, told, [])
    assert send(content_length=str(most + 1), path=path) == (413, told, [])
    assert send(*[part] * 3, path=path)[0] == 200


def test_an_upload_is_read_as_it_comes(send):
    assert send(b"a" * 10, b"\0,", path="/gradio_api/upload")[2] == [b"a" * 10, b"\0,", b""]


def test_who_hangs_up_reaches_nobody(send):
    assert send(b"half", ends=False) == (None, "", [])


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


@pytest.mark.parametrize("letter", ["a", " ", "é", "中", "\n", '"', "\\", ", ", '\\"', "\t"])
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
        assert (f"shorten it to {most:,}" in sentence) == refused


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_other_encodings_of_unicode_hide_nothing(send, encoding):
    assert send('{"data": [1, 1]}'.encode(encoding))[::2] == (400, [])


def test_too_many_values_are_never_parsed(served, monkeypatch):
    import urllib.error
    import urllib.request

    parsed, loads = [], json.loads
    monkeypatch.setattr(json, "loads", lambda given, **named: parsed.append(len(given)) or loads(given, **named))
    monkeypatch.setattr(VALUES, "most", 1_000)
    body = b'{"data": [[' + b"1," * 1_001 + b'1], "", ""]}'
    for path in (RUN, "/gradio_api/call/tokens", "/gradio_api/queue/join", "/gradio_api/cancel", "/bx/rooms"):
        request = urllib.request.Request(f"{served}{path}", body, {"Content-Type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        assert refused.value.code == 413
        told = refused.value.read()
        assert max(parsed, default=0) < len(body)
        assert json.JSONDecoder().decode(told.decode())["error"] == VALUES.tell()
