"""The Corpus tab, used as a person would."""

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import at, choose, open_choice, settled
from tests.corpora import few_read

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


def test_nothing_in_a_file_runs(open_app, some_sentences, tmp_path):
    page = open_app(at("Corpus", f"{INPUT}&view=words"))
    path = tmp_path / "own.txt"
    path.write_text("\n".join(HOSTILE), "utf-8")
    choose(page, "corpus-source", "Your files")
    page.locator('#corpus-file input, input[data-testid^="Texts, CSV"]').first.set_input_files(path)
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
