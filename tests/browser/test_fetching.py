"""A model of the hub, fetched from the page; the hub is played."""

import re

from tests.browser.expecting import expect
from tests.browser.steps import chips, settled
from tests.families import write_family
from tests.hub import REPO

BUNDLED = "bert-l6-h384-uncased"


def choose(page, name):
    box = page.locator("#model-box input")
    box.fill(name)
    box.press("Enter")


def test_a_download_is_seen_stopped_and_goes_on_later(open_app, hub, tiny_folder):
    page = open_app()
    hub.put(REPO, tiny_folder)
    hub.pause = 0.5
    choose(page, REPO)
    under_way = page.locator("#under-way")
    expect(under_way).to_contain_text(re.compile(r"fetching .* MB"))
    under_way.get_by_role("button", name="Stop").click()
    expect(page.locator("#notice")).to_contain_text(f"Stopped. The downloaded part is kept, and {BUNDLED} stays.")
    expect(under_way).to_be_hidden()
    expect(page.locator("#model-box input")).to_have_value(BUNDLED)
    expect(chips(page).first).to_be_visible()
    hub.pause = 0
    choose(page, REPO)
    expect(page.locator("#model-box input")).to_have_value(REPO)
    expect(page.locator("#notice")).not_to_contain_text("Stopped")
    expect(under_way).to_be_hidden()


def test_what_was_opened_last_is_in_the_list_of_another_page(open_app, served, tmp_path):
    folder = write_family(tmp_path / "roberta", "roberta")
    page = open_app()
    choose(page, str(folder))
    expect(chips(page).first).to_have_text("<s>")
    settled(page)
    page.goto(served)
    expect(chips(page).first).to_have_text("[CLS]")
    page.locator("#model-box input").click()
    option = page.get_by_role("option").filter(has_text=str(folder))
    expect(option).to_have_attribute("aria-description", re.compile(r"^\d+ MB, a masked-LM head$"))
    option.click()
    expect(chips(page).first).to_have_text("<s>")
