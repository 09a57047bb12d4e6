"""/views and /view over HTTP: every view by its name, its numbers those of the model, and whatever else is sent, a sentence."""

import json
from urllib.parse import parse_qsl

import pytest
from gradio_client.exceptions import AppError

from explorer.core.errors import InputError
from explorer.core.limits import VIEW_SECONDS
from explorer.export import endpoints as api
from explorer.export import links, named
from explorer.export.tables import tables_of
from explorer.page.examples import first_subject
from explorer.tabs import TABS, VIEWS
from explorer.ui.settings import Sheet
from explorer.ui.subject import Subject
from tests.at_night import at_night
from tests.contents import OTHER, SELECTION, A, B
from tests.fuzz.promises import check_sentence

pytestmark = pytest.mark.usefixtures("few_sentences")

SLOW = ("fine-tune", "projection", "own-head")  # they train, map, or are for other models
QUICK = [name for name in VIEWS if not name.startswith(SLOW)]
ANSWERED = {tab.id: tab.views[-1].name for tab in TABS}.values()  # the others have the same tables in test_tables.py
TYPES = {"choice", "text", "list", "boolean", "integer", "number", "rows", "any"}


@pytest.fixture(scope="module")
def ask(client):
    return lambda *arguments, to="view", **more: client.predict(*arguments, **more, api_name=f"/{to}")


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


def test_what_is_selected_is_what_is_answered(ask, bundled):
    rows = ask("inside-head/dots", A, B, {"layer": 2, "head": 5, "token": 4})["tables"]["table"]["rows"]
    assert {tuple(row[:3]) for row in rows} == {(2, 5, 4)}
    off = ask("attention/heads", A, B, {"off": [[3, 7], [1, 1]]})["tables"]["grid"]
    place = off["columns"].index("off")
    assert {(row[0], row[1]) for row in off["rows"] if row[place]} == {(3, 7), (1, 1)}


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
    check_sentence(str(caught.value))


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
