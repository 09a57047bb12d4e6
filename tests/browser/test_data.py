"""The numbers of what is seen, taken away by the dialog of the page."""

import json

import numpy as np
import pandas as pd
from playwright.sync_api import expect


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
    assert np.array_equal(weights.astype(np.float32), bundled.trace("A dog barked.").attention(2)[6])
    everything = json.loads(saved(page, "All numbers").path().read_text("utf-8"))
    (head,) = [view for view in everything["views"] if view["view"] == "attention/head"]
    assert len(head["tables"]["heatmap"]["rows"]) == len(frame)
    assert head["texts"] == ["A dog barked.", ""]


def test_a_picture_gives_its_own_numbers(open_app, bundled):
    page = open_app("?v=1&tab=attention&a=A+dog+barked.&layer=3&head=7")
    for part, press in (("heads-grid", "Save this picture"), ("head-heatmap", None)):
        box = page.locator(f"#attention-{part}")
        box.hover()
        if press:
            box.get_by_role("button", name=press).click()
        with page.expect_download() as download:
            box.locator("[aria-label='Download as CSV'], [data-title='Download the numbers as CSV']").click()
        frame = pd.read_csv(download.value.path(), keep_default_na=False, na_values=[""])
        expect(box.locator(".bx-save-said")).to_contain_text(".csv is made.")
        assert len(frame) == (72 if press else 36)
