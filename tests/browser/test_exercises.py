"""Exercises: checked on what the page shows, kept, and proven to a teacher by a link."""

from explorer.export import links
from explorer.teaching.lessons.reading import lessons
from tests.browser.expecting import expect
from tests.browser.steps import settled, visit

NAME = "03-one-head.1"
STEP = lessons()[3].steps[0]


def test_an_exercise_is_checked_kept_and_proven_by_its_link(open_app, new_page, served):
    page = open_app()
    page.evaluate("() => { BertExplorer.lessons.close(); localStorage.clear(); }")
    page.evaluate("(name) => BertExplorer.lessons.open(name)", NAME)
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
