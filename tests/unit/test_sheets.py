"""Lessons on paper: nothing told too early, and codes that lead to their step."""

import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from markupsafe import escape

from explorer.attention.endpoints import attention
from explorer.teaching.lessons import printing
from explorer.teaching.lessons.lesson import Example, Option
from explorer.teaching.lessons.printing import picture
from explorer.teaching.lessons.reading import lessons
from explorer.teaching.lessons.sending import as_html, within_a_line
from tests.asking import ask
from tests.at_night import at_night

LESSONS = at_night(lessons(), but=lessons()[::5])
SCHOOL = "https://school.example/bert/"
NASTY = '<script>alert(1)</script> & "x"'


def words(page: str) -> str:
    """What is read on a page, without style, codes and the space between."""
    shown = re.sub(r"<(style|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", shown)))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_a_hand_out_asks_and_does_not_tell(lesson):
    page = printing.handout(lesson, SCHOOL)
    read = words(page)
    for step in lesson.steps:
        assert words(step.title) in read
        assert as_html(step.before) in page
        assert not step.after or as_html(step.after) not in page
        for option in step.options:
            assert f"<li>{escape(option.text)}" in page
            assert words(within_a_line(option.feedback)) not in read
        if step.exercise:
            assert within_a_line(step.exercise.task) in page
    assert "One solution" not in page
    asked = sum(bool(step.options) for step in lesson.steps)
    assert page.count("Because") >= asked
    assert page.count("<i></i>") == asked + 4 * (len(lesson.steps) - asked)
    assert not re.search(r'✓|class="(right|wrong|after|tried)', page)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_a_teachers_sheet_tells_everything(lesson):
    page = printing.teacher_sheet(lesson, SCHOOL)
    assert f"{lesson.minutes} minutes, {len(lesson.steps)} steps" in page
    for step in lesson.steps:
        assert as_html(step.before) in page
        assert as_html(step.after) in page
        for option in step.options:
            assert within_a_line(option.feedback) in page
            sign = "✓" if option.right else ""
            assert f"<td>{sign}</td><td>{escape(option.text)}</td><td>" in page
    for example in (*lesson.works, *lesson.fails):
        assert within_a_line(example.outcome) in page
        assert all(escape(text) in page for text in example.texts)
    assert all(escape(source) in page for source in lesson.sources)
    assert lesson.aims
    assert all(f"<li>{within_a_line(one)}" in page for one in lesson.aims)
    for step in lesson.steps:
        assert f"{escape(step.title)} <small>{step.minutes} min</small>" in page


def test_a_hand_out_shows_the_weights_that_it_asks_about():
    by_number = {one.number: one for one in lessons()}
    page = printing.handout(by_number[3], SCHOOL)
    drawn = re.findall(r'fill-opacity="([\d.]+)"', page)
    step = by_number[3].steps[0]
    expected = attention(text_a=step.link["a"], layer=int(step.link["layer"]), head=int(step.link["head"]))["weights"]
    np.testing.assert_allclose(np.array(drawn, float), np.ravel(expected), atol=6e-4)
    covered = replace(by_number[3].steps[0], cover="attention-head-heatmap")
    assert picture(covered) == "", "it would tell the answer"


@pytest.mark.parametrize("made", [printing.handout, printing.teacher_sheet])
def test_what_a_file_says_is_text_and_no_html(made):
    lesson = lessons()[0]
    step = replace(
        lesson.steps[0],
        title=NASTY,
        link={"a": NASTY, "tab": "tokens"},
        before=NASTY,
        after=NASTY,
        options=(Option(NASTY, True, NASTY),),
    )
    spoiled = replace(
        lesson, title=NASTY, about=NASTY, sources=(NASTY,), steps=(step,), works=(Example((NASTY,), NASTY, ()),), fails=()
    )
    page = made(spoiled, 'http://x"><script>/')
    assert "<script" not in page
    assert page.count("<style>") == 1
    assert "&lt;script&gt;" in page


def test_the_app_serves_them_with_codes_to_where_it_was_asked(served):
    lesson = lessons()[0]
    for sheet, made in (("handout", printing.handout), ("teacher", printing.teacher_sheet)):
        _, headers, body = ask(served, "GET", f"/bx/lessons/{lesson.name}/{sheet}.html")
        assert headers["content-type"].startswith("text/html")
        assert "'unsafe-inline'" in re.search(r"style-src ([^;]+)", headers["content-security-policy"])[1]
        assert body.decode() == made(lesson, f"{served.rstrip('/')}/")


NOT_THERE = ["nothing/handout.html", "{name}/answers.html", "{name}/handout.html/x.html", "..%2F..%2Fapp/teacher.html"]


@pytest.mark.parametrize("path", [*NOT_THERE, "nothing/1.json", "{name}/0.json", "{name}/99.json", "{name}/-1.json"])
def test_a_sheet_or_an_answer_that_is_not_there_is_told(served, path):
    status, _, body = ask(served, "GET", f"/bx/lessons/{path.format(name=lessons()[0].name)}")
    assert (status, json.loads(body)["error"][-1]) == (404, ".")
