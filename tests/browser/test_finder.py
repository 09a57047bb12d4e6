"""The finder (Ctrl K): what people look for is found, by the words that they use, and opens."""

from pathlib import Path

import pytest

from tests.at_night import at_night
from tests.browser.expecting import expect
from tests.browser.steps import settled
from tests.tabs import opened_tab

QUERIES = [line.split("\t") for line in (Path(__file__).parent / "queries.tsv").read_text("utf-8").splitlines()]
SHARE = 0.95  # of the queries, that find what was meant among the first three
OPENS = {
    "head 3.2": ("Attention", "layer=3&head=2"),
    "decoder look": ("Inside a head", "view=if-it-were-a-decoder"),
    "umap": ("Projection", "set.method=umap"),
    "layer 4": ("Hidden states", "layer=4"),
}


def test_what_people_look_for_is_among_the_first_three(open_app):
    page = open_app()
    found = page.evaluate("(all) => Promise.all(all.map(([words]) => BertExplorer.page.find(words)))", QUERIES)
    missed = []
    for (words, meant), places in zip(QUERIES, found, strict=True):
        said = [text.lower() for one in places[:3] for text in (one["title"], f"({one['where']}")]
        parts = meant.lower().split("|")  # of a title, or "(" and the beginning of a place
        if not any(one.startswith(part) if part[0] == "(" else part in one and one[0] != "(" for part in parts for one in said):
            missed.append((words, said))
    assert len(missed) <= (1 - SHARE) * len(QUERIES), missed


@pytest.mark.parametrize("words", at_night(OPENS, but=["head 3.2", "decoder look"]))
def test_what_is_found_opens_and_the_texts_stay(open_app, words):
    tab, part = OPENS[words]
    page = open_app("?a=A+bird+sings.")
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    expect(page.get_by_role("option").first).to_be_visible()
    first = page.evaluate("async (words) => (await BertExplorer.page.find(words))[0].title", words)
    expect(page.locator("#finder [aria-selected=true] b")).to_have_text(first)
    page.keyboard.press("Enter")
    expect(opened_tab(page)).to_have_text(tab)
    page.wait_for_function("(part) => location.search.includes(part)", arg=part)
    settled(page)
    expect(page.locator("#text-a textarea")).to_have_value("A bird sings.")


def test_actions_are_done_and_keys_are_listed(open_app):
    page = open_app()
    dark = page.evaluate("document.body.classList.contains('dark')")
    page.locator("#find").click()
    page.keyboard.type("dark mode")
    expect(page.locator("#finder [aria-selected=true] b")).to_have_text("Dark or light")
    page.keyboard.press("Enter")
    assert page.evaluate("document.body.classList.contains('dark')") != dark
    page.keyboard.press("Control+k")
    page.keyboard.type("keyboard")
    expect(page.locator("#finder [aria-selected=true] b")).to_have_text("Keyboard shortcuts")
    page.keyboard.press("Enter")
    expect(page.locator("#finder")).to_contain_text("Ctrl K")
    page.keyboard.press("Escape")
    expect(page.locator("#finder")).to_have_count(0)
    page.evaluate("document.body.classList.toggle('dark')")


def test_what_is_typed_is_text_and_nonsense_is_told(open_app):
    page = open_app()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option")).to_have_count(5)  # before anything is typed
    page.keyboard.type("zzqqxx")
    expect(page.locator("#finder")).to_contain_text("Nothing is called that")
    page.locator("#finder input").fill("<img src=x onerror=alert(1)>")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#finder")).to_have_count(0)
