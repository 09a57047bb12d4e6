"""The values of our own components: nothing of the arrays is lost, and what does not fit is refused."""

import base64

import numpy as np
import pytest

from explorer.attention.pictures import attention_lines
from explorer.ui.pictures.bars import bars


def softmax(*shape):
    raised = np.exp(np.random.default_rng(0).normal(size=shape) * 2)
    return (raised / raised.sum(-1, keepdims=True)).astype(np.float32)


def from_base64(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


class TestAttentionLines:
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
