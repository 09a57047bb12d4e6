"""What figures do with texts: nothing is lost, nothing is read as markup, no two tokens share a place."""

import base64
import html
import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from explorer.core.paths import ASSETS
from explorer.page.components import PlotlyChart
from explorer.tabs import VIEWS
from explorer.ui.pictures import attention, heatmaps, hidden, maps
from explorer.ui.pictures.alternatives import alternative, describe
from explorer.ui.pictures.attention import WeightScale
from explorer.ui.pictures.base import esc, token_labels

ODD = ["<b>", "&amp;", "<a href='javascript:x'>", "%{x}", "${alert(1)}", "##s", "the", "the", "the", "", "🍎"]


@pytest.mark.parametrize("text", ODD)
def test_escaped_text_is_shown_letter_by_letter(text):
    assert html.unescape(esc(text)) == text
    assert "<" not in esc(text)


def test_repeated_tokens_have_places_of_their_own():
    labels = token_labels(ODD)
    assert len(set(labels)) == len(ODD)
    assert [html.unescape(label).replace("\u200b", "") for label in labels] == ODD


def test_the_square_root_changes_the_colours_and_its_ticks_show_it():
    weights = np.array([[0.25, 0.75], [1, 0]], dtype=np.float32)
    plain, rooted = (
        go.Figure(attention.attention_heatmap(weights, ["a", "b"], ["a", "b"], WeightScale(square_root=root)))
        for root in (False, True)
    )
    np.testing.assert_allclose(decoded(rooted, "z"), np.sqrt(decoded(plain, "z")))
    np.testing.assert_array_equal(decoded(rooted, "customdata"), weights)
    bar = rooted.layout.coloraxis.colorbar
    np.testing.assert_allclose(np.square(bar.tickvals), [float(text) for text in bar.ticktext], atol=1e-9)


def test_a_long_input_travels_as_a_byte_a_cell_on_the_scale_that_is_shown():
    weights = np.random.default_rng(0).dirichlet(np.full(300, 0.1), size=300).astype(np.float32)
    figure = go.Figure(attention.attention_heatmap(weights, ["x"] * 300, ["x"] * 300, WeightScale(square_root=True)))
    shown = decoded(figure, "z")
    assert shown.dtype == np.uint8
    np.testing.assert_allclose((shown / 255) ** 2 * weights.max(), weights, atol=0.005)
    assert figure.layout.coloraxis.colorbar.ticktext[-1] == f"{weights.max():.2g}"


def decoded(figure, name: str) -> np.ndarray:
    """The array that a browser reads."""
    packed = figure.to_plotly_json()["data"][0][name]
    raw = np.frombuffer(base64.b64decode(packed["bdata"]), np.dtype(packed["dtype"]))
    return raw.reshape([int(size) for size in packed["shape"].split(",")])


def test_every_point_is_on_the_map_once_whatever_its_label():
    texts = [f"t{i}" for i in range(60)]
    for labels in ([f"label {i % 20}" for i in range(60)], ["one"] * 60):
        figure = maps.space_map(np.zeros((60, 3)), texts, labels, list("abc"), "key", maps.Marks(picked=3, neighbors=[4, 5]))
        *groups, rings = figure.data
        assert sorted(row for group in groups for row in group.customdata) == list(range(60))
        assert len(groups) <= 8
        assert len(rings.x) == 3


def test_only_long_axes_have_a_window_and_it_knows_their_tokens():
    def window(figure):
        return dict(go.Figure(figure).layout.meta or {}).get("window", {})

    def attended(rows, columns, places=None):
        names = ["x"] * rows, ["x"] * columns
        return attention.attention_heatmap(np.ones((rows, columns)), *names, places=places)

    assert window(attended(40, 40)) == {}
    assert window(attended(41, 41)) == {"x": list(range(41)), "y": list(range(41))}
    assert window(attended(41, 3, (range(1, 42), range(3)))) == {"y": list(range(1, 42))}
    assert set(window(heatmaps.similarity_heatmap(np.eye(50), ["x"] * 50))) == {"x", "y"}
    assert set(window(hidden.by_layer_heatmap(np.ones((7, 50)), ["x"] * 50, 0, "norm"))) == {"x"}
    assert set(window(hidden.vectors_heatmap(np.ones((50, 60)), ["x"] * 50, 1.0))) == {"y"}
    assert window(heatmaps.similarity_heatmap(np.eye(9), ["x"] * 9)) == {}, "what a long figure says stays with it"


def _lab(colour):
    """CIE L*a*b* of '#rrggbb', D65."""
    rgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    x, y, z = np.cbrt(xyz / np.array([0.9505, 1, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", [0, 1])
def test_no_two_colours_of_a_series_are_nearly_equal(theme):
    style = (ASSETS / "components" / "common.css").read_text("utf-8")
    colours = re.findall(r"--bx-series-\d: (#[0-9a-f]{6});", style)
    assert len(colours) == 16
    labs = [_lab(colour) for colour in colours[8 * theme : 8 * theme + 8]]
    apart = {(a, b): float(np.linalg.norm(labs[a] - labs[b])) for a in range(8) for b in range(a)}
    assert min(apart.values()) > 20, min(apart, key=apart.get)


def said_of(figure) -> str:
    sent = PlotlyChart().postprocess(figure)
    return (json.loads(sent) if isinstance(sent, str) else sent)["layout"]["meta"]["alt"]


def charts(content):
    """The figures in which a view draws something, by the names of their parts."""
    made = {name: value() if callable(value) else value for name, value in content.items()}
    figures = {name: go.Figure(one) for name, one in made.items() if isinstance(one, go.Figure) or "layout" in (one or ())}
    return {name: figure for name, figure in figures.items() if figure.data}


@pytest.mark.usefixtures("few_sentences")
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
