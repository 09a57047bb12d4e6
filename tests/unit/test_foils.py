"""A word rather than a foil: the difference of their logits, against transformers with plain hooks, in every family."""

import numpy as np
import pytest
import torch

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.fill_mask import endpoints as masked_lm
from explorer.techniques import ablation, attribution
from explorer.techniques.targets import against_second_guess, is_next_target, own_reading, word_target
from tests.hooks import eager_bert

TEXT, OTHER = "The keys to the old cabinet [MASK] on the table.", "The key to the old cabinet [MASK] on the table."
WORD, FOIL = "are", "is"
CLOSE = 1e-4


@pytest.fixture(scope="module")
def module(bundled):
    return eager_bert(bundled)


@pytest.fixture(scope="module")
def trace(bundled):
    return bundled.trace(TEXT)


@pytest.fixture(scope="module")
def target(trace):
    return word_target(trace, WORD, foil=FOIL)


def difference(module, target, **inputs):
    """transformers' own difference of the two logits, one a row of the batch."""
    logits = module(**inputs).prediction_logits[:, target.position]
    return logits[:, target.id] - logits[:, target.foil]


def test_the_effect_of_a_head_is_a_difference_of_logits(bundled, module, trace, target):
    answer = masked_lm.head_effects(TEXT, WORD, foil=FOIL)
    assert {key: answer[key] for key in ("token", "foil", "position")} == {"token": WORD, "foil": FOIL, "position": 7}
    assert "probabilities" not in answer
    with torch.no_grad():
        theirs = difference(module, target, **bundled.tokenizer(TEXT, return_tensors="pt"))
    assert answer["baseline"] == pytest.approx(float(theirs), abs=CLOSE)
    plain = masked_lm.head_effects(TEXT, WORD)
    assert plain.keys() == {"position", "token", "baseline", "probabilities"}
    kept = ablation.head_readings(trace, target)
    np.testing.assert_allclose(kept.logit, answer["differences"], atol=1e-5)
    np.testing.assert_allclose(kept.probability, plain["probabilities"], atol=1e-6)
    np.testing.assert_allclose(
        target.each[0].measure(ablation.head_readings(trace, target.each[0])).numpy(), plain["probabilities"], atol=1e-6
    )


def test_patching_with_a_foil_reads_differences_and_without_probabilities(bundled, trace, target):
    corrupted = bundled.trace(OTHER)
    both = finished(ablation.patching_in_steps(trace, corrupted, target))
    alone = finished(ablation.patching_in_steps(trace, corrupted, target.each[0]))
    np.testing.assert_array_equal(target.measure(both), both.logit)
    np.testing.assert_array_equal(target.each[0].measure(alone), both.probability)


@pytest.mark.parametrize("baseline", attribution.BASELINES)
def test_integrated_gradients_of_the_difference_from_each_baseline(module, trace, target, baseline):
    answer = masked_lm.attribution(TEXT, WORD, steps=6, foil=FOIL, start=baseline)
    table = module.bert.embeddings.word_embeddings.weight.detach()
    words, fillers = table[list(trace.ids)], {"pad": table[0], "mask": table[trace.model.mask_id], "mean": table.mean(0)}
    special = torch.tensor([token.startswith("[") for token in trace.tokens])
    start = torch.where(special[:, None], words, fillers[baseline])
    nodes, weights = np.polynomial.legendre.leggauss(6)
    total = torch.zeros_like(words)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        point = (start + node * (words - start)).float().requires_grad_()
        (gradient,) = torch.autograd.grad(difference(module, target, inputs_embeds=point[None]).sum(), point)
        total += weight * gradient
    scores = (total * (words - start)).sum(-1)
    np.testing.assert_allclose(answer["scores"], scores, atol=1e-3 * float(scores.abs().max()))
    with torch.no_grad():
        whole, at_start = difference(module, target, inputs_embeds=torch.stack([words, start])).tolist()
    assert answer["baseline"] == pytest.approx(whole, abs=CLOSE)
    assert sum(answer["scores"]) - answer["delta"] == pytest.approx(whole - at_start, abs=1e-3)


def test_the_lens_tells_the_difference_after_each_layer(bundled, module, target):
    answer = masked_lm.lens(TEXT, word=WORD, foil=FOIL)
    with torch.no_grad():
        states = module(**bundled.tokenizer(TEXT, return_tensors="pt"), output_hidden_states=True).hidden_states
        logits = [module.cls.predictions(state[0, target.position]) for state in states]
    theirs = [float(one[target.id] - one[target.foil]) for one in logits]
    np.testing.assert_allclose([row["difference"] for row in answer["layers"]], theirs, atol=CLOSE)
    plain = masked_lm.lens(TEXT)
    assert plain.keys() == {"layers"}
    assert [row["masks"] for row in plain["layers"]] == [row["masks"] for row in answer["layers"]]
    assert all(row.keys() == {"layer", "masks"} for row in plain["layers"])


def test_without_a_foil_attribution_answers_as_before(trace):
    plain = masked_lm.attribution(TEXT, WORD, method="occlusion")
    assert plain.keys() == {"tokens", "scores", "delta", "target"}
    other = masked_lm.attribution(TEXT, FOIL, method="occlusion")
    both = masked_lm.attribution(TEXT, WORD, method="occlusion", foil=FOIL)
    np.testing.assert_allclose(both["scores"], np.subtract(plain["scores"], other["scores"]), atol=CLOSE)


def test_a_foil_is_another_word_of_one_piece(bundled, trace, refusal):
    assert word_target(trace, WORD).foil is word_target(trace, WORD, foil=" ").foil is None
    assert word_target(trace, WORD, foil=" Is ").name == "are rather than is"
    for foil in ("antidisestablishmentarianism", "two words", "\ud800", 5, "are", "ARE "):
        refusal(InputError, lambda foil=foil: word_target(trace, WORD, foil=foil))
    with pytest.raises(InputError, match=r"The foil 'two words' is not one piece of this vocabulary but two words"):
        masked_lm.head_effects(TEXT, WORD, foil="two words")
    with pytest.raises(InputError, match=r"The foil is the same as the word, 'are'\. Choose another foil\."):
        masked_lm.attribution(TEXT, WORD, foil=WORD)
    pair = bundled.trace("He was tired.", "He slept.")
    against = against_second_guess(pair, is_next_target(pair))
    assert against.name == "IsNext rather than NotNext"
    share = float(own_reading(pair, against).probability)
    assert float(own_reading(pair, against).logit) == pytest.approx(np.log(share / (1 - share)), abs=1e-3)
