"""Forward passes on a device of their own. What a graphics card does is seen with a second copy on the processor."""

import numpy as np
import pytest
import torch

import explorer
from explorer.bert import devices
from explorer.bert.explorer import Explorer
from explorer.bert.features import features
from explorer.core.errors import InputError, ModelError
from explorer.core.process import DEVICE
from tests.families import KINDS, write_family

COPY = "cpu:0"  # another device to torch than 'cpu', and the same place
TEXTS = ("He was happy.", "Who went to the store?", "milk")


@pytest.fixture
def on_a_copy(monkeypatch):
    monkeypatch.setattr(devices, "choose", lambda: torch.device(COPY))


@pytest.mark.parametrize("name", KINDS)
def test_passes_run_there_and_give_the_same(name, tmp_path, on_a_copy, monkeypatch):
    folder = write_family(tmp_path / name, name)
    there = explorer.load(folder)
    assert there.device_error < 1e-5
    monkeypatch.undo()
    here = Explorer(there.checkpoint)
    assert here.device == torch.device("cpu")
    for weights in there.module.parameters():  # nothing but the copy is run
        weights.requires_grad_(False).fill_(torch.nan)
    pair = [model.trace(*TEXTS[:2]).hidden_states for model in (there, here)]
    np.testing.assert_allclose(*pair, atol=1e-5)
    np.testing.assert_allclose(features(there, TEXTS), features(here, TEXTS), atol=1e-5)


def test_a_device_that_computes_otherwise_is_refused(make_tiny, on_a_copy, monkeypatch):
    monkeypatch.setattr(torch.nn.Module, "to", lambda module, device: module.apply(_shifted))
    with pytest.raises(ModelError, match=r"computes other hidden states .* than the processor. Start without --device"):
        explorer.load(make_tiny())


def _shifted(module):
    if isinstance(module, torch.nn.Linear):
        module.weight = torch.nn.Parameter(module.weight + 0.1, requires_grad=False)


@pytest.mark.parametrize(
    "name", ["gpu", "cuda:x", "cuda:99", "cpu:1", "${alert(1)}", "cuda" if not torch.cuda.is_available() else "tpu"]
)
def test_a_device_that_is_not_there_is_told(name):
    with pytest.raises(InputError, match=r"No device is called|Leave --device out"):
        devices.check(name)


def test_the_processor_is_the_device_unless_told(monkeypatch, bundled):
    monkeypatch.delenv(DEVICE, raising=False)
    devices.check("cpu")
    assert bundled.device == devices.choose() == torch.device("cpu")
