"""What is said of a picture to those who do not see it: it holds to the numbers, whatever the picture."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from explorer.page.components import PlotlyChart
from explorer.tabs import VIEWS
from explorer.ui.pictures import attention
from explorer.ui.pictures.alternatives import alternative, describe
from explorer.ui.pictures.attention import WeightScale

pytestmark = pytest.mark.usefixtures("few_sentences")


def said_of(figure) -> str:
    sent = PlotlyChart().postprocess(figure)
    return (json.loads(sent) if isinstance(sent, str) else sent)["layout"]["meta"]["alt"]


def charts(content):
    """The figures in which a view draws something, by the names of their parts."""
    made = {name: value() if callable(value) else value for name, value in content.items()}
    figures = {name: go.Figure(one) for name, one in made.items() if isinstance(one, go.Figure) or "layout" in (one or ())}
    return {name: figure for name, figure in figures.items() if figure.data}


def test_every_chart_of_every_view_holds_no_markup_and_says_what_it_shows(contents):
    """Of an input with markup in it."""
    seen = 0
    for view in VIEWS:
        for part, figure in charts(contents[view].content).items():
            words, where = said_of(figure), f"{view}, {part}"
            assert "<b>" not in figure.to_json().encode().decode("unicode_escape"), where
            assert not [one for one in ("Nothing", "nan", "&lt;", "\u200b", "<br>") if one in words], where
            assert any(digit in words for digit in "0123456789"), where
            assert words.endswith("."), where
            assert len(words) < 400, where
            seen += 1
    assert seen > 20


def test_the_strongest_cells_are_those_of_the_matrix_on_every_scale():
    for size, root in ((5, False), (5, True), (300, True)):
        values = np.random.default_rng(size).dirichlet(np.full(size, 0.1), size=size).astype(np.float32)
        names = [f"w{i}" for i in range(size)]
        words = said_of(attention.attention_heatmap(values, names, names, WeightScale(square_root=root)))
        places = np.argsort(-values.ravel(), kind="stable")[:3]
        named = [f"w{place // size} → w{place % size} {float(values.ravel()[place]):.3g}" for place in places]
        assert words == f"The strongest 3 of {size * size:,} (weight): {', '.join(named)}."


def test_words_of_the_person_stay_as_they_are():
    names = ["<b>", "&amp;", "the", "the"]
    words = said_of(attention.attention_heatmap(np.diag([4.0, 3.0, 2.0, 1.0]), names, names, WeightScale(unit="x")))
    assert words == "The strongest 3 of 16 (x): <b> → <b> 4, &amp; → &amp; 3, the → the 2."
    assert alternative({"data": [], "layout": {}}) == "Nothing is drawn yet."


def test_the_figure_itself_stays_and_another_value_passes_as_it_is():
    figure = go.Figure(go.Bar(x=["a"], y=[1]))
    describe(figure)
    assert figure.layout.meta is None
    assert describe({"text": "x"}) == {"text": "x"}
