"""The views for answers in texts, without the page: what there is to learn from, and what a run finds."""

import json
import re

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute.answers import Answerer
from explorer.finetune.compute.export import pack
from explorer.finetune.compute.from_table import read_file
from explorer.finetune.compute.questions import built_in_questions, read_typed
from explorer.finetune.compute.spans import exact_match
from explorer.finetune.compute.task import Task
from explorer.finetune.compute.training import new_run, run_training
from explorer.finetune.examples import ExamplesView
from explorer.finetune.kinds import ANSWERS, FILE, READY, TEXTS, TYPED
from explorer.finetune.opening import OURS, QUESTIONS
from explorer.finetune.outcome import Outcome
from explorer.finetune.recipe import Recipe
from explorer.finetune.result import Result
from explorer.finetune.run import opening_run
from explorer.finetune.runs import Runs
from explorer.finetune.try_it import TryIt
from explorer.ui.subject import Subject


@pytest.fixture(scope="module")
def subject(tiny):
    """No text at all: this tab needs none."""
    return Subject(tiny.name, "", "")


@pytest.fixture(scope="module")
def run(tiny):
    view, recipe = ExamplesView(kind=ANSWERS, source=READY), Recipe(kind=ANSWERS, layers=1, layer=2, epochs=1)
    questions, _ = view.examples()
    task = Task(tiny, questions, recipe.plan(tiny))
    return new_run(finished(run_training(task)), view.title(questions))


def read(view, subject, **given):
    return view.read({"kind": ANSWERS, **given}, subject.model.capabilities)


def test_every_view_shows_the_run(subject, run):
    for view in (Outcome, Result, TryIt, Runs):
        asked = read(view, subject, run=run.id, runs=[run.id])
        shown = asked.compute(subject)
        assert shown["run"] == run.id, view.name
        assert set(shown) <= {*view.parts, *view.settings}
        assert asked.list_changes().keys() <= {"kind", "layer"}, "a tiny model has no hidden state 6"


def test_runs_of_another_kind_are_not_looked_at(subject, run, bundled):
    other = opening_run(bundled.name)
    shown = read(Runs, subject, run=other.id, runs=[other.id, run.id]).compute(subject)
    assert shown["run"] == run.id
    assert [identifier for _, identifier in shown["opened"]["choices"]] == [run.id]
    assert read(Outcome, subject, kind=TEXTS, run=run.id, runs=[run.id, other.id]).compute(subject)["run"] == other.id


def test_the_end_is_told_beside_what_needs_no_bert(subject, run):
    view = read(Outcome, subject, run=run.id)
    assert "held-out exact match" in view.compute(subject)["status"]
    said = view.finding(subject).text
    assert "95% interval). Always no answer: 17%; the words beside those of the question: " in said
    assert run.score == pytest.approx(float(re.search(r"(\d+)% of", said)[1]) / 100, abs=0.006)


def test_questions_are_described(subject):
    questions = built_in_questions()
    shown = read(ExamplesView, subject, source=READY).compute(subject)
    assert shown["about"].startswith(f"{len(questions):,} questions on {len(questions.texts):,} texts")
    typed = read(ExamplesView, subject, source=TYPED)
    assert len(typed.examples()[0]) == len(questions) + 9
    assert "9 are yours; a handful teaches little" in typed.compute(subject)["about"]
    many = "\n\n".join(f"Text {number}.\nWhich number? | {number}" for number in range(100))
    own = read(ExamplesView, subject, source=TYPED, asked=many).compute(subject)
    assert own["about"].startswith("100 questions on 100 texts, 0 without an answer there")
    assert "hoose" in read(ExamplesView, subject, source=FILE).compute(subject)["about"]


def test_a_file_of_questions_chooses_its_kind_of_task(subject, tmp_path):
    questions, path = built_in_questions(), tmp_path / "mine.json"
    rows = [
        {"question": one.question, "context": one.text, "answers": {"text": [], "answer_start": []}} for one in questions.rows[:9]
    ]
    rows[0]["answers"] = {"text": [questions.rows[0].answer], "answer_start": [questions.rows[0].start]}
    path.write_text(json.dumps(rows), "utf-8")
    sent = read(ExamplesView, subject, source=FILE, table=read_file(path))
    assert "9 questions in the file." in sent.compute(subject)["about"]
    other = read(ExamplesView, subject, kind=TEXTS, source=FILE, table=sent.table)
    assert "'An answer in a text' above" in other.compute(subject)["about"]
    change = other.on_table(subject, sent.table).settings
    assert (change["kind"], change["source"], change["table"]) == (ANSWERS, FILE, sent.table)
    assert change["layers"] == subject.model.capabilities.layers
    assert sent.on_source(subject, TYPED).settings["table"] is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "no questions"),
        ("Who? | Anna", "Line 1 is a question without a text"),
        ("Anna sleeps.\nWho sleeps? | Tom", "The answer of line 2 is not in its text"),
        ("Anna sleeps.\n | Anna", "The question in line 2 is empty"),
        ("Anna sleeps.\nWho sleeps? | Anna", "on one text"),
        ("Anna sleeps.\nWho? | Anna\n\nWho eats? | Tom", "Line 4 is a question without"),
    ],
)
def test_typed_lines_that_make_no_sense_are_told(lines, said, refusal):
    assert said in refusal(InputError, lambda: read_typed(lines))


def test_typed_lines_are_texts_with_their_questions():
    found = read_typed("Anna sleeps.\nShe is tired.\nWho sleeps? | Anna\nWho eats? |\nTom eats.\nWho eats? | Tom")
    assert found.texts == ["Anna sleeps. She is tired.", "Tom eats."]
    assert [(one.question, one.answer) for one in found.rows] == [
        ("Who sleeps?", "Anna"),
        ("Who eats?", ""),
        ("Who eats?", "Tom"),
    ]
    assert len(read_typed(QUESTIONS)) == 9


def test_mistakes_are_all_of_them(subject, run):
    shown, held = read(Result, subject, run=run.id).compute(subject), run.held_out
    wrong = shown["sentences"]["value"]["data"]
    count = sum(not exact_match(said, accepted) for said, accepted in zip(held.said, held.accepted, strict=True))
    assert len(wrong) == count > 0
    assert shown["note"].startswith(f"{len(wrong)} of {len(held.questions)}")
    assert all(row[1].lower() not in row[2].lower().split(" or ") for row in wrong)


def test_the_answer_is_marked_and_its_numbers_are_there(subject, run, tiny):
    samples = OURS[frozenset(Answerer.own_labels)]
    for question, text in (samples[0], samples[-1]):
        shown = read(TryIt, subject, run=run.id, tried=question, second=text).compute(subject)
        found = run.predictor.answer(tiny, question, text)
        marked = shown["found"]
        assert marked["marked"] == found.text
        assert marked["before"] + marked["marked"] + marked["after"] == text
        assert ("No answer" in shown["said"]) == (found.text == "")
        cells = np.array([[cell["share"] for cell in row] for row in shown["row"]["cells"]])
        assert cells.shape == (2, 1 + len(found.window.text_tokens))
        np.testing.assert_allclose(cells[:, 0], found.shares[0], atol=1e-4)
    assert shown["second"] == {"visible": True, "label": "Text"}
    opened = read(TryIt, subject, run=run.id).compute(subject)
    assert (opened["tried"]["value"], opened["second"]["value"]) == samples[0], "in place of a sentence for other labels"


def test_a_run_goes_home_as_a_zip_and_comes_back_with_its_kind(subject, run, tmp_path):
    view = read(Runs, subject, run=run.id, runs=[run.id])
    for press in (view.on_save, view.on_standard):
        assert press(subject, None).content["download"]["visible"]
    path = tmp_path / "mine.zip"
    path.write_bytes(pack(run).read_bytes())
    back = read(Runs, subject, kind=TEXTS).on_load(subject, path)
    assert back.content["note"] == "Answers is loaded."
    assert back.settings["kind"] == ANSWERS
    assert back.settings["runs"][0] == back.settings["run"] != run.id
