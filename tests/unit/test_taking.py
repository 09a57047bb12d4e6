"""Files of what a link says, over plain HTTP to the app as it is served."""

import json
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
import segno

from explorer.bert.hub import NO_REVISION
from explorer.export import qr, ways
from explorer.export.ways import Way
from explorer.server.bounds import TAKE
from explorer.ui.attention_data import head_cards
from explorer.ui.subject import Subject
from tests import asking


def words(place) -> bytes:
    """What a way gets, in words."""
    subject = place.subject
    names = [view.name for view in place.views]
    return json.dumps([subject.text_a, subject.selection.head, names, place.settings]).encode()


@pytest.fixture
def way(monkeypatch):
    """One way out, whatever there are."""
    made = Way("words", "Words", "application/json", words)
    monkeypatch.setattr(ways, "WAYS", (made,))
    return made


def test_a_file_says_what_the_link_says(fetch, way):
    link = "v=1&tab=attention&view=several-heads&a=A+dog+barked.&set.heads=1,2"
    status, headers, body = fetch("GET", f"{TAKE}view.words?{link}")
    assert (status, headers["content-type"]) == (200, "application/json")
    assert headers["content-disposition"] == 'attachment; filename="bert-explorer-attention-several-heads.words"'
    assert headers["cache-control"] == "no-store"
    assert "default-src" in headers["content-security-policy"]
    assert json.loads(body) == ["A dog barked.", 1, ["attention/several"], {"heads": "1,2"}]


def test_the_cards_of_heads_are_those_of_the_links_texts(fetch, bundled):
    status, headers, body = fetch("GET", f"{TAKE}heads.json?v=1&tab=corpus&a=A+dog+barked.")
    assert (status, headers["content-type"]) == (200, "application/json")
    cards = json.loads(body)
    assert cards == head_cards(Subject(bundled.name, "A dog barked.", ""))
    assert fetch("GET", f"{TAKE}heads.json?v=1&a=")[0] == 400


def test_a_link_reads_no_file_of_this_machine(fetch):
    link = "v=1&tab=tokens&a=hi&model=a/b@"
    answers = [
        fetch("GET", f"{TAKE}view.json?{link}{place}")[::2]
        for place in ("/usr/bin/env", "/usr/bin/no-such", "/dev/zero", "../../../../../../etc/passwd")
    ]
    assert {status for status, _ in answers} == {400}
    (sentence,) = {json.loads(body)["error"] for _, body in answers}
    assert sentence.startswith(NO_REVISION)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("layer=99", "this model has 6,"),
        ("tab=attention&a=" + quote("word " * 5_000), "has 25,000 characters"),
        ("a=~AAAA", "cannot be unpacked"),
        ("set.colour=" + "x" * 10_000, "settings that this view lacks"),
    ],
)
def test_a_link_that_cannot_be_followed_is_refused_with_a_sentence(fetch, way, link, said):
    status, _, body = fetch("GET", f"{TAKE}view.words?{link}")
    assert status == 400
    assert said in json.loads(body)["error"]


def test_the_qr_code_holds_the_link_to_this_app(fetch, served, monkeypatch):
    held = []
    make = segno.make
    monkeypatch.setattr(segno, "make", lambda content, **options: held.append(content) or make(content, **options))
    status, headers, body = fetch("GET", f"{TAKE}link.svg?v=1&tab=attention&a=x")
    assert (status, headers["content-type"]) == (200, "image/svg+xml")
    assert held == [f"{served}/?v=1&tab=attention&a=x"]
    _, _, width, height = map(int, ElementTree.fromstring(body).get("viewBox").split())
    assert width == height == segno.make(held[0], micro=False, error="l").symbol_size()[0]
    status, _, body = fetch("GET", f"{TAKE}link.svg?a={'x' * qr.LONGEST}")
    assert status == 400
    assert "too many for a QR code" in json.loads(body)["error"]


def test_there_are_no_other_ways(fetch, way):
    status, _, body = fetch("GET", f"{TAKE}view.exe")
    assert status == 404
    assert json.loads(body)["error"].endswith(".")
    assert fetch("GET", f"{TAKE}../view.words")[0] in (400, 403, 404)
    assert fetch("POST", f"{TAKE}view.words", "")[0] == 405


def test_what_fails_is_one_sentence(fetch, monkeypatch):
    def fail(place):
        raise ZeroDivisionError(place.subject.text_a)

    monkeypatch.setattr(ways, "WAYS", (Way("words", "Words", "text/plain", fail),))
    status, _, body = fetch("GET", f"{TAKE}view.words?a=zanzibarquokka")
    assert status == 500
    assert json.loads(body)["error"].endswith(".")
    assert b"zanzibarquokka" not in body


def test_whoever_has_not_logged_in_gets_nothing(way, locked):
    def fetch(way, **headers):
        return asking.ask(locked, "GET", f"{TAKE}{way}", **headers)

    status, _, body = fetch("view.words")
    assert (status, fetch("link.svg")[0]) == (401, 401)
    assert json.loads(body)["error"].startswith("This app asks for a name")
    assert fetch("view.words", Cookie="access-token-x=1")[0] == 401
    assert fetch("view.words", Cookie=asking.log_in(locked))[0] == 200
