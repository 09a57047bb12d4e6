"""What a tab opens with, as the page paints it before Gradio is there: over plain HTTP to the app as it is served."""

import json
import re
from urllib.parse import urlencode

import pytest

from explorer.core.errors import BusyError
from explorer.core.fair_queue import FairQueue
from explorer.page.examples import FIRST_A, FIRST_B
from explorer.server.bounds import PAINTED
from explorer.tabs import TABS
from explorer.tokens.pieces import Pieces
from explorer.tokens.tab import TAB as TOKENS
from explorer.ui.subject import Subject
from explorer.ui.tabs import views_in
from explorer.ui.view import finding_of
from tests.unit.test_taking import fetched

HOSTILE = "<img src=x onerror=alert(1)> ${alert(1)} {{alert(1)}} </script>"


@pytest.fixture
def painted(served):
    def ask(**query):
        status, headers, body = fetched(served, f"{PAINTED}?{urlencode(query)}")
        return status, headers, json.loads(body)

    return ask


def every(node):
    """A box and all that stands in it."""
    yield node
    for child in node.get("inside", ()):
        yield from every(child)


def named(node, elem_id):
    return next(one for one in every(node) if one.get("of") == elem_id)


def test_it_tells_what_the_views_show(painted, bundled):
    status, headers, told = painted(tab="tokens")
    assert (status, headers["content-type"], headers["cache-control"]) == (200, "application/json", "no-store")
    assert headers["cross-origin-resource-policy"] == "same-origin"
    subject = Subject(bundled.name, FIRST_A, FIRST_B)
    shown = Pieces().compute(subject)
    assert named(told, "tokens-pieces-cards")["value"] == json.loads(json.dumps(shown["cards"]))
    views = [view() for view in views_in(next(iter(TOKENS.choices.values())))]
    assert named(told, "tokens-finding")["value"]["text"] == finding_of(views, subject).text
    assert painted(tab="tokens")[2] == told


@pytest.mark.parametrize("tab", ["fill-mask", "attention"])
def test_a_page_that_hides_answers_is_sent_none(painted, tab):
    _, _, told = painted(tab=tab)
    _, _, hidden = painted(tab=tab, answers="hidden")
    assert re.search("tokyo|9[17]\u00a0%", json.dumps(told, ensure_ascii=False))
    for word in ("tokyo", "91%", "97%"):
        assert word not in json.dumps(hidden, ensure_ascii=False)
    assert [one.get("of") for one in every(hidden)] == [one.get("of") for one in every(told)]


def test_it_is_about_the_texts_and_the_token_of_the_link(painted):
    _, _, told = painted(tab="tokens", a="A dog barked.", token=2)
    row = json.dumps(named(told, "tokens-pieces-cards")["value"])
    assert "barked" in row
    assert "japan" not in row


@pytest.mark.parametrize("tab", [tab for tab in TABS if tab.id in ("model", "fine-tune") or tab.optional], ids=lambda tab: tab.id)
def test_a_tab_tells_its_question_if_the_model_has_something_for_it(painted, tab):
    status, _, told = painted(tab=tab.id)
    if tab.optional:
        assert (status, "has nothing for the tab" in told["error"]) == (400, True)
        return
    assert status == 200
    assert named(told, f"{tab.id}-question")["value"] == f"## {tab.question}"
    assert all(one["component"] != "Pulse" for one in every(told) if "component" in one), "only the page is heard"


def test_a_text_is_told_as_text(painted):
    _, _, told = painted(tab="tokens", a=HOSTILE)
    named_so = [one for one in every(told) if "skeleton" in one]
    assert "alert" in json.dumps(named(told, "tokens-pieces-cards")["value"])
    assert all("alert" not in one["skeleton"] for one in named_so), "only values hold what a person typed"
    assert all("alert" not in json.dumps(one["value"]) for one in every(told) if one["kind"] == "markdown")


def test_a_text_that_cannot_be_read_is_told_in_the_tab(painted):
    status, _, told = painted(tab="attention", a="")
    assert status == 200
    assert named(told, "attention-hint")["value"]["kind"] == "error"


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"tab": "nowhere"}, "There is no tab 'nowhere'"),
        ({"tab": "<script>"}, "There is no tab '<script>'"),
        ({"tab": "tokens", "token": "-1"}, "token makes no sense"),
        ({"tab": "attention", "view": "none"}, "There is no view 'none'"),
    ],
)
def test_what_cannot_be_followed_to_the_letter_is_refused_in_a_sentence(painted, query, says):
    status, _, told = painted(**query)
    assert status == 400
    assert says in told["error"]


def test_it_waits_for_its_turn_and_is_refused_when_too_many_do(painted, monkeypatch):
    def full(self, *tell):
        raise BusyError("Too many people are asking; try again in a moment.")

    monkeypatch.setattr(FairQueue, "place", full)
    status, _, told = painted(tab="tokens")
    assert status == 503
    assert "try again" in told["error"]
