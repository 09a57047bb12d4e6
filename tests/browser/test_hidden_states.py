"""The Hidden states tab, used as a person would."""

import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import at, stepper


@pytest.fixture
def page(open_app):
    page = open_app(at("Hidden states", "?a=She+sat+on+the+bank+of+the+river.&b=He+put+the+money+in+the+bank."))
    expect(page.locator("#hidden-one-layer-picture .heatmaplayer")).to_be_attached()
    return page


def to_layer(page, layer: int) -> None:
    number = stepper(page, "hidden_state")
    number.fill(str(layer))
    number.press("Enter")


def test_a_number_past_the_end_is_the_end(page):
    number = stepper(page, "hidden_state")
    number.fill("99")
    expect(number).to_have_value("6")
    expect(page.get_by_text("in the output of layer 6")).to_be_visible()
    number.fill("-4")
    expect(number).to_have_value("0")
    expect(page.get_by_text("in the embedding output")).to_be_visible()
    number.fill("3")
    expect(page.get_by_text("in the output of layer 3")).to_be_visible()
    number.fill("")
    number.press("Tab")
    expect(number).to_have_value("3")  # nothing was chosen


def test_one_word_in_many_contexts(page):
    page.get_by_label("One word, many contexts").check()
    expect(page.locator("#hidden-word-lines .scatterlayer .trace")).to_have_count(6)
    to_layer(page, 4)
    expect(page.locator("#hidden-finding")).to_contain_text("8 of 8")
    expect(page.locator("#hidden-word-map .bx-map-point")).to_have_count(8)
    page.locator("#hidden-source input").click()
    page.get_by_role("option", name=re.compile("crane")).click()
    expect(page.locator("#hidden-contexts textarea")).to_have_value(re.compile("crane"))
    expect(page.locator("#hidden-finding")).to_contain_text(re.compile(r"[1-7] of 8"))
    page.locator("#hidden-source input").click()
    page.get_by_role("option", name="A and B above").click()
    expect(page.get_by_text("The cosine between the two is")).to_be_visible()
    expect(page.locator("#hidden-contexts")).to_be_hidden()
    expect(page.locator("#hidden-word input")).to_have_value("bank")
    page.locator("#text-a textarea").fill("Quite different.")
    page.locator("#text-b textarea").fill("Nothing alike.")
    expect(page.locator("#hidden-word-problem")).to_contain_text(re.compile("fewer than twice|no sentences"))
