"""Lessons: every step walked through, and what was answered found again."""

import pytest

from explorer.teaching.lessons.printing import link
from explorer.teaching.lessons.reading import lessons
from tests.at_night import at_night
from tests.browser.expecting import expect
from tests.browser.steps import settled
from tests.browser.test_everyone import AXE, wrong


def begin(page, name):
    """Open a lesson at its beginning, as if for the first time."""
    page.evaluate("() => { BertExplorer.lessons.close(); localStorage.clear(); }")
    page.evaluate("(name) => BertExplorer.lessons.open(name)", name)
    expect(page.locator("#lessons .bx-lesson-where")).to_contain_text("Step 1 of")


def walked():
    """Of each lesson the numbers of the steps to walk: the last one, and those that point at a place where none before did."""
    seen, found = set(), {}
    for lesson in lessons():
        places = [(step.link.get("tab"), step.link.get("view"), step.point, step.cover, step.spot) for step in lesson.steps]
        new = [n for n, place in enumerate(places, start=1) if place not in seen and place not in places[: n - 1]]
        found[lesson.name] = sorted({*new, len(places)})
        seen |= set(places)
    return found


WALKED = walked()


@pytest.mark.parametrize("lesson", at_night(lessons(), but=lessons()[15:16]), ids=lambda one: one.name)
def test_every_place_that_a_step_points_at_is_there(open_app, lesson):
    page = open_app()
    begin(page, lesson.name)
    panel, shown = page.locator("#lessons"), 1
    for number in WALKED[lesson.name]:
        step = lesson.steps[number - 1]
        if number != shown:
            page.evaluate("(step) => BertExplorer.lessons.open(step)", f"{lesson.name}.{number}")
        expect(panel.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        covered = ".view" if step.cover == "view" else f"#{step.cover}"
        if step.cover:
            expect(page.locator(f"{covered}[data-covered]").locator("visible=true")).to_have_count(1)
        if step.point:  # what is covered is out of the document, and what covers it is pointed at
            place = f":is(#{step.point}, {covered}[data-covered])" if step.cover else f"#{step.point}"
            expect(page.locator(f"{place}[data-pointed]")).to_be_visible()
        if step.options:
            right = next(one for one in step.options if one.right)
            panel.get_by_role("button", name=right.text, exact=True).click()
            expect(panel.locator(".bx-lesson-feedback")).to_contain_text("Yes.")
        elif step.after:
            panel.get_by_role("button", name="Show", exact=True).click()
        expect(page.locator("[data-covered]")).to_have_count(0)
        settled(page)
        expect(page.locator("[data-spot]")).to_have_count(1 if step.spot else 0)
        expect(page.locator("#text-a textarea")).to_have_value(step.link["a"])
        panel.get_by_role("button", name="Done" if number == len(lesson.steps) else "Next ›").click()
        shown = number + 1
    expect(panel.get_by_role("button", name=lesson.title)).to_contain_text("✓ done")


def test_a_wrong_guess_is_told_and_found_again(open_app, served):
    lesson = lessons()[0]
    page = open_app()
    begin(page, lesson.name)
    panel = page.locator("#lessons")
    option = next(one for one in lesson.steps[0].options if not one.right)
    panel.get_by_role("button", name=option.text, exact=True).click()
    expect(panel.locator(".bx-lesson-feedback")).to_contain_text("Not quite.")
    expect(panel.locator(".bx-wrong")).to_contain_text(option.text)
    panel.get_by_role("button", name="Next ›").click()
    settled(page)
    panel.get_by_role("button", name="Close the lessons").click()
    expect(panel).to_have_count(0)
    page.locator("#open-lessons").click()
    expect(panel.get_by_role("button", name=lesson.title)).to_contain_text(f"at 2 of {len(lesson.steps)}")
    panel.get_by_role("button", name=lesson.title).click()
    panel.get_by_role("button", name="‹ Back").click()
    expect(panel.locator(".bx-wrong")).to_contain_text(option.text)
    settled(page)
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(page.locator("[data-pointed], [data-covered]")).to_have_count(0)


def test_a_link_leads_to_a_step_on_a_phone_where_what_it_tells_and_points_at_is_seen(new_page, served):
    lesson = lessons()[2]
    page = new_page(viewport={"width": 420, "height": 860})
    page.goto(link(lesson, 2, f"{served}/"))
    panel = page.locator("#lessons")
    expect(panel.get_by_role("heading", name=lesson.steps[1].title)).to_be_visible()
    expect(page.locator("[data-pointed]")).to_be_visible()
    settled(page)
    assert page.evaluate("() => Math.max(0, document.documentElement.scrollWidth - innerWidth)") == 0
    page.evaluate(AXE)
    assert not wrong(page, "#lessons")
    page.evaluate("() => document.body.classList.toggle('dark')")
    assert not wrong(page, "#lessons", ["color-contrast"])
    page.get_by_role("button", name="‹ All lessons").click()
    assert not wrong(page, "#lessons")

    lesson = lessons()[16]  # points at the very end of a page
    page.evaluate("(step) => { BertExplorer.lessons.open(step); }", f"{lesson.name}.2")
    expect(panel.get_by_role("heading", name=lesson.steps[1].title)).to_be_visible()
    expect(page.locator("[data-pointed]")).to_have_count(1)
    right = next(one for one in lesson.steps[1].options if one.right)
    panel.get_by_role("button", name=right.text, exact=True).click()
    told = panel.locator(".bx-lesson-feedback").bounding_box()
    assert told["y"] + told["height"] < panel.locator("nav").bounding_box()["y"]
    page.wait_for_function("() => document.querySelector('[data-pointed]')?.getBoundingClientRect().top < innerHeight / 4")
