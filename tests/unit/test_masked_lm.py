"""Lens, attribution, pseudo-likelihood, joint filling, and the endpoints that answer with them."""

from functools import partial

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients
from minicons import scorer

from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.fill_mask import endpoints as masked_lm
from explorer.techniques.attribution import attribute
from explorer.techniques.filling import fill_jointly
from explorer.techniques.lens import lens, lens_error
from explorer.techniques.pseudo_likelihood import pseudo_likelihoods_in_steps
from explorer.techniques.targets import is_next_target, word_target
from tests.hooks import eager_bert

TEXT = "The man went to the [MASK] slowly."


@pytest.fixture
def module(model):
    return eager_bert(model)


def test_the_lens_is_the_head_of_transformers_on_every_hidden_state(model, module, eager):
    _, outputs = eager(model, TEXT)
    trace = model.trace(TEXT)
    positions = range(trace.kept)
    found = lens(trace, positions)
    final = outputs.prediction_logits[0].argmax(-1)
    for layer, states in enumerate(outputs.hidden_states):
        with torch.no_grad():
            logits = module.cls.predictions(states)[0]
        np.testing.assert_allclose(found.probabilities[layer], logits.double().softmax(-1).max(-1).values, atol=1e-5)
        ranks = (logits > logits.gather(-1, final[:, None])).sum(-1) + 1
        assert (found.final_ranks[layer] == ranks.numpy()).mean() > 0.9  # ties may fall either way
    np.testing.assert_array_equal(found.ids[-1], final)
    assert (found.final_ranks[-1] == 1).all()
    assert lens_error(trace, positions) < 1e-4


def logit_by_hand(module, trace, target, words):
    """transformers' logit of the target for word embeddings [batch, tokens, hidden]."""
    types = torch.tensor([trace.encoding.segments]).expand(words.shape[:2])
    outputs = module(inputs_embeds=words, token_type_ids=types)
    if target.head == "next_sentence":
        return outputs.seq_relationship_logits[:, 0]
    return outputs.prediction_logits[:, target.position, target.id]


@pytest.mark.parametrize("text_b", ["", "He bought milk."])
def test_integrated_gradients_are_those_of_captum(model, module, text_b):
    trace = model.trace(TEXT, text_b)
    target = is_next_target(trace) if text_b else word_target(trace)
    steps = 20
    found = attribute(trace, target, steps=steps)
    table = module.bert.embeddings.word_embeddings.weight.detach()
    special, pad = model.tokenizer.all_special_ids, model.tokenizer.pad_token_id
    words, baseline = table[list(trace.ids)], table[[id if id in special else pad for id in trace.ids]]  # [tokens, hidden]
    theirs = IntegratedGradients(partial(logit_by_hand, module, trace, target))
    scores = theirs.attribute(words[None], baseline[None], n_steps=steps)[0].sum(-1).detach()
    scale = float(scores.abs().max())
    np.testing.assert_allclose(found.scores, scores, atol=1e-3 * scale)
    with torch.no_grad():
        change = logit_by_hand(module, trace, target, torch.stack([words, baseline])).double()
    assert found.path.change == pytest.approx(float(change[0] - change[1]), abs=1e-3)
    assert found.scores.sum() == pytest.approx(found.path.change + found.path.delta, abs=1e-3)


def test_pseudo_likelihood_by_words_is_that_of_minicons(bundled):
    """Kauf and Ivanova's own package; batch_encode_plus is what transformers called its tokenizer before version 5."""
    theirs = scorer.MaskedLMScorer(str(BUNDLED_FOLDER), "cpu")
    theirs.model.float()  # the file has half precision
    theirs.tokenizer.batch_encode_plus = theirs.tokenizer.__call__
    texts = ["Photosynthesis needs chlorophyll.", "Plants need light.", "The geologist studied sedimentary rocks, unhurriedly."]
    for likelihood, metric in (("word_l2r", "within_word_l2r"), ("original", "original")):
        wanted = theirs.sequence_score(texts, reduction=lambda logs: logs.sum().item(), PLL_metric=metric)
        assert finished(pseudo_likelihoods_in_steps(bundled, texts, likelihood)) == pytest.approx(wanted, abs=1e-4)
    word, light = finished(pseudo_likelihoods_in_steps(bundled, texts[:2]))
    assert light > word, "a rare word of many pieces is not more probable by the piece"


@pytest.mark.parametrize("order", ["left_to_right", "best_first"])
def test_joint_filling_fills_one_blank_after_the_other(model, module, order):
    trace = model.trace("The [MASK] went to the [MASK] to buy [MASK].")
    filled = fill_jointly(trace, order)
    ids = torch.tensor([trace.ids])
    left = set(trace.mask_positions)
    for step in filled:
        with torch.no_grad():
            shares = module(ids).prediction_logits[0].softmax(-1)
        best = {position: float(shares[position].max()) for position in left}
        wanted = min(left) if order == "left_to_right" else max(best, key=best.get)
        assert (step.position, step.candidate.id) == (wanted, int(shares[wanted].argmax()))
        assert step.candidate.probability == pytest.approx(best[wanted], abs=1e-5)
        ids[0, step.position] = step.candidate.id
        left.remove(step.position)
    assert not left


def test_the_endpoints_answer_as_they_promise(bundled):
    guess = bundled.fill_mask(TEXT)[0]
    through = masked_lm.lens(TEXT, top_k=2)["layers"]
    assert [row["layer"] for row in through] == list(range(bundled.capabilities.layers + 1))
    last = through[-1]["masks"][0]
    assert last["position"] == guess.position
    assert [candidate["token"] for candidate in last["candidates"]] == [c.token for c in guess.candidates[:2]]
    effects = masked_lm.head_effects(TEXT)
    assert (effects["position"], effects["token"]) == (guess.position, guess.candidates[0].token)
    assert effects["baseline"] == pytest.approx(guess.candidates[0].probability, abs=1e-6)
    off = masked_lm.switch_off(TEXT, [[2, 3]], top_k=100)["masks"][0]["candidates"]
    shares = {candidate["token"]: candidate["probability"] for candidate in off}
    assert shares[effects["token"]] == pytest.approx(effects["probabilities"][1][2], abs=1e-6)
    assert masked_lm.switch_off(TEXT, []) == masked_lm.fill_mask(TEXT)
    given = masked_lm.attribution(TEXT, "store", steps=10)
    assert given["target"] == "store"
    assert len(given["scores"]) == len(given["tokens"])
    assert masked_lm.attribution(TEXT, method="occlusion")["delta"] is None
    assert len(masked_lm.pseudo_likelihood(["The man.", "He went."])["scores"]) == 2


@pytest.mark.parametrize("text", ["[MASK]", "[MASK] " * 50, "[MASK] [MASK]", "[CLS] [MASK] [SEP]"])
def test_masks_only_and_fifty_masks_get_sensible_answers(bundled, text, refusal):
    assert len(masked_lm.lens(text)["layers"][0]["masks"]) == text.count("[MASK]")
    assert len(masked_lm.switch_off(text, [[1, 1]])["masks"]) == text.count("[MASK]")
    assert masked_lm.head_effects(text)["position"] == bundled.trace(text).mask_positions[0]
    scores = masked_lm.attribution(text, steps=2)["scores"]
    assert not np.any(scores), "special tokens are their own baseline"
    assert not np.any(masked_lm.attribution(text, method="occlusion")["scores"])
    if "[CLS]" not in text:
        refusal(InputError, lambda: masked_lm.pseudo_likelihood([text]))
