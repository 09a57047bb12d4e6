"""Our own test suites: what is in them, and what models make of them, held to transformers pair by pair."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy
import torch
import transformers

import explorer
from explorer.analysis.resampling import wilson
from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.core.errors import CapabilityError, InputError
from explorer.core.steps import finished
from explorer.experiments import endpoints
from explorer.experiments.compute.minimal_pairs import (
    BLANK,
    LIKELIHOOD,
    TITLES,
    MinimalPair,
    Suite,
    SuiteResult,
    judge_in_steps,
    own_difference,
    suite_of,
)
from explorer.experiments.endpoints import suite as endpoint
from explorer.techniques.pseudo_likelihood import pseudo_likelihoods_in_steps
from explorer.text.encoding import MASK
from tests.at_night import at_night
from tests.families import KINDS, write_family

ROOT = Path(__file__).resolve().parents[2]
SUITES = {name: suite_of(name) for name in TITLES}
FEW = 3  # pairs of each suite that are compared with transformers


def judged(model, suite, way=""):
    return finished(judge_in_steps(model, suite, way))


def some(suite, pairs=FEW):
    """A suite with the first pairs of each kind only."""
    of_kinds = ([pair for pair in suite.pairs if pair.kind == kind] for kind in suite.kinds)
    return replace(suite, pairs=tuple(pair for one in of_kinds for pair in one[:pairs]))


def by_transformers(module, tokenizer, pair, way, stereotypes):
    """The difference of a pair, by plain transformers, each piece hidden in turn. Both words are one piece."""
    word, foil = (tokenizer(sentence, return_tensors="pt")["input_ids"][0] for sentence in pair.sentences)
    (slot,) = (word != foil).nonzero()[0].tolist()
    total = 0.0
    for ids, sign in ((word, 1), (foil, -1)):
        every = [slot] if way == BLANK else [place for place in range(1, len(ids) - 1) if place != slot or not stereotypes]
        hidden = ids.repeat(len(every), 1)
        hidden[range(len(every)), every] = tokenizer.mask_token_id
        with torch.no_grad():
            last = module.bert(hidden).last_hidden_state[range(len(every)), every]
            logits = module.cls.predictions(last)
        scores = logits if way == BLANK else logits.log_softmax(-1)
        total += sign * float(scores.gather(1, ids[every][:, None]).sum())
    return total


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_a_suite_is_balanced_and_made_of_words_that_the_bundled_model_knows(suite, tokenizer):
    assert 60 <= len(suite.pairs) <= 80
    assert min(Counter(pair.kind for pair in suite.pairs).values()) >= 15
    assert len({pair.text.casefold() for pair in suite.pairs}) == len(suite.pairs)
    for pair in suite.pairs:
        assert pair.text.count(MASK) == 1
        assert not pair.text.startswith(MASK)
        assert pair.text == pair.text.strip()
        assert pair.text[-1] in ".?!"
        for word in (pair.word, pair.foil):
            assert len(tokenizer.tokenize(word)) == 1, word
        assert tokenizer.unk_token not in tokenizer.tokenize(pair.text)
    for part in [suite.pairs] if suite.stereotypes else [[p for p in suite.pairs if p.kind == kind] for kind in suite.kinds]:
        ways = Counter((pair.word, pair.foil) for pair in part)
        assert ways == Counter((pair.foil, pair.word) for pair in part), "each of two words is as often the better one"


@pytest.mark.parametrize(
    "asked", at_night(product(SUITES, (BLANK, LIKELIHOOD)), but=[("agreement", BLANK), ("stereotypes", LIKELIHOOD)])
)
def test_every_difference_is_that_of_transformers(bundled, tokenizer, asked):
    name, way = asked
    suite = some(SUITES[name], 1 if way == LIKELIHOOD else FEW)
    module = transformers.BertForPreTraining.from_pretrained(BUNDLED_FOLDER, dtype="float32").eval()
    found = judged(bundled, suite, way)
    assert list(found.table.text) == [pair.text for pair in suite.pairs]
    theirs = [by_transformers(module, tokenizer, pair, way, suite.stereotypes) for pair in suite.pairs]
    np.testing.assert_allclose(found.table.difference, theirs, atol=1e-4)
    own = [own_difference(bundled, found, number) for number in (0, 1)]
    np.testing.assert_allclose(own, theirs[:2], atol=1e-4)


def test_shares_count_the_pairs_in_which_the_word_wins(bundled):
    suite = some(SUITES["facts"], 4)
    found = judged(bundled, suite)
    right, shares = dict(zip(suite.pairs, found.table.difference > 0, strict=True)), dict(found.shares)
    every = shares.pop("all")
    assert (every.items, every.right) == (len(suite.pairs), np.mean(list(right.values())))
    for kind, share in shares.items():
        assert share.right == np.mean([right[pair] for pair in suite.pairs if pair.kind == kind])
    swapped = replace(suite, pairs=tuple(replace(pair, word=pair.foil, foil=pair.word) for pair in suite.pairs))
    assert judged(bundled, swapped).table.right.mean() == pytest.approx(1 - every.right)


def test_pairs_of_one_frame_are_one_observation():
    names = [f"{name} a{name}" for name in ["one", "two", "three", "four", "five", "six", "seven", "eight"]]
    pairs = [MinimalPair("", f"{names[row // 4]} [MASK] {row % 4}", "is", "are") for row in range(32)]
    table = pandas.DataFrame(pairs).assign(right=[row // 4 < 6 for row in range(32)])
    suite = Suite("own", "", "", tuple(pairs))
    assert len(set(suite.frames)) == 8
    share = SuiteResult(suite, BLANK, table).shares["all"]
    low, high = wilson(6 * 7 / 8, 7)  # seven of eight frames vary freely
    assert (share.items, share.right) == (32, 0.75)
    assert (share.low, share.high) == (pytest.approx(low), pytest.approx(high))
    few = Suite("own", "", "", tuple(pairs[:20]))
    assert math.isnan(SuiteResult(few, BLANK, table[:20]).shares["all"].low), "of five frames"


def test_stereotypes_count_only_what_both_sentences_share(bundled):
    suite = some(SUITES["stereotypes"], 1)
    shared, whole = judged(bundled, suite), judged(bundled, replace(suite, stereotypes=False), LIKELIHOOD)
    blank = judged(bundled, suite, BLANK)
    np.testing.assert_allclose(shared.table.difference + blank.table.difference, whole.table.difference, atol=1e-4)


@pytest.mark.parametrize("family", at_night([name for name in KINDS if name != "electra-discriminator"], but=["modernbert"]))
def test_every_family_judges_pairs_of_which_it_cuts_the_words(tmp_path, family):
    model = explorer.load(str(write_family(tmp_path / family, family)))
    for suite in (some(SUITES["agreement"], 1), some(SUITES["stereotypes"], 1)):
        found = judged(model, suite, BLANK)
        assert len(found.table) + found.left_out == len(suite.pairs)
        for number, difference in found.table.difference[:1].items():
            assert difference == pytest.approx(own_difference(model, found, number), abs=2e-3)


def test_words_of_several_pieces_are_scored_by_pseudo_likelihood_and_the_same_ones_left_out(tiny, bundled):
    pairs = (("the [MASK] went.", "man", "dog"), ("the [MASK] went.", "mans", "dog"), ("the [MASK] went.", "man", "Man"))
    suite = Suite("own", "", "", tuple(MinimalPair("", *pair) for pair in pairs))
    found = judged(tiny, suite)
    assert found.table.scored_by.to_dict() == {0: BLANK, 1: LIKELIHOOD}
    assert (found.instead, found.left_out) == (1, 1)
    mans, dog = finished(pseudo_likelihoods_in_steps(tiny, suite.pairs[1].sentences))
    assert found.table.difference[1] == pytest.approx(mans - dog, abs=1e-4)
    with pytest.raises(InputError, match="the same tokens"):
        judged(tiny, replace(suite, pairs=suite.pairs[2:]))


@pytest.mark.parametrize(("right", "items"), [(0, 16), (16, 16), (1, 1), (41, 64), (500, 1000)])
def test_the_interval_is_that_of_scipy(right, items):
    theirs = scipy.stats.binomtest(right, items).proportion_ci(method="wilson")
    assert wilson(right, items) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    with pytest.raises(ValueError, match="not a share"):
        wilson(1, 0)


def test_the_endpoint_tells_shares_and_names_the_suites(bundled, tmp_path, monkeypatch):
    monkeypatch.setattr(endpoints, "suite_of", lambda name: some(suite_of(name), 1))
    found = endpoint("stereotypes")
    assert (found["low"], found["high"]) == (None, None), "of four frames"
    assert found["items"] == sum(kind["items"] for kind in found["kinds"].values()) == len(SUITES["stereotypes"].kinds)
    assert (found["way"], found["instead"], found["left_out"]) == (LIKELIHOOD, 0, 0)
    assert endpoint("agreement")["way"] == BLANK
    for bad in ("", "nothing", 3, None):
        with pytest.raises(InputError, match="agreement, pronouns, negation, prepositions, stereotypes, facts"):
            endpoint(bad)
    with pytest.raises(InputError, match="blank, pseudo_likelihood"):
        endpoint("facts", way="guess")
    with pytest.raises(CapabilityError, match="masked-language-model"):
        endpoint("facts", str(write_family(tmp_path / "plain", "electra-discriminator")))
