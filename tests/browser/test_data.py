"""What is taken away by the dialog of the page: the numbers of what is seen, and its Python."""

import re
import xml.etree.ElementTree as ET

import pandas as pd

from tests.browser.expecting import expect
from tests.browser.test_everyone import AXE, wrong

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
