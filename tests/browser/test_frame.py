"""The frame around the pictures: where each begins and ends on the screen of a projector, and what stays visible."""

import pytest

from explorer.export.place import slug
from explorer.tabs import TABS
from tests.browser.expecting import expect
from tests.browser.steps import at, chips, settled, visit

PAIR = "?a=The+capital+of+Japan+is+%5BMASK%5D.&b=It+is+a+city+of+temples+and+skyscrapers."  # 20 tokens
LONGER = "?a=The+capital+of+Japan+is+%5BMASK%5D.&b=It+is+a+large+and+lively+city+of+many+temples+and+skyscrapers."  # 24
SCREEN = {"width": 1280, "height": 720}
BEGINS = 220  # px at which the first picture begins at the latest; controls are in one line above it, or below it
LATER = {  # but here
    ("Fine-tune", "Train"): 380  # the examples come first
}
WITHOUT_PICTURE = {("Experiments", "Saved runs"), ("Corpus", "Layers")}  # until a file is opened, or probes are trained
DRAWN = """() => {
    const kinds = [".bx-flow-scroll", ".bx-chart", ".bx-heads", ".bx-lines", ".bx-words", ".bx-board", ".bx-bars", ".bx-strips",
        ".bx-architecture", ".bx-tokens", ".bx-ranking", ".bx-text-map", ".table-wrap"].join();
    const panel = [...document.querySelectorAll("#tabs [role=tabpanel]")].find((one) => one.checkVisibility());
    const seen = [...(panel?.querySelectorAll(kinds) ?? [])].filter((one) => one.childElementCount && one.clientHeight > 12
        && one.checkVisibility({ visibilityProperty: true }));
    return seen.map((one) => one.getBoundingClientRect()).map(({ top, right, bottom }) => ({ top, right, bottom }));
}"""


@pytest.fixture
def drawn(open_app):
    """Opens a view on the screen of a projector. Returns the page, and the places of its pictures from the top."""

    def opened(tab: str, query: str = PAIR, **options):
        page = open_app(at(tab, query), **{"viewport": SCREEN, **options})
        page.wait_for_function(f"({DRAWN})().length > 0")
        settled(page)
        return page, sorted(page.evaluate(DRAWN), key=lambda box: box["top"])

    return opened


SHOWN = [tab for tab in TABS if not tab.optional]


def check_first_pictures(page, tab, choices):
    """Each choice's first picture begins high on the page, and no picture is cut."""
    for label in choices:
        visit(page, f"{PAIR}&tab={tab.id}&view={slug(label)}")
        page.wait_for_function(f"({DRAWN})().length > 0", timeout=180_000)  # Corpus reads all sentences first
        boxes = page.evaluate(DRAWN)
        assert min(box["top"] for box in boxes) <= LATER.get((tab.label, label), BEGINS), (tab.label, label)
        assert max(box["right"] for box in boxes) <= SCREEN["width"], (tab.label, label)
        assert page.evaluate("document.documentElement.scrollWidth") <= SCREEN["width"], (tab.label, label)


@pytest.mark.usefixtures("few_sentences")
def test_a_picture_begins_high_in_every_tab(drawn):
    page, _ = drawn("Overview")
    for tab in SHOWN:
        check_first_pictures(page, tab, list(tab.choices)[:1])


@pytest.mark.nightly
@pytest.mark.parametrize("tab", SHOWN, ids=lambda tab: tab.id)
def test_a_picture_begins_high_in_every_choice(drawn, tab):
    page, _ = drawn("Overview")
    check_first_pictures(page, tab, [label for label in tab.choices if (tab.label, label) not in WITHOUT_PICTURE])


@pytest.mark.parametrize("place", [("Overview", ""), ("Attention", ""), ("Fill-mask", "&view=lens")], ids=lambda place: place[0])
def test_a_picture_of_24_tokens_ends_on_the_first_screen(drawn, place):
    tab, view = place
    page, boxes = drawn(tab, f"{LONGER}{view}")
    expect(chips(page)).to_have_count(24)
    assert boxes[0]["bottom"] <= SCREEN["height"]
    assert boxes[0]["right"] <= SCREEN["width"]
    assert page.locator("#strip").bounding_box()["height"] < 70
    if view:
        expect(page.locator("#fill-mask-lens-table tr:last-child button")).to_have_count(24)


def test_chrome_is_one_row_and_stays_with_the_input_and_the_sections(drawn):
    page, _ = drawn("Attention")
    header, sections = page.locator("#header"), page.locator("gradio-app #sections")
    assert header.bounding_box()["height"] <= 44
    tops = [one.bounding_box() for one in page.locator("#header button:visible, #header input:visible").all()]
    assert max(box["y"] + box["height"] for box in tops) <= 44
    page.evaluate("scrollTo(0, 400)")
    page.wait_for_function("scrollY > 100")
    for part, lowest in ((header, 44), (page.locator("#text-a"), 84), (page.locator("#strip"), 122), (sections, 154)):
        box = part.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= lowest


@pytest.mark.parametrize(("query", "screen"), [(PAIR, {"width": 1920, "height": 1080}), (LONGER, SCREEN)], ids=["1920", "1280"])
def test_a_presented_picture_shows_every_row_and_title(drawn, query, screen):
    page, _ = drawn("Overview", query, viewport=screen)
    page.keyboard.press("p")
    stage = page.locator("[data-presented]")
    expect(stage).to_be_visible()
    within = """(stage) => {
        const { bottom, right } = stage.getBoundingClientRect();
        const seen = [...stage.querySelectorAll(".bx-flow-label, .bx-flow-box, .bx-flow-title b, .bx-flow-output")];
        const names = [...stage.querySelectorAll(".bx-flow-label, .bx-flow-title b")];
        return seen.every((one) => one.getBoundingClientRect().bottom <= bottom && one.getBoundingClientRect().right <= right)
            && names.every((one) => one.scrollWidth <= one.clientWidth);
    }"""
    page.wait_for_function(f"({within})(document.querySelector('[data-presented]'))")
    page.keyboard.press("Escape")
