"""Lessons on paper: nothing told too early, and codes that lead to their step."""

import json
import re
from dataclasses import replace
from html import unescape
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import pytest
import segno
from markupsafe import escape

from explorer.attention.endpoints import attention
from explorer.export import qr
from explorer.teaching.lessons import printing
from explorer.teaching.lessons.lesson import Example, Option
from explorer.teaching.lessons.printing import picture
from explorer.teaching.lessons.reading import lessons
from explorer.teaching.lessons.sending import as_html, within_a_line
from tests.at_night import at_night

LESSONS = at_night(lessons(), but=lessons()[::5])
SCHOOL = "https://school.example/bert/"
NASTY = '<script>alert(1)</script> & "x"'


def words(page: str) -> str:
    """What is read on a page, without style, codes and the space between."""
    shown = re.sub(r"<(style|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", shown)))


def modules(svg: str) -> list[list[int]]:
    """The dark modules of a code, read off the lines that it is drawn with."""
    size = int(re.search(r'viewBox="0 0 (\d+) ', svg)[1])
    found = [[0] * size for _ in range(size)]
    x = y = 0.0
    for kind, first, second in re.findall(
        r"([Mmh])(-?[\d.]+)(?:[ ,]?(-?[\d.]+))?", re.search(r'stroke="#000".* d="([^"]+)"', svg)[1]
    ):
        if kind == "h":
            for column in range(int(x), int(x + float(first))):
                found[int(y)][column] = 1
            x += float(first)
        else:
            x, y = (float(first), float(second)) if kind == "M" else (x + float(first), y + float(second))
    return [row[qr.QUIET : -qr.QUIET] for row in found[qr.QUIET : -qr.QUIET]]


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


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_every_code_is_that_of_its_step(lesson):
    page = printing.handout(lesson, SCHOOL)
    codes = re.findall(r'<a class="code" href="([^"]+)"[^>]*>(<svg.*?</svg>)\s*</a>', page, re.DOTALL)
    assert len(codes) == len(lesson.steps)
    for number, (address, svg) in enumerate(codes, start=1):
        assert address == printing.link(lesson, number, SCHOOL) == f"{SCHOOL}#lesson={lesson.name}.{number}"
        expected = segno.make(address, micro=False, error="l").matrix
        assert modules(svg) == [list(row) for row in expected]


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


def test_a_page_needs_nothing_from_elsewhere():
    for made in (printing.handout, printing.teacher_sheet):
        page = made(lessons()[0])
        assert not re.search(r"\bsrc=|@import|url\(", page)
        assert "default-src 'none'" in page
        assert "size: A4" in page
        assert "break-inside: avoid" in page


def test_the_app_serves_them_with_codes_to_where_it_was_asked(served):
    lesson = lessons()[0]
    for sheet, made in (("handout", printing.handout), ("teacher", printing.teacher_sheet)):
        with urlopen(f"{served}/bx/lessons/{lesson.name}/{sheet}.html", timeout=60) as answer:
            assert answer.headers["content-type"].startswith("text/html")
            assert "'unsafe-inline'" in re.search(r"style-src ([^;]+)", answer.headers["content-security-policy"])[1]
            assert answer.read().decode() == made(lesson, f"{served.rstrip('/')}/")


NOT_THERE = ["nothing/handout.html", "{name}/answers.html", "{name}/handout.html/x.html", "..%2F..%2Fapp/teacher.html"]


@pytest.mark.parametrize("path", [*NOT_THERE, "nothing/1.json", "{name}/0.json", "{name}/99.json", "{name}/-1.json"])
def test_a_sheet_or_an_answer_that_is_not_there_is_told(served, path):
    with pytest.raises(HTTPError) as caught:
        urlopen(f"{served}/bx/lessons/{path.format(name=lessons()[0].name)}", timeout=60)
    assert caught.value.code == 404
    assert json.loads(caught.value.read())["error"].endswith(".")


def test_who_has_not_logged_in_gets_no_sheet(locked):
    for sheet in ("handout.html", "teacher.html", "1.json"):
        with pytest.raises(HTTPError) as caught:
            urlopen(f"{locked}bx/lessons/{lessons()[0].name}/{sheet}", timeout=60)
        assert caught.value.code == 401
        caught.value.close()
