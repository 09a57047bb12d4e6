"""Heads switched off in many items, against hooks on transformers; what the numbers say of a model that knows nothing."""

import json

import numpy as np
import pytest
import torch

import explorer
from explorer.analysis.resampling import halve_groups
from explorer.bert.provenance import weights_hash
from explorer.core.errors import InputError
from explorer.core.limits import ITEMS
from explorer.experiments.compute.experiment import experiment
from explorer.experiments.compute.heads import MEAN, HeadsOff
from explorer.experiments.compute.items import Item, items_from_lines, read_items
from explorer.experiments.compute.minimal_pairs import TITLES
from explorer.experiments.compute.runs import find_shipped
from explorer.experiments.endpoints import experiment as endpoint
from explorer.techniques.ablation import Run
from tests.at_night import at_night
from tests.families import KINDS, write_family
from tests.hooks import eager_bert, every_dense, hooked, seen_in, with_head
from tests.unit.test_experiment_questions import lines_of

TINY_ITEMS = (
    Item("the man went to the [MASK] .", "he bought milk .", "store", "dog"),
    Item("the [MASK] was happy .", "", "man", "cat"),
    Item("she bought [MASK] .", "", "milk", "dog"),
    Item("it was the sad dog , and [MASK] it went !", "", "slow", "happy"),
    Item("he [MASK] to the dog", "", "went", "bought"),
)


@pytest.fixture(scope="module")
def found(bundled):
    """The suite on agreement, as the app brings it; a test holds it to what is computed."""
    return find_shipped(bundled, "agreement")


def by_hooks(model, items, pieces, replaced):
    """[items, layers, heads]: changes of the logit difference by full passes of transformers, one a head; and [items] before.

    `replaced(layer, head)` is what is in the place of a head's context, in [items, tokens, hidden], or a number; all items are
    read as one batch, the shorter ones filled up with [PAD].
    """
    module, has = eager_bert(model), model.capabilities
    vocabulary = model.tokenizer.get_vocab()
    ids = torch.tensor([[vocabulary[piece] for piece in pair] for pair in pieces])
    encoded = encode(model, items)
    places = (encoded["input_ids"] == model.mask_id).long().argmax(1)

    @torch.no_grad()
    def differences():
        last = module.bert(**encoded).last_hidden_state[range(len(items)), places]
        logits = module.cls.predictions(last).gather(1, ids)
        return (logits[:, 0] - logits[:, 1]).numpy()

    before, changes = differences(), np.empty((len(items), has.layers, has.heads))
    for layer, head in np.ndindex(has.layers, has.heads):
        other = replaced(layer, head)
        with hooked([every_dense(module)[layer]], lambda _, own, head=head, to=other: with_head(own, head, has.heads, to), True):
            changes[:, layer, head] = differences() - before
    return changes, before


def encode(model, items):
    """The items as transformers reads them in one batch."""
    pairs = [[item.text_a, item.text_b] if item.text_b else [item.text_a] for item in items]
    return model.tokenizer.pad([model.tokenizer(*pair) for pair in pairs], return_tensors="pt")


def contexts(model, items):
    """What W_O reads in transformers' own pass, by layer: [items, tokens, hidden]; and which tokens are real [items, tokens]."""
    module, encoded = eager_bert(model), encode(model, items)
    with torch.no_grad():
        return seen_in(every_dense(module), lambda: module(**encoded), before=True), encoded["attention_mask"].bool()


def test_effects_are_those_of_hooks(bundled, found):
    some = slice(None, None, 32)
    changes, before = by_hooks(bundled, found.items[some], found.pieces[some], lambda layer, head: 0.0)
    np.testing.assert_allclose(found.before[some], before, atol=1e-4)
    np.testing.assert_allclose(found.values[some], changes, atol=1e-4)
    np.testing.assert_allclose(found.summary.effects, found.values.mean(0), atol=1e-6)


@pytest.mark.parametrize("how", HeadsOff.ways)
def test_each_way_of_switching_off_is_that_of_hooks(tiny, how):
    found = experiment(tiny, TINY_ITEMS, how=how, seed=3)
    read, real = contexts(tiny, TINY_ITEMS)

    def replaced(layer, head):
        own = read[layer]
        return own[real].mean(0).expand_as(own) if how == MEAN else torch.zeros_like(own)

    changes, before = by_hooks(tiny, TINY_ITEMS, found.pieces, replaced)
    np.testing.assert_allclose(found.before, before, atol=1e-4)
    np.testing.assert_allclose(found.values, changes, atol=1e-4)
    assert np.abs(changes).max() > 0.01


@pytest.mark.parametrize(
    "kind", at_night([kind for kind in KINDS if kind != "electra-discriminator"], but=["roberta", "modernbert"])
)
def test_every_family(kind, tmp_path):
    """Against the same heads switched off in one input, which test_families.py holds to transformers."""
    model = explorer.load(str(write_family(tmp_path / kind, kind)))
    items = [Item("the man [MASK] to it", "", "", ""), Item("he [MASK] and [MASK] it", "she was", "", "")]
    found = experiment(model, tuple(items))
    for number, item in enumerate(items):
        trace = model.trace(item.text_a, item.text_b)
        place = trace.blanks()[0]
        logits = model.masked_lm(trace.states[-1][place])
        word, foil = logits.topk(2).indices.tolist()
        assert model.pieces([word, foil]) == list(found.pieces[number])
        for head in [(0, 1), (1, 0), (model.capabilities.layers - 1, 1)]:
            after = model.masked_lm(Run(trace, [head]).states[-1][place])
            change = (after[word] - after[foil]) - (logits[word] - logits[foil])
            assert found.values[number][head] == pytest.approx(float(change), abs=1e-4)


def test_the_deciding_head_of_agreement_holds_on_the_other_half(found):
    summary = found.summary
    assert summary.held_out.high < 0
    assert summary.held_out.rank <= 3
    assert summary.held_out.effect < summary.held_out.random
    assert summary.q[summary.selected] < 0.05


def varied(count):
    """So many different items, each with its own text."""
    return [Item(f"the man {'very ' * (n // 3)}[MASK] {('.', '!', ',')[n % 3]}", "", "dog", "cat") for n in range(count)]


def test_copies_of_items_are_no_evidence(tiny):
    three, often = experiment(tiny, TINY_ITEMS[:3]), experiment(tiny, TINY_ITEMS[:3] * 10)
    np.testing.assert_array_equal(three.values, often.values)
    np.testing.assert_array_equal(three.summary.p, often.summary.p)
    assert len(often.left_out) == 27
    assert "repeats item 2" in often.left_out[5]
    assert np.isnan(often.summary.low).all()
    assert not often.summary.held_out.is_sure


def test_inference_is_by_group(tiny):
    items = varied(24)
    alone, grouped = experiment(tiny, items), experiment(tiny, items, groups=[str(n // 6) for n in range(24)])
    np.testing.assert_array_equal(alone.values, grouped.values)
    np.testing.assert_allclose(alone.summary.effects, grouped.summary.effects)
    assert (alone.summary.groups, grouped.summary.groups) == (24, 4)
    assert grouped.summary.p.min() >= 2 / 2**4, "four groups have sixteen signs"
    assert np.isnan(grouped.summary.low).all()
    assert (grouped.summary.held_out.groups, grouped.summary.held_out.items) == (2, 12)
    by_name = items_from_lines(f"# one\n{lines_of(items[:12])}\n#two\n{lines_of(items[12:])}")
    assert (by_name, [item.group for item in by_name]) == (tuple(items), ["one"] * 12 + ["two"] * 12)


def test_the_two_halves_share_no_group(tiny):
    items, groups = varied(30), [str(n % 10) for n in range(30)]
    for seed in range(5):
        found = experiment(tiny, items, seed=seed, groups=groups)
        _, testing = halve_groups(np.arange(10), seed)
        held = [number for number, group in enumerate(groups) if int(group) in testing]
        assert found.held_out_before == pytest.approx(found.before[held].mean())
        at = found.summary.selected
        assert found.summary.held_out.effect == pytest.approx(found.values[held][:, at[0], at[1]].mean(), abs=1e-6)


def test_the_answer_of_the_endpoint(tiny):
    found = experiment(tiny, TINY_ITEMS)
    answer = endpoint([one.row for one in TINY_ITEMS], model=tiny.name)
    assert answer == json.loads(json.dumps(answer, allow_nan=False))
    np.testing.assert_allclose(answer["effects"], found.values.mean(0), atol=1e-5)
    effects = np.array(answer["effects"])
    assert {end for name in ("low", "high") for row in answer[name] for end in row} == {None}, "five groups have no interval"
    assert (answer["groups"], answer["held_out_groups"]) == (5, 3)
    assert answer["items"] == len(TINY_ITEMS)
    assert answer["random"] == pytest.approx(effects.mean(), abs=1e-6)
    layer, head = answer["selected"]
    assert (layer - 1, head - 1) == found.summary.selected
    assert answer["held_out"]["items"] == 3
    provenance = answer["provenance"]
    assert provenance["weights"] == weights_hash(tiny.checkpoint)
    assert (provenance["how"], provenance["seed"], provenance["dtype"]) == ("zero", 0, "float32")
    assert provenance["torch"] == torch.__version__


REFUSED = {
    "no list": "items",
    "no items": [],
    "one item": [["the [MASK]", "", "man", "dog"]],
    "too many": [["the [MASK]", "", "man", "dog"]] * 100_000,
    "three cells": [["the [MASK]", "man", "dog"]] * 2,
    "a number": [[5, "", "man", "dog"]] * 2,
    "no blank": [["the [MASK]", "", "man", "dog"], ["the dog", "", "man", "dog"]],
    "an unknown word": [["the [MASK]", "", "man", "dog"], ["the [MASK]", "", "man", "automobiles"]],
    "one word twice": [["the [MASK]", "", "man", "dog"], ["the [MASK]", "", "man", "Man"]],
}


@pytest.mark.parametrize("rows", REFUSED.values(), ids=REFUSED)
def test_items_that_cannot_be_asked(tiny, rows, refusal):
    said = refusal(InputError, lambda: experiment(tiny, rows))
    if isinstance(rows, list) and len(rows) == 2 and len(rows[1]) == 4 and isinstance(rows[1][0], str):
        assert "tem 2" in said


@pytest.mark.nightly
@pytest.mark.parametrize("asked", [("heads_off", "zero"), ("path", "query"), ("erase", "words"), ("direction", "words")])
def test_a_model_of_permuted_weights_finds_nothing(make_tiny, asked):
    """About one place in twenty is below 5%, and none after the correction; word and foil are drawn at random."""
    folder = make_tiny(hidden_size=32, num_hidden_layers=6, num_attention_heads=8, max_position_embeddings=32)
    model = explorer.load(str(folder))
    words = ["store", "dog", "man", "cat", "milk", "happy", "sad", "slow"]
    below, discoveries = [], 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = []
        for _ in range(40):
            drawn = rng.choice(words, 5, replace=False).tolist()
            pair = rng.permutation(["he", "it"]).tolist() if "words" in asked else drawn[3:]
            rows.append([f"the *{drawn[0]}/{drawn[3]}* {drawn[1]} [MASK] {drawn[2]}", "", *pair])
        summary = experiment(model, rows, *asked, seed=seed).summary
        below.append((summary.p < 0.05).mean())
        discoveries += int((summary.q < 0.05).any())
    assert np.mean(below) <= 0.1
    assert discoveries <= 1


def test_items_are_read_from_lines_and_files(tmp_path, refusal):
    items = items_from_lines("the [MASK] | man | dog\n\nthe [MASK]\tit was\tcat\t\n")
    assert items == (Item("the [MASK]", "", "man", "dog"), Item("the [MASK]", "it was", "cat", ""))
    refusal(InputError, lambda: items_from_lines("the [MASK] | man | dog\nthe [MASK]"))
    named, plain = tmp_path / "named.csv", tmp_path / "plain.csv"
    named.write_text("foil,word,text,text_b\ndog,man,the [MASK],\ncat,dog,a [MASK],it\n", "utf-8")
    plain.write_text("the [MASK];man;dog\na [MASK];dog;cat\n", "utf-8")
    assert read_items(named) == (items[0], Item("a [MASK]", "it", "dog", "cat"))
    assert read_items(plain) == (items[0], Item("a [MASK]", "", "dog", "cat"))
    named.write_text(" Text ,Target word,Foil word\nThe [MASK].,man,dog\nA [MASK].,dog,cat\n", "utf-8")
    assert "'Foil word'. Rename three of them text, word and foil" in refusal(InputError, lambda: read_items(named))
    assert ITEMS.most >= 20_000


@pytest.mark.parametrize("suite", at_night(TITLES, but=["agreement"]))
def test_what_is_shipped_is_what_is_computed(bundled, suite):
    there = find_shipped(bundled, suite, seed=3)
    assert there.provenance["seed"] == 3
    few = slice(None, None, 32)
    here = experiment(bundled, there.items[few])
    np.testing.assert_allclose(here.values, there.values[few], atol=1e-4)
    np.testing.assert_allclose(here.before, there.before[few], atol=1e-4)
    assert here.pieces == there.pieces[few]
    assert find_shipped(bundled, suite, how="mean") is None
