"""The views of Attention, without a page: what they show is what the model does, and transformers says the same."""

import base64
import re

import numpy as np
import pytest

from explorer.attention.heads import Heads, OneHead
from explorer.attention.metrics import HeadNumbers, HeadTable
from explorer.attention.rollout import Rollout
from explorer.attention.several import SeveralHeads
from explorer.techniques.ablation import Run
from explorer.techniques.routes import mixing
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.numbers import numbers_of
from explorer.ui.subject import Selection, Subject

TEXT_A, TEXT_B = "The dog did not cross the street.", "It was too tired."


@pytest.fixture
def subject(bundled):
    return Subject(bundled.name, TEXT_A, TEXT_B, Selection(layer=2, head=3, token=4, picked=True))


def weights_in(picture) -> np.ndarray:
    """The weights that a heatmap carries beside its colours: [query, key]."""
    packed = picture["data"][0]["customdata"]
    shape = [int(size) for size in packed["shape"].split(", ")]
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("heads", [(), (1,), (2, 5, 12)])
def test_the_sum_of_several_heads_is_that_of_transformers(subject, bundled, eager, heads):
    view = SeveralHeads(layer=4, heads=heads)
    _, reference = eager(bundled, TEXT_A, TEXT_B)
    theirs = reference.attentions[3][0].numpy()  # [heads, query, key]
    wanted = theirs[[head - 1 for head in heads] or slice(None)].sum(axis=0)
    shown = view.compute(subject)
    np.testing.assert_allclose(weights_in(shown["heatmap"]), wanted, atol=1e-5)
    number = len(heads) or bundled.capabilities.heads
    assert f"each row sums to {number}." in shown["title"]
    np.testing.assert_allclose(weights_in(shown["heatmap"]).sum(axis=1), number, atol=1e-4)
    assert shown["rows"]["text"].startswith("✓")


def test_the_arcs_of_several_heads_are_those_of_transformers_each_with_its_number(subject, bundled, eager):
    _, reference = eager(bundled, TEXT_A, TEXT_B)
    lines = OneHead(look="Lines", also=(3, 7, 12)).compute(subject)["lines"]
    assert lines["heads"] == [3, 7, 12]
    drawn = (np.frombuffer(base64.b64decode(lines["data"]), np.uint8) / 255) ** 2 * lines["top"]
    theirs = reference.attentions[1][0].numpy()[[2, 6, 11]]
    np.testing.assert_allclose(drawn.reshape(theirs.shape), theirs, atol=0.005)
    table = numbers_of(lines)
    assert table.columns[:2] == ("layer", "head")
    np.testing.assert_allclose(np.array(table.cells[-1]).reshape(theirs.shape), theirs, atol=1e-5)
    assert "Layer 2, heads 3, 7, 12" in OneHead(look="Lines", also=(7, 12)).compute(subject)["title"]
    alone = OneHead(look="Lines", also=(3,)).compute(subject)["lines"]
    assert alone["heads"] == []
    assert set(numbers_of(alone).cells[1]) == {3}


def test_a_click_chooses_a_head_for_the_whole_page(subject):
    assert Heads().on_grid(subject, [3, 4]).selection == {"layer": 4, "head": 5}
    assert HeadNumbers().on_heatmap(subject, [0, 11]).selection == {"layer": 1, "head": 12}
    assert HeadTable().on_table(subject, 13).selection == {"layer": 2, "head": 2}


def test_a_click_on_a_cell_tells_its_weight_and_nothing_else(subject):
    change = OneHead().on_heatmap(subject, [1, 2])
    assert not change.selection
    assert not change.settings
    weight = subject.trace.attention(1)[2, 1, 2]
    assert f"{weight:.6f}" in change.content["cell"]
    assert OneHead().on_heatmap(subject, [99, 0]).content["cell"] == ""


@pytest.mark.parametrize("up_to", [1, 6])
def test_the_finding_of_the_rollout_says_what_it_assumes_and_what_is_measured(subject, up_to):
    view = Rollout(up_to=up_to)
    kinds, tokens = np.array(subject.trace.encoding.kinds), subject.trace.tokens
    mixed = mixing(Run(subject.trace)).shares
    through = np.linalg.multi_dot(mixed[::-1].astype(np.float64))
    expected = []
    for row in (weights_in(view.compute(subject)["matrix"])[4], through[4]):
        special, rest = row[kinds == "special"].sum(), np.where((kinds == "special") | (np.arange(len(row)) == 4), 0, row)
        expected.append(([float(share) for share in (row[4], special, rest.max())], tokens[int(rest.argmax())]))
    assumed, told = view.finding(subject).text, view.compute(subject)["token"]
    assert assumed.startswith(f"By attention weights alone (rollout), “{tokens[4]}” after layer {up_to} takes ")
    _, measured = told.split("Rollout assumes that every layer keeps half of each vector. The Overview measures")
    kept = float(mixed[:, 4, 4].mean())
    for part, (shares, word), first in ((assumed, expected[0], []), (measured, expected[1], [kept])):
        assert re.findall(r"(?:less than )?\d+%", part) == [whole_percent(share) for share in first + shares]
        assert "from [CLS] and [SEP] and" in part
        assert (f"most from “{word}”" in part) == (shares[-1] >= max(0.1, 1.5 / len(tokens)))


@pytest.mark.parametrize("text", ["The [MASK] of Japan is [MASK].", "The capital of Japan is [MASK].", "The cat sat on the mat."])
def test_a_cell_is_outlined_where_the_finding_names_it_and_nowhere_else(bundled, text):
    trace, outlined = bundled.trace(text), 0
    for layer, head in np.ndindex(bundled.capabilities.layers, bundled.capabilities.heads):
        subject = Subject(bundled.name, text, "").select(layer=layer + 1, head=head + 1, picked=True)
        told = Heads().finding(subject)
        marks = [one for one in OneHead().compute(subject)["heatmap"]["layout"]["shapes"] if one.get("name") == "telling"]
        named = re.search(r"“([^”]+)”(?: \(token \d+\))? (?:to|looks at) “([^”]+)”", told.text) if told else None
        assert len(marks) == bool(named), told
        if marks:
            outlined += 1
            query, key = int(marks[0]["y0"] + 0.5), int(marks[0]["x0"] + 0.5)
            assert [one for one in named.groups() if one] == [trace.tokens[query], trace.tokens[key]]
    assert outlined
