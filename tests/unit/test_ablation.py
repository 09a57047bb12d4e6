"""Switching heads off and patching, against transformers with a plain hook."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from explorer.core.errors import InputError
from explorer.fill_mask import endpoints as masked_lm
from explorer.techniques.ablation import head_readings
from explorer.techniques.targets import is_next_target, read, word_target
from tests.hooks import eager_bert, every_dense, hooks_of, zeroed

TEXT, TEXT_B = "The man went to the [MASK] slowly.", "He bought some milk!"


@pytest.fixture
def reference(model):
    """transformers' own model, eager, read afresh, and the input as it reads it."""
    return eager_bert(model), model.tokenizer(TEXT, TEXT_B, return_tensors="pt")


def test_the_effect_of_each_head_is_that_of_a_hook_that_zeroes_it(model, reference):
    module, encoded = reference
    trace = model.trace(TEXT, TEXT_B)
    word, is_next = word_target(trace), is_next_target(trace)
    found, found_next = (target.measure(head_readings(trace, target)).numpy() for target in (word, is_next))
    layers, heads = model.capabilities.layers, model.capabilities.heads
    assert found.shape == found_next.shape == (layers, heads)
    for layer, head in [(0, 0), (0, heads - 1), (layers // 2, 1), (layers - 1, 0), (layers - 1, heads - 1)]:
        with zeroed(every_dense(module), module.config.num_attention_heads, [(layer, head)]), torch.no_grad():
            outputs = module(**encoded)
        theirs = outputs.prediction_logits[0, word.position].softmax(-1)[word.id]
        assert found[layer, head] == pytest.approx(float(theirs), abs=1e-5)
        theirs = outputs.seq_relationship_logits[0].softmax(-1)[0]
        assert found_next[layer, head] == pytest.approx(float(theirs), abs=1e-5)
    assert np.ptp(found) > 1e-4


def test_nothing_is_left_behind_even_under_eight_threads(bundled):
    before, hooks = {name: weight.clone() for name, weight in bundled.module.state_dict().items()}, hooks_of(bundled)
    texts = [f"The man went to the [MASK] {word}." for word in ("now", "then", "today", "again")] * 2
    alone = [masked_lm.head_effects(text)["probabilities"] for text in texts[:4]] * 2
    answers = [bundled.fill_mask(text) for text in texts]

    def everything(text):
        effects = masked_lm.head_effects(text)["probabilities"]
        masked_lm.attribution(text, steps=4)
        masked_lm.switch_off(text, [[1, 1], [2, 3]])
        return effects, bundled.fill_mask(text)

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(everything, texts))
    np.testing.assert_allclose([effects for effects, _ in together], alone, atol=1e-6)
    assert [guesses for _, guesses in together] == answers
    assert hooks_of(bundled) == hooks
    assert not any(module.training for module in bundled.module.modules())
    assert all(not weight.requires_grad for weight in bundled.module.parameters())
    for name, weight in bundled.module.state_dict().items():
        assert torch.equal(weight, before[name]), name


def test_a_word_is_one_piece_or_the_first_guess(bundled, refusal):
    trace = bundled.trace("Rome is the capital of [MASK].")
    first = bundled.fill_mask("Rome is the capital of [MASK].")[0].candidates[0]
    assert word_target(trace).token == first.token
    assert word_target(trace, " Italy ").token == "italy"
    assert word_target(trace, "##ing").token == "##ing"
    assert read(bundled, word_target(trace), trace.states[-1:]).probability == pytest.approx(first.probability)
    for word in ("antidisestablishmentarianism", "two words", "\ud800", 5):
        refusal(InputError, lambda word=word: word_target(trace, word))
    refusal(InputError, lambda: word_target(bundled.trace("no blank")))
    refusal(InputError, lambda: is_next_target(trace))
