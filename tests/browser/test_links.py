"""Links as a person uses them: in the address bar, back and forward, and in the dialog of what can be taken away."""

import pytest

from explorer.core.errors import InputError
from explorer.export import ways
from explorer.export.ways import Way
from tests.browser.expecting import expect
from tests.browser.steps import chips, open_choice, settled, type_into
from tests.browser.test_everyone import AXE, wrong_in_both
from tests.tabs import open_tab, opened_tab


@pytest.mark.own_page
def test_a_link_opens_a_sub_view_with_its_settings_and_tells_what_it_cannot(open_app):
    page = open_app("?v=1&tab=attention&view=several-heads&a=Hello+you&token=1&layer=99&set.layer=4&set.heads=1,2,12&set.top_p=3")
    expect(page.locator("#attention-view").get_by_label("Several heads")).to_be_checked()
    expect(page.locator("#attention-layer input[type=number]")).to_have_value("4")
    expect(page.locator("#attention-heads .token")).to_have_text(["1", "2", "12"])
    expect(chips(page).nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#examples input")).to_have_value("")  # these texts are no example
    expect(page.locator("#notice")).to_contain_text("The link asked for layer 99; this model has 6, so it shows layer 6.")
    expect(page.locator("#notice")).to_contain_text("'top_p'")
    page.locator("#attention-heads input").click()
    page.get_by_role("option", name="3", exact=True).click()
    page.wait_for_url("**set.heads=1,2,3,12*")
    page.reload()
    expect(page.locator("#attention-heads .token")).to_have_count(4)


@pytest.mark.own_page  # steps of the history are counted
def test_back_goes_back_and_forward_again(open_app, served):
    page = open_app("?tab=attention")
    steps = page.evaluate("history.length")
    page.locator("#attention-heads-grid button").nth(3 * 12 + 6).click()
    page.wait_for_url("**layer=4&head=7")
    open_tab(page, "Fill-mask")
    page.wait_for_url("**tab=fill-mask&**")
    open_choice(page, "fill-mask", "Pre-training game")
    page.get_by_role("button", name="Hide again").click()
    page.wait_for_url("**set.seed=1")
    type_into(page, "text-a", "A link & a view?")
    page.wait_for_url("**a=A+link+%26+a+view%3F&**set.seed=1")
    settled(page)
    assert page.evaluate("history.length") == steps + 3, "a head and a seed are no steps"
    page.go_back()
    expect(page.locator("#text-a textarea")).to_have_value("The capital of Japan is [MASK].")
    settled(page)
    page.go_back()
    expect(page.locator("#fill-mask-view").get_by_label("Guesses")).to_be_checked()
    settled(page)
    page.go_back()
    expect(opened_tab(page)).to_have_text("Attention")
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 4, head 7")
    for _ in range(3):
        settled(page)
        page.go_forward()
    expect(page.locator("#text-a textarea")).to_have_value("A link & a view?")
    expect(page.locator("#fill-mask-seed input")).to_have_value("1")
    settled(page)
    assert "set.seed=1" in page.url


@pytest.fixture
def two_ways(monkeypatch, serving):
    """Two ways out, of which one fails."""

    def gone(place):
        raise InputError("There is nothing of this name here.")

    fine = Way("py", "Python", "text/plain", lambda place: place.subject.text_a.encode())
    monkeypatch.setattr(ways, "WAYS", (fine, Way("csv", "Gone", "text/plain", gone)))


def test_the_dialog_has_the_link_its_qr_code_and_every_way_out(open_app, served, two_ways):
    page = open_app("?tab=attention", viewport={"width": 420, "height": 900})
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")  # until it is deleted
    page.locator("#open-bar").click()
    page.locator("#take-away").click()
    dialog = page.get_by_role("dialog", name="Take this view away")
    expect(dialog.get_by_label("Link")).to_have_value(f"{served}/?{page.evaluate('BertExplorer.link.linkState.query')}")
    expect(dialog.get_by_role("status")).to_contain_text("The link is marked")
    page.wait_for_function("() => document.querySelector('#take img').naturalWidth > 100")
    page.evaluate(AXE)
    assert not wrong_in_both(page, "#take")
    page.evaluate("() => document.body.classList.toggle('dark')")
    assert page.evaluate("() => document.querySelector('#take').scrollWidth <= innerWidth")
    with page.expect_download() as download:
        dialog.get_by_role("link", name="Python that computes the numbers").click()
    assert download.value.suggested_filename == "bert-explorer-attention-one-head.py"
    assert download.value.path().read_text("utf-8") == "The capital of Japan is [MASK]."
    dialog.get_by_role("link", name="The numbers of the main picture").click()
    expect(dialog.get_by_role("status")).to_contain_text("There is nothing of this name here")
    page.problems.clear()  # of what is gone
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator("#take-away")).to_be_focused()
    page.locator("#open-bar").click()
    page.evaluate("() => delete navigator.clipboard.writeText")
