"""The Projection tab, used as a person would."""

import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import at, chips, choose, settled

pytestmark = pytest.mark.own_page  # no link tells which points were chosen

STRAYS = 2  # of the 32 sentences: those next to one with another label, which have a ring


@pytest.fixture
def page(open_app):
    page = open_app(at("Projection", "?a=The+cat+sat.&b=It+slept."))
    expect(drawn(page)).to_have_count(32)
    return page


def drawn(page):
    return page.locator("#projection-map-map .bx-map-point")


def said(page):
    return page.locator("#projection-map-summary")


def select_all(page):
    """Draw a line around the whole map."""
    page.locator("#projection-map-map").get_by_role("button", name="Select", exact=True).click()
    drawing = page.locator("#projection-map-map .bx-map-drawing")
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    shares = ((0.01, 0.01), (0.99, 0.01), (0.99, 0.99), (0.01, 0.99))
    inside = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in shares]
    page.mouse.move(*inside[0])
    page.mouse.down()
    for corner in inside[1:]:
        page.mouse.move(*corner, steps=3)
    page.mouse.up()


def test_points_are_chosen_found_and_played_and_other_texts_are_drawn(page):
    expect(said(page)).to_contain_text("Trustworthiness 0.")
    expect(page.locator("#projection-map-map .bx-ring")).to_have_count(STRAYS)
    settled(page)
    drawn(page).first.click(force=True)
    near = page.locator("#projection-map-nearest .bx button")
    expect(near).to_have_count(8)
    expect(page.locator("#projection-map-nearest")).to_contain_text("By cosine in all 384 dimensions")
    lines = page.locator("#projection-map-map .bx-map-link")
    expect(lines).to_have_count(5)
    first = page.locator("#projection-map-map .bx-map-said").inner_text()
    near.first.click()
    expect(page.locator("#projection-map-map .bx-map-said")).not_to_have_text(first)
    page.locator("#projection-map-map .bx-map-drawing").focus()
    page.keyboard.press("ArrowRight")
    moved = page.locator("#projection-map-map .bx-map-said").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("#projection-map-nearest")).to_contain_text(moved.split(" — ")[0])
    page.locator("#projection-map-forget").click()
    expect(near).to_have_count(0)
    page.locator("#projection-search input, #projection-search textarea").fill("bread")
    expect(said(page)).to_contain_text("1 of 32 contain ‘bread’")
    page.locator("#projection-search input, #projection-search textarea").fill("")
    page.locator("#projection-map-map .bx-map-film input").fill("2")  # the points glide there, and the page follows
    expect(page.locator("#projection-map-map .bx-map-said")).to_contain_text("Hidden state 2 of 6")
    expect(page.locator("#projection-finding")).to_contain_text("hidden state 2")
    select_all(page)
    expect(page.locator("#projection-map-nearest")).to_contain_text("32 selected")
    page.locator("#projection-map-forget").click()

    choose(page, "projection-source", "Words of the input")
    expect(drawn(page)).to_have_count(chips(page).count())
    choose(page, "projection-source", "Vocabulary")
    expect(said(page)).to_contain_text("10,000 of 30,522 pieces")
    expect(drawn(page)).to_have_count(0)
    expect(page.locator("#projection-map-map .bx-map-cloud")).to_be_visible()
    choose(page, "projection-source", "Sentences")
    for text, number in (("Only <b>one</b>.", 1), ("Same.\nSame.\nSame.", 3)):  # equal texts are one place
        page.locator("#projection-sentences textarea").fill(text)
        expect(said(page)).to_contain_text(re.compile(rf"\b{number} points?\b"))
        expect(drawn(page)).to_have_count(1)
        expect(page.locator("#projection-map-map .bx-map-name")).to_have_text(text if number == 1 else "Same. (3 times)")
    page.locator("#projection-sentences textarea").fill("")
    expect(page.get_by_text("No sentences yet. Type one per line.")).to_be_visible()
