"""The numbers of what is seen, taken away by the dialog of the page."""

import json

import numpy as np
import pandas as pd


def saved(page, label):
    with page.expect_download() as download:
        page.get_by_role("dialog").get_by_role("link", name=label).click()
    return download.value


def test_the_dialog_gives_the_numbers_of_the_picture_on_the_page(open_app, bundled):
    page = open_app("?v=1&tab=attention&a=A+dog+barked.&layer=3&head=7")
    page.locator("#attention-head-heatmap .js-plotly-plot").wait_for()
    page.locator("#copy-link").click()
    table = saved(page, "The numbers of the main picture")
    assert table.suggested_filename == "bert-explorer-attention-one-head.csv"
    frame = pd.read_csv(table.path(), keep_default_na=False, na_values=[""])
    weights = frame.pivot(index="query_position", columns="key_position", values="weight").to_numpy()
    assert np.array_equal(weights.astype(np.float32), bundled.trace("A dog barked.").attention(2)[6])
    everything = json.loads(saved(page, "All numbers").path().read_text("utf-8"))
    (head,) = [view for view in everything["views"] if view["view"] == "attention/head"]
    assert len(head["tables"]["heatmap"]["rows"]) == len(frame)
    assert head["texts"] == ["A dog barked.", ""]
