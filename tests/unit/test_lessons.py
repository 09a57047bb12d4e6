"""Lessons, their exercises and the glossary: read with the line of every mistake, and true of the shipped model."""

import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from explorer.export import links
from explorer.export.place import slug
from explorer.guide.pages import glossary, terms
from explorer.page.examples import first_subject
from explorer.teaching.classroom import questions, showing
from explorer.teaching.lessons import claims, exercises, printing
from explorer.teaching.lessons.lesson import ROUNDS, LessonError
from explorer.teaching.lessons.reading import FOLDER, lessons, read
from explorer.teaching.lessons.sending import answer, as_html, sent, within_a_line
from tests.asking import ask

LESSONS = lessons()
STEPS = [pytest.param(step, id=f"{lesson.name}:{step.line}") for lesson in LESSONS for step in lesson.steps]
CLAIMS = [pytest.param(one, id=f"{lesson.name}:{one.line}") for lesson in LESSONS for one in lesson.claims]
AROUND = {"view", "strip", "steppers", "text-a", "text-b", "model-box"}  # in every tab

GOOD = """---
title: A title
about: What it is about.
sources:
  - Someone 2019, section 1
minutes: 20
works:
  - One sentence. / And another. → *two* texts | tokens(text_a="One sentence.", text_b="And another.") kept = 9
fails:
  - Ab → it is cut | tokens(text_a="Ab") kept = 3 | view(name="tokens/pieces", text_a="Hi.", settings={"x": ["Ab"]}) check = ""
---

## First
a: One sentence.
b: Another.
tab: tokens
point: strip

Something is **said**.

- [x] yes | Because.
- [ ] no | It is not.

> And explained.

claim: tokens(text_a="One sentence.") kept = 5

## Second
layer: 2
tab: attention
point: steppers | cell 7 2

More is said.

## Third
a: Only this.

The end.
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "01-made-up.md"
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_is_said_of_the_model_is_true(claim):
    assert claims.holds(claim), f"{claim.text}: it is {str(claims.found(claim))[:200]}"


@pytest.mark.parametrize("step", STEPS)
def test_a_step_leads_where_it_says(step):
    place = step.place
    assert not place.told
    known = {slug(f"{view.name}-{part}") for view in map(type, place.views) for part in view.parts}
    known.add(f"{place.tab}-{links.slug(place.choice)}-more")  # what is folded away there
    assert {step.point, step.cover} <= {"", *AROUND, *known}


def test_the_round_of_a_step_can_be_asked(bundled):
    assert tuple(questions.KINDS) == ROUNDS == tuple(printing.ROUNDS)
    rounds = [step for lesson in LESSONS for step in lesson.steps if step.round]
    assert {step.round for step in rounds} == set(ROUNDS)
    for step in rounds:
        asked = showing.question_of({"kind": step.round, "query": links.query(step.asked)})
        assert asked.texts[0] == (step.round_text or step.link["a"])


def test_every_lesson_says_something_that_can_be_wrong():
    for lesson in LESSONS:
        assert any(step.claims for step in lesson.steps), lesson.name
    assert [path.stem for path in sorted(FOLDER.glob("*.md"))] == [lesson.name for lesson in LESSONS]
    assert len({lesson.title for lesson in LESSONS}) == len(LESSONS)
    assert [lesson.number for lesson in LESSONS] == list(range(len(LESSONS))), "from 0, one after the other"


def test_every_lesson_has_an_exercise_and_tells_the_teacher_how_long_it_takes_and_what_to_type():
    for lesson in LESSONS:
        assert lesson.exercises, lesson.name
        assert (lesson.minutes == 5) if lesson.number == 0 else (10 <= lesson.minutes <= 60), lesson.name
        assert len(lesson.works) >= 2, lesson.name


def test_a_lesson_is_read(written):
    lesson = read(written(GOOD))
    assert (lesson.name, lesson.number, lesson.title) == ("01-made-up", 1, "A title")
    assert lesson.sources == ("Someone 2019, section 1",)
    first, second, third = lesson.steps
    assert lesson.minutes == 20
    assert [(one.texts, one.outcome, len(one.claims)) for one in (*lesson.works, *lesson.fails)] == [
        (("One sentence.", "And another."), "*two* texts", 1),
        (("Ab",), "it is cut", 2),
    ]
    assert [claim.line for claim in lesson.claims] == [8, 10, 10, 26]
    assert first.link == {"a": "One sentence.", "b": "Another.", "tab": "tokens"}
    assert (first.point, first.spot) == ("strip", ())
    assert (second.point, second.spot) == ("steppers", ("cell", 7, 2))
    assert (first.before, first.after) == ("Something is **said**.", "And explained.")
    assert [(one.text, one.right, one.feedback) for one in first.options] == [
        ("yes", True, "Because."),
        ("no", False, "It is not."),
    ]
    assert claims.holds(first.claims[0])
    assert second.link == {"a": "One sentence.", "b": "Another.", "tab": "attention", "layer": "2"}
    assert third.link == {"a": "Only this.", "tab": "attention"}, "texts and tabs last, layers do not, and B goes with its A"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("---\ntitle", "title", 1),
        ("about: What it is about.\n", "", 10),
        ("sources:", "source:", 4),
        ("tab: tokens", "tabs: tokens", 16),
        ("point: strip\n", "round: quiz\n", 13),
        ("| cell 7 2", "| cell 7", 28),
        ("- [x] yes", "- [ ] yes", 13),
        ("- [x] yes | Because.", "- [x] yes", 21),
        ("> And explained.", "And explained.", 24),
        ("kept = 5", "kept is 5", 26),
        ("- [x] yes | Because.\n- [ ] no | It is not.\n", "", 36),
        ("minutes: 20", "minutes: twenty", 6),
        ("point: strip", "point: strip\nminutes: 20", 39),
        ("*two* texts | ", "*two* texts ", 8),
        ("Ab → it", "Abc → it", 10),
    ],
)
def test_a_mistake_is_told_with_its_line(written, old, new, line):
    assert GOOD.count(old) == 1
    with pytest.raises(LessonError, match=rf"^01-made-up\.md, line {line}: .*\.$"):
        read(written(GOOD.replace(old, new)))


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ("nothing(a=1) x = 1", "No endpoint is called 'nothing'"),
        ('tokens(text_a="Hi.") ids.9 = 1', "ends at '9'. The answer has list"),
    ],
)
def test_a_claim_that_leads_nowhere_says_so(written, claim, problem):
    lesson = read(written(GOOD.replace('tokens(text_a="One sentence.") kept = 5', claim)))
    with pytest.raises(claims.InputError, match=problem):
        claims.holds(lesson.steps[0].claims[0])


def test_what_is_false_does_not_hold(written):
    lesson = read(written(GOOD.replace("kept = 5", "kept > 5")))
    assert not claims.holds(lesson.steps[0].claims[0])


def test_html_in_a_lesson_is_only_text():
    made = as_html("**bold** <img src=x onerror=alert(1)> [x](javascript:alert(1))")
    assert "<strong>bold</strong>" in made
    assert "<img" not in made
    assert 'href="javascript' not in made


def test_an_answer_is_sent_by_itself():
    for lesson, sent_so in zip(LESSONS, sent()["lessons"], strict=True):
        told = json.dumps(sent_so, ensure_ascii=False)
        for number, step in enumerate(lesson.steps, start=1):
            found = answer(lesson, number)
            assert [one["right"] for one in found["options"]] == [one.right for one in step.options]
            assert found["after"] == as_html(step.after)
            assert not step.after or json.dumps(as_html(step.after), ensure_ascii=False)[1:-1] not in told
            assert all(json.dumps(within_a_line(one.feedback), ensure_ascii=False)[1:-1] not in told for one in step.options)


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


def verdict_on(name: str, **changes: str) -> exercises.Verdict:
    """The verdict on the place where a step begins, changed."""
    lesson, exercise = exercises.exercise_of(name)
    step = lesson.steps[int(name.rpartition(".")[2]) - 1]
    return exercises.check(exercise, replace(step, link={**step.link, **changes}).place)


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
    assert verdict_on(HEADS).told == f"Not yet: the weight from “on” to “table” is {weight:.2f}, the task asks for 0.5 or more."
    assert verdict_on(HEADS, layer="2", head="8").told.startswith("Done: the weight from “on” to “table” is 0.9")


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
    verdict = verdict_on(name, **changes)
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


def test_an_exercise_is_read(written):
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
def test_a_mistake_in_an_exercise_is_told_with_its_line(written, old, new, line):
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


def test_every_heading_of_the_page_is_a_term(guide):
    assert [one.name for one in terms()] == re.findall("^### (.+)$", guide["glossary"], re.MULTILINE)
    assert len(terms()) >= 60


def test_a_word_stands_for_one_term():
    words = [word for one in terms() for word in one.words]
    assert len(set(words)) == len(words)
    assert all(re.fullmatch("[a-z -]+", word) for word in words), "the page joins them to a regular expression"


@pytest.mark.parametrize("term", terms(), ids=lambda one: one.name)
def test_a_term_has_one_sentence_and_leads_to_a_view(term):
    assert re.fullmatch(r"[A-Z].+\.", term.meaning)
    assert not re.search(r"[.!?] [A-Z]", term.meaning)
    assert len(term.meaning) < 250
    given = dict(parse_qsl(term.query, strict_parsing=True))
    assert set(given) <= {"v", "tab", "view"}, "a person's texts stay"
    place = links.read(given, first_subject())
    assert (place.told, place.tab, slug(place.choice)) == ((), given["tab"], given.get("view", slug(place.choice)))
    assert term.where.endswith(place.choice)


def test_meanings_are_sent_as_html():
    token = next(one for one in glossary()["terms"] if one["name"] == "Token")
    assert "<code>[CLS]</code>" in token["meaning"]
