"""What a person typed and chose is given back, and what an example brought goes with it."""

import re

import pytest

from explorer.page.examples import FIRST_A, FIRST_B
from tests.browser.expecting import expect
from tests.browser.steps import at, chips, settled, stepper, visit
from tests.tabs import open_tab, opened_tab

OWN = "My own sentence about a [MASK]."
ANOTHER = "The nurse said that [MASK] was tired."


@pytest.mark.own_page
def test_a_lesson_gives_back_what_it_replaced(open_app):
    page = open_app(at("Attention", "?a=My+own+sentence+about+a+[MASK].&b=And+a+second+one.&layer=3&head=5&token=4"))
    settled(page)
    page.locator("#open-lessons").click()
    lesson = page.locator("#lessons").get_by_role("button", name="All of BERT in one picture")
    for way_out in ("Close the lessons", "‹ All lessons"):
        lesson.click()
        expect(page.locator("#text-a textarea")).to_have_value("The capital of Japan is [MASK].")
        settled(page)
        page.locator("#lessons").get_by_role("button", name="Next ›").click()
        settled(page)
        page.locator("#lessons").get_by_role("button", name=way_out).click()
        expect(page.locator("#text-a textarea")).to_have_value(OWN)
        expect(page.locator("#text-b textarea")).to_have_value("And a second one.")
        expect(opened_tab(page)).to_have_text("Attention")
        expect(page.locator("#notice")).to_contain_text("Your text and view from before it are back.")
        expect(page.locator("#attention-head-title")).to_contain_text("Layer 3, head 5")
        expect(chips(page).nth(4)).to_have_attribute("aria-pressed", "true")
        settled(page)
        if way_out == "Close the lessons":
            page.locator("#open-lessons").click()


def test_an_example_s_b_goes_when_another_a_is_typed(open_app):
    page = open_app()
    a, b = page.locator("#text-a textarea"), page.locator("#text-b textarea")
    a.fill(FIRST_A.replace("Japan", "France"))  # an edit of it
    settled(page)
    expect(b).to_have_value(FIRST_B)
    a.fill(FIRST_A)
    settled(page)
    a.fill(ANOTHER)
    expect(b).to_have_value("")
    expect(page.locator("#says")).to_contain_text(re.compile(r"he 39.%"))
    expect(page.locator("#says")).not_to_contain_text("Next")


def test_a_b_that_a_person_typed_stays(open_app):
    page = open_app()
    a, b = page.locator("#text-a textarea"), page.locator("#text-b textarea")
    b.fill("My own B.")
    settled(page)
    a.fill(ANOTHER)
    settled(page)
    expect(b).to_have_value("My own B.")
    expect(chips(page)).to_have_count(15)


@pytest.mark.parametrize("name", ["a", "b"])
def test_each_box_has_a_button_that_empties_it(open_app, name):
    page = open_app()
    visit(page, "?a=One+cat.&b=Two+dogs.")
    box, clear = page.locator(f"#text-{name} textarea"), page.get_by_role("button", name=f"Clear text {name.upper()}")
    box.focus()
    page.keyboard.press("Tab")
    expect(clear).to_be_focused()
    page.keyboard.press("Enter")
    expect(box).to_have_value("")
    expect(box).to_be_focused()
    expect(clear).to_be_hidden()
    settled(page)
    if name == "b":
        expect(chips(page)).to_have_count(5)
        expect(page.locator("#text-a textarea")).to_have_value("One cat.")


def test_a_head_chosen_in_one_tab_is_named_where_it_sets_the_hidden_state(open_app):
    page = open_app(at("Attention", "?a=The+capital+of+Japan+is+[MASK].&b="))
    settled(page)
    stepper(page, "layer").fill("2")
    settled(page)
    expect(page.locator("#suggestion")).to_contain_text("Layer 2, head 6: chosen for all tabs")
    open_tab(page, "Hidden states")
    settled(page)
    assert stepper(page, "hidden_state").input_value() == "2"
    expect(page.locator("#suggestion")).to_contain_text("Hidden state 2, after layer 2: chosen for all tabs")
