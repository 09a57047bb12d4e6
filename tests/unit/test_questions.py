"""Questions on texts: what files may say, where an answer stands, how right one is, and what is held out."""

import json

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.core.limits import TEXTS
from explorer.finetune.compute.answers import best_span, exact_match, f1, normalise_answer
from explorer.finetune.compute.from_table import built_in, read_file
from explorer.finetune.compute.questions import Questions, check_questions, place, read_questions

TEXT, OTHER = "Anna has a red car.", "Tom lives in Rome."
FLAT = [
    {"question": "What colour is the car?", "context": TEXT, "answers": {"text": ["red"], "answer_start": [11]}},
    {"question": "Where does Tom live?", "context": OTHER, "answers": {"text": ["in Rome", "Rome"], "answer_start": [10, 13]}},
    {"question": "Who has a boat?", "context": TEXT, "answers": {"text": [], "answer_start": []}},
]


def nested(impossible=True):
    """The same questions as SQuAD nests them; version 1.1 has none without an answer."""
    articles = {}
    for row in FLAT:
        pairs = zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True)
        asked = {"id": "x", "question": row["question"], "answers": [{"text": t, "answer_start": s} for t, s in pairs]}
        if impossible:
            asked["is_impossible"] = not asked["answers"]
        if impossible or asked["answers"]:
            articles.setdefault(row["context"], []).append(asked)
    paragraphs = [{"context": text, "qas": asked} for text, asked in articles.items()]
    return {"version": "v2.0", "data": [{"title": "x", "paragraphs": [one]} for one in paragraphs]}


def written(tmp_path, content, encoding="utf-8"):
    path = tmp_path / "questions.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding)
    return path


def test_the_forms_of_squad_say_the_same(tmp_path):
    lines = "\n".join(map(json.dumps, FLAT))
    readings = [read_file(written(tmp_path, one)) for one in (FLAT, lines, nested())]
    readings.append(read_file(written(tmp_path, nested(), "utf-16")))
    assert all(set(one.rows) == set(readings[0].rows) for one in readings)
    assert readings[0].rows[1].answers == ("in Rome", "Rome")
    assert readings[0].rows[1].span == (10, 17)
    assert readings[0].unanswered == 1
    assert len(read_questions(written(tmp_path, nested(impossible=False)))) == 2


def answered(answer, start):
    return [{**FLAT[0], "answers": {"text": [answer], "answer_start": [start]}}, FLAT[1]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not in SQuAD"),
        ("[" * 100_000, "not in SQuAD"),
        ('{"data": [{"title": "x"}]}', "not in SQuAD"),
        ([{"question": "Who?", "context": TEXT}], "not in SQuAD"),
        ({"data": []}, "no questions"),
        (nested()["data"], "not in SQuAD"),
        ({"data": [{"paragraphs": [{"context": TEXT, "qas": [{"question": "Who?"}]}]}]}, "as in a test set"),
        (answered("red", 12), "question 1 is not at character"),
        (answered("red", 30), "question 1 is not at character"),
        (answered("red", -3), "question 1 is not at character"),
        (answered("red", "11"), "not in SQuAD"),
        (answered("", 0), "question 1 is empty"),
        ([{**FLAT[0], "question": ""}, FLAT[1]], "Question 1 is empty"),
        ([FLAT[2], {**FLAT[2], "context": OTHER}], "No question has an answer"),
        ([FLAT[0], FLAT[2]], "All questions are on one text"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_a_sentence(tmp_path, content, said, refusal):
    assert said in refusal(InputError, lambda: read_questions(written(tmp_path, content)))


def test_of_a_large_file_as_many_are_drawn_as_can_be_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(TEXTS, "most", 10)
    rows = [{**FLAT[number % 2], "context": FLAT[number % 2]["context"] + f" {number}"} for number in range(40)]
    found = read_questions(written(tmp_path, rows))
    assert len(found) == 10
    assert found.about == "10 of 40 questions in the file drawn at random."


def test_an_answer_is_found_as_whole_words_first():
    assert place("Who?", "Tom", "Tomorrow Tom comes.").span == (9, 12)
    assert place("Where?", "IN ROME", OTHER).answers == ("in Rome",)
    assert place("Who?", "", OTHER).span is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("Who?", "list of"),
        ([["Who?", TEXT]], "Example 1 is not"),
        ([["Who?", TEXT, "Anna"], ["Who?", OTHER, "Anna"]], "example 2 is not in its text"),
        ([["Who?", TEXT, "Anna"], ["", OTHER, "Tom"]], "question of example 2 is empty"),
        ([["Who?", TEXT, 7], ["Who?", OTHER, "Tom"]], "answer of example 1"),
    ],
)
def test_examples_that_are_none_are_refused(given, said, refusal):
    assert said in refusal(InputError, lambda: check_questions(given))


def test_the_built_in_questions_have_their_answers_in_the_text_once():
    questions = built_in("answers")
    assert len(questions) >= 400
    assert 0.12 <= questions.unanswered / len(questions) <= 0.2
    assert all(one.text.count(one.answer) == 1 or one.answer.islower() for one in questions.rows if one.answers)
    assert all(one.text[slice(*one.span)] == one.answer for one in questions.rows if one.answers)
    assert all(one.question.endswith("?") for one in questions.rows)
    assert len({(one.question, one.text) for one in questions.rows}) == len(questions)


def test_all_questions_on_a_text_are_on_one_side():
    questions = built_in("answers")
    for seed in range(5):
        parts = questions.split(seed)
        assert sorted([*parts.train, *parts.held_out]) == list(range(len(questions)))
        assert 0.15 <= len(parts.held_out) / len(questions) <= 0.2
        sides = [{questions.rows[row].text for row in rows} for rows in parts]
        assert not sides[0] & sides[1]
    small = Questions((place("Who?", "Anna", TEXT), place("Who?", "Tom", OTHER), place("What?", "", OTHER)))
    assert all(len(rows) for rows in small.split(1))


@pytest.mark.parametrize(
    ("said", "accepted", "match", "words"),
    [
        ("The red car!", ["red car"], 1, 1),
        ("a red car", ["blue car"], 0, 1 / 2),  # 1 of 2 words each
        ("in the old town of Rome", ["Rome"], 0, 2 * (1 / 5) * 1 / (1 / 5 + 1)),  # without "the", five words
        ("red red car", ["red"], 0, 1 / 2),  # 'red' is in common once: precision 1/3, recall 1
        ("red", [], 0, 0),
        ("", [], 1, 1),
        ("The.", [], 1, 1),  # nothing is left of it
    ],
)
def test_exact_match_and_f1_by_hand(said, accepted, match, words):
    assert exact_match(said, accepted) == match
    assert f1(said, accepted) == pytest.approx(words)


def test_an_answer_is_normalised_as_the_evaluation_has_it():
    assert normalise_answer(" The  theatre, an A-team & a “cat” ") == "theatre ateam “cat”"


@pytest.mark.parametrize("longest", [1, 3, 30])
def test_the_best_span_is_the_best_of_all(longest):
    rng = np.random.default_rng(longest)
    for tokens in (1, 2, 9, 40):
        starts, ends = rng.normal(size=(2, tokens))
        spans = [(s, e) for s in range(tokens) for e in range(s, min(s + longest, tokens))]
        assert best_span(starts, ends, longest) == max(spans, key=lambda span: starts[span[0]] + ends[span[1]])
