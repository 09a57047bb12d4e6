"""Our own test suites: what is in them, and what models make of them, held to transformers pair by pair."""

import math
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
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
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.minimal_pairs import (
    ALL,
    BLANK,
    LIKELIHOOD,
    TITLES,
    Suite,
    SuiteResult,
    in_frames,
    judge_in_steps,
    own_difference,
    suite_of,
)
from explorer.experiments.endpoints import suite as endpoint
from explorer.techniques.targets import piece_of
from explorer.text.encoding import MASK
from tests.at_night import at_night
from tests.corpora import first_pairs
from tests.families import KINDS, write_family

SUITES = {name: suite_of(name) for name in TITLES}
FEW = 3  # pairs of each suite that are compared with transformers


def judged(model, suite, way=""):
    return finished(judge_in_steps(model, suite, way))


def sentences(pair):
    """Both sentences of a pair."""
    return [pair.text_a.replace(MASK, word) for word in (pair.word, pair.foil)]


def by_transformers(module, tokenizer, pair, way, stereotypes):
    """The difference of a pair, by plain transformers, each piece hidden in turn, with the later ones of its word."""
    read = [tokenizer(sentence, return_tensors="pt") for sentence in sentences(pair)]
    word, foil = (one["input_ids"][0] for one in read)
    (slot,) = (word != foil).nonzero()[0].tolist()
    total = 0.0
    for ids, sign, words in ((word, 1, read[0].word_ids()), (foil, -1, read[1].word_ids())):
        every = [slot] if way == BLANK else [place for place in range(1, len(ids) - 1) if place != slot or not stereotypes]
        hidden = ids.repeat(len(every), 1)
        for row, place in enumerate(every):
            hidden[row, [at for at in range(place, len(ids)) if words[at] == words[place]]] = tokenizer.mask_token_id
        with torch.no_grad():
            last = module.bert(hidden).last_hidden_state[range(len(every)), every]
            logits = module.cls.predictions(last)
        scores = logits if way == BLANK else logits.log_softmax(-1)
        total += sign * float(scores.gather(1, ids[every][:, None]).sum())
    return total


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_a_suite_is_balanced_and_made_of_words_that_the_bundled_model_knows(suite, tokenizer):
    assert 60 <= len(suite.items) <= 80
    assert min(Counter(suite.kinds).values()) >= 15
    assert len({pair.text_a.casefold() for pair in suite.items}) == len(suite.items)
    for pair in suite.items:
        assert pair.text_a.count(MASK) == 1
        assert not pair.text_a.startswith(MASK)
        assert pair.text_a == pair.text_a.strip()
        assert pair.text_a[-1] in ".?!"
        for word in (pair.word, pair.foil):
            assert len(tokenizer.tokenize(word)) == 1, word
        assert tokenizer.unk_token not in tokenizer.tokenize(pair.text_a)
    kinds = [ALL] if suite.stereotypes else {*suite.kinds}
    of_kind = list(zip(suite.items, suite.kinds, strict=True))
    for part in [[pair for pair, own in of_kind if kind in (own, ALL)] for kind in kinds]:
        ways = Counter((pair.word, pair.foil) for pair in part)
        assert ways == Counter((pair.foil, pair.word) for pair in part), "each of two words is as often the better one"


@pytest.mark.parametrize(
    "asked", at_night(product(SUITES, (BLANK, LIKELIHOOD)), but=[("agreement", BLANK), ("stereotypes", LIKELIHOOD)])
)
def test_every_difference_is_that_of_transformers(bundled, tokenizer, asked):
    name, way = asked
    suite = first_pairs(SUITES[name], 1 if way == LIKELIHOOD else FEW)
    module = transformers.BertForPreTraining.from_pretrained(BUNDLED_FOLDER, dtype="float32").eval()
    found = judged(bundled, suite, way)
    assert list(found.table.text) == [pair.text_a for pair in suite.items]
    theirs = [by_transformers(module, tokenizer, pair, way, suite.stereotypes) for pair in suite.items]
    np.testing.assert_allclose(found.table.difference, theirs, atol=1e-4)
    if way == BLANK:
        np.testing.assert_allclose([own_difference(bundled, pair) for pair in suite.items[:2]], theirs[:2], atol=1e-4)


def test_shares_count_the_pairs_in_which_the_word_wins(bundled):
    suite = first_pairs(SUITES["facts"], 4)
    found = judged(bundled, suite)
    right, shares = (found.table.difference > 0).to_numpy(), dict(found.shares)
    every = shares.pop("all")
    assert (every.items, every.right) == (len(suite.items), np.mean(right))
    for kind, share in shares.items():
        assert share.right == np.mean([won for won, own in zip(right, suite.kinds, strict=True) if own == kind])
    swapped = replace(suite, items=tuple(replace(pair, word=pair.foil, foil=pair.word) for pair in suite.items))
    assert judged(bundled, swapped).table.right.mean() == pytest.approx(1 - every.right)


def test_pairs_of_one_frame_are_one_observation():
    names = [f"{name} a{name}" for name in ["one", "two", "three", "four", "five", "six", "seven", "eight"]]
    pairs = in_frames([Item(f"{names[row // 4]} [MASK] {row % 4}", "", "is", "are") for row in range(32)])
    assert len({pair.group for pair in pairs}) == 8
    won = np.array([row // 4 < 6 for row in range(32)]) - 0.5
    share = SuiteResult(Suite("own", pairs, ("",) * 32), BLANK, SimpleNamespace(items=pairs), won).shares["all"]
    low, high = wilson(6 * 7 / 8, 7)  # seven of eight frames vary freely
    assert (share.items, share.groups, share.right) == (32, 8, 0.75)
    assert (share.low, share.high) == (pytest.approx(low), pytest.approx(high))
    few = SuiteResult(Suite("own", pairs, ("",) * 32), BLANK, SimpleNamespace(items=pairs[:20]), won[:20])
    assert math.isnan(few.shares["all"].low), "of five frames"
    assert few.left_out == 12


@pytest.mark.parametrize("family", at_night([name for name in KINDS if name != "electra-discriminator"], but=["modernbert"]))
def test_every_family_judges_pairs(tmp_path, family):
    model = explorer.load(str(write_family(tmp_path / family, family)))
    words = []
    for piece in model.pieces(model.ordinary_ids.tolist()):
        with suppress(InputError):
            words += [piece] if piece_of(model, piece)[1] == piece else []
    pairs = [Item("the [MASK] went.", "", words[0], words[1]), Item("he [MASK] it.", "", words[2], words[3])]
    found = judged(model, Suite("own", tuple(pairs), ("a", "b")), BLANK)
    for pair, difference in zip(pairs, found.differences, strict=True):
        assert difference == pytest.approx(own_difference(model, pair), abs=2e-3)


def test_pairs_of_several_pieces_are_left_out(tiny):
    pairs = ("the [MASK] went.", "man", "dog"), ("the [MASK] went.", "mans", "dog"), ("the [MASK] was.", "man", "Man")
    items = (*(Item(text, "", *words) for text, *words in pairs), Item("he [MASK] it.", "", "went", "bought"))
    found = judged(tiny, Suite("own", items, ("",) * 4))
    assert (list(found.table.index), found.left_out) == ([0, 3], 2)
    with pytest.raises(InputError, match="larger vocabulary"):
        judged(tiny, Suite("own", items[:3], ("",) * 3))


@pytest.mark.parametrize(("right", "items"), [(0, 16), (16, 16), (1, 1), (41, 64), (500, 1000)])
def test_the_interval_is_that_of_scipy(right, items):
    theirs = scipy.stats.binomtest(right, items).proportion_ci(method="wilson")
    assert wilson(right, items) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    with pytest.raises(ValueError, match="not a share"):
        wilson(1, 0)


def test_the_endpoint_tells_shares_and_names_the_suites(bundled, tmp_path, monkeypatch):
    monkeypatch.setattr(endpoints, "suite_of", lambda name: first_pairs(suite_of(name), 1))
    found = endpoint("stereotypes")
    assert (found["low"], found["high"]) == (None, None), "of four frames"
    assert found["items"] == sum(kind["items"] for kind in found["kinds"].values()) == len({*SUITES["stereotypes"].kinds})
    assert (found["way"], found["instead"], found["left_out"]) == (LIKELIHOOD, 0, 0)
    assert endpoint("agreement")["way"] == BLANK
    for bad in ("", "nothing", 3, None):
        with pytest.raises(InputError, match="agreement, pronouns, negation, prepositions, stereotypes, facts"):
            endpoint(bad)
    with pytest.raises(InputError, match="blank, pseudo_likelihood"):
        endpoint("facts", way="guess")
    with pytest.raises(CapabilityError, match="masked-language-model"):
        endpoint("facts", str(write_family(tmp_path / "plain", "electra-discriminator")))
