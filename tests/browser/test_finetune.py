"""The Fine-tune tab as a person uses it."""

import re

import pytest

from explorer.core.errors import InputError
from tests.browser.expecting import expect
from tests.browser.steps import choose, close_messages, settled, unfold
from tests.tabs import open_tab

pytestmark = pytest.mark.own_page  # no link tells what was typed and trained

FILES = (  # what is in it, and what is said of it
    (bytes(range(256)), "not text"),
    (b"text;label\nx;one\ny;two\nx2;one\ny2;two\n;one\n", "4 sentences.*1 row without"),
)


@pytest.fixture
def tab(open_app):
    page = open_app("")
    open_tab(page, "Fine-tune")
    expect(page.locator("#fine-tune-try-it-verdict button")).to_have_count(3, timeout=60_000)
    return page


def write(page, card, line):
    """Type a sentence at the end of a card."""
    place = page.locator(".bx-card").nth(card)
    place.get_by_role("button", name="+ add a sentence").click()
    place.locator("textarea").press_sequentially(line)


def status(page):
    return page.locator("#fine-tune-outcome-status")


def test_it_opens_with_a_result_type_train_and_try_are_on_one_screen_and_every_line_counts(open_app):
    page = open_app("", viewport={"width": 1280, "height": 720})
    open_tab(page, "Fine-tune")
    expect(page.locator("#fine-tune-try-it-map .bx-map-star")).to_be_visible(timeout=60_000)
    settled(page)
    for part in ("examples-cards", "tried", "try-it-verdict", "try-it-map"):
        assert page.locator(f"#fine-tune-{part}").bounding_box()["y"] < 420, part
    assert page.locator("#fine-tune-examples-cards").bounding_box()["y"] <= 220
    assert page.locator("#fine-tune-try-it-map svg").first.bounding_box()["y"] + 300 <= 720
    expect(page.locator("#fine-tune-outcome-train")).to_be_hidden()
    expect(page.locator("#fine-tune-finding")).to_contain_text(
        "17 of 18 sentences are right when left out of the training (74% to 99%, 95% interval)"
    )
    expect(page.locator("#fine-tune-examples-about")).to_contain_text("18 sentences")
    assert ["set.run" in one for one in (page.evaluate("BertExplorer.link.ownQuery()"), page.url)] == [True, False]  # for files
    expect(status(page)).to_contain_text("animal / vehicle / food: the head only, solved directly.")
    expect(page.locator("#fine-tune-try-it-verdict button").first).to_contain_text("animal")
    unfold(page, "What is the result worth?")
    expect(page.locator("#fine-tune-result-picture .heatmaplayer")).to_have_count(1)

    before = page.locator("#fine-tune-try-it-verdict").inner_text()
    write(page, 0, "A hawk flew over the valley.")
    page.wait_for_function("before => document.querySelector('#fine-tune-try-it-verdict').innerText !== before", arg=before)
    expect(page.locator("#fine-tune-finding")).to_contain_text("of 19 sentences")
    expect(page.locator("#fine-tune-try-it-map .bx-map-point")).to_have_count(20)
    own = {"joy": ["What joy!", "We laughed."], "fear": ["I am afraid.", "She hid."], "anger": ["How dare you!", "Get out!"]}
    page.get_by_role("button", name="Empty cards").click()
    for number, (name, lines) in enumerate(own.items()):
        page.locator(".bx-card-name").nth(number).fill(name)
        for line in lines:
            write(page, number, line)
    expect(page.locator("#fine-tune-finding")).to_contain_text("of 6 sentences")
    expect(page.locator("#fine-tune-tried textarea")).to_have_value("")
    expect(page.locator("#fine-tune-tried textarea")).to_have_attribute("placeholder", re.compile("joy, fear, anger"))
    expect(page.locator("#fine-tune-try-it-verdict button")).to_have_count(0)
    page.locator("#fine-tune-tried textarea").fill("What a wonderful <b>surprise</b> ${alert(1)}!")
    expect(page.locator("#fine-tune-try-it-verdict button")).to_have_count(3)
    expect(page.locator("#fine-tune-try-it-words .barlayer .point")).to_have_count(8)
    unfold(page, "My runs")
    expect(page.locator("#fine-tune-runs-explore")).to_be_disabled()
    expect(page.locator("#fine-tune-runs-closed")).to_contain_text("Only a head was trained")


PASTE = """(text) => {
    const given = new DataTransfer(), box = document.querySelector(".bx-card textarea");
    given.setData("text/plain", text);
    box.focus();
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: given, bubbles: true, cancelable: true }));
}"""
DROP = """([card, name, text]) => {
    const given = new DataTransfer();
    given.items.add(new File([text], name));
    const event = new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true });
    document.querySelectorAll(".bx-card")[card].dispatchEvent(event);
}"""


def test_the_page_drawn_ahead_leaves_the_cards_as_they_are(open_app):
    for _ in range(2):  # the server knows the view by the second time, and sends it with the first bytes
        page = open_app("?tab=fine-tune")
        expect(page.locator("#fine-tune-finding")).to_contain_text("17 of 18 sentences are right when left out of the training")
        expect(page.locator(".bx-card:visible textarea").first).to_have_value(re.compile(r"^The fox slipped under the fence\.\n"))
        settled(page)
        expect(page.locator(".bx-fault")).to_have_count(0)


@pytest.mark.nightly
def test_a_table_is_pasted_into_empty_cards_and_files_are_dropped_on_them(tab):
    tab.get_by_role("button", name="Empty cards").click()
    tab.get_by_role("button", name="Undo").click()
    expect(tab.locator(".bx-card-name").first).to_have_value("animal")
    expect(tab.locator("#fine-tune-finding")).to_contain_text("of 18 sentences are right when left out of the training")
    drawing = tab.locator("#fine-tune-try-it-map svg").first
    drawing.focus()
    drawing.press("ArrowRight")
    expect(tab.locator("#fine-tune-try-it-map .bx-map-said")).to_contain_text("left out, it is called")
    tab.locator("#fine-tune-try-it-map [data-class='2']").click()
    expect(tab.locator("#fine-tune-try-it-map .bx-dim")).to_have_count(6)
    tab.get_by_role("button", name="Empty cards").click()
    tab.evaluate(PASTE, "I love it\tgood\nI hate it\tbad\nBest day ever\tgood\nWhat a mess\tbad")
    expect(tab.locator(".bx-card")).to_have_count(2)
    expect(tab.locator("#fine-tune-finding")).to_contain_text("of 4 sentences are right when left out of the training")
    tab.evaluate(DROP, [1, "more.txt", "Awful <b>film</b>.\n\nTwo hours lost.\n"])
    expect(tab.locator(".bx-card").nth(1).locator("textarea")).to_have_value(
        "I hate it\nWhat a mess\nAwful <b>film</b>.\nTwo hours lost."
    )
    expect(tab.locator("#fine-tune-try-it-map .bx-map-point")).to_have_count(6)
    tab.evaluate(DROP, [0, "table.csv", 'label,text\ngood,"Yes, please"\nnone,It is six.\nnone,A table.\ngood,Hurray!\n'])
    expect(tab.locator(".bx-card")).to_have_count(3)
    expect(tab.locator(".bx-card").nth(0).locator("textarea")).to_have_value(re.compile("Yes, please"))
    expect(tab.locator("#fine-tune-examples-about")).to_contain_text("10 sentences")
    expect(tab.get_by_role("button", name="Undo")).to_have_count(0)


def test_after_an_error_what_was_shown_stays_and_a_file_is_described_or_refused(tab, tmp_path, monkeypatch):
    def full(*given):
        raise InputError("There is no room for another run.")

    monkeypatch.setattr("explorer.finetune.outcome.run_training", full)
    proposed = tab.locator("#fine-tune-outcome-next-step")
    expect(proposed).to_contain_text("let the top two layers learn too (")
    proposed.click()
    expect(tab.locator(".toast-body")).to_contain_text("no room for another run")
    expect(status(tab)).to_have_text("Nothing was trained; the former run is still below.")
    expect(proposed).to_be_enabled()
    expect(tab.locator("#fine-tune-outcome-cancel")).to_be_hidden()

    choose(tab, "fine-tune-source", "A file")
    for content, said in FILES:
        file = tmp_path / "mine.csv"
        file.write_bytes(content)
        tab.locator("#fine-tune-file input[type=file]").set_input_files(file)
        expect(tab.get_by_text(re.compile(said)).first).to_be_visible()
        close_messages(tab)
        tab.locator("#fine-tune-file").get_by_label("Clear").click()


@pytest.mark.nightly
def test_a_training_whose_page_is_closed_ends_and_is_found_again(tab):
    choose(tab, "fine-tune-source", "Built in")
    unfold(tab, "Settings")
    for name, number in (("layers", "2"), ("epochs", "50")):
        box = tab.locator(f"#fine-tune-{name} input[type=number]")
        box.fill(number)
        box.press("Enter")
        expect(tab.locator("#fine-tune-pooling input")).to_have_value("[CLS]")  # the settings for so many layers are there
    tab.locator("#fine-tune-outcome-train").click()
    expect(status(tab)).to_contain_text(re.compile(r"Epoch ([2-9]|\d\d) of 50"), timeout=90_000)
    again = tab.context.new_page()
    tab.close()
    again.goto(tab.url)
    open_tab(again, "Fine-tune")
    # Not all of the epochs: the training ended when the page went.
    fewer = re.compile(r"the head and 2 layers, epoch \d+ of ([1-9]|[1-3]\d)\b")
    expect(status(again)).to_contain_text(fewer, timeout=60_000)
