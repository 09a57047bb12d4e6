"""The Projection tab, used as a person would."""

import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import at, charts_fit, chips, choose, click_chart, settled

pytestmark = pytest.mark.own_page  # no link tells which points were chosen

STRAYS = 3  # of the 32 sentences: those next to one with another label, which have a ring
PAIR = 2  # the closest two, or the chosen word and its neighbour, which have one where there are no labels


@pytest.fixture
def page(open_app):
    page = open_app(at("Projection", "?a=The+cat+sat.&b=It+slept."))
    expect(drawn(page)).to_have_count(32 + STRAYS)
    return page


def drawn(page):
    """The points, and the rings around those that are spoken of."""
    return page.locator("#projection-map-chart .scatterlayer .point")


def said(page):
    return page.locator("#projection-map-summary")


def test_points_are_chosen_found_and_played_and_other_texts_are_drawn(page):
    expect(said(page)).to_contain_text("Trustworthiness 0.")
    page.locator("#projection-map-chart").scroll_into_view_if_needed()
    settled(page)
    charts_fit(page)
    box = drawn(page).first.bounding_box()
    click_chart(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    near = page.locator("#projection-map-nearest .bx button")
    expect(near).to_have_count(8)
    expect(page.locator("#projection-map-nearest")).to_contain_text("By cosine in all 384 dimensions")
    near.first.click()
    expect(drawn(page)).to_have_count(32 + 9)
    page.locator("#projection-map-forget").click()
    expect(near).to_have_count(0)
    page.locator("#projection-search input, #projection-search textarea").fill("bread")
    expect(said(page)).to_contain_text("1 of 32 hold ‘bread’")
    page.locator("#projection-map-play").click()
    expect(page.locator("#projection-map-progress")).to_contain_text("Hidden state 2 of 6")
    page.locator("#projection-map-stop").click()
    expect(page.locator("#projection-map-progress progress")).to_be_hidden()
    page.locator("#projection-search input, #projection-search textarea").fill("")

    choose(page, "projection-source", "Words of the input")
    expect(drawn(page)).to_have_count(chips(page).count() + PAIR)
    choose(page, "projection-source", "Vocabulary")
    expect(said(page)).to_contain_text("1,500 of 30,522 pieces")
    choose(page, "projection-source", "Sentences")
    for text, number, rings in (("Only one.", 1, 0), ("Same.\nSame.\nSame.", 3, PAIR)):  # equal texts are one place
        page.locator("#projection-sentences textarea").fill(text)
        page.locator("#projection-map-redraw").click()
        expect(said(page)).to_contain_text(re.compile(rf"\b{number} points?\b"))
        expect(drawn(page)).to_have_count(1 + rings)
    page.locator("#projection-sentences textarea").fill("")
    page.locator("#projection-map-redraw").click()
    expect(page.get_by_text("There are no sentences; type one a line.")).to_be_visible()
