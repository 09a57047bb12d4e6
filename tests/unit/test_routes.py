"""Where every token comes from: mixing, its heads, and routes, beside transformers taken apart in loops."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.techniques import ablation, mixing, routes
from explorer.techniques.edits import Move
from tests.decomposing import decomposed, divided, head_shares, shares_of, watching
from tests.hooks import cut_weights, eager_bert

TEXT, TEXT_B = "The capital of Japan is [MASK].", "It is a city of temples."
CUTS = [(1, 6, 4, None), (0, 3, 1, 1)]


@pytest.fixture
def eager(model):
    return eager_bert(model).requires_grad_(False)


def taken_apart(eager, model):
    """y, T and the biases of every layer of the eager model, as it is changed now."""
    with watching(list(eager.bert.encoder.layer), "bert") as read:
        out = eager(**model.tokenizer(TEXT, TEXT_B, return_tensors="pt"), output_attentions=True)
    return [decomposed(read, out.attentions, layer) for layer in range(model.capabilities.layers)]


@pytest.mark.parametrize("changed", ["cut", "off", "both"])
def test_a_changed_run_mixes_as_the_written_out_parts_of_that_run_do(model, eager, changed):
    trace = model.trace(TEXT, TEXT_B)
    cuts = CUTS if changed != "off" else []
    off = [(1, 0), (0, 1)] if changed != "cut" else []
    with cut_weights(eager, [*cuts, *((layer, slice(None), slice(None), head) for layer, head in off)]):
        theirs = taken_apart(eager, model)
    found = routes.mixing(ablation.Run(trace, off, cuts))
    assert found.max_error < 1e-4
    for layer, (ours, (after, parts, _)) in enumerate(zip(found.shares, theirs, strict=True)):
        np.testing.assert_allclose(ours, shares_of(after, parts.sum(1)), atol=1e-5)
        if cuts and layer == 1:
            assert ours[6, 4] == 0
    assert np.abs(found.shares - routes.mixing(ablation.Run(trace)).shares).max() > 1e-4


def test_a_patched_run_mixes_from_the_patch_on(model):
    trace, other = model.trace(TEXT, TEXT_B), model.trace(TEXT.replace("Japan", "man"), TEXT_B)
    if other.kept != trace.kept:
        other = ablation.with_mask(trace, 4)
    before = routes.mixing(ablation.Run(trace))
    layers = model.capabilities.layers
    found = routes.mixing(ablation.Run(trace, edits=[Move.patch(1, 4, other)]))
    np.testing.assert_array_equal(found.shares[0], before.shares[0])
    assert np.abs(found.shares[1:] - before.shares[1:]).max() > 1e-4
    whole = routes.mixing(ablation.Run(trace, edits=[Move.patch(layers, 4, other)]))
    np.testing.assert_array_equal(whole.shares, before.shares)


def test_what_is_put_in_leaves_the_run_as_it_was(model):
    trace = model.trace(TEXT, TEXT_B)
    before = trace.states.clone()
    routes.mixing(ablation.Run(trace, [(0, 0)], CUTS))
    head_shares(trace, 1, 2, off=[(0, 0)], cuts=CUTS)
    assert torch.equal(trace.states, before)
    assert routes.mixing(ablation.Run(trace)) is routes.mixing(ablation.Run(trace))
    assert not routes.mixing(ablation.Run(trace)).shares.flags.writeable


@pytest.mark.parametrize("cuts", [[], CUTS])
def test_heads_sum_to_the_ribbon_and_divide_it_by_their_parts(model, eager, cuts):
    trace = model.trace(TEXT, TEXT_B)
    found = routes.mixing(ablation.Run(trace, cuts=cuts)).shares
    with cut_weights(eager, cuts):
        theirs = taken_apart(eager, model)
    for layer, (after, parts, _) in enumerate(theirs[:2]):
        for query in (0, 6):
            heads = head_shares(trace, layer, query, cuts=cuts)
            assert heads.shape == (model.capabilities.heads + 1, trace.kept)
            np.testing.assert_allclose(heads.sum(0), found[layer, query], atol=1e-6)
            others = np.arange(trace.kept) != query
            assert not heads[-1, others].any()
            np.testing.assert_allclose(heads, divided(after[query], parts[query], found[layer, query]), atol=1e-5)
            np.testing.assert_allclose(heads, straight(after[query], parts[query], found[layer, query]), atol=1e-3)


def straight(vector, parts, row, steps=4000):
    """Integrated gradients of |y| − |y − T| from T = 0 on, by the parts of T, as the shares `row`."""
    vector, parts = vector.double(), parts.double()
    whole = parts.sum(0)  # [key, width]
    gradient = sum(torch.sign(vector - whole * (step + 0.5) / steps) for step in range(steps)) / steps
    divided = (parts * gradient).sum(-1)
    total = divided.sum(0)
    return torch.where(torch.tensor(row) > 0, divided / total * torch.tensor(row), 0.0)


@torch.no_grad()
def test_a_row_without_a_share_is_all_the_tokens_own():
    vectors = torch.tensor([[1.0, -1.0], [2.0, 0.0]])
    block = mixing.Block(Layer(), torch.zeros(2, 2), torch.zeros(1, 2, 2), torch.zeros(1, 2, 1))
    vars(block)["normed"] = vectors, torch.ones(2, 1)  # no part comes nearer: all of it is the bias
    found, error = mixing.shares(block)
    assert torch.equal(found, torch.eye(2))
    assert error == 2
    row = replace(block, hidden=block.hidden[1:], weights=block.weights[:, 1:])
    vars(row)["normed"] = vectors[1:], torch.ones(1, 1)
    heads = mixing.head_shares_of(row, 1, found[1])
    assert torch.equal(heads, torch.tensor([[0.0, 0.0], [0.0, 1.0]]))


class Layer:
    """A layer whose heads write nothing."""

    attention_norm = None

    def __init__(self):
        self.attention_dense = torch.nn.Linear(1, 2, bias=False)


def test_places_sum_to_one_and_multiply_backwards(model):
    trace = model.trace(TEXT, TEXT_B)
    shares, layers = routes.mixing(ablation.Run(trace)).shares, model.capabilities.layers
    for state in (layers, 1, 0):
        found = routes.place_shares(shares, 6, state)
        assert found.shape == (state + 1, trace.kept)
        np.testing.assert_allclose(found.sum(-1), 1, atol=1e-5)
        by_hand = np.eye(trace.kept)[6]
        for below in shares[:state][::-1]:
            by_hand = by_hand @ below
        np.testing.assert_allclose(found[0], by_hand, atol=1e-6)
    np.testing.assert_array_equal(routes.place_shares(shares, 6), routes.place_shares(shares, 6, layers))


def test_routes_are_the_strongest_steps(model):
    trace = model.trace(TEXT, TEXT_B)
    shares = routes.mixing(ablation.Run(trace)).shares
    places = routes.place_shares(shares, 6)
    every = {
        (layer, query, key): float(places[layer + 1, query] * shares[layer, query, key])
        for layer in range(len(shares))
        for query in range(trace.kept)
        for key in range(trace.kept)
    }
    found = routes.routes(shares, places, 30)
    assert len(found) == 30
    assert [one.share for one in found] == pytest.approx(sorted(every.values(), reverse=True)[:30], abs=1e-7)
    assert all(one.share == pytest.approx(every[one.layer, one.query, one.key], abs=1e-7) for one in found)
    taken = routes.routes(shares, places, 10_000, others=True)
    assert all(one.query != one.key and one.share > 0 for one in taken)
    assert sum(share > 0 for (_, query, key), share in every.items() if query != key) == len(taken)
    first = [one.share for one in routes.routes(shares, routes.place_shares(shares, 6, 1), 10_000)]
    assert sum(first) == pytest.approx(1, abs=1e-5)


PEAK = """
import sys, pathlib, torch
import explorer
from explorer.techniques import ablation, routes
def status(name):
    rows = pathlib.Path("/proc/self/status").read_text().splitlines()
    return int(next(row for row in rows if row.startswith(name + ":")).split()[1]) * 1024
def opened(text):
    shares = routes.mixing(ablation.Run(model.trace(text))).shares
    routes.routes(shares, routes.place_shares(shares, 3))
model = explorer.load(sys.argv[1])
opened("the man went to the store")
opened("the dog went to the store " * 30)
pathlib.Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
opened("the man went to the store and bought milk " * 80)
print(status("VmHWM") - before)
"""


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak")
def test_the_parts_of_a_long_input_never_lie_in_memory(make_tiny):
    folder = make_tiny(hidden_size=768, num_attention_heads=12, intermediate_size=768, num_hidden_layers=3)
    command = [sys.executable, "-c", PEAK, str(folder)]
    peak = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])
    assert peak < 200e6  # one layer's parts alone are 800 MB
