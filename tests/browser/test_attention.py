"""Attention, Inside a head and Tokens, used as a person would."""

import re
import time

import pytest

from explorer.techniques import ablation
from tests.browser.expecting import expect
from tests.browser.steps import chips, open_choice, settled
from tests.tabs import open_tab


@pytest.mark.own_page
def test_the_picture_comes_before_what_takes_longer_and_no_key_waits_for_that(open_app, monkeypatch):
    """The effects of all heads, of which the finding tells, take a minute here."""
    page = open_app("?tab=attention&a=Paris+is+the+capital+of+%5BMASK%5D.&b=temples")
    finding, labels = page.locator("#attention-finding"), page.locator("#attention-head-heatmap .ytick text")
    expect(finding).to_contain_text("without it")
    expect(labels.filter(has_text="temples")).to_have_count(1)
    before = finding.locator("p").inner_text()
    box = page.locator("#text-b textarea")
    top = page.locator("#attention-heads-grid").bounding_box()["y"]
    work = ablation.vectors_without_heads

    def slowly(*asked):
        for step in range(600):
            time.sleep(0.1)
            yield step / 600
        return (yield from work(*asked))

    monkeypatch.setattr(ablation, "vectors_without_heads", slowly)
    box.fill("a garden")
    expect(labels.filter(has_text="garden")).to_have_count(1)
    expect(finding.locator(".bx-finding")).to_have_css("opacity", "0.55")
    page.wait_for_function("() => BertExplorer.page.drawingState.asksRest")
    box.fill("a river")
    expect(labels.filter(has_text="river")).to_have_count(1)
    assert page.locator("#attention-heads-grid").bounding_box()["y"] == top, "nothing moves"
    page.wait_for_function("() => BertExplorer.page.drawingState.asksRest")
    monkeypatch.setattr(ablation, "vectors_without_heads", work)
    box.fill("a lake")
    expect(labels.filter(has_text="lake")).to_have_count(1)
    expect(finding.locator(".bx-finding")).to_have_css("opacity", "1")
    expect(finding.locator("p")).not_to_have_text(before)
    settled(page)


def test_a_head_is_switched_off_with_before_and_after_and_put_back(open_app):
    page = open_app("?tab=attention&a=The+teacher+asked+the+%5BMASK%5D+to+open+their+books.&layer=6&head=11")
    heads, answers = page.locator("#attention-heads-grid button"), page.locator("#attention-what-if-answers .bx-group")
    page.locator("#attention-what-if-gestures").get_by_role("button", name="switch off layer 6, head 11").click()
    expect(page.locator("#attention-what-if-outcome")).to_contain_text("Without layer 6, head 11: ")
    expect(answers).to_have_count(2)
    settled(page)
    left, right = (group.bounding_box() for group in answers.all())
    assert left["y"] == right["y"], "side by side"
    assert left["x"] + left["width"] <= right["x"]
    expect(heads.nth(5 * 12 + 10)).to_have_attribute("aria-label", re.compile("layer 6, head 11, off"))
    heads.nth(0).dblclick()
    expect(page.locator("#attention-what-if-outcome")).to_contain_text("Without heads 1.1, 6.11")
    heads.nth(0).press("x")
    expect(page.locator("#attention-what-if-outcome")).to_contain_text("Without layer 6, head 11: ")
    open_tab(page, "Fill-mask")
    open_choice(page, "fill-mask", "Guesses")
    expect(page.locator("#fill-mask-what-if-outcome")).to_contain_text("Without layer 6, head 11: ")
    open_tab(page, "Attention")
    page.locator("#attention-what-if-back").get_by_role("button", name="layer 6, head 11").click()
    expect(page.locator("#attention-what-if-answers")).to_be_hidden()
    expect(page.locator("#attention-heads-grid .bx-off")).to_have_count(0)


def test_a_window_of_a_long_input_is_dragged_or_moved_by_keys_everywhere_at_once(open_app):
    page = open_app("?tab=attention&a=" + "the+old+bank+by+the+river+" * 20 + "&layer=1&head=6")
    window = page.locator("#attention-head-heatmap").get_by_role("slider")
    framed, rows = chips(page).and_(page.locator(".bx-looks")), page.locator("#attention-head-heatmap .ytick text")
    expect(page.locator("#attention-head-heatmap .shapelayer path")).to_have_count(2)  # it opens where the finding is
    window.press("Home")
    expect(window).to_have_attribute("aria-valuetext", "Tokens 0 to 23 of 122")
    expect(framed).to_have_count(24)
    expect(rows).to_have_count(24)
    box = window.bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 4, box["y"] + 4 + box["height"] / 2)
    expect(window).to_have_attribute("aria-valuetext", re.compile(r"Rows: tokens 6\d to 8\d. Columns: tokens 0 to 23, of 122"))
    page.mouse.up()
    window.press("Home")
    window.press("PageDown")
    window.press("Shift+ArrowDown")
    expect(window).to_have_attribute("aria-valuetext", "Rows: tokens 25 to 48. Columns: tokens 24 to 47, of 122")
    expect(framed.first).to_have_attribute("aria-label", re.compile(r", token 25\b"))
    expect(rows.first).to_have_text("the")  # token 25 of six words that come again
    expect(page.locator("#strip .bx-looked-at").first).to_have_attribute("aria-label", re.compile(r", token 24\b"))
    chips(page).nth(100).evaluate("chip => chip.click()")
    expect(window).to_have_attribute("aria-valuetext", "Tokens 88 to 111 of 122")
    expect(page.locator("#attention-head-heatmap .shapelayer path")).to_have_count(1)
    open_tab(page, "Hidden states")
    expect(page.locator("#hidden-one-layer-picture").get_by_role("slider")).to_have_attribute(
        "aria-valuetext", "Tokens 88 to 111 of 122"
    )


@pytest.mark.parametrize(
    ("query", "head"),
    [
        ("tab=attention", "#attention-heads-grid [data-head='1.3']"),
        ("tab=fill-mask&view=switch-heads-off", "#fill-mask-heads-board [data-head='1.3']"),
        ("tab=corpus&view=heads-and-neurons", "#corpus-heads-grid [data-head='1.3']"),
    ],
)
def test_a_head_that_is_pointed_at_or_focused_has_its_name_and_its_links_beside_it(open_app, query, head):
    page = open_app(f"?{query}&a=The+capital+of+Japan+is+%5BMASK%5D.")
    one, card = page.locator(head), page.locator("#head-card")
    settled(page)
    one.hover()
    expect(card).to_contain_text(re.compile(r"Layer 1, head 3.*previous token: (1\.00|0\.9\d) of the weight", re.DOTALL))
    expect(card.locator("path")).to_have_count(9)
    expect(card.locator("text")).to_have_count(18)
    page.mouse.move(5, 5)
    expect(card).to_be_hidden()
    one.focus()
    expect(card).to_be_visible()
    expect(one).to_have_attribute("aria-describedby", "head-card")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
