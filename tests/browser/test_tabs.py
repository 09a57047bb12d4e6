"""Tabs and their choices, used as a person would."""

import re

import pytest

from explorer.fill_mask.tab import TAB
from tests.browser.expecting import expect
from tests.browser.steps import at, choose, open_choice, settled, type_into
from tests.corpora import few_read
from tests.tabs import open_tab


def test_fill_mask_a_click_hides_a_word(open_app):
    page = open_app(at("Fill-mask", "?a=The+sky+is+blue."))
    row = page.locator("#fill-mask-words-row .bx-token")
    row.nth(4).click()
    expect(page.locator("#text-a textarea")).to_have_value("The sky is [MASK].")
    expect(page.locator("#fill-mask-guesses-guesses button[data-index]")).to_have_count(5)
    expect(page.locator("#fill-mask-guesses-guesses button[data-index]").first).to_contain_text("%")
    page.locator("#strip .bx-token").nth(2).dblclick()
    expect(page.locator("#fill-mask-guesses-guesses h3")).to_have_count(2)
    page.locator("#strip .bx-token").nth(2).dblclick()
    expect(page.locator("#text-a textarea")).to_have_value("The sky is [MASK].")
    expect(page.locator("#fill-mask-guesses-guesses h3")).to_have_count(1)


def test_choices_behind_more_are_reached_by_keys_and_stay_in_sight_while_open(open_app):
    page = open_app(at("Fill-mask"))
    choices, more = page.locator("#fill-mask-view label:visible"), page.locator("#fill-mask-rest")
    first = list(TAB.choices)[: TAB.in_sight]
    expect(choices).to_have_text(first)
    more.get_by_role("button").focus()
    page.keyboard.press("ArrowDown")
    items = more.get_by_role("menuitemradio")
    expect(items.locator("b")).to_have_text(list(TAB.behind_more))
    expect(items.locator("span")).to_have_text(list(TAB.behind_more.values()))
    expect(items.first).to_be_focused()
    page.keyboard.press("Escape")
    expect(items).to_have_count(0)  # hidden
    expect(more.get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(choices).to_have_text([*first, "Pre-training game"])
    expect(page.get_by_role("radio", name="Pre-training game")).to_be_focused()
    expect(page.locator("#fill-mask-game-again")).to_be_visible()
    choices.first.click()
    expect(choices).to_have_text(first)


def test_gradio_keeps_nothing_of_what_a_call_was_given(open_app):
    """It goes through all that it keeps at each step of every later call."""
    page = open_app(at("Tokens"))
    page.evaluate(
        """async () => {
            const parts = Object.values(await import(new URL(BertExplorer.told.statuses, document.baseURI)));
            const kind = parts.find((part) => part?.LoadingStatus).LoadingStatus.prototype;
            const { update } = kind;
            window.ended = 0;
            kind.update = function (told) {
                update.call(this, told);
                window.keeps = Object.keys(this.current);
                window.ended += told.status === "complete";
            };
        }"""
    )
    open_tab(page, "Attention")
    page.locator("#attention-heads-grid button").nth(16).click()
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 2, head 5")
    page.wait_for_function("() => window.ended > 1 && !window.keeps.length")


def test_the_lens_shows_every_layer_and_follows_words(open_app, bundled):
    page = open_app(at("Fill-mask", "?a=She+drank+a+cup+of+%5BMASK%5D."))
    open_choice(page, "fill-mask", "Lens")
    rows = page.locator("#fill-mask-lens-table tbody tr")
    expect(rows).to_have_count(bundled.capabilities.layers + 1)
    (guess,) = bundled.fill_mask("She drank a cup of [MASK].")
    expect(rows.last.locator("td").nth(guess.position)).to_have_text(guess.candidates[0].token)
    expect(page.get_by_text("✓ matches the model: the last row")).to_be_attached()
    type_into(page, "fill-mask-follow", "tea, milk")
    expect(page.locator("#fill-mask-followed-followed .legendtext")).to_have_text(["tea", "milk"])
    rows.first.locator("button").nth(2).click()
    expect(page.locator("#fill-mask-followed-summary")).to_contain_text("at position 2")
    expect(page.locator("#fill-mask-finding")).to_contain_text("The tuned lens reads ")
    page.get_by_label("tuned lens").check()
    expect(page.locator("#fill-mask-finding")).to_contain_text(", read with the tuned lens")
    expect(page.locator("#fill-mask-followed-summary")).to_contain_text("Read with the tuned lens, at position 2")
    expect(page.locator("#fill-mask-lens-about")).to_contain_text("Fitted on")


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "${alert(1)} {{value}}",
    "</script><script>alert(2)</script>",
    "\u202eabc [MASK] \U0001f600",
)


@pytest.fixture
def some_sentences():
    """The corpus in small, for one test."""
    with few_read():
        yield


@pytest.mark.usefixtures("some_sentences")
def test_nothing_in_files_runs(open_app, tmp_path):
    page = open_app(at("Corpus", "?a=She+sat+on+the+bank+of+the+river.&token=5&view=words"))  # as links named the search by word
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
    hits = page.locator("#corpus-search-hits tbody button")
    expect(hits).to_have_count(3)
    hits.first.click()
    expect(page.locator("#text-a textarea")).to_have_value(HOSTILE[0])
    settled(page)
    expect(page.locator("img[src=x], b:not([class]) > script")).to_have_count(0)


def test_a_suite_opens_computed_and_typed_items_are_measured(open_app):
    page = open_app("?tab=experiments")
    finding, chosen = page.locator("#experiments-finding"), page.locator("#experiments-new-chosen")
    problem = page.locator("#experiments-new-problem")
    rows = page.locator("#experiments-new-each tbody tr")
    expect(finding).to_contain_text(
        re.compile(r"Without layer 5, head 11, selected on 32 items, the word's lead in the other 32 changes by −")
    )
    expect(chosen).to_contain_text("Layer 5, head 11")
    expect(rows).to_have_count(64)
    expect(page.locator("#experiments-new-start")).to_be_hidden()
    page.get_by_role("button", name="previous head").click()
    expect(chosen).to_contain_text("Layer 5, head 10")
    expect(finding).to_contain_text("Without layer 5, head 11, selected")  # the selected head stays what it is
    choose(page, "experiments-source", "typed here")
    box = page.locator("#experiments-typed textarea")
    box.fill("")
    box.press("Shift+Enter")
    expect(problem).to_contain_text("Type at least two items")
    box.fill("The cat [MASK] here. | is\nThe cats [MASK] here. | are | is")
    box.press("Shift+Enter")
    expect(problem).to_contain_text("Line 1 is not an item")
    box.fill("The cat [MASK] here. | is | are\nThe cats [MASK] here. | are | is")
    box.press("Shift+Enter")
    expect(rows).to_have_count(2)
    rows.first.get_by_role("button").first.click()
    expect(page.locator("#text-a textarea")).to_have_value(re.compile(r"The cats? \[MASK\] here\."))
    expect(page.locator("#text-b textarea")).to_have_value("")
    expect(page).to_have_url(re.compile("set.source=typed"))
