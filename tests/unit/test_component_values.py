"""The values of our own components: nothing of the arrays is lost, and what does not fit is refused."""

import base64

import numpy as np
import pytest

from explorer.attention.pictures import attention_lines
from explorer.ui.pictures.bars import bars
from explorer.ui.pictures.head_grid import head_grid
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.pictures.token_row import Numbers, token_row


def softmax(*shape):
    raised = np.exp(np.random.default_rng(0).normal(size=shape) * 2)
    return (raised / raised.sum(-1, keepdims=True)).astype(np.float32)


def from_base64(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


class TestHeadGrid:
    def test_pixels_survive_on_a_square_root_scale(self):
        weights = softmax(2, 3, 5, 5)
        packed = head_grid(weights, (1, 2))
        assert (packed["layers"], packed["heads"], packed["size"], packed["selected"]) == (2, 3, 5, [1, 2])
        pixels = from_base64(packed["data"], np.uint8).reshape(weights.shape)
        np.testing.assert_array_equal(pixels, np.rint(np.sqrt(weights) * 255))
        assert np.abs((pixels / 255) ** 2 - weights).max() < 0.005


class TestTokenRow:
    tokens = ("[CLS]", "un", "##do", "[SEP]", "a", "[SEP]")
    kinds = ("special", "piece", "continuation", "special", "piece", "special")

    def pack(self, **more):
        numbers = Numbers(**{name: more.pop(name) for name in ("ids", "positions", "attention_mask", "offsets") if name in more})
        return token_row(self.tokens, **{"kinds": self.kinds, "segments": (0, 0, 0, 0, 1, 1), "numbers": numbers, **more})

    def test_numbers_become_plain_and_characters_count_from_one(self):
        assert [self.pack()[name] for name in ("ids", "positions", "mask", "chars", "selected")] == [None] * 5, "not given"
        assert [self.pack(segments=segments)["letters"] for segments in ((0, 0, 0, 0, 1, 1), [0] * 6)] == [True, False]
        packed = self.pack(
            ids=np.arange(6),
            attention_mask=[1] * 6,
            positions=range(6),
            offsets=[(0, 0), (0, 2), (2, 4), (0, 0), (0, 1), (0, 0)],
            selected=np.int64(2),
        )
        assert packed["ids"] == [0, 1, 2, 3, 4, 5]
        assert type(packed["ids"][0]) is int
        assert packed["chars"] == ["–", "1–2", "3–4", "–", "1", "–"]
        assert packed["selected"] == 2


class TestAttentionLines:
    def test_weights_and_the_strongest_are_exact(self):
        weights = softmax(7, 7)
        packed = attention_lines(weights, list("abcdefg"), ["piece"] * 7)
        read = (from_base64(packed["data"], np.uint8).reshape(7, 7) / 255) ** 2 * packed["top"]
        assert np.abs(read - weights).max() < 0.005
        assert packed["top"] == 1
        assert packed["strongest"]["query"]["index"] == weights.argmax(1).tolist()
        assert packed["strongest"]["key"]["index"] == weights.argmax(0).tolist()
        np.testing.assert_allclose(packed["strongest"]["key"]["weight"], weights.max(0), atol=1e-6)

    def test_several_heads_have_their_numbers_and_the_strongest_of_all(self):
        weights = np.stack([softmax(7, 7), softmax(7, 7)[::-1]])
        packed = attention_lines(weights, list("abcdefg"), ["piece"] * 7, heads=[3, 12])
        read = (from_base64(packed["data"], np.uint8).reshape(2, 7, 7) / 255) ** 2 * packed["top"]
        assert np.abs(read - weights).max() < 0.005
        for side, axis in (("query", 2), ("key", 1)):
            strongest = packed["strongest"][side]
            assert strongest["index"] == weights.max(0).argmax(axis - 1).tolist()
            assert strongest["head"] == weights.max(axis).argmax(0).tolist()
        assert packed["alt"].startswith("Head 3: ")
        assert "Head 12: " in packed["alt"]

    def test_a_long_input_has_a_scale_that_ends_early(self):
        weights = softmax(512, 512)
        packed = attention_lines(weights, ["x"] * 512, ["piece"] * 512)
        assert packed["top"] == pytest.approx(max(weights.max(), 8 / 512))


class TestBars:
    def test_percentages_never_claim_0_or_100(self):
        shares = {0.431: "43.1%", 0: "0.0%", 0.0004: "<0.1%", 0.0006: "0.1%", 0.9994: "99.9%", 0.9996: ">99.9%", 1: "100.0%"}
        for share, text in {**shares, np.float32(0.5): "50.0%"}.items():
            (group,) = bars([("x", share, "")])["groups"]
            assert group["rows"][0]["percent"] == text
            assert type(group["rows"][0]["share"]) is float


class TestStripTable:
    columns = (Column("name", "name"), Column("share", "bar", 2.0), Column("vector", "strip"), Column("norm", "number"))

    def test_cells_are_packed_by_the_kind_of_their_column(self):
        packed = strip_table(self.columns, [Row(["<b>", 1.0, np.array([1, -4, 2]), "4.58"], token=3)])
        name, share, strip, norm = packed["rows"][0]["cells"]
        assert (name, share, norm, strip["top"], packed["rows"][0]["token"]) == ("<b>", 0.5, "4.58", 4.0, 3)
        np.testing.assert_array_equal(from_base64(strip["data"], np.float32), [1, -4, 2])

    def test_a_cell_may_be_empty_and_a_bar_stays_in_its_column(self):
        packed = strip_table(self.columns, [Row(["a", 5.0, np.zeros(2), None]), Row([None, -1.0, None, "x"])])
        assert [row["cells"][1] for row in packed["rows"]] == [1.0, 0.0]
        assert packed["rows"][0]["cells"][2]["top"] > 0
        assert packed["rows"][1]["cells"][0] is None


def test_a_grid_tells_of_each_head_and_draws_a_bar():
    packed = head_grid(softmax(2, 3, 4, 4), notes=[list("abc"), list("def")], marks=np.full((2, 3), 0.5))
    assert packed["notes"] == list("abcdef")
    assert packed["marks"] == [0.5] * 6
    assert packed["colours"] is None
    assert head_grid(softmax(2, 3, 4, 4), colours=[["a"] * 3, ["b"] * 3])["colours"] == ["a"] * 3 + ["b"] * 3
