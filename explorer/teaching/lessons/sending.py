"""Lessons as JSON for the page: links as query strings, Markdown rendered to HTML, and the answer of each step separately."""

import functools
from typing import Any

from explorer.core.markdown import markdown
from explorer.export import links
from explorer.teaching.lessons.lesson import Lesson
from explorer.teaching.lessons.reading import lessons

_MARKDOWN = markdown()


@functools.cache
def sent() -> dict[str, Any]:
    """All lessons. Raises LessonError, and ModelError if a step's model cannot be loaded."""
    return {"lessons": [_lesson(lesson) for lesson in lessons()]}


def answer(lesson: Lesson, number: int) -> dict[str, Any]:
    """The answer of a step, numbers from 1: which options are right, the feedback to each, and the text after it."""
    step = lesson.steps[number - 1]
    options = [{"right": option.right, "feedback": within_a_line(option.feedback)} for option in step.options]
    return {"options": options, "after": as_html(step.after)}


def as_html(text: str) -> str:
    """Markdown as HTML; HTML in it is escaped."""
    return _MARKDOWN.render(text)


def within_a_line(text: str) -> str:
    """Markdown as HTML without a paragraph around it."""
    return _MARKDOWN.renderInline(text)


def _lesson(lesson: Lesson) -> dict[str, Any]:
    steps = [_step(lesson, number) for number in range(1, len(lesson.steps) + 1)]
    return {
        "name": lesson.name,
        "number": lesson.number,
        "title": lesson.title,
        "about": lesson.about,
        "minutes": lesson.minutes,
        "sources": list(lesson.sources),
        "steps": steps,
    }


def _step(lesson: Lesson, number: int) -> dict[str, Any]:
    step = lesson.steps[number - 1]
    return {
        "title": step.title,
        "minutes": step.minutes,
        "query": links.query(step.place),
        "point": step.point,
        "spot": list(step.spot),
        "cover": step.cover,
        "round": {"kind": step.round, "query": links.query(step.asked)} if step.round else None,
        "before": as_html(step.before),
        "options": [option.text for option in step.options],
        "answered": bool(step.options or step.after),
        "exercise": {"name": lesson.step_name(number), "task": within_a_line(step.exercise.task)} if step.exercise else None,
    }
