"""Components: what a click shows at once, what survives an answer, and how calls come and go."""

import numpy as np
import pytest

from tests.browser.expecting import expect
from tests.browser.steps import chips, settled
from tests.tabs import open_tab

QUERY = "?tab=attention&a=The+man+walked+to+the+shop.&b=He+mispronounced+it.&layer=1&head=3"
PAYLOADS = ("<img src=x onerror=alert(1)>", "${alert(1)}", "{{value}}", r"\u003cimg src=x\u003e", "`${alert(1)}`")


@pytest.fixture
def page(open_app):
    page = open_app(QUERY)
    settled(page)
    return page


def test_a_click_moves_the_ring_at_once(page):
    """Keys: test_everyone.py."""
    grid, title = page.locator("#attention-heads-grid"), page.locator("#attention-head-title")
    head = grid.locator("button").nth(1)
    assert head.evaluate("button => { button.click(); return button.getAttribute('aria-pressed'); }") == "true"
    expect(title).to_contain_text("Layer 1, head 2")
    expect(grid.locator("[aria-pressed=true]")).to_have_count(1)
    expect(grid.locator("button[tabindex='0']")).to_have_count(1)


def test_pixels_are_the_ramp_of_the_weights_and_follow_the_theme(page, bundled):
    trace = bundled.trace("The man walked to the shop.", "He mispronounced it.")
    read = """() => [...document.querySelectorAll('#attention-heads-grid canvas')].map((canvas) =>
        [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data].filter((_, i) => i % 4 < 3))"""
    weights = np.concatenate([trace.attention(layer) for layer in range(6)])
    levels = np.rint(np.sqrt(weights) * 255).astype(int).reshape(72, -1)
    before = page.evaluate("BertExplorer.rampTable()")
    for _ in range(2):
        ramp = np.array(page.evaluate("BertExplorer.rampTable()"))
        found = np.array(page.evaluate(read)).reshape(72, -1, 3)
        steps = np.abs(found[:, :, None] - ramp[np.clip(levels[:, :, None] + [-1, 0, 1], 0, 255)]).sum(-1).min(-1)
        assert not steps.any(), "to a step of the ramp: threads add up in another order"
        page.evaluate("document.body.classList.toggle('dark')")
        page.wait_for_timeout(200)
    assert ramp.tolist() != before


def test_a_key_masks_but_not_what_the_tokenizer_added(page):
    chips(page).nth(0).dblclick()
    chips(page).nth(0).focus()
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("m")
    expect(page.locator("#text-a textarea")).to_have_value("The [MASK] walked to the shop.")


def test_no_text_is_ever_more_than_text(page, bundled):
    texts = " ".join(PAYLOADS), PAYLOADS[0]
    for box, text in zip("ab", texts, strict=True):
        page.locator(f"#text-{box} textarea").fill(text)
    tokens = list(bundled.encode(*texts).tokens)
    expect(chips(page)).to_have_text(tokens)
    page.locator("#attention-look").get_by_label("Arcs").check()
    expect(page.locator("#attention-head-lines [data-side=key]")).to_have_text(tokens[:24])
    for tab in ("Tokens", "Fill-mask", "Overview"):
        open_tab(page, tab)
        settled(page)
    assert page.locator("#tabs img").count() == 0


def test_a_click_that_comes_while_another_is_answered_is_heard(page):
    for n in range(10):
        first = 1 + n % 2 * 2
        page.evaluate(
            """([first, wait]) => {
                const pieces = document.querySelectorAll("#strip .bx-token");
                pieces[first].click();
                setTimeout(() => pieces[first + 1].click(), wait);
            }""",
            [first, 6 + 2 * n],
        )
        page.wait_for_url(f"**token={first + 1}*")
    expect(chips(page).nth(first + 1)).to_have_attribute("aria-pressed", "true")


def test_a_page_whose_connection_broke_hears_again(page):
    chips(page).nth(1).click()
    page.wait_for_url("**token=1*")
    page.context.set_offline(True)
    page.wait_for_timeout(500)
    page.context.set_offline(False)
    chips(page).nth(2).click()
    page.wait_for_url("**token=2*")
    settled(page)
    page.problems.clear()
