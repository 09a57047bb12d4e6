"""The Hidden states tab, used as a person would."""

import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import at, charts_fit, choose, open_choice, settled, stepper


@pytest.fixture
def page(open_app):
    page = open_app(at("Hidden states", "?a=She+sat+on+the+bank+of+the+river.&b=He+put+the+money+in+the+bank."))
    expect(page.locator("#hidden-one-layer-picture .heatmaplayer")).to_be_attached()
    return page


def to_layer(page, layer: int) -> None:
    number = stepper(page, "hidden_state")
    number.fill(str(layer))
    number.press("Enter")


def test_a_layer_its_dimensions_and_its_changes(page):
    expect(page.locator("#hidden-every-layer-picture .heatmaplayer")).to_be_attached()
    to_layer(page, 0)
    expect(page.get_by_text("in the embedding output", exact=False)).to_be_visible()
    expect(page.get_by_text("in common already")).to_be_visible()
    to_layer(page, 5)
    page.get_by_label("All dimensions").check()
    expect(page.get_by_text("outliers of this input")).to_contain_text("in the output of layer 5")
    page.get_by_label("Norm").check()
    expect(page.get_by_text("The Euclidean length")).to_be_visible()
    page.get_by_text("More: [CLS] and the pooled output").click()
    expect(page.get_by_text("pooled = tanh(W · h + b)")).to_be_visible()
    expect(page.get_by_text("✓ matches the model: this formula")).to_be_attached()


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
    expect(page.locator("#hidden-word-map .scatterlayer .point")).to_have_count(8)
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


def test_sentences_and_their_spaces(page):
    open_choice(page, "hidden", "Sentences")
    expect(page.locator("#hidden-sentences-matrix .heatmaplayer")).to_be_attached()
    expect(page.locator("#hidden-sentences-closest button")).to_have_count(5)
    choose(page, "hidden-space", "centred")
    choose(page, "hidden-space", "whitened")  # the last choice counts
    expect(page.get_by_text("Whitened: ")).to_be_visible()
    settled(page)
    expect(page.get_by_text("Whitened: ")).to_be_visible()
    page.locator("#hidden-sentences textarea").fill("One <b>line</b>.\nAnother line.\nOne <b>line</b>.")
    expect(page.locator("#hidden-sentences-closest button")).to_have_count(3)
    expect(page.locator("#hidden-sentences-closest")).to_contain_text("1 · One <b>line</b>.")
    page.locator("#hidden-sentences textarea").fill("x\n" * 51)
    expect(page.get_by_text("keep 50 of them or fewer")).to_be_visible()


@pytest.mark.nightly  # by day, the first picture of a phone
def test_on_a_phone_the_sentences_leave_room_for_their_matrix(open_app):
    page = open_app("?tab=hidden", viewport={"width": 420, "height": 900})
    open_choice(page, "hidden", "Sentences")
    matrix = page.locator("#hidden-sentences-matrix")
    expect(matrix.locator(".ytick text").first).to_have_text("1")
    settled(page)
    charts_fit(page)
    assert matrix.locator(".nsewdrag").first.bounding_box()["width"] > 200
    page.set_viewport_size({"width": 1200, "height": 900})
    expect(matrix.locator(".ytick text").filter(has_text="1 · The soup")).to_be_visible()
