"""What stays, comes back and goes along: nothing moves under the pointer, and a person's words and choices are theirs."""

import re

from explorer.page.examples import FIRST_A, FIRST_B
from tests.browser.expecting import expect
from tests.browser.steps import at, chips, settled, stepper, type_into
from tests.tabs import open_tab, opened_tab

OWN = "My own sentence about a [MASK]."


def test_a_second_click_in_the_same_place_undoes_the_first(open_app):
    page = open_app("?tab=fill-mask")
    settled(page)
    gestures = page.locator("#fill-mask-what-if-gestures button")
    swap = gestures.filter(has_text="→").first
    swap.scroll_into_view_if_needed()
    before = [one.bounding_box() for one in gestures.all()]
    place = swap.bounding_box()
    middle = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    for pressed in ("true", "false", "true"):
        page.mouse.click(*middle)
        expect(swap).to_have_attribute("aria-pressed", pressed)
        settled(page)
        assert [one.bounding_box() for one in gestures.all()][: len(before)] == before


def test_what_the_page_chose_is_said_and_kept_by_a_press(open_app):
    page = open_app("?tab=attention")
    said = page.locator("#suggestion")
    expect(said).to_contain_text("Layer 6, head 4: most telling here")
    said.get_by_role("button", name="keep").click()
    expect(said.get_by_role("button")).to_have_text("suggest another")
    open_tab(page, "Inside a head")
    for name, value in (("layer", "6"), ("head", "4")):
        expect(stepper(page, name)).to_have_value(value)
    stepper(page, "head").fill("9")
    open_tab(page, "Attention")
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 6, head 9")
    said.get_by_role("button", name="suggest another").click()
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 6, head 4")


def test_a_sentence_without_a_blank_is_answered_in_every_tab(open_app):
    page = open_app("?tab=attention")
    type_into(page, "text-b", "")
    type_into(page, "text-a", "I love pizza")
    says = page.locator("#says")
    expect(says).to_contain_text("least expected")
    expect(says.get_by_role("button").first).to_have_text("pizza")
    expect(page.locator("#strip .bx-unexpected")).to_have_text(["pizza"])
    says.get_by_role("button").first.click()
    expect(page.locator("#text-a textarea")).to_have_value("I love [MASK]")
    expect(says).to_contain_text("[MASK]")
    expect(chips(page).nth(3)).to_have_text("[MASK]")
    expect(page.locator("#strip .bx-unexpected")).to_have_count(0)


def test_a_lesson_gives_back_what_it_replaced(open_app):
    page = open_app(at("Attention", "?a=My+own+sentence+about+a+[MASK].&b=And+a+second+one.&layer=3&head=5&token=4"))
    settled(page)
    page.locator("#open-lessons").click()
    page.locator("#lessons").get_by_role("button", name="All of BERT in one picture").click()
    expect(page.locator("#text-a textarea")).to_have_value("The capital of Japan is [MASK].")
    settled(page)
    page.locator("#lessons").get_by_role("button", name="Next ›").click()
    settled(page)
    page.locator("#lessons").get_by_role("button", name="Close the lessons").click()
    expect(page.locator("#text-a textarea")).to_have_value(OWN)
    expect(page.locator("#text-b textarea")).to_have_value("And a second one.")
    expect(opened_tab(page)).to_have_text("Attention")
    expect(page.locator("#notice")).to_contain_text("Your text and view from before it are back.")
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 3, head 5")
    expect(chips(page).nth(4)).to_have_attribute("aria-pressed", "true")


def test_an_example_s_b_goes_when_another_a_is_typed_and_ones_own_stays(open_app):
    page = open_app()
    a, b = page.locator("#text-a textarea"), page.locator("#text-b textarea")
    a.fill(FIRST_A.replace("Japan", "France"))  # an edit of it
    settled(page)
    expect(b).to_have_value(FIRST_B)
    a.fill(FIRST_A)
    settled(page)
    a.fill("The nurse said that [MASK] was tired.")
    expect(b).to_have_value("")
    expect(page.locator("#says")).to_contain_text(re.compile(r"she 55%"))
    expect(page.locator("#says")).not_to_contain_text("Next")
    b.fill("My own B.")
    settled(page)
    a.fill("Another sentence.")
    settled(page)
    expect(b).to_have_value("My own B.")
