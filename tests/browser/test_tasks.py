"""What people come for is on the first screen of a 1280 × 720 window, without scrolling, and few clicks away."""

import re

from tests.browser.expecting import expect

SCREEN = {"width": 1280, "height": 720}


def own_sentence(page):
    write(page, "#text-b textarea", "")
    write(page, "#text-a textarea", "She drank a glass of cold stone.")


def see_why(page):
    page.get_by_role("button", name="see why →", exact=True).locator("visible=true").first.click()


def he_and_she(page):
    write(page, "#text-a textarea", "The nurse said that [MASK] was tired.")
    page.get_by_role("tab", name="Predict", exact=True).click()
    write(page, "#fill-mask-words input", "he, she")


def write(page, where, text):
    """Type into a box, and leave it."""
    page.locator(where).fill(text)
    page.locator(where).press("Tab")


TASKS = {  # at most one click each; where the answer is and what it says; teaching is tried in test_finetune.py
    "see why BERT guesses tokyo": (lambda page: None, "#overview-finding", "drawing most on “japan”"),
    "find out which word a head needs": (see_why, "#attention-finding", "looks from"),
    "type a sentence and see its surprising word": (own_sentence, "#says", "stone"),
    "compare he and she": (he_and_she, "#fill-mask-comparison-ratio", re.compile("likely as s?he")),
}


def test_what_people_come_for_is_on_the_first_screen_after_few_clicks(new_page, served):
    page = new_page(viewport=SCREEN)
    page.goto(served)
    expect(page.locator("#text-a textarea").locator("visible=true").first).to_be_visible()
    for task, (act, where, answer) in TASKS.items():  # one after the other, each where the one before has led
        act(page)
        found = page.locator(where).filter(has_text=answer).locator("visible=true").first
        expect(found).to_be_visible()
        box = found.bounding_box()
        assert 0 <= box["y"] <= SCREEN["height"] - box["height"], task
        assert page.evaluate("scrollY") == 0, task
