"""Lessons: every step walked through, what was answered found again, exercises, and terms of the glossary."""

import pytest

from explorer.export import links
from explorer.teaching.lessons.printing import link
from explorer.teaching.lessons.reading import lessons
from tests.at_night import at_night
from tests.browser.expecting import expect
from tests.browser.steps import settled, visit
from tests.browser.test_everyone import AXE, wrong, wrong_in_both


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


BUILD_AGAIN = """() => {
  const old = document.querySelector("[data-pointed]"), copy = old.cloneNode(true);
  delete copy.dataset.pointed;
  old.replaceWith(copy);
}"""


def test_a_link_leads_to_a_step_on_a_phone_where_what_it_tells_and_points_at_is_seen(new_page, served):
    lesson = lessons()[2]
    page = new_page(viewport={"width": 420, "height": 860})
    page.goto(link(lesson, 2, f"{served}/"))
    panel = page.locator("#lessons")
    expect(panel.get_by_role("heading", name=lesson.steps[1].title)).to_be_visible()
    expect(page.locator("[data-pointed]")).to_be_visible()
    settled(page)
    assert page.evaluate("() => Math.max(0, document.documentElement.scrollWidth - innerWidth)") == 0
    page.mouse.wheel(0, 1)  # from now on the page does not scroll by itself
    page.evaluate(AXE)
    assert not wrong_in_both(page, "#lessons")
    page.evaluate(BUILD_AGAIN)
    expect(page.locator("[data-pointed]")).to_be_visible()
    page.get_by_role("button", name="‹ All lessons").click()
    assert not wrong(page, "#lessons")
    page.evaluate("(name) => BertExplorer.lessons.open(name)", lessons()[1].name)  # how many pieces has it?
    for asked in (page.locator("#text-a textarea"), *panel.locator("button.bx-lesson-option").all()):
        expect(asked).to_be_in_viewport(ratio=1)


NAME = "03-one-head.1"
STEP = lessons()[3].steps[0]


def test_an_exercise_is_checked_kept_and_proven_by_its_link(open_app, new_page, served):
    page = open_app()
    begin(page, NAME)
    panel = page.locator("#lessons")
    check, said = panel.get_by_role("button", name="Check", exact=True), panel.locator(".bx-exercise-said")
    settled(page)
    check.press("Enter")
    expect(said).to_contain_text("Not yet: the weight from “on” to “table” is")
    before = check.bounding_box()
    visit(page, f"?{links.query(STEP.solved)}")
    check.click()
    expect(said).to_contain_text("Done: the weight from “on” to “table” is")
    expect(panel.locator(".bx-exercise-mark")).to_have_text("✓ done")
    assert check.bounding_box() == before, "nothing moves when it is told"
    proof = panel.get_by_label("Link to what solved it").input_value()
    assert proof.endswith(f"#exercise={NAME}")
    page.route("**/bx/exercises/*", lambda route: route.abort())
    check.click()
    expect(said).to_have_text("The app does not answer. Try again in a moment.")
    page.unroute("**/bx/exercises/*")
    page.problems.clear()  # of what did not answer
    panel.get_by_role("button", name="‹ All lessons").click()
    item = panel.get_by_role("button", name=lessons()[3].title)
    expect(item).to_contain_text("exercise ✓")
    item.click()
    expect(said).to_have_text("You have done this one.")
    page.evaluate("BertExplorer.lessons.close()")

    # A teacher opens the link: what solved it, with the exercise beside it.
    teacher = new_page(viewport={"width": 420, "height": 860})
    teacher.goto(proof)
    expect(teacher.locator("#lessons .bx-exercise")).to_be_visible()
    teacher.wait_for_function("(query) => BertExplorer.link.linkState.query === query", arg=links.query(STEP.solved))


def test_a_term_is_explained_by_keys_and_by_a_tap_once_in_a_step(open_app):
    page = open_app(viewport={"width": 420, "height": 900}, has_touch=True)
    page.evaluate("BertExplorer.lessons.open('03-one-head.2')")
    terms, meaning = page.locator("#lessons .bx-term"), page.locator("#meaning")
    expect(terms.first).to_be_visible()
    settled(page)  # the step's view has been drawn
    marked = [one.get_attribute("data-term") for one in terms.all()]
    assert len(set(marked)) == len(marked)

    for _ in range(100):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.bx-term')"):
            break
    for _ in range(2):  # what was closed can be opened again
        page.keyboard.press("Enter")
        expect(meaning).to_be_focused()
        page.keyboard.press("Escape")
        expect(meaning).to_be_hidden()
        expect(terms.first).to_be_focused()

    page.evaluate(AXE)
    assert wrong(page, "#lessons") == []  # which scrolls, and that would close a meaning
    terms.last.tap()
    expect(meaning).to_be_visible()
    inside = meaning.bounding_box()
    assert inside["x"] >= 0
    assert inside["x"] + inside["width"] <= 420
    assert wrong(page, "#meaning") == []
    expect(meaning).to_be_visible()
    meaning.get_by_role("link").first.click()
    expect(meaning).to_be_hidden()
    expect(page.locator("#lessons")).to_be_visible()
