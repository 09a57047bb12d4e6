"""The neurons that move a guess, against transformers with a hook that zeroes them."""

import pytest
import torch

from explorer.techniques.neurons import neuron_effects
from explorer.techniques.targets import is_next_target, own_reading, word_target
from tests.hooks import eager_bert, hooked

TEXT, TEXT_B = "The capital of Japan is [MASK].", "It is a city of temples."


def test_each_effect_is_that_of_a_hook_that_zeroes_the_neuron(model):
    eager = eager_bert(model)
    trace, encoded = model.trace(TEXT, TEXT_B), model.tokenizer(TEXT, TEXT_B, return_tensors="pt")
    for target in (word_target(trace), is_next_target(trace)):
        whole = own_reading(trace, target)
        for layer, token in ((0, 4), (model.capabilities.layers - 1, target.position)):
            found = neuron_effects(trace, layer, token, target, 3)
            assert len({one.neuron for one in found}) == 3
            assert [abs(one.probability) for one in found] == sorted((abs(one.probability) for one in found), reverse=True)
            for one in found:
                logits, activation = zeroed(eager, encoded, layer, token, one.neuron)
                theirs = logits[target.head]
                theirs = theirs[target.position] if target.head == "fill_mask" else theirs
                assert one.activation == pytest.approx(activation, abs=1e-5)
                assert one.logit == pytest.approx(float(whole.logit - theirs[target.id]), abs=5e-4)
                assert one.probability == pytest.approx(float(whole.probability - theirs.softmax(-1)[target.id]), abs=1e-5)
            assert abs(found[0].logit) > 1e-4


@torch.no_grad()
def zeroed(eager, encoded, layer, token, neuron):
    """What transformers says with one neuron zero at one token, and what it was."""
    seen = []

    def zero(_, read):
        changed = read.clone()
        seen.append(float(changed[0, token, neuron]))
        changed[0, token, neuron] = 0
        return changed

    with hooked([eager.bert.encoder.layer[layer].output.dense], zero, before=True):
        out = eager(**encoded)
    return {"fill_mask": out.prediction_logits[0], "next_sentence": out.seq_relationship_logits[0]}, seen[0]


def test_it_leaves_no_hook_and_no_gradient(tiny):
    trace = tiny.trace("the man went to the [MASK] .")
    neuron_effects(trace, 0, 2, word_target(trace))
    assert not any(module._forward_pre_hooks for module in tiny.module.modules())
    assert all(weight.grad is None for weight in tiny.module.parameters())
