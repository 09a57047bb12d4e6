"""The page and what it consists of, made once for all who ask."""

import gzip
import json
from collections import Counter

import pytest

from explorer.server import page as kept
from explorer.server.bounds import Rates
from explorer.server.page import Document
from tests import asking
from tests.waiting import waited


@pytest.fixture
def made(monkeypatch):
    """How often Gradio was asked for what, by path."""
    counted = Counter()
    real = kept._messages

    async def told(app, scope, receive):
        counted[scope["path"]] += 1
        return await real(app, scope, receive)

    monkeypatch.setattr(kept, "_messages", told)
    return counted


@pytest.fixture
def get(served):
    return lambda path, method="GET", **headers: asking.ask(served, method, path, **headers)


def common(body):
    """A page without what its own link shows."""
    page = gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
    before, found, after = page.partition(b'id="bx-place">')
    return before + found + after.partition(b"</script>")[2]


def test_the_page_is_made_once_for_each_way_to_ask_for_it(get, made, monkeypatch):
    completed = []
    complete = Document.complete
    monkeypatch.setattr(Document, "complete", lambda *given: completed.append(1) or complete(*given))
    ways = ("/", "/?a=hello&tab=attention", "/?view=api", "/config", "/gradio_api/info")
    for how in ("identity", "gzip"):
        first = {way: common(get(way, Accept_Encoding=how)[2]) for way in ways}
        before = made.copy(), len(completed)
        for number in range(5):
            for way in ways:
                status, headers, body = get(f"{way}{'&' if '?' in way else '?'}page=x{number}&deep_link=y", Accept_Encoding=how)
                assert status == 200
                assert headers["Content-Security-Policy"]
                assert common(body) == first[way]
        assert (made, len(completed)) == before
    assert common(get("/?a=another+text")[2]) == common(get("/?a=hello&tab=attention")[2])


def test_what_one_visitor_says_of_the_address_is_seen_by_nobody_else(get):
    plain = get("/")[2]
    assert get("/", X_Forwarded_Proto="https")[2] != plain
    assert get("/", X_Gradio_Server="https://evil.example")[2] == plain
    assert get("/", X_Forwarded_Host="evil.example")[0] == 400
    assert get("/")[2] == plain
    assert b"localhost" not in plain.partition(b"window.gradio_config")[2].partition(b"</script>")[0]
    status, _, body = get("/", Host="evil.example")
    assert (status, list(json.loads(body))) == (400, ["error"])


def test_a_head_has_no_body_and_spoils_nothing(get):
    assert get("/", "HEAD")[::2] == (200, b"")
    assert get("/")[2]
    assert get("/", "HEAD")[::2] == (200, b"")


def test_who_has_not_logged_in_is_sent_the_page_of_the_login_only(locked):
    def page(**headers):
        return asking.ask(locked, "GET", "/", **headers)[2]

    cookie = asking.log_in(locked)
    for _ in range(2):
        assert b'"auth_required":true' in page().replace(b" ", b"")
        assert b'"auth_required":true' not in page(Cookie=cookie).replace(b" ", b"")
        assert b'"auth_required":true' in page(Cookie=cookie + "x").replace(b" ", b"")


@pytest.fixture
def ask(serving):
    """Asks a guarded app that answers with the name of its user: a function of user, host and address; status and body."""

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": dict(scope["headers"])[b"x-user"]})

    guarded = kept.Kept(app, serving, Rates())

    def ask(user="ann", host="a.example", address="192.0.2.1"):
        sent = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "scheme": "http", "client": (address, 1)}
        headers = [(b"host", host.encode()), (b"x-user", user.encode())]
        waited(guarded({**scope, "headers": headers}, None, send))
        return sent[0]["status"], sent[1]["body"].decode()

    return ask


def test_nobody_is_sent_the_page_with_the_name_of_another_user(ask, monkeypatch):
    """As where an app of one's own says who has logged in: Gradio writes the name into the page."""

    async def user_of(request):
        return request.headers["x-user"]

    monkeypatch.setattr(kept, "user_of", user_of)
    assert [ask(user)[1] for user in ("ann", "bob", "ann")] == ["ann", "bob", "ann"]
