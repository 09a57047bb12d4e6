"""Nothing moves under the pointer, and what a person chose stays: the same place clicked twice is the same thing."""

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import chips, settled, stepper, type_into
from tests.tabs import open_tab


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
    expect(said).to_contain_text("Layer 6, head 6: most telling here")
    said.get_by_role("button", name="keep").click()
    expect(said.get_by_role("button")).to_have_text("suggest another")
    open_tab(page, "Inside a head")
    settled(page)
    assert (stepper(page, "layer").input_value(), stepper(page, "head").input_value()) == ("6", "6")
    stepper(page, "head").fill("9")
    open_tab(page, "Attention")
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 6, head 9")
    said.get_by_role("button", name="suggest another").click()
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 6, head 6")


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


@pytest.mark.own_page
def test_how_a_picture_is_made_stays_open_once_it_was_opened(open_app):
    page = open_app("?tab=inside-head")
    check = page.locator("#inside-head-dots-check")
    expect(page.locator("#inside-head-finding")).not_to_be_empty()
    expect(check).to_be_hidden()
    page.locator(".how-toggle:visible").first.click()
    expect(check).to_be_visible()
    expect(check).to_contain_text("✓ matches the model")
    page.reload()
    expect(check).to_be_visible()
    page.locator(".how-toggle:visible").first.click()
    expect(check).to_be_hidden()
