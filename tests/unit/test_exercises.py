"""Exercises of lessons: solvable on the shipped model, not done when they open, and checked on what the page shows."""

import json
from dataclasses import replace

import pytest

from explorer.export import links
from explorer.teaching.lessons import exercises
from explorer.teaching.lessons.lesson import LessonError
from explorer.teaching.lessons.reading import lessons, read
from tests.asking import ask
from tests.unit.test_lessons import GOOD, written  # noqa: F401

ALL = [
    pytest.param(step, id=f"{lesson.name}.{number}")
    for lesson in lessons()
    for number, step in enumerate(lesson.steps, start=1)
    if step.exercise
]
HEADS = "03-one-head.1"
EXERCISE = """
exercise: Say *it*.
check: the first | tokens(text_a=a) kept = 5
solution: a=Hi you.
"""


def asked(name: str, **changes: str) -> exercises.Verdict:
    """The verdict on the place where a step begins, changed."""
    lesson, exercise = exercises.exercise_of(name)
    step = lesson.steps[int(name.rpartition(".")[2]) - 1]
    return exercises.check(exercise, replace(step, link={**step.link, **changes}).place)


def test_every_lesson_has_an_exercise():
    assert [lesson.name for lesson in lessons() if not lesson.exercises] == []


@pytest.mark.parametrize("step", ALL)
def test_a_solution_passes_and_the_beginning_does_not(step):
    solved = step.solved
    assert not solved.told
    verdict = exercises.check(step.exercise, solved)
    assert verdict.done, verdict.told
    assert exercises.check(step.exercise, exercises.place_of(verdict.query)).done, "the link is a proof"
    opened = exercises.check(step.exercise, step.place)
    assert not opened.done
    assert opened.told.startswith("Not yet: ")
    assert opened.told.endswith(".")
    assert "leads nowhere" not in opened.told


def test_what_is_found_is_told_beside_what_is_asked_for(bundled):
    sentence = "The keys to the old cabinet are on the table."
    trace = bundled.trace(sentence, "")
    row, column = trace.tokens.index("on"), trace.tokens.index("table")
    weight = float(trace.attention(3)[1, row, column])
    assert asked(HEADS).told == f"Not yet: the weight from “on” to “table” is {weight:.2f}, the task asks for 0.5 or more."
    assert asked(HEADS, layer="2", head="8").told.startswith("Done: the weight from “on” to “table” is 0.8")


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        (HEADS, {"a": ""}, "Not yet: the text is empty, the task asks for “The keys"),
        ("07-masked-words.7", {"a": ""}, "Text A is empty. Type a sentence."),
        ("07-masked-words.7", {"a": "No blank here."}, "[MASK]"),
        ("07-masked-words.7", {"a": "Milk and [MASK]."}, "Not yet: the text has “milk”."),
        ("07-masked-words.7", {"a": "The capital of France is [MASK]."}, "is “paris”, the task asks for “milk”."),
        ("05-it-what-attention-tells.3", {"a": "It was raining.", "token": "1"}, "“animal” is not among the pieces of your text"),
        ("09-one-word-many-meanings.6", {"a": "The light.", "b": ""}, "Not yet: "),
        ("06-the-rest-of-a-layer.1", {"a": "I drank.", "token": "1"}, "“water” is not among the pieces of your text"),
        ("16-padding-and-batches.5", {"tab": "tokens", "view": "pieces", "a": "Hi."}, "The page shows another view now"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(name, changes, told):
    verdict = asked(name, **changes)
    assert not verdict.done
    assert told in verdict.told
    assert verdict.told.startswith("Not yet: ")


def test_another_model_than_the_apps_is_named(tiny_folder):
    step = lessons()[13].steps[4]
    model = str(tiny_folder)

    def verdict(place):
        return exercises.check(step.exercise, replace(place, subject=replace(place.subject, model_name=model)))

    done, begun = verdict(step.solved), verdict(step.place)
    assert (done.done, done.told, done.model) == (True, f"Done with the model {model}.", model)
    assert (begun.done, begun.model) == (False, model)
    assert begun.told.startswith(f"Not yet with the model {model}: ")
    assert exercises.check(step.exercise, step.solved).model == ""


def test_an_exercise_is_read(written):  # noqa: F811
    lesson = read(written(GOOD + EXERCISE))
    assert list(lesson.exercises) == ["01-made-up.3"]
    exercise = lesson.exercises["01-made-up.3"]
    assert (exercise.task, exercise.solution) == ("Say *it*.", {"a": "Hi you."})
    assert lesson.steps[2].before == "The end."
    assert exercises.check(exercise, lesson.steps[2].solved).done


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("check: ", "checks: ", 40),
        ("the first | ", "", 41),
        ("kept = 5", "kept is 5", 41),
        ("text_a=a", "text_a=a + 1", 41),
        ("solution: a=Hi you.\n", "", 40),
        ("a=Hi you.", "text=Hi you.", 42),
    ],
)
def test_a_mistake_in_an_exercise_is_told_with_its_line(written, old, new, line):  # noqa: F811
    with pytest.raises(LessonError, match=rf"^01-made-up\.md, line {line}: .*\.$"):
        read(written(GOOD + EXERCISE.replace(old, new)))


def test_the_app_checks_the_link_of_a_page(served):
    def get(path):
        status, _, body = ask(served, "GET", f"/bx/exercises/{path}")
        return json.loads(body) if status == 200 else (status, json.loads(body)["error"])

    step = lessons()[3].steps[0]
    found = get(f"{HEADS}?{links.query(step.solved)}")
    assert found["done"]
    assert found["told"].startswith("Done: ")
    assert get(f"{HEADS}?{found['query']}") == found
    assert not get(f"{HEADS}?{links.query(step.place)}")["done"]
    assert "too long for a link" in get(HEADS)["told"]
    assert get("03-one-head.9?v=1&a=Hi.") == (400, exercises.UNKNOWN)
