"""What the components are given: packed values, and how they present themselves to Gradio."""

import base64
import functools
import warnings

import gradio as gr
import numpy as np
import plotly.graph_objects as go
import pytest

from explorer.page.components import (
    HEAD,
    AttentionLines,
    Bars,
    Column,
    HeadGrid,
    Notice,
    PlotlyChart,
    Row,
    StripTable,
    TokenRow,
)

ALL = (AttentionLines, Bars, HeadGrid, Notice, PlotlyChart, StripTable, TokenRow)


def softmax(*shape):
    raised = np.exp(np.random.default_rng(0).normal(size=shape) * 2)
    return (raised / raised.sum(-1, keepdims=True)).astype(np.float32)


def from_base64(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


@pytest.mark.parametrize("component", ALL)
def test_each_is_an_html_component_without_a_warning(component):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = component(elem_id="here", visible=False)
    assert made.get_block_name() == "html"
    assert made.api_info()["type"] in ("string", "object")
    assert "{{" not in made.html_template
    assert "${" not in made.html_template
    assert f"BertExplorer.mount('{component.__name__}'" in made.js_on_load
    assert callable(made.select)


@pytest.mark.parametrize("component", ALL)
def test_a_value_passes_as_it_is(component):
    for value in ({"text": "<b>${x}", "list": [1]}, "<script>alert(1)</script>", None):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # gr.HTML warns of script tags in its values, which are markup there
            assert component().postprocess(value) == value


def test_only_the_token_row_has_a_mask_event():
    assert callable(TokenRow().mask)
    with pytest.raises(AttributeError):
        _ = HeadGrid().mask


def test_the_head_holds_plotly_once_and_loads_nothing_from_elsewhere():
    assert HEAD.count("<script") == 2
    assert HEAD.count("plotly.min.js") >= 1
    assert HEAD.index("window.BertExplorer =") < HEAD.index('BertExplorer.define("AttentionLines"')
    assert all(f'BertExplorer.define("{component.__name__}"' in HEAD for component in ALL)
    assert "http" not in HEAD.replace("http://www.w3.org/2000/svg", "")


def test_settings_stay_with_an_update():
    row = TokenRow(detail=True, mask_on_click=True)
    again = TokenRow(**{**row.constructor_args, "visible": False})
    assert again.js_on_load == row.js_on_load
    assert '"detail": true, "mask_on_click": true' in row.js_on_load


class TestPlotlyChart:
    def test_a_figure_becomes_json_with_base64_arrays(self):
        figure = go.Figure(go.Heatmap(z=np.eye(3, dtype=np.float32)))
        sent = PlotlyChart().postprocess(figure)
        assert '"bdata"' in sent
        assert '"heatmap"' in sent

    def test_the_height_is_there_before_any_script_runs(self):
        assert "height:460px" in PlotlyChart(height=460).html_template

    def test_shown_is_an_update(self):
        update = PlotlyChart.shown("{}")
        assert update["visible"] is True
        assert update["value"] == "{}"
        assert update["__type__"] == "update"


class TestHeadGrid:
    def test_pixels_survive_on_a_square_root_scale(self):
        weights = softmax(2, 3, 5, 5)
        packed = HeadGrid.pack(weights, (1, 2))
        assert (packed["layers"], packed["heads"], packed["size"], packed["selected"]) == (2, 3, 5, [1, 2])
        pixels = from_base64(packed["data"], np.uint8).reshape(weights.shape)
        np.testing.assert_array_equal(pixels, np.rint(np.sqrt(weights) * 255))
        assert np.abs((pixels / 255) ** 2 - weights).max() < 0.005

    def test_without_the_square_root_the_scale_is_linear(self):
        weights = softmax(1, 1, 4, 4)
        pixels = from_base64(HeadGrid.pack(weights, (0, 0), sqrt=False)["data"], np.uint8).reshape(weights.shape)
        assert np.abs(pixels / 255 - weights).max() < 0.003

    def test_all_numbers_are_plain(self):
        packed = HeadGrid.pack(softmax(2, 2, 3, 3), (np.int64(1), np.int64(0)))
        assert [type(index) for index in packed["selected"]] == [int, int]

    @pytest.mark.parametrize(
        ("thumbnails", "selected"),
        [
            (np.zeros((2, 3, 4)), (0, 0)),
            (np.zeros((2, 3, 4, 5)), (0, 0)),
            (np.zeros((0, 3, 4, 4)), (0, 0)),
            (np.zeros((2, 3, 4, 4)), (2, 0)),
            (np.zeros((2, 3, 4, 4)), (0, -1)),
            (np.full((1, 1, 2, 2), np.nan), (0, 0)),
            (np.full((1, 1, 2, 2), 1.5), (0, 0)),
            (np.full((1, 1, 2, 2), -0.5), (0, 0)),
        ],
    )
    def test_what_is_no_attention_is_refused(self, thumbnails, selected):
        with pytest.raises(ValueError, match=r"thumbnails|layer|weights"):
            HeadGrid.pack(thumbnails, selected)


class TestTokenRow:
    tokens = ("[CLS]", "un", "##do", "[SEP]", "a", "[SEP]")
    kinds = ("special", "piece", "continuation", "special", "piece", "special")

    def pack(self, **more):
        return TokenRow.pack(self.tokens, **{"kinds": self.kinds, "segments": (0, 0, 0, 0, 1, 1), **more})

    def test_letters_only_where_there_are_two_segments(self):
        assert self.pack()["letters"] is True
        assert self.pack(segments=[0] * 6)["letters"] is False

    def test_what_is_not_given_is_not_shown(self):
        packed = self.pack()
        assert [packed[name] for name in ("ids", "positions", "mask", "chars", "selected")] == [None] * 5

    def test_numbers_become_plain_and_characters_count_from_one(self):
        packed = self.pack(
            ids=np.arange(6),
            attention_mask=[1] * 6,
            positions=range(6),
            words=[None, 0, 0, None, 0, None],
            offsets=[(0, 0), (0, 2), (2, 4), (0, 0), (0, 1), (0, 0)],
            selected=np.int64(2),
        )
        assert packed["ids"] == [0, 1, 2, 3, 4, 5]
        assert type(packed["ids"][0]) is int
        assert packed["chars"] == ["–", "1–2", "3–4", "–", "1", "–"]
        assert packed["selected"] == 2

    @pytest.mark.parametrize(
        "wrong",
        [
            {"kinds": ["piece"]},
            {"kinds": ["word"] * 6},
            {"segments": [0]},
            {"ids": [1, 2]},
            {"selected": 6},
            {"selected": -1},
        ],
    )
    def test_what_does_not_fit_the_tokens_is_refused(self, wrong):
        with pytest.raises(ValueError, match=r"entries|kinds|no token"):
            self.pack(**wrong)


class TestAttentionLines:
    def test_weights_edges_and_the_strongest_are_exact(self):
        weights = softmax(7, 7)
        packed = AttentionLines.pack(weights, list("abcdefg"), ["piece"] * 7)
        read = (from_base64(packed["data"], np.uint8).reshape(7, 7) / 255) ** 2 * packed["top"]
        assert np.abs(read - weights).max() < 0.005
        edges = from_base64(packed["edges"], "<u4")
        np.testing.assert_array_equal(edges, np.argsort(-weights.ravel(), kind="stable"))
        assert packed["top"] == pytest.approx(weights.max())
        assert packed["strongest"]["query"]["index"] == weights.argmax(1).tolist()
        assert packed["strongest"]["key"]["index"] == weights.argmax(0).tolist()
        np.testing.assert_allclose(packed["strongest"]["key"]["weight"], weights.max(0), atol=1e-6)

    def test_a_long_input_sends_its_1500_strongest_edges(self):
        weights = softmax(512, 512)
        packed = AttentionLines.pack(weights, ["x"] * 512, ["piece"] * 512)
        chosen = weights.ravel()[from_base64(packed["edges"], "<u4")]
        assert len(chosen) == 1500
        assert chosen.min() >= np.sort(weights.ravel())[-1500]

    def test_keys_may_differ_from_queries(self):
        weights = softmax(2, 3)
        packed = AttentionLines.pack(weights, "ab", ["piece"] * 2, key_tokens="xyz", key_kinds=["piece"] * 3)
        assert packed["queries"]["tokens"] == ["a", "b"]
        assert packed["keys"]["tokens"] == ["x", "y", "z"]
        assert len(from_base64(packed["edges"], "<u4")) == 6

    def test_a_head_that_looks_nowhere_is_drawn_too(self):
        assert AttentionLines.pack(np.zeros((2, 2)), ["a", "b"], ["piece"] * 2)["top"] > 0

    @pytest.mark.parametrize(("size", "selected"), [(2, None), (4, None), (3, 3), (3, -1), (0, None)])
    def test_what_does_not_fit_is_refused(self, size, selected):
        with pytest.raises(ValueError, match=r"fit|no token"):
            AttentionLines.pack(softmax(3, 3), ["x"] * size, ["piece"] * size, selected)


class TestBars:
    @pytest.mark.parametrize(
        ("share", "text"),
        [
            (0.431, "43.1 %"),
            (0, "0.0 %"),
            (0.0004, "<0.1 %"),
            (0.0006, "0.1 %"),
            (0.9994, "99.9 %"),
            (0.9996, ">99.9 %"),
            (1, "100.0 %"),
            (np.float32(0.5), "50.0 %"),
        ],
    )
    def test_percentages_never_claim_0_or_100(self, share, text):
        (group,) = Bars.pack([("x", share, "")])["groups"]
        assert group["rows"][0]["percent"] == text
        assert type(group["rows"][0]["share"]) is float

    def test_groups_keep_their_headings(self):
        packed = Bars.pack_groups([("first", [("a", 0.5, "note")]), ("second", [])])
        assert packed["grouped"] is True
        assert [group["heading"] for group in packed["groups"]] == ["first", "second"]
        assert packed["groups"][0]["rows"][0]["note"] == "note"
        assert Bars.pack([])["groups"][0]["rows"] == []

    @pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
    def test_what_is_no_share_is_refused(self, share):
        with pytest.raises(ValueError, match="share"):
            Bars.pack([("x", share, "")])


def test_an_update_of_a_chart_in_a_handler_makes_json():
    from gradio.blocks import postprocess_update_dict

    chart = PlotlyChart(height=300)
    update = postprocess_update_dict(chart, gr.update(value=go.Figure(), visible=True))
    assert isinstance(update["value"], str)
    assert update["visible"] is True


def test_the_page_is_described_by_plain_values():
    """An event of the name of an argument would travel in its place, and the whole app with it: a page of 20 seconds."""
    import app

    components = app.build().get_config_file()["components"]
    odd = [
        (component["type"], name)
        for component in components
        for name, value in component["props"].items()
        if isinstance(value, functools.partial)
    ]
    assert not odd


class TestStripTable:
    columns = (Column("name", "name"), Column("share", "bar", 2.0), Column("vector", "strip"), Column("norm", "number"))

    def test_cells_are_packed_by_the_kind_of_their_column(self):
        packed = StripTable.pack(self.columns, [Row(["<b>", 1.0, np.array([1, -4, 2]), "4.58"], token=3)])
        name, share, strip, norm = packed["rows"][0]["cells"]
        assert (name, share, norm, strip["top"], packed["rows"][0]["token"]) == ("<b>", 0.5, "4.58", 4.0, 3)
        np.testing.assert_array_equal(from_base64(strip["data"], np.float32), [1, -4, 2])

    def test_a_cell_may_be_empty_and_a_bar_stays_in_its_column(self):
        packed = StripTable.pack(self.columns, [Row(["a", 5.0, np.zeros(2), None]), Row([None, -1.0, None, "x"])])
        assert [row["cells"][1] for row in packed["rows"]] == [1.0, 0.0]
        assert packed["rows"][0]["cells"][2]["top"] > 0
        assert packed["rows"][1]["cells"][0] is None

    def test_a_row_that_does_not_fit_is_refused(self):
        with pytest.raises(ValueError, match="2 cells for 4 columns"):
            StripTable.pack(self.columns, [Row(["a", 1.0])])


def test_lines_may_lead_from_some_tokens_to_others():
    weights = softmax(2, 3)
    packed = AttentionLines.pack(
        weights, ["a", "b"], ["piece"] * 2, 1, key_tokens=["x", "y", "z"], key_kinds=["piece"] * 3
    )
    assert (packed["queries"]["tokens"], packed["keys"]["tokens"]) == (["a", "b"], ["x", "y", "z"])
    assert packed["strongest"]["key"]["index"] == weights.argmax(0).tolist()
    with pytest.raises(ValueError, match="do not fit"):
        AttentionLines.pack(weights, ["a", "b"], ["piece"] * 2)


def test_a_grid_tells_of_each_head_and_draws_a_bar():
    packed = HeadGrid.pack(softmax(2, 3, 4, 4), notes=[list("abc"), list("def")], marks=np.full((2, 3), 0.5))
    assert packed["notes"] == list("abcdef")
    assert packed["marks"] == [0.5] * 6
    with pytest.raises(ValueError, match="2 × 3 heads"):
        HeadGrid.pack(softmax(2, 3, 4, 4), notes=[["a"]])
