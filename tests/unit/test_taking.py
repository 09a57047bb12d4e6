"""Files of what a link says, over plain HTTP to the app as it is served; its numbers are read by pandas in one line."""

import json
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen
from xml.etree import ElementTree

import pandas as pd
import pytest
import segno

from explorer.bert.hub import NO_REVISION
from explorer.core.errors import CapabilityError
from explorer.export import links, qr, ways
from explorer.export.place import Place, seen_in
from explorer.export.tables import TEXT as SENTENCE
from explorer.export.tables import tables_of
from explorer.export.ways import Way
from explorer.server.bounds import TAKE
from explorer.tabs import TABS
from explorer.ui.attention_data import head_cards
from explorer.ui.subject import Subject
from tests import asking
from tests.fuzz.promises import check_sentence


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


TEXT = "v=1&a=A+dog+barked+at+the+[MASK].&b=It+was+loud."
HEAD = f"{TEXT}&tab=attention&layer=3&head=7"
READ = {"keep_default_na": False, "na_values": [""]}
TOKENS = ("position", "token", "kind", "segment")  # of a row of tokens
FROM_FILES = {"Saved runs"}  # which shows no numbers before a file is opened
CHOICES = [(tab, choice) for tab in TABS for choice in tab.choices if not tab.optional and choice not in FROM_FILES]


@pytest.fixture(scope="module")
def address(served):
    return lambda query, key="csv": f"{served}{TAKE}view.{key}?{query}"


def refused(url):
    with pytest.raises(HTTPError) as caught:
        urlopen(url, timeout=120)
    sentence = json.loads(caught.value.read())["error"]
    assert caught.value.code in (400, 404)
    check_sentence(sentence)
    return sentence


@pytest.mark.parametrize("part", ["grid", "attention-heads-grid"])
def test_a_part_goes_by_its_name_and_by_that_of_its_element(address, part):
    heads = pd.read_csv(address(f"{HEAD}&part={part}"), **READ)
    assert len(heads) == 6 * 12
    assert heads[["layer", "head"]].iloc[-1].tolist() == [6, 12]


def test_json_has_all_that_is_seen_together(address, bundled):
    with urlopen(address(HEAD, "json"), timeout=120) as answer:
        assert answer.headers["content-type"] == "application/json"
        assert 'filename="bert-explorer-attention-one-head.json"' in answer.headers["content-disposition"]
        views = {view["view"]: view for view in json.load(answer)["views"]}
    assert set(views) == {"attention/heads", "attention/what-if", "attention/head"}
    head = views["attention/head"]
    assert head["selection"] == {"layer": 3, "head": 7, "token": None}
    assert head["settings"]["look"] == "Heatmap"
    assert head["check"].startswith("✓")
    part = head["tables"]["heatmap"]
    same = pd.read_csv(address(HEAD), **READ)
    pd.testing.assert_frame_equal(pd.DataFrame(part["rows"], columns=part["columns"]), same, check_dtype=False, check_exact=True)


@pytest.mark.parametrize("text", ["the [MASK] sat on the mat.", "the cat sat on the mat."])
def test_a_csv_holds_what_its_place_is_about_and_not_the_tokens_above_it(bundled, text):
    subject = Subject.of(bundled.trace(text))
    for tab, choice in [(tab, choice) for tab, choice in CHOICES if tab.id in ("attention", "fill-mask", "hidden")]:
        place = Place(subject, tab.id, choice, tuple(kind() for kind in seen_in(tab, choice))).opened()
        try:
            tables = [table for view, content in ways.compute_views(place) for table in tables_of(view, content).values()]
        except CapabilityError:  # it asks for a pair
            continue
        columns = tuple(ways.one_table(place).decode().splitlines()[0].split(","))
        assert columns in [table.columns for table in tables]
        has_numbers = any(table.columns not in (SENTENCE, TOKENS) for table in tables)
        assert (columns == TOKENS) != has_numbers, (tab.id, choice)


def test_tokens_that_a_table_would_lose_are_there(address):
    text = "null nan true 1932 ' \" , ; - +"
    tokens = pd.read_csv(address(f"v=1&tab=tokens&a={quote(text)}&part=cards"), **READ)["token"].tolist()
    assert tokens[1:5] == ["null", "nan", "true", "1932"]
    assert "'-" in tokens, "a spreadsheet would run it"
    assert "'+" in tokens


def test_what_is_not_there_is_a_sentence(address, served):
    for choice in FROM_FILES:
        (tab,) = [tab for tab in TABS if choice in tab.choices]
        query = links.query(Place(Subject("bert-l6-h384-uncased", "Hi.", ""), tab.id, choice, ()))
        assert "This view shows no numbers" in refused(address(query))
    assert "grid" in refused(address(f"{HEAD}&part=picture"))
    assert "x" * 60 not in refused(address(f"{HEAD}&part={'x' * 10_000}"))
    assert refused(address("v=1&a=&tab=attention"))
    assert refused(address("v=1&a=Hello.&tab=own-head"))
    assert refused(f"{served}{TAKE}view.xlsx?{HEAD}")
