"""The views for answers in texts, without the page: what there is to learn from, and what a run finds."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.core.steps import finished
from explorer.finetune.cards import OURS
from explorer.finetune.compute import store
from explorer.finetune.compute.answers import Answerer, exact_match, places_of
from explorer.finetune.compute.export import pack
from explorer.finetune.compute.from_table import built_in, read_file
from explorer.finetune.compute.store import new_run
from explorer.finetune.compute.task import Task, run_training
from explorer.finetune.examples import ExamplesView
from explorer.finetune.outcome import Outcome
from explorer.finetune.recipe import ANSWERS, FILE, READY, TEXTS, TYPED, Recipe
from explorer.finetune.result import Result
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


def test_runs_of_another_kind_are_not_looked_at(subject, run, bundled):
    opened = Outcome().find(Subject(bundled.name, "", ""))
    other = store.keep(replace(opened, id=""))  # another one may be there
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
    questions = built_in("answers")
    shown = read(ExamplesView, subject, source=READY).compute(subject)
    assert shown["about"].startswith(f"{len(questions):,} questions on {len(questions.texts):,} texts")
    typed = read(ExamplesView, subject, source=TYPED)
    assert typed.examples()[0] is questions, "a link from the time when questions were typed"
    assert typed.title(questions) == "Answers"
    assert "hoose" in read(ExamplesView, subject, source=FILE).compute(subject)["about"]


def test_a_file_of_questions_chooses_its_kind_of_task(subject, tmp_path):
    questions, path = built_in("answers"), tmp_path / "mine.json"
    rows = [
        {"question": one.question, "context": one.text, "answers": {"text": [], "answer_start": []}} for one in questions.rows[:9]
    ]
    rows[0]["answers"] = {"text": [questions.rows[0].answer], "answer_start": [questions.rows[0].start]}
    path.write_text(json.dumps(rows), "utf-8")
    sent = read(ExamplesView, subject, source=FILE, file=read_file(path))
    assert "9 questions in the file." in sent.compute(subject)["about"]
    other = read(ExamplesView, subject, kind=TEXTS, source=FILE, file=sent.file)
    assert "'An answer in a text' above" in other.compute(subject)["about"]
    change = other.on_file(subject, sent.file).settings
    assert (change["kind"], change["source"], change["file"]) == (ANSWERS, FILE, sent.file)
    assert change["layers"] == subject.model.capabilities.layers
    assert sent.on_source(subject, TYPED).settings["file"] is None


def test_mistakes_are_all_of_them(subject, run):
    shown, held = read(Result, subject, run=run.id).compute(subject), run.held_out
    wrong = shown["sentences"]["value"]["data"]
    count = sum(not exact_match(said, accepted) for said, accepted in zip(held.said, held.accepted, strict=True))
    assert len(wrong) == count > 0
    assert shown["note"].startswith(f"{len(wrong)} of {len(held.questions)}")
    assert all(row[2].rpartition(", ")[0].lower() not in row[1].lower().split(" or ") for row in wrong)


def test_the_answer_is_marked_and_its_numbers_are_there(subject, run, tiny):
    samples = OURS[frozenset(Answerer.own_labels)]
    for question, text in (samples[0], samples[-1]):
        shown = read(TryIt, subject, run=run.id, tried=question, second=text).compute(subject)
        found = run.predictor.answer(tiny, question, text)
        assert found.text in shown["said"]
        assert text[found.start : found.end] == found.text
        assert ("No answer" in shown["said"]) == (found.text == "")
        cells = np.array([[cell["share"] for cell in row] for row in shown["row"]["cells"]])
        assert cells.shape == (2, 1 + len(places_of(found.encoding, len(found.shares))))
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
