"""Views as files of their own, opened from the disk with the network off: they draw, answer a pointer, and log nothing."""

import pytest

import explorer
from explorer.export import page_file
from explorer.gallery import page_of, read_sentences
from explorer.tabs import TABS, VIEWS
from explorer.ui.subject import Subject
from tests.at_night import at_night
from tests.browser.expecting import expect

HOSTILE = "the man </script><script>alert(1)</script> <img src=x onerror=alert(2)> went to the [MASK]."
MARKS = (
    ".bx canvas, .bx svg path, .bx svg rect, .bx svg image, .bx button, .bx-frame-table td, pre, .bx-fill, .bx-of-bar, "
    ".bx-of-number, .bx-notice, .bx-strips tbody tr"
)


@pytest.mark.parametrize("tab", at_night([tab.id for tab in TABS if tab.needs != "own_head"], but=["attention"]))
def test_every_view_draws_from_the_disk(bundled, from_disk, tab):
    views = [view() for one in TABS if one.id == tab for view in one.views]
    window = from_disk(page_file.html(views, Subject.of(bundled.trace(HOSTILE, "he bought milk."))))
    assert window.problems == []
    assert window.locator(".bx-view").count() > 1 or tab == "projection"
    empty = window.locator(".bx-part:has(.bx)").evaluate_all(
        "(parts, marks) => parts.filter((one) => !one.querySelector(marks)).map((one) => one.dataset.part)", MARKS
    )
    assert empty == [], "nothing is drawn"
    assert window.locator(".bx-strip-of-input").inner_text().count("script") == 3, "the text is text"


def test_the_overview_traces_and_unfolds_from_the_disk(bundled, from_disk):
    views = [view() for tab in TABS if tab.id == "overview" for view in tab.views]
    subject = Subject.of(bundled.trace("The capital of Japan is [MASK].", "It is a big city."))
    window = from_disk(page_file.html(views, subject))
    box = lambda state, row: window.locator(f'.bx-flow-box[data-state="{state}"][data-row="{row}"]')  # noqa: E731
    drawn = "() => [...document.querySelectorAll('[data-route]')].map((one) => one.dataset.route)"
    expect(box(6, 6)).to_have_attribute("aria-pressed", "true")
    before = window.evaluate(drawn)
    assert "[5,6,4]" in before, "the blank takes from japan in layer 6"
    box(6, 0).click()
    expect(box(6, 0)).to_have_attribute("aria-pressed", "true")
    after = window.evaluate(drawn)
    assert "[5,0,4]" in after, "so does [CLS]"
    assert "[5,6,4]" not in after
    stage, card = window.locator(".bx-zoom:not(.bx-gone)"), window.locator(".bx-flow-card")
    window.locator("[data-layer='4']").click()
    expect(stage).to_contain_text("In layer 4, “[MASK]” keeps")
    stage.locator("[data-head='4.7'] button").click()
    expect(stage.locator("header p")).to_contain_text("Head 4.7")
    weights = subject.trace.attention(3)[6, 6]
    expect(stage.locator(".bx-zoom-weight")).to_have_count(len(weights))
    expect(stage.locator(f".bx-zoom-weight[data-key='{weights.argmax()}']")).to_have_text(f"{weights.max():.3f}")
    expect(stage.locator(".bx-zoom-weight:not(:disabled), [data-act*=inside], [data-act*=off]")).to_have_count(0)
    window.keyboard.press("Escape")
    window.keyboard.press("Escape")
    expect(stage).to_have_count(0)
    window.locator('[data-route="[5,6,4]"]').dispatch_event("click")
    expect(card).to_contain_text("Layer 6: “[MASK]” takes")
    expect(card.locator("[data-act*=cut]")).to_have_count(0)
    window.keyboard.press("Escape")
    expect(card).to_have_count(0)
    window.locator(".bx-flow-play").click()
    window.locator("[data-stop='2']").click()
    expect(window.locator(".bx-flow-story [role=status]")).to_contain_text("In layer 6")
    assert window.problems == []


def test_a_heatmap_says_what_is_pointed_at_and_the_page_follows_theme_and_phone(bundled, from_disk):
    trace = bundled.trace("The man went to the [MASK].", "He bought milk.")
    window = from_disk(page_file.html([VIEWS["attention/head"]()], Subject.of(trace)))
    weights = trace.attention(0)[0]
    box = window.locator(".bx-chart .nsewdrag").bounding_box()
    x, y = (box[start] + (place + 0.5) * box[size] / trace.kept for start, size, place in (("x", "width", 2), ("y", "height", 9)))
    window.mouse.move(x, y)
    told = window.locator(".hoverlayer .hovertext")
    expect(told).to_contain_text(f"weight {weights[9, 2]:.4f}")
    expect(told).to_contain_text("row he → column man")
    assert window.locator(".bx-chart [role=img]").get_attribute("aria-label").startswith("The strongest 3 of")
    assert not window.evaluate("document.body.classList.contains('dark')")
    window.get_by_role("button", name="light or dark").click()
    assert window.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(11, 17, 32)"
    window.set_viewport_size({"width": 420, "height": 900})
    window.wait_for_function("() => document.documentElement.scrollWidth <= 420")  # what is drawn follows its box a moment later


def test_a_notebook_shows_frames_as_high_as_what_is_in_them(bundled, from_disk):
    trace, other = bundled.trace("The man went to the [MASK]."), bundled.trace("The woman slept.")
    cells = [
        trace.show("attention/head"),
        trace.show("attention/head", look="Lines"),
        trace.show("overview/routes"),
        explorer.compare(trace, other, "tokens/pieces"),
    ]
    window = from_disk("<meta charset='utf-8'><body data-drawn>" + "<hr>".join(cell._repr_html_() for cell in cells))
    for number, marks in enumerate((".bx-chart svg", ".bx-lines path", ".bx-flow-lines path", ".bx-token")):
        inside = window.frame_locator("iframe").nth(number)
        inside.locator("body[data-drawn]").wait_for()
        expect(inside.locator(marks).first).to_be_attached()
        frame = window.locator("iframe").nth(number).element_handle()
        needed = inside.locator("main").evaluate("(main) => main.getBoundingClientRect().height")
        window.wait_for_function("([frame, high]) => Math.abs(frame.clientHeight - high) < 8", arg=[frame, needed])
    assert window.frame_locator("iframe").nth(3).locator("article").count() == 2


def test_a_page_of_the_gallery_shows_what_a_cut_changes_and_puts_it_back(bundled, from_disk):
    sentence = next(read_sentences(bundled))
    window = from_disk(page_of(sentence))
    first, told = window.locator(".bx-flow-box[aria-pressed=true]"), window.locator(".bx-variant-told")
    choices = window.get_by_role("group", name="Cut a link").get_by_role("button")
    expect(choices).to_have_count(len(sentence.cuts) + 1)
    expect(first).to_contain_text(sentence.word)
    at = sentence.cuts.index(sentence.strongest)
    choices.nth(at + 1).click()
    expect(told).to_have_text(sentence.tell(sentence.strongest))
    expect(first).to_contain_text(sentence.strongest.word)
    choices.nth(at + 1).click()
    expect(choices.first).to_have_attribute("aria-pressed", "true")
    expect(told).to_have_text("")
    expect(first).to_contain_text(sentence.word)
    expect(window.get_by_role("link", name="All twelve sentences")).to_have_attribute("href", "index.html")
    assert window.problems == []
