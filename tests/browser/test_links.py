"""Links as a person uses them: in the address bar, back and forward; and in the dialog of what can be taken away."""

import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from explorer.core.errors import InputError
from explorer.export import ways
from explorer.export.ways import Way
from tests.browser.expecting import expect
from tests.browser.steps import chips, open_choice, settled, type_into
from tests.browser.test_everyone import AXE, wrong, wrong_in_both
from tests.tabs import open_tab, opened_tab


@pytest.mark.own_page
def test_a_link_opens_a_sub_view_with_its_settings_and_tells_what_it_cannot(open_app):
    page = open_app("?v=1&tab=attention&view=several-heads&a=Hello+you&token=1&layer=99&set.layer=4&set.heads=1,2,12&set.top_p=3")
    expect(page.locator("#attention-view").get_by_label("Several heads")).to_be_checked()
    expect(page.locator("#attention-layer input[type=number]")).to_have_value("4")
    expect(page.locator("#attention-heads .token")).to_have_text(["1", "2", "12"])
    expect(chips(page).nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#examples input")).to_have_value("")  # these texts are no example
    expect(page.locator("#notice")).to_contain_text(re.compile("for layer 99; this model has 6, so it shows layer 6.*'top_p'"))
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.locator("#notice .bx-notice").evaluate("(told) => told.scrollHeight <= told.clientHeight"), "all of it is seen"
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


SVG = "{http://www.w3.org/2000/svg}"


def test_a_picture_gives_its_own_numbers_and_carries_its_letters(open_app, bundled):
    page = open_app("?v=1&tab=attention&a=A+dog+barked.&layer=3&head=7")
    page.locator("#attention-head-heatmap").hover()
    page.locator("#attention-head-heatmap").get_by_role("button", name="Save this picture").click()
    for place, rows in enumerate((72, 36)):  # the grid of heads, and below it the heatmap
        files = {}
        for kind in ("CSV", "SVG"):
            with page.expect_download() as download:
                page.locator("#take-pictures li").nth(place).get_by_role("button", name=re.compile(f" as {kind}$")).click()
            expect(page.locator("#take-said")).to_contain_text(" made.")
            files[kind] = download.value.path()
        frame = pd.read_csv(files["CSV"], keep_default_na=False, na_values=[""])
        assert len(frame) == rows
        drawn = ET.fromstring(files["SVG"].read_text("utf-8"))
        (style,) = [one.text for one in drawn.iter(f"{SVG}style") if "@font-face" in (one.text or "")]
        assert "src:url(data:font/woff2;base64," in style, "its letters are in it"
        assert not re.search(r"""url\((?!["']?(data:|#))""", ET.tostring(drawn, "unicode").replace("&quot;", '"'))
        families = {drawn.get("font-family"), *(one.get("style") or "" for one in drawn.iter(f"{SVG}text"))} - {""}
        assert all("BERT Explorer Sans" in one for one in families)


def test_the_python_of_a_view_is_read_and_copied(open_app):
    page = open_app(
        "?v=1&tab=attention&a=%22%22%22</code>%3Cimg src%3Dx%3E&layer=2&head=3", viewport={"width": 420, "height": 900}
    )
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#open-bar").click()
    page.locator("#take-away").click()
    page.locator("#take-python summary").click()
    code = page.locator("#take-python code")
    expect(code).to_contain_text("layer = 2")
    expect(code).to_contain_text("</code><img src=x>")
    page.evaluate(AXE)
    assert not wrong(page, "#take")
    assert page.evaluate("() => document.querySelector('#take').scrollWidth <= innerWidth")
    page.get_by_role("button", name="Copy the Python").click()
    expect(page.locator("#take-said")).to_have_text("The Python is on the clipboard.")
    page.keyboard.press("Escape")
    page.locator("#open-bar").click()
    script = page.evaluate("navigator.clipboard.readText()")
    compile(script, "script", "exec")
    assert "attn_implementation" in script
