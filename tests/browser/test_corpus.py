"""The Corpus tab, used as a person would."""

import re
import time

import pytest

from explorer.core.steps import map_steps
from explorer.corpus.compute import atlas
from tests.browser.expecting import expect
from tests.browser.steps import at, choose, open_choice, settled, unfold
from tests.corpora import few_read
from tests.families import write_family

INPUT = "?a=She+sat+on+the+bank+of+the+river.&token=5"
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "${alert(1)} {{value}}",
    "</script><script>alert(2)</script>",
    "\u202eabc [MASK] \U0001f600",
)


@pytest.fixture
def some_sentences():
    """The corpus in small: what is looked for by its words is in it."""
    with few_read("here", "hotel", "money", "there") as few:
        yield few


@pytest.fixture
def page(open_app, some_sentences):
    page = open_app(at("Corpus", INPUT))
    expect(hits(page)).to_have_count(50, timeout=60_000)
    return page


def hits(page):
    return page.locator("#corpus-search-hits tbody button")


def test_hits_are_listed_and_a_click_makes_one_the_input(page):
    expect(page.locator("#corpus-finding")).to_contain_text("of the 50 tokens nearest to “bank” in hidden state 4")
    expect(page.locator("#corpus-search-check")).to_contain_text("✓")
    expect(page.locator("#corpus-search-common h3").first).to_have_text("Part of speech")
    row = page.locator("#corpus-search-hits tbody tr").first
    before, word, after = (row.locator("td, th").nth(place).inner_text() for place in (0, 1, 2))
    hits(page).first.click()
    expect(page.locator("#strip .bx-chosen, #strip [aria-pressed=true]").first).to_contain_text(word.lower())
    expect(page.locator("#text-a textarea")).to_have_value(re.compile(re.escape(before.strip("… "))))
    expect(page.locator("#text-a textarea")).to_have_value(re.compile(re.escape(after.strip("… "))))
    expect(page.locator("#corpus-search-about")).to_contain_text(f"nearest to “{word.lower()}”")


def test_a_head_and_a_file_of_ones_own(page, tmp_path):
    unfold(page, "More")
    page.locator("#corpus-compare").get_by_label("Head").check()
    expect(page.locator("#corpus-search-about")).to_contain_text("layer 4, head 1 hands on")
    expect(page.locator("#corpus-search-common")).to_contain_text("The head looks from here at")
    path = tmp_path / "own.txt"
    path.write_text("The boat lay by the river.\nHe went to the bank.\n", "utf-8")
    choose(page, "corpus-source", "A file of yours")
    expect(page.get_by_text("Choose a file: a sentence a line")).to_be_visible()
    page.locator('#corpus-file input, input[data-testid^="Text, CSV"]').first.set_input_files(path)
    expect(page.locator("#corpus-search-about")).to_contain_text("in 2 sentences of own.txt.")
    settled(page)


def test_a_head_of_the_input_leads_to_what_it_does_elsewhere(open_app):
    page = open_app(at("Attention", "?a=She+sat+on+the+bank+of+the+river.&layer=3&head=1"))
    unfold(page, "More")
    page.get_by_role("button", name="What does this head do elsewhere?").click()
    expect(page.locator("#corpus-heads-title")).to_contain_text("Layer 3, head 1 across the corpus")
    expect(page.locator("#corpus-finding")).to_contain_text("layer 3, head 1 finds the syntactic head of")
    expect(page.locator("#corpus-heads-grid .bx-heads button")).to_have_count(72)
    expect(page.locator("#corpus-heads-check")).to_contain_text("✓")
    page.locator("#corpus-heads-grid .bx-heads button").nth(2).click()
    expect(page.locator("#corpus-heads-habit")).to_contain_text("of its weight on the token before")
    page.locator("#corpus-heads-grid .bx-heads button").nth(37).click()
    expect(page.locator("#corpus-heads-title")).to_contain_text("Layer 4, head 2")
    row = page.locator("#corpus-heads-sentences tbody tr").first
    word = row.locator("th button").inner_text()
    row.locator("th button").click()
    expect(page.locator("#strip .bx-chosen, #strip [aria-pressed=true]").first).to_contain_text(word.lower())
    expect(page.locator("#corpus-heads-title")).to_contain_text("Layer 4, head 2")
    settled(page)


def test_nothing_in_a_file_runs(open_app, some_sentences, tmp_path):
    page = open_app(at("Corpus", f"{INPUT}&view=sentences"))
    path = tmp_path / "own.txt"
    path.write_text("\n".join(HOSTILE), "utf-8")
    choose(page, "corpus-source", "A file of yours")
    page.locator('#corpus-file input, input[data-testid^="Text, CSV"]').first.set_input_files(path)
    rows = page.locator("#corpus-sentences-table button")
    expect(rows).to_have_count(len(HOSTILE))
    expect(rows.first.locator(".bx-name")).to_have_text(HOSTILE[0])
    choices = {"Search by meaning": "search", "Sentences": "sentences"}
    for choice, name in choices.items():
        open_choice(page, "corpus", choice)
        expect(page.locator(f"#corpus-{name}-about")).to_contain_text(path.name)
        settled(page)
    rows.first.click()
    expect(page.locator("#text-a textarea")).to_have_value(HOSTILE[0])
    settled(page)
    expect(page.locator("img[src=x], b:not([class]) > script")).to_have_count(0)


@pytest.mark.nightly
def test_the_atlas_of_another_model_is_made_and_can_be_stopped(open_app, tmp_path, monkeypatch):
    monkeypatch.setattr("explorer.ui.long_view.QUICK", 0)  # else a tiny model is not asked about
    folder = write_family(tmp_path / "model", "bert")
    make = atlas.head_atlas_in_steps

    def slowly(*read):  # else it may be done before the click
        return map_steps(make(*read), lambda share: time.sleep(0.3) or share)

    monkeypatch.setattr(atlas, "head_atlas_in_steps", slowly)
    page = open_app(at("Corpus", f"?model={folder}&a=the+man+went"))
    open_choice(page, "corpus", "Head atlas")
    start, stop, status = (page.locator(f"#corpus-heads-{name}") for name in ("start", "stop", "status"))
    expect(start).to_have_text("Make the atlas")
    expect(status).to_contain_text("runs of the model, so it waits for you.")
    start.click()
    expect(status).to_contain_text("Reading 800 sentences, once for this model")
    stop.click()
    expect(status).to_contain_text("Stopped.")
    monkeypatch.setattr(atlas, "head_atlas_in_steps", make)
    expect(page.locator("#corpus-heads-grid .bx-heads button")).to_have_count(0)
    start.click()
    expect(page.locator("#corpus-heads-grid .bx-heads button")).to_have_count(6)
    expect(page.locator("#corpus-heads-check")).to_contain_text("✓")
    expect(start).to_be_hidden()
