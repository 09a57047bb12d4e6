"""Switching heads off and patching, against transformers with a plain hook."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.fill_mask import endpoints as masked_lm
from explorer.techniques.ablation import changed_states, head_effects, patching_in_steps, with_mask
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
    found, found_next = (head_effects(trace, target) for target in (word, is_next))
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


def test_heads_go_together_and_no_heads_change_nothing(model, reference):
    module, encoded = reference
    trace = model.trace(TEXT, TEXT_B)
    np.testing.assert_array_equal(changed_states(trace, [])[-1], trace.states[-1])
    layers, heads = model.capabilities.layers, model.capabilities.heads
    whole_layer = [(layers - 1, head) for head in range(heads)]
    for off in ([(0, 0), (0, 1), (1, 1)], [(1, 0)], whole_layer):
        with zeroed(every_dense(module), module.config.num_attention_heads, off), torch.no_grad():
            theirs = module.bert(**encoded).last_hidden_state[0]
        np.testing.assert_allclose(changed_states(trace, off)[-1], theirs, atol=2e-5)


def test_a_patched_state_is_that_of_a_hook_that_replaces_it(bundled):
    clean, corrupted = bundled.trace("The man went to the [MASK]."), bundled.trace("The dog went to the [MASK].")
    target = word_target(clean)
    found = finished(patching_in_steps(clean, corrupted, target))
    module = eager_bert(bundled)
    ids = {trace: torch.tensor([trace.ids]) for trace in (clean, corrupted)}
    with torch.no_grad():
        states = module(ids[clean], output_hidden_states=True).hidden_states
    for layer, position in [(1, 2), (3, 6), (5, 0)]:

        def patch(_, inputs, output, layer=layer, position=position):
            output = output.clone()
            output[:, position] = states[layer][:, position]
            return output

        hook = module.bert.encoder.layer[layer - 1].register_forward_hook(patch)
        with torch.no_grad():
            theirs = module(ids[corrupted]).prediction_logits[0, target.position].softmax(-1)[target.id]
        hook.remove()
        assert found[layer, position] == pytest.approx(float(theirs), abs=1e-5)


def test_inputs_of_different_lengths_cannot_be_patched(bundled, refusal):
    clean, corrupted = bundled.trace("The man went to [MASK]."), bundled.trace("The man went [MASK].")
    target = word_target(clean)
    refusal(InputError, lambda: finished(patching_in_steps(clean, corrupted, target)))


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


def test_a_token_is_masked_by_one_pass_that_keeps_what_is_derived_from_it(bundled):
    trace = bundled.trace("The dog went to the old store.")
    hidden = with_mask(trace, 2)
    assert hidden.tokens == (*trace.tokens[:2], "[MASK]", *trace.tokens[3:])
    head_effects(hidden, word_target(hidden, "", 2))
    key = ("head readings", word_target(hidden, "", 2))
    assert with_mask(trace, 2).knows(key)
    assert not with_mask(trace, 3).knows(key)
