"""The views for answers in texts, without the page: what there is to learn from, and what a run finds."""

import json

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.answer_examples import FILE, STARTER, TYPED, AnswerExamples
from explorer.finetune.answer_result import RIGHT, AnswerResult
from explorer.finetune.answer_try import SAMPLES, AnswerTry
from explorer.finetune.compute.questions import built_in, read_questions, read_typed
from explorer.finetune.compute.training import new_run, run_training
from explorer.finetune.outcome import AnswerBaselines, AnswerOutcome, Outcome
from explorer.finetune.recipe import AnswerRecipe
from explorer.finetune.run import opening_run
from explorer.finetune.runs import AnswerRuns
from explorer.ui.subject import Subject


@pytest.fixture(scope="module")
def subject(tiny):
    """No text at all: this tab needs none."""
    return Subject(tiny.name, "", "")


@pytest.fixture(scope="module")
def run(tiny):
    view, recipe = AnswerExamples(), AnswerRecipe(answer_layers=1, answer_epochs=1)
    questions, _ = view.examples()
    return new_run(finished(run_training(view.task(tiny, questions, recipe.plan(tiny)))), view.title(questions))


def read(view, subject, **given):
    return view.read(given, subject.model.capabilities)


def test_every_view_shows_the_run(subject, run):
    for view in (AnswerBaselines, AnswerOutcome, AnswerResult, AnswerTry, AnswerRuns):
        asked = read(view, subject, run=run.id, runs=[run.id])
        shown = asked.compute(subject)
        assert shown["run"] == run.id, view.name
        assert set(shown) <= {*view.parts, *view.settings}
        assert asked.changed() == {}


def test_runs_of_another_kind_are_not_looked_at(subject, run, bundled):
    other = opening_run(bundled.name)
    shown = read(AnswerRuns, subject, run=other.id, runs=[other.id, run.id]).compute(subject)
    assert shown["run"] == run.id
    assert [identifier for _, identifier in shown["answers_opened"]["choices"]] == [run.id]
    assert read(Outcome, subject, run=run.id, runs=[run.id, other.id]).compute(subject)["run"] == other.id


def test_the_end_is_told_beside_what_needs_no_bert(subject, run):
    view = read(AnswerOutcome, subject, run=run.id)
    assert "held-out exact match" in view.compute(subject)["status"]
    assert "95% interval). Always no answer: 17%" in view.finding(subject).text
    (group,) = read(AnswerBaselines, subject, run=run.id).compute(subject)["compared"]["groups"]
    assert [row["label"] for row in group["rows"]] == ["this run", "word overlap", "no answer, always"]
    assert group["rows"][0]["share"] == pytest.approx(run.score)


def test_questions_are_described(subject, tmp_path):
    questions = built_in()
    shown = AnswerExamples().compute(subject)
    assert shown["about"].startswith(f"{len(questions):,} questions on {len(questions.texts):,} texts")
    beside = read(AnswerExamples, subject, asked_from=TYPED)
    assert len(beside.examples()[0]) == len(questions) + 9
    assert "9 are yours" in beside.compute(subject)["about"]
    typed = read(AnswerExamples, subject, asked_from=TYPED, asked_beside=False)
    assert typed.compute(subject)["about"].startswith("9 questions on 3 texts, 2 of them without")
    assert sum(row["share"] for row in typed.compute(subject)["balance"]["groups"][0]["rows"]) == pytest.approx(1)
    assert "hoose" in read(AnswerExamples, subject, asked_from=FILE).compute(subject)["about"]
    path = tmp_path / "mine.json"
    rows = [
        {"question": one.question, "context": one.text, "answers": {"text": [], "answer_start": []}} for one in questions.rows[:9]
    ]
    rows[0]["answers"] = {"text": [questions.rows[0].answer], "answer_start": [questions.rows[0].start]}
    path.write_text(json.dumps(rows), "utf-8")
    sent = read(AnswerExamples, subject, asked_from=FILE, asked_file=read_questions(path))
    assert "9 questions in the file." in sent.compute(subject)["about"]
    assert sent.on_asked_from(subject, TYPED).settings == {"asked_file": None}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "no questions"),
        ("Who? | Anna", "Line 1 is a question without a text"),
        ("Anna sleeps.\nWho sleeps? | Tom", "The answer of line 2 does not stand"),
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
    assert len(read_typed(STARTER)) == 9


def test_wrong_and_right_answers_are_all_of_them(subject, run):
    wrong, right = (read(AnswerResult, subject, run=run.id, answers_shown=shown).compute(subject) for shown in ("Wrong", RIGHT))
    held = run.held_out
    assert len(wrong["listed"]) + len(right["listed"]) == len(held.questions) == sum(row[1] for row in wrong["by_word"])
    assert {row[0] for row in (*wrong["listed"], *right["listed"])} == set(held.questions)
    assert wrong["note"].startswith(f"{len(wrong['listed'])} of {len(held.questions)}")
    assert all(row[1].lower() not in row[2].lower().split(" or ") for row in wrong["listed"])


def test_the_answer_is_marked_and_its_numbers_are_there(subject, run, tiny):
    for question, text in (SAMPLES[0], SAMPLES[-1]):
        shown = read(AnswerTry, subject, run=run.id, asked=question, asked_text=text).compute(subject)
        found = run.predictor.answer(tiny, question, text)
        marked = shown["found"]
        assert marked["marked"] == found.text
        assert marked["before"] + marked["marked"] + marked["after"] == text
        assert ("No answer" in shown["verdict"]) == (found.text == "")
        cells = np.array([[cell["share"] for cell in row] for row in shown["row"]["cells"]])
        assert cells.shape == (2, 1 + len(found.window.text_tokens))
        np.testing.assert_allclose(cells[:, 0], found.shares[0], atol=1e-4)
        np.testing.assert_allclose(shown["looks"].data[0].z, run.predictor.looks(tiny, found), atol=1e-6)


def test_a_run_goes_home_as_a_zip_and_comes_back(subject, run, tmp_path):
    view = read(AnswerRuns, subject, run=run.id, runs=[run.id])
    for press in (view.on_save, view.on_standard):
        assert press(subject, None).content["download"]["visible"]
    from explorer.finetune.compute.export import pack

    path = tmp_path / "mine.zip"
    path.write_bytes(pack(run).read_bytes())
    back = view.on_answers_load(subject, path)
    assert back.content["note"] == "Answers is loaded."
    assert back.settings["runs"][0] == back.settings["run"] != run.id
