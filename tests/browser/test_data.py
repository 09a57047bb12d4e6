"""The numbers of what is seen, taken away by the dialog of the page."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd

from tests.browser.expecting import expect

SVG = "{http://www.w3.org/2000/svg}"


def saved(page, label):
    with page.expect_download() as download:
        page.get_by_role("dialog").get_by_role("link", name=label).click()
    return download.value


def test_the_dialog_gives_the_numbers_of_the_picture_on_the_page(open_app, bundled):
    page = open_app("?v=1&tab=attention&a=A+dog+barked.&layer=3&head=7")
    page.locator("#attention-head-heatmap .js-plotly-plot").wait_for()
    page.locator("#take-away").click()
    table = saved(page, "The numbers of the main picture")
    assert table.suggested_filename == "bert-explorer-attention-one-head.csv"
    frame = pd.read_csv(table.path(), keep_default_na=False, na_values=[""])
    weights = frame.pivot(index="query_position", columns="key_position", values="weight").to_numpy()
    np.testing.assert_allclose(weights.astype(np.float32), bundled.trace("A dog barked.").attention(2)[6], atol=1e-6)
    everything = json.loads(saved(page, "All numbers").path().read_text("utf-8"))
    (head,) = [view for view in everything["views"] if view["view"] == "attention/head"]
    assert len(head["tables"]["heatmap"]["rows"]) == len(frame)
    assert head["texts"] == ["A dog barked.", ""]


def test_a_picture_gives_its_own_numbers_and_carries_its_letters(open_app, bundled):
    page = open_app("?v=1&tab=attention&a=A+dog+barked.&layer=3&head=7")
    for part, press in (("heads-grid", "Save this picture"), ("head-heatmap", None)):
        box = page.locator(f"#attention-{part}")
        files = {}
        for kind in ("CSV", "SVG"):
            box.hover()
            if press:
                box.get_by_role("button", name=press).click()
            with page.expect_download() as download:
                box.locator(f"[aria-label='Download as {kind}'], [data-title$='as {kind}']").last.click()
            if kind == "CSV":  # it is told for some seconds
                expect(box.locator(".bx-save-said")).to_contain_text(".csv is made.")
            files[kind] = download.value.path()
        frame = pd.read_csv(files["CSV"], keep_default_na=False, na_values=[""])
        assert len(frame) == (72 if press else 36)
        drawn = ET.fromstring(files["SVG"].read_text("utf-8"))
        (style,) = [one.text for one in drawn.iter(f"{SVG}style") if "@font-face" in (one.text or "")]
        assert "src:url(data:font/woff2;base64," in style, "its letters are in it"
        assert not re.search(r"""url\((?!["']?(data:|#))""", ET.tostring(drawn, "unicode").replace("&quot;", '"'))
        families = {drawn.get("font-family"), *(one.get("style") or "" for one in drawn.iter(f"{SVG}text"))} - {""}
        assert all("BERT Explorer Sans" in one for one in families)
