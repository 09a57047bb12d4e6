"""The Corpus tab, used as a person would."""

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import at, choose, settled
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


def hits(page):
    return page.locator("#corpus-search-hits tbody button")


def test_nothing_in_files_runs(open_app, some_sentences, tmp_path):
    page = open_app(at("Corpus", f"{INPUT}&view=words"))  # as links named the search by word
    paths = [tmp_path / f"{number}.txt" for number in (1, 2)]
    for path, lines in zip(paths, (HOSTILE[:2], HOSTILE[2:]), strict=True):
        path.write_text("\n".join(lines), "utf-8")
    choose(page, "corpus-source", "Your files")
    page.locator('#corpus-file input, input[data-testid^="Texts, CSV"]').first.set_input_files(paths)
    about = page.locator("#corpus-search-about")
    expect(about).to_contain_text("4 sentences of 2 files")
    page.locator("#corpus-word :is(input, textarea)").fill("alert")
    page.keyboard.press("Enter")
    expect(about).to_contain_text("“alert” occurs 3 times")
    expect(hits(page)).to_have_count(3)
    hits(page).first.click()
    expect(page.locator("#text-a textarea")).to_have_value(HOSTILE[0])
    settled(page)
    expect(page.locator("img[src=x], b:not([class]) > script")).to_have_count(0)
