"""Terms of the glossary: explained where a lesson uses them, by keys, pointer and tap."""

from tests.browser.expecting import expect
from tests.browser.steps import settled
from tests.browser.test_everyone import AXE, wrong

STEP = "03-one-head.2"


def test_a_term_is_explained_by_keys_and_by_a_tap_once_in_a_step(open_app):
    page = open_app(viewport={"width": 420, "height": 900}, has_touch=True)
    page.evaluate("(step) => BertExplorer.lessons.open(step)", STEP)
    terms, meaning = page.locator("#lessons .bx-term"), page.locator("#meaning")
    expect(terms.first).to_be_visible()
    settled(page)  # the step's view has been drawn
    marked = [one.get_attribute("data-term") for one in terms.all()]
    assert len(set(marked)) == len(marked)
    _unmarked_text_is_as_tall(page)

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


def _unmarked_text_is_as_tall(page) -> None:
    heights = page.evaluate(
        """() => {
            const text = document.querySelector("#lessons .bx-lesson-text"), bare = text.cloneNode(true);
            bare.querySelectorAll(".bx-term").forEach((term) => term.replaceWith(term.textContent));
            text.after(bare);
            const heights = [text.offsetHeight, bare.offsetHeight];
            bare.remove();
            return heights;
        }"""
    )
    assert heights[0] == heights[1] > 0
