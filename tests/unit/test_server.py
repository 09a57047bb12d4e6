"""What stands before Gradio, over plain HTTP to the app as it is served."""

import base64
import gzip
import hashlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest
from starlette.responses import PlainTextResponse, StreamingResponse

from explorer.core.errors import BusyError, CapabilityError, ExplorerError, InputError, ModelError
from explorer.page.blocks import PageBlocks
from explorer.server import calls, refusals
from explorer.server.gate import Gate
from explorer.server.guide import MOVED
from explorer.server.page import FIXED, PATHS, Document
from explorer.server.refusals import BODY_MEGABYTES
from explorer.server.serving import guard
from tests.asking import ask_app
from tests.fuzz.promises import INSIDE, UNFORESEEN, check_sentence
from tests.waiting import waited

MARKER = "zanzibarquokka"  # a word that nothing of ours contains
FILE_DATA = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}


def sentence_of(body: bytes) -> str:
    said = json.loads(body)["error"]
    check_sentence(said.removeprefix(UNFORESEEN))
    assert not INSIDE.search(said)
    return said


ANSWERS = {
    "page": ("GET", "/", None, {}),
    "script": ("GET", "/static/js/iframeResizer.contentWindow.min.js", None, {}),
    "answer": ("POST", "/gradio_api/run/tokens", {"data": ["hello", "", ""]}, {}),
    "nothing there": ("GET", "/nothing", None, {}),
    "another's name": ("GET", "/", None, {"Host": "evil.example"}),
    "preflight": ("OPTIONS", "/config", None, {"Origin": "http://evil.example", "Access_Control_Request_Method": "POST"}),
}


@pytest.mark.parametrize("request_", ANSWERS.values(), ids=ANSWERS)
def test_every_answer_tells_the_browser_to_be_careful(fetch, request_):
    method, path, body, given = request_
    _, headers, _ = fetch(method, path, body, **given)
    assert {name: headers[name] for name in FIXED} == FIXED
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == "'self'"
    assert policy["object-src"] == "'none'"
    assert "'unsafe-inline'" not in policy["script-src"]
    assert not re.search(r"https?:|\*", headers["Content-Security-Policy"]), "no other machine"
    assert headers["Access-Control-Allow-Origin"] is None, "no page of another origin reads this"


def test_the_policy_names_every_inline_script_of_the_page(fetch):
    _, headers, page = fetch("GET", "/")
    scripts = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page.decode(), re.DOTALL)
    for ours in ("window.BertExplorer =", "BertExplorer.page.paintFirst()", "window.gradio_config ="):
        assert any(ours in script for script in scripts)
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in headers["Content-Security-Policy"]


def test_a_space_may_be_framed_by_its_host(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/space")

    async def body(scope, receive, send):
        await PlainTextResponse("hello")(scope, receive, send)

    headers = dict(ask_app(around(body), headers={"host": "localhost"})[0]["headers"])
    policy = headers[b"content-security-policy"].decode()
    assert "frame-ancestors 'self' https://huggingface.co https://*.hf.space" in policy


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7860", "localhost.evil.example", "127.0.0.1.nip.io", "[", ""])
@pytest.mark.parametrize("path", ["/", "/gradio_api/run/tokens"])
def test_another_name_is_refused(fetch, host, path):
    status, _, body = fetch("GET", path, Host=host)
    assert status == 400
    assert "BERT_EXPLORER_HOSTS" in sentence_of(body)


@pytest.mark.parametrize(
    ("listens", "environment", "allowed", "refused"),
    [
        ("127.0.0.1", {}, ["localhost:7860", "127.0.0.1"], ["bert.school.example", "10.0.0.5:7860"]),
        ("localhost", {"BERT_EXPLORER_HOSTS": "tunnel.example"}, ["localhost", "tunnel.example:443"], ["evil.example"]),
        ("::1", {}, ["[::1]:7860", "localhost"], ["evil.example"]),
        ("127.0.0.2", {}, ["127.0.0.2:7860", "localhost"], ["evil.example"]),
        ("0.0.0.0", {}, ["localhost", "10.0.0.5:7860", "bert.school.example"], []),
        ("0.0.0.0", {"BERT_EXPLORER_HOSTS": "a.example, b.example:80"}, ["a.example", "B.example", "localhost"], ["c.example"]),
        ("0.0.0.0", {"SPACE_HOST": "me-bert.hf.space"}, ["me-bert.hf.space", "127.0.0.1:7860"], ["other.hf.space"]),
    ],
)
def test_which_names_are_own(listens, environment, allowed, refused):
    names = Gate.of(listens, environment)
    assert all(map(names.allow, allowed))
    assert not any(map(names.allow, refused))


# Writes that another page sends

CALL = ("POST", "/gradio_api/run/tokens", {"data": ["hello", "", ""]})
FOREIGN = {
    "another site": {"Origin": "http://evil.example"},
    "another port of this machine": {"Origin": "http://localhost:3000", "Sec_Fetch_Site": "same-site"},
    "a page without an origin": {"Origin": "null"},
    "a browser's word": {"Sec_Fetch_Site": "cross-site"},
    "an origin that is none": {"Origin": "http://["},
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
def test_writes_of_another_page_are_refused(fetch, headers):
    status, _, body = fetch(*CALL, **headers)
    assert status == 403
    sentence_of(body)


def test_the_own_page_and_programs_may_write(fetch, served):
    for headers in ({}, {"Origin": served}, {"Origin": served, "Sec_Fetch_Site": "same-origin"}, {"Sec_Fetch_Site": "none"}):
        assert fetch(*CALL, **headers)[0] == 200


ELSEWHERE = {"Sec_Fetch_Site": "cross-site"}
FOLLOWED = {**ELSEWHERE, "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
IN_A_FRAME = {**ELSEWHERE, "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}
FOR_PEOPLE = {"/bx/guide", "/bx/guide/{name}", "/bx/guide.css", "/bx/guide.js"}
FOR_PEOPLE |= {"/bx/lessons/{name}/{sheet}.html"}


def test_another_page_cannot_ask_for_anything_that_is_computed(serving, fetch):
    """A new route is refused, too, unless it is named here."""
    ours = [route for route in serving.app.routes if getattr(route, "path", "").startswith("/bx/")]
    assert len(ours) > 20
    ours = [route for route in ours if route.path not in MOVED]
    for path in {route.path for route in ours if "GET" in (route.methods or {"GET"})} - PATHS:
        for headers in (ELSEWHERE, IN_A_FRAME, {"Sec_Fetch_Site": "same-site"}, FOLLOWED):
            status, _, body = fetch("GET", path, **headers)
            if headers is FOLLOWED and path in FOR_PEOPLE:
                assert status != 403, f"{path} is for other sites, too"
            else:
                assert (status, "another site" in json.loads(body)["error"]) == (403, True), path
        assert fetch("GET", path, Sec_Fetch_Site="same-origin")[0] != 403


def test_a_link_elsewhere_leads_to_the_page_and_logs_nobody_out(fetch):
    for headers in (ELSEWHERE, FOLLOWED):
        assert fetch("GET", "/?tab=attention", **headers)[0] == 200
    assert fetch("GET", "/bx/guide/tabs", **FOLLOWED)[0] == 200
    status, _, body = fetch("GET", "/logout", **ELSEWHERE)
    assert status == 403
    sentence_of(body)


def test_a_stream_is_not_held_back():
    """The second event is made only when the first has arrived."""
    arrived = anyio.Event()

    async def events(scope, receive, send):
        async def two():
            yield b"data: first\n\n"
            await arrived.wait()
            yield b"data: second\n\n"

        await StreamingResponse(two(), media_type="text/event-stream")(scope, receive, send)

    def see(message):
        if message.get("body") == b"data: first\n\n":
            arrived.set()

    start, *bodies = ask_app(around(events), see=see, headers={"host": "localhost", "accept-encoding": "gzip, br"})
    assert b"content-encoding" not in dict(start["headers"])
    assert [message["body"] for message in bodies if message.get("body")] == [b"data: first\n\n", b"data: second\n\n"]


@pytest.mark.parametrize("path", ["/", "/config", "/gradio_api/info", "/gradio_api/openapi.json", "/theme.css"])
def test_no_path_of_the_machine_shows(fetch, path):
    text = fetch("GET", path)[2].decode()
    for place in (sys.prefix, sys.base_prefix, str(Path.home()), str(Path(__file__).parents[2]), "site-packages", "/tmp/"):
        assert place not in text


def test_plotly_is_served_for_ever_under_a_name_of_ours(fetch):
    from explorer.page.components import PLOTLY_ADDRESS
    from explorer.ui.pictures.base import PLOTLY_JS

    _, headers, plain = fetch("GET", f"/{PLOTLY_ADDRESS}")
    assert plain == PLOTLY_JS.read_bytes()
    assert "immutable" in headers["Cache-Control"]
    for accepted, encoding in (("gzip, br", "br"), ("gzip", "gzip"), ("gzip, br", "br")):  # each has a place in the cache
        _, headers, packed = fetch("GET", f"/{PLOTLY_ADDRESS}", Accept_Encoding=accepted)
        assert headers["Content-Encoding"] == encoding
        assert "immutable" in headers["Cache-Control"]
        assert encoding != "gzip" or gzip.decompress(packed) == plain
    assert fetch("GET", f"/gradio_api/file={PLOTLY_JS}")[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        *("proxy=http://a.example/", "file=http://a.example/", "file/https://a.example/", "custom_component/a/client/b/c"),
        *("vibe-edit", "undo-vibe-edit", "vibe-code", "process_recording", "run-history/buckets", "runs", "stream/a/close"),
    ],
)
def test_doors_of_gradio_that_nobody_needs_are_closed(fetch, path):
    status, _, body = fetch("GET", f"/gradio_api/{path}")
    assert status == 404
    sentence_of(body)


# Sentences

RUN = "/gradio_api/run/tokens"
REFUSED = {
    "unknown endpoint of call": ("POST", "/gradio_api/call/nope", {"data": []}, 404),
    "unknown endpoint of the newer call": ("POST", "/gradio_api/call/v2/nope", {"data": []}, 404),
    "unknown function": ("POST", "/gradio_api/queue/join", {"data": [], "fn_index": 10**9, "session_hash": "a"}, 404),
    "unknown component": ("POST", "/gradio_api/component_server", {"data": 1, "component_id": -1, "fn_name": "x"}, 400),
    "no session": ("POST", "/gradio_api/queue/join", {"data": [], "fn_index": 0}, 400),
    "a file for a text": ("POST", RUN, {"data": [FILE_DATA, "", ""]}, 422),
    "a choice that is none": ("POST", "/gradio_api/run/choose", {"data": [999]}, 422),
    "an object for a text": ("POST", RUN, {"data": [{"a": 1}, "", ""]}, 400),
    "True for a model": ("POST", RUN, {"data": ["hello", "", True]}, 400),
    "half a character": ("POST", RUN, b'{"data": ["a \\ud800", "", ""]}', 400),
    "a name that no argument has": ("POST", "/gradio_api/call/v2/tokens", {"nope": 1}, 422),
    "half a body": ("POST", RUN, b'{"data":', 422),
    "a list": ("POST", RUN, [], 422),
    "deep": ("POST", RUN, b'{"data": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}", 400),
    "another method": ("PUT", RUN, {"data": []}, 405),
    "nothing there": ("GET", "/nothing", None, 404),
    "a file of the machine": ("GET", "/gradio_api/file=/etc/passwd", None, 403),
    "no upload": ("POST", "/gradio_api/upload", {"data": []}, 400),
    "too large": ("POST", RUN, b" " * (BODY_MEGABYTES.bytes + 1), 413),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_every_refusal_is_one_sentence(fetch, case):
    method, path, body, expected = case
    given = {"Content_Type": "application/json"} if isinstance(body, bytes) else {}
    status, headers, answer = fetch(method, path, body, **given)
    assert status == expected
    assert headers["Content-Type"] == "application/json"
    sentence_of(answer)


ERRORS = {InputError: 400, CapabilityError: 400, ModelError: 400, ExplorerError: 400, BusyError: 503, ZeroDivisionError: 500}


@pytest.mark.parametrize("way", ["run", "api"])
@pytest.mark.parametrize(("kind", "status"), ERRORS.items())
def test_only_failures_of_the_app_page_an_operator(fetch, monkeypatch, way, kind, status):
    def fails(*arguments):
        raise kind("This is the sentence.")

    monkeypatch.setattr("explorer.bert.explorer.Explorer.encode", fails)
    for path in (f"/gradio_api/{way}/tokens", f"/gradio_api/{way}/tokens/"):
        found, headers, body = fetch("POST", path, {"data": [f"a text of {kind.__name__}", "", ""]})
        assert (found, headers["Content-Type"]) == (status, "application/json")
        assert (sentence_of(body) == "This is the sentence.") is issubclass(kind, ExplorerError)
    assert fetch("GET", "/healthz")[0] == 200, "one request's status is not another's"
    assert {one for one in ExplorerError.__subclasses__() if one.__module__ == ExplorerError.__module__} <= ERRORS.keys()


def test_an_answer_that_cannot_be_sent_is_a_failure_of_the_app():
    async def write_outputs():
        raise ValueError(MARKER)

    with pytest.raises(ValueError, match=MARKER) as failed:
        waited(write_outputs())
    assert calls._explain(failed.value)[:2] == ("internal", 500)
    assert calls._explain(ValueError(MARKER))[:2] == ("unfit", 422)


@pytest.mark.parametrize("way", ["run", "api"])
@pytest.mark.parametrize("given", [[MARKER], [MARKER, "", "", ""]], ids=["too few", "too many"])
def test_a_wrong_number_of_arguments_is_told_what_the_endpoint_takes(fetch, way, given):
    status, _, body = fetch("POST", f"/gradio_api/{way}/tokens", {"data": given})
    assert status == 422
    assert sentence_of(body) == f"/tokens takes 3 arguments in this order, and not {len(given)}: text_a, text_b, model."


@pytest.mark.parametrize("data", [[], [FILE_DATA, "", ""]], ids=["too few", "a file"])
def test_the_queue_tells_a_sentence_too(fetch, data):
    event = json.loads(fetch("POST", "/gradio_api/call/tokens", {"data": data})[2])["event_id"]
    stream = fetch("GET", f"/gradio_api/call/tokens/{event}")[2].decode()
    event, told = next(part for part in stream.split("\n\n") if part.startswith("event: error")).split("\n")
    assert event == "event: error"
    sentence_of(told.removeprefix("data: ").encode())


def test_an_unknown_event_is_told_in_the_stream(fetch):
    body = fetch("GET", "/gradio_api/call/tokens/unknown")[2].decode()
    assert body == f"event: error\ndata: {json.dumps(refusals.UNKNOWN)}\n\n"


def test_health_is_told_while_a_model_loads(fetch, monkeypatch):
    assert json.loads(fetch("GET", "/healthz")[2]) == {"status": "ok", "model": "loaded"}
    monkeypatch.setattr("explorer.server.routes.list_loaded", lambda: [])
    assert json.loads(fetch("GET", "/healthz")[2]) == {"status": "ok", "model": "loading"}
    monkeypatch.setattr("explorer.server.routes.no_model.is_set", lambda: True)
    status, _, body = fetch("GET", "/healthz")
    assert status == 503
    assert "could not be loaded" in sentence_of(body)


def test_metrics_count_by_names_of_ours_only(fetch):
    def value(name: str) -> float:
        found = re.search(rf"^{re.escape(name)} (\S+)$", fetch("GET", "/metrics")[2].decode(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    calls, refused = 'bert_explorer_call_seconds_count{name="/tokens"}', 'bert_explorer_refusals_total{kind="InputError"}'
    before = value(calls), value(refused)
    assert fetch(*CALL)[0] == 200
    fetch("POST", RUN, {"data": [MARKER * 20_000, "", ""]})
    fetch("POST", f"/gradio_api/run/{MARKER}", {"data": [MARKER]})
    fetch("GET", f"/{MARKER}", Host=MARKER)
    assert (value(calls), value(refused)) == (before[0] + 2, before[1] + 1)
    assert value("bert_explorer_models") >= 1
    assert value("bert_explorer_trace_bytes") >= 0
    assert value("bert_explorer_queue_length") == value("bert_explorer_running") == 0
    assert value("process_resident_memory_bytes") > 0
    assert MARKER not in fetch("GET", "/metrics")[2].decode()


def test_metrics_are_for_this_machine_or_for_a_token(fetch, monkeypatch):
    assert fetch("GET", "/metrics")[0] == 200
    status, _, body = fetch("GET", "/metrics", X_Forwarded_For="203.0.113.5")
    assert status == 403
    sentence_of(body)
    monkeypatch.setenv("BERT_EXPLORER_METRICS_TOKEN", "secret")
    assert fetch("GET", "/metrics")[0] == 403
    assert fetch("GET", "/metrics", Authorization="Bearer wrong")[0] == 403
    assert fetch("GET", "/metrics", Authorization="Bearer secret")[0] == 200


def around(app):
    """An ASGI app within all that stands before Gradio."""
    with PageBlocks(analytics_enabled=False) as blocks:
        pass
    wrapped = SimpleNamespace(middleware_stack=app)

    async def start():
        async with guard(blocks, "127.0.0.1", Document(""))["lifespan"](wrapped):
            return wrapped.middleware_stack

    return waited(start())
