"""/views and /view over HTTP: every view by its name, its numbers those of the model, and whatever else is sent, a sentence."""

import json
import re
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from explorer.core.errors import InputError
from explorer.core.limits import VIEW_SECONDS
from explorer.export import endpoints as api
from explorer.export import links, named
from explorer.export.tables import tables_of
from explorer.page.examples import first_subject
from explorer.tabs import TABS, VIEWS
from explorer.techniques.ablation import changed_states
from explorer.ui.settings import Sheet
from explorer.ui.subject import Subject
from tests.at_night import at_night
from tests.contents import OTHER, SELECTION, A, B

pytestmark = pytest.mark.usefixtures("few_sentences")

SLOW = ("fine-tune", "projection", "own-head")  # they train, map, or are for other models
QUICK = [name for name in VIEWS if not name.startswith(SLOW)]
ANSWERED = {tab.id: tab.views[-1].name for tab in TABS}.values()  # the others have the same tables in test_tables.py
TYPES = {"choice", "text", "list", "boolean", "integer", "number", "rows", "any"}


@pytest.fixture(scope="module")
def ask(served):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.utils._detect_agent._fetch_registry", lambda: None)
        client = Client(served, verbose=False)
        yield lambda *arguments, to="view", **more: client.predict(*arguments, **more, api_name=f"/{to}")


@pytest.fixture(scope="module")
def listed(ask):
    return {view["name"]: view for view in ask(to="views")["views"]}


def test_every_view_is_listed_with_every_setting_that_a_program_may_set(listed, bundled):
    assert set(listed) == set(VIEWS)
    for name, kind in VIEWS.items():
        told = listed[name]
        assert told["question"] == kind.question
        assert told["needs"] == (next(tab for tab in TABS if kind in tab.views).needs or "")
        assert set(told["settings"]) == {one for one in kind.settings if kind.settings[one].is_open} | set(named.OF_THE_PAGE)
        for one, about in told["settings"].items():
            assert about["type"] in TYPES, one
            assert about.keys() >= {"type", "default", "label"}
            assert ("choices" in about) or about["type"] != "choice"
            assert ("range" in about) or about["type"] not in ("integer", "number")


def test_what_is_listed_as_a_default_is_what_a_view_takes(listed, contents):
    for name in QUICK:
        kind, about = VIEWS[name], listed[name]["settings"]
        given = {one: told["default"] for one, told in about.items() if not isinstance(kind.settings.get(one), Sheet)}
        shown, place = named.read(name, given, contents.subject)
        assert type(shown) is kind
        assert kind in map(type, place.views)


@pytest.mark.parametrize("name", at_night(QUICK, but=ANSWERED))
def test_every_view_answers_with_the_numbers_that_it_shows(ask, contents, name):
    shown, settings = contents[name], VIEWS[name].settings
    given = {setting: value for setting, value in OTHER.items() if setting in settings}
    chosen = {"layer": SELECTION.layer, "head": SELECTION.head, "token": SELECTION.token}
    answer = ask(name, A, B, {part: value for part, value in chosen.items() if part not in settings} | given)
    assert set(answer) == {"finding", "check", "tables", "code", "link"}
    assert answer["code"] or not answer["tables"]
    compile(answer["code"], name, "exec")
    for part, table in tables_of(shown.view, shown.content).items():
        assert answer["tables"].pop(part) == json.loads(json.dumps({"columns": table.columns, "rows": table.rows}))
    assert not answer["tables"]
    assert not answer["check"] or "✗" not in answer["check"]


def test_the_numbers_are_those_of_transformers(ask, bundled, eager):
    _, output = eager(bundled, A, B)
    answer = ask("attention/head", A, B, {"layer": 3, "head": 7})
    part = answer["tables"]["heatmap"]
    weights = pd.DataFrame(part["rows"], columns=part["columns"]).pivot(index="query_position", columns="key_position")["weight"]
    np.testing.assert_allclose(weights, output.attentions[2][0, 6].numpy(), atol=1e-5)
    assert "layer 3" in answer["finding"].lower()
    assert answer["check"].startswith("✓")
    guesses = ask("fill-mask/guesses", A, B, {"top_k": 3})["tables"]["guesses"]
    blank = bundled.trace(A, B).mask_positions[0]
    best = output.prediction_logits[0, blank].softmax(-1).topk(3)
    frame = pd.DataFrame(guesses["rows"], columns=guesses["columns"]).query("position == @blank")
    assert frame["id"].tolist() == best.indices.tolist()
    np.testing.assert_allclose(frame["probability"], best.values, atol=1e-5)


def test_what_is_selected_is_what_is_answered(ask, bundled):
    rows = ask("inside-head/dots", A, B, {"layer": 2, "head": 5, "token": 4})["tables"]["table"]["rows"]
    assert {tuple(row[:3]) for row in rows} == {(2, 5, 4)}
    off = ask("attention/heads", A, B, {"off": [[3, 7], [1, 1]]})["tables"]["grid"]
    place = off["columns"].index("off")
    assert {(row[0], row[1]) for row in off["rows"] if row[place]} == {(3, 7), (1, 1)}


def test_what_is_cut_is_answered_without_it(ask, bundled):
    trace = bundled.trace(A, B)
    blank = trace.mask_positions[0]
    answer = ask("fill-mask/what-if", A, B, {"cut": [[6, blank, 1, 0], [1, 2, 0, 3], [6, blank, 1, 0]]})
    assert f"cut=1.2.0.3,6.{blank}.1.0" in answer["link"]
    vector = changed_states(trace, cuts=[(0, 2, 0, 2), (5, blank, 1, None)])[-1][[blank]]
    (expected,) = bundled.guesses(vector, [blank], 1)
    rows = {label: share for group, label, share, _ in answer["tables"]["answers"]["rows"] if group == "After"}
    assert rows[expected.candidates[0].token] == pytest.approx(expected.candidates[0].probability, abs=1e-5)
    assert "AttentionInterface" in answer["code"]


def test_the_link_leads_to_the_same_view(ask):
    given = {"layer": 3, "head": 7, "token": 2, "look": "Lines", "top_p": 50}
    link = ask("attention/head", A, B, given)["link"]
    place = links.read(dict(parse_qsl(link)), first_subject())
    assert not place.told
    shown = next(view for view in place.views if view.name == "attention/head")
    assert (shown.look, shown.top_p) == ("Lines", 50)
    chosen = place.subject.selection
    assert (chosen.layer, chosen.head, chosen.token) == (3, 7, 2)
    assert (place.subject.text_a, place.subject.text_b) == (A, B)


LONG = "x" * 10_000
REFUSED = {
    "unknown view": ("attention/no-such", A),
    "a name of 10,000 characters": (LONG, A),
    "a setting of 10,000 characters": ("attention/head", A, "", {"look": LONG}),
    "a setting that there is not": ("attention/head", A, "", {LONG: 1}),
    "settings in a list": ("attention/head", A, "", ["look"]),
    "layer 99": ("attention/head", A, "", {"layer": 99}),
    "head 0": ("attention/head", A, "", {"head": 0}),
    "half a layer": ("attention/head", A, "", {"layer": 1.5}),
    "heads off in a text": ("attention/heads", A, "", {"off": "1.1"}),
    "cuts in a text": ("fill-mask/heads", A, "", {"cut": "1.1.1.0"}),
    "a cut of three": ("fill-mask/heads", A, "", {"cut": [[1, 1, 1]]}),
    "a cut of a token that there is not": ("fill-mask/heads", A, "", {"cut": [[1, 1, 99, 0]]}),
    "a swap of a word that is not there": ("fill-mask/heads", A, "", {"swap": ["zebra", "lion"]}),
    "a swap that is a text": ("fill-mask/heads", A, "", {"swap": "man,woman"}),
    "a patch of a token that there is not": ("fill-mask/heads", A, "", {"swap": ["man", "woman"], "patch": [1, 99]}),
    "a thousand cuts": ("fill-mask/heads", A, "", {"cut": [[1, 1, 1, 0]] * 1000}),
    "a number far out": ("fill-mask/guesses", A, "", {"top_k": 10**30}),
    "a file of the machine": ("projection/map", A, "", {"table": "/etc/passwd"}),
    "a run of somebody": ("fine-tune/result", A, "", {"run": "x" * 22}),
    "no text": ("attention/head", ""),
    "a text of 100,000 words": ("attention/head", "word " * 100_000),
    "no blank": ("fill-mask/guesses", "the cat sat."),
    "what this model cannot": ("own-head/labels", A),
    "an unknown model": ("attention/head", A, "", {}, "no-such/model"),
    "a folder": ("attention/head", A, "", {}, "../../../etc"),
}


@pytest.mark.parametrize("arguments", REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused_in_a_sentence(ask, arguments):
    with pytest.raises(AppError) as caught:
        ask(*arguments)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert len(sentence) < 250
    assert not re.search(r"Traceback|Error\b|object at 0x|server's log", sentence)


@pytest.mark.parametrize("text", ["<img src=x onerror=alert(1)> ${alert(1)} {{7*7}}", "=1+1 @SUM(A1)", "مرحبا 🥛", "a\x00b\x1b"])
def test_hostile_texts_come_back_as_they_are(ask, bundled, text):
    cards = ask("tokens/pieces", text)["tables"]["cards"]
    assert [row[cards["columns"].index("token")] for row in cards["rows"]] == list(bundled.trace(text).tokens)
    weights = ask("attention/head", text)["tables"]["heatmap"]
    frame = pd.DataFrame(weights["rows"], columns=weights["columns"])
    np.testing.assert_allclose(frame.groupby("query_position")["weight"].sum(), 1, atol=1e-5)
    json.dumps(weights, allow_nan=False)


def test_work_that_takes_too_long_is_refused_before_it_begins(bundled, monkeypatch, refusal):
    monkeypatch.setattr(VIEW_SECONDS, "most", 1)
    long = Subject.of(bundled.trace("word " * 600))
    shown, place = named.read("fill-mask/positions", {}, long)
    assert named.is_long(shown, place.subject)
    done = []
    said = refusal(InputError, lambda: named.content(shown, place.subject, done.append))
    assert "1 is the most" in said
    assert not done


def test_work_is_stopped_when_nobody_waits_for_it(bundled, monkeypatch):
    shown, place = named.read("fill-mask/positions", {}, Subject.of(bundled.trace("a long day " * 9)))
    monkeypatch.setattr(type(shown), "known", lambda *_: None)
    steps = []

    def leave(work):
        steps.append(next(work))
        work.close()
        raise InputError("gone.")

    with pytest.raises(InputError):
        named.content(shown, place.subject, leave)
    assert len(steps) == 1


def test_the_same_view_is_not_worked_out_twice(bundled, monkeypatch):
    text = "the kettle was singing on the stove."
    first = api.view("fill-mask/positions", text)
    monkeypatch.setattr(VIEWS["fill-mask/positions"], "work", lambda *_: pytest.fail("it is known already"))
    assert api.view("fill-mask/positions", text) == first
