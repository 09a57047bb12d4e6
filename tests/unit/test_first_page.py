"""The page as it is first sent: the first example or a link's texts and view, made once for all who ask."""

import base64
import contextlib
import gzip
import json
import os
import shutil
import threading
import urllib.request
from collections import Counter
from urllib.parse import urlencode

import numpy as np
import pytest

from explorer.bert import checkpoints, cold
from explorer.page import arriving, first
from explorer.server import page as kept
from explorer.server.bounds import Rates
from explorer.server.page import Document, address_of
from tests import asking


def rounded(value):
    """The value with numbers that another processor's arithmetic gives too."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return pytest.approx(value, rel=1e-3, abs=1e-4) if isinstance(value, float) else value


def levels(page):
    """The packed shares of the picture, which are taken out: int, in steps of a 16-bit number."""
    packed = page["overview-routes-picture"]["value"].pop("mixing")
    return np.frombuffer(base64.b64decode(packed), "<u2").astype(int)


def test_its_file_is_the_app_s_own_answer(page):
    kept = dict(first.read())
    made = first.make(page[1])
    error = "max error "  # of float32, another on every processor
    checks = [one.pop("overview-routes-check")["value"]["text"].partition(error)[0] for one in (kept, made)]
    assert checks[0] == checks[1]
    assert np.abs(levels(kept) - levels(made)).max() <= 2
    assert made == rounded(kept), "python -m explorer.page.first makes the file again"


def test_what_opens_the_page_is_of_components_that_every_page_is_sent(page):
    sent = {one["props"].get("elem_id") for one in page[0].pieces.page(page[0].first)["components"]}
    assert first.read().keys() <= sent


@pytest.mark.parametrize(
    ("query", "carries"), [({}, True), ({"__theme": "dark"}, True), ({"a": "x"}, False), ({"tab": ""}, False)]
)
def test_only_a_page_that_no_link_describes_carries_it(served, query, carries):
    assert ("strip" in place(served, **query)[0].get("elements", {})) == carries


def test_a_document_gets_what_is_ours_and_loses_what_gradio_says_of_itself():
    page = b'<head><meta property="og:title" content="Gradio" /><title>x</title></head><body><p></body></html>'
    complete = Document("<style>a</style>", "<script>b</script>").complete(page, "https://a/")
    card = b'<meta property="og:image" content="https://a/bx/card.png">'
    assert complete == b"<head><title>x</title>" + card + b"<style>a</style></head><body><p><script>b</script></body></html>"


@pytest.mark.parametrize(
    ("host", "proto", "tells"),
    [
        ("bert.example:7860", None, "http://bert.example:7860/bx/card.png"),
        ("bert.example", "https", "https://bert.example/bx/card.png"),
        ("bert.example", "javascript", "http://bert.example/bx/card.png"),
        ('"><script>x</script>', None, "http://&quot;&gt;&lt;script&gt;x&lt;/script&gt;/bx/card.png"),
        ("", None, "bx/card.png"),
    ],
)
def test_other_sites_are_told_where_its_picture_is_and_no_host_gets_markup_in(host, proto, tells):
    headers = [(name, value.encode()) for name, value in ((b"host", host), (b"x-forwarded-proto", proto)) if value]
    address = address_of({"type": "http", "scheme": "http", "headers": headers})
    page = Document("").complete(b"<head></head><body></body>", address)
    assert page == f'<head><meta property="og:image" content="{tells}"></head><body></body>'.encode()


TEXTS = [
    ("Cats drink [MASK].", ""),
    ("The keys  to the old CABINET [MASK]\nare lost.", "Où est-il? 日本 ☃ [SEP] skyscrapers"),
    ("walking " * 600, "Short."),
]


def place(served, **link):
    html = urllib.request.urlopen(f"{served}/?{urlencode(link)}").read().decode()
    sent = html.partition('id="bx-place">')[2].partition("</script>")[0]
    return json.loads(sent), sent


@pytest.mark.parametrize("texts", TEXTS, ids=["a blank", "a pair", "too long"])
def test_the_tokenizer_alone_reads_as_the_model_does(bundled, monkeypatch, texts):
    monkeypatch.setattr(cold, "list_loaded", list)
    assert cold.encoding_of(checkpoints.BUNDLED, *texts) == bundled.encode(*texts)


def test_what_cannot_be_read_has_no_tokens_and_nothing_is_downloaded(monkeypatch, tmp_path):
    monkeypatch.setattr(cold, "list_loaded", list)
    assert cold.encoding_of("someone/model-of-the-hub", "Cats.", "") is None
    assert cold.encoding_of(checkpoints.BUNDLED, " ", "") is None
    assert cold.encoding_of(checkpoints.BUNDLED, "\ud800", "") is None
    assert cold.encoding_of(checkpoints.BUNDLED, "x" * 20_001, "") is None
    folder = tmp_path / "model"
    shutil.copytree(checkpoints.BUNDLED_FOLDER, folder, ignore=shutil.ignore_patterns("*.safetensors", "recipe"))
    assert cold.encoding_of(str(folder), "Cats.", "").tokens == ("[CLS]", "cats", ".", "[SEP]")
    (folder / "tokenizer.json").write_text("{}")
    cold._open.cache_clear()
    assert cold.encoding_of(str(folder), "Cats.", "") is None


def test_a_link_is_sent_with_its_texts_tokens_and_view(bundled, served, serving):
    link = {"tab": "attention", "view": "one-head", "a": "Dogs chase </script><script>alert(1)</script> cats.", "b": "They do."}
    found, sent = place(served, **link)
    assert "<" not in sent, "what is typed is no markup"
    assert found["elements"]["text-a"] == {"value": link["a"]}
    assert found["elements"]["examples"] == {"value": None}
    assert (found["tab"], found["view"]) == ("attention", "One head")
    strip = next(one["id"] for one in serving.whole_config["components"] if one["props"].get("elem_id") == "strip")
    assert found["props"][str(strip)]["value"]["tokens"] == list(bundled.encode(link["a"], link["b"]).tokens)
    asked = urllib.request.Request(f"{served}/?{urlencode(link)}", headers={"Accept": "application/json"})
    with urllib.request.urlopen(asked) as answer:
        assert answer.headers["Content-Type"] == "application/json"
        alone = json.loads(answer.read())
    assert alone.items() >= {name: found[name] for name in ("elements", "tab", "view")}.items(), "its view comes if it is there"


def test_a_model_that_is_not_loaded_is_not_loaded_for_it(page, monkeypatch):
    blocks, shell = page
    monkeypatch.setattr(arriving, "list_loaded", list)
    assert arriving.view_of(shell, blocks, {"tab": "attention"}) == {}
    monkeypatch.setattr(arriving, "encoding_of", lambda *texts: None)
    found = arriving.frame_of(shell, {"model": "someone/model", "a": "Cats.", "tab": "fill-mask", "view": "lens"})
    assert (found["tab"], found["view"], found["elements"]["text-a"]["value"]) == ("fill-mask", "Lens", "Cats.")
    assert len(found["props"]) == 1, "the model's name"


def test_a_slow_view_does_not_hold_the_page_back_nor_anyone_else(served, serving, monkeypatch):
    free, begun = threading.Event(), threading.Event()

    def slow(link):
        begun.set()
        free.wait(60)
        return {"is_view": True}

    assert serving.limiter is not None, "Gradio's calls would take the threads that read files"
    monkeypatch.setattr(serving, "view_of", slow)
    with contextlib.ExitStack() as stack:
        stack.callback(free.set)
        found, _ = place(served, a="Cats wait.")
        assert begun.is_set()
        assert "is_view" not in found
        assert found["elements"]["text-a"] == {"value": "Cats wait."}
        for number in range((os.cpu_count() or 1) + 5):  # more than asyncio has threads
            assert urllib.request.urlopen(f"{served}/?a=Cats+wait+{number}.", timeout=20).status == 200


def test_a_view_that_fails_is_left_to_the_page(served, serving, monkeypatch):
    def fail(link):
        raise ValueError("broken")

    monkeypatch.setattr(serving, "view_of", fail)
    found, _ = place(served, a="Cats fail.")
    assert "is_view" not in found
    assert found["elements"]["text-a"] == {"value": "Cats fail."}


def test_an_address_has_as_many_as_it_may_cause_work(served, monkeypatch):
    monkeypatch.setattr(Rates, "may_work", lambda self, address: False)
    assert place(served, a="Cats again.")[0] == {}


def test_a_number_that_json_does_not_have_is_null(served, serving, monkeypatch):
    monkeypatch.setattr(serving, "view_of", lambda link: {"is_view": True, "props": {"2": {"value": [float("nan"), 1.5]}}})
    found, _ = place(served, a="Cats count.")
    assert found["is_view"]
    assert found["props"]["2"] == {"value": [None, 1.5]}
    assert found["elements"]["text-a"] == {"value": "Cats count."}


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


def common(body):
    """A page without what its own link shows."""
    page = gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
    before, found, after = page.partition(b'id="bx-place">')
    return before + found + after.partition(b"</script>")[2]


def test_the_page_is_made_once_for_each_way_to_ask_for_it(fetch, made, monkeypatch):
    completed = []
    complete = Document.complete
    monkeypatch.setattr(Document, "complete", lambda *given: completed.append(1) or complete(*given))
    ways = ("/", "/?a=hello&tab=attention", "/?view=api", "/config", "/gradio_api/info")
    for how in ("identity", "gzip"):
        first = {way: common(fetch("GET", way, Accept_Encoding=how)[2]) for way in ways}
        before = made.copy(), len(completed)
        for number in range(5):
            for way in ways:
                link = f"{way}{'&' if '?' in way else '?'}page=x{number}&deep_link=y"
                status, headers, body = fetch("GET", link, Accept_Encoding=how)
                assert status == 200
                assert headers["Content-Security-Policy"]
                assert common(body) == first[way]
        assert (made, len(completed)) == before
    assert common(fetch("GET", "/?a=another+text")[2]) == common(fetch("GET", "/?a=hello&tab=attention")[2])


def test_what_one_visitor_says_of_the_address_is_seen_by_nobody_else(fetch):
    plain = fetch("GET", "/")[2]
    assert fetch("GET", "/", X_Forwarded_Proto="https")[2] != plain
    assert fetch("GET", "/", X_Gradio_Server="https://evil.example")[2] == plain
    assert fetch("GET", "/", X_Forwarded_Host="evil.example")[0] == 400
    assert fetch("GET", "/")[2] == plain
    assert b"localhost" not in plain.partition(b"window.gradio_config")[2].partition(b"</script>")[0]
    status, _, body = fetch("GET", "/", Host="evil.example")
    assert (status, list(json.loads(body))) == (400, ["error"])


def test_a_head_has_no_body_and_spoils_nothing(fetch):
    assert fetch("HEAD", "/")[::2] == (200, b"")
    assert fetch("GET", "/")[2]
    assert fetch("HEAD", "/")[::2] == (200, b"")


def test_who_has_not_logged_in_is_sent_the_page_of_the_login_only(locked):
    def page(**headers):
        return asking.ask(locked, "GET", "/", **headers)[2]

    cookie = asking.log_in(locked)
    for _ in range(2):
        assert b'"auth_required":true' in page().replace(b" ", b"")
        assert b'"auth_required":true' not in page(Cookie=cookie).replace(b" ", b"")
        assert b'"auth_required":true' in page(Cookie=cookie + "x").replace(b" ", b"")


def test_nobody_is_sent_the_page_with_the_name_of_another_user(serving, monkeypatch):
    """As where an app of one's own says who has logged in: Gradio writes the name into the page."""

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": dict(scope["headers"])[b"x-user"]})

    async def user_of(request):
        return request.headers["x-user"]

    guarded = kept.Kept(app, serving, Rates())
    monkeypatch.setattr(kept, "user_of", user_of)
    for user in ("ann", "bob", "ann"):
        _, answer = asking.ask_app(guarded, headers={"host": "a.example", "x-user": user}, method="GET")
        assert answer["body"] == user.encode()
