"""Exact beside estimate, erased concepts, directions, paths: each number against hooks on transformers or a package."""

import numpy as np
import pytest
import scipy
import torch
from concept_erasure import LeaceEraser

import explorer
from explorer.analysis.resampling import halves
from explorer.core.errors import InputError
from explorer.experiments.compute import concepts, estimating
from explorer.experiments.compute.concepts import DOSES, RANDOM, Erases, Moves
from explorer.experiments.compute.experiment import experiment, question_of, read_items_as
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.question import Batch
from explorer.experiments.sentences import agreement
from explorer.techniques.leace import fit_erasers
from tests.hooks import eager_bert, every_dense, hooked, seen_in, with_head
from tests.unit.test_experiment_questions import BOTH, by_transformers, gradients

GENDERED = [
    Item(f"the {noun} was {end} and [MASK] went {'.' * dots}", "", *words)
    for noun, words in (
        ("dog", ("man", "woman")),
        ("cat", ("woman", "man")),
        ("store", ("man", "woman")),
        ("milk", ("woman", "man")),
    )
    for dots, end in enumerate(("sad", "slow", "happy"), 1)
]


def test_the_strongest_places_are_patched_beside_the_estimate(tiny, monkeypatch):
    monkeypatch.setattr(estimating, "STRONGEST", 3)
    found, exact = experiment(tiny, BOTH, "attribution_patching", "heads"), experiment(tiny, BOTH, "patching", "heads")
    measured = ~np.isnan(found.also["exact"])
    strongest = np.argsort(-np.abs(found.values.sum(0)), axis=None)[:3]
    assert set(np.flatnonzero(measured[0])) == set(strongest), "the same places in every item"
    np.testing.assert_allclose(found.also["exact"][measured], exact.values[measured], atol=1e-4)
    places = ~np.isnan(found.also_means["exact"])
    np.testing.assert_allclose(found.also_means["exact"][places], exact.summary.effects[places], atol=1e-4)
    rank = scipy.stats.spearmanr(found.summary.effects[places], exact.summary.effects[places]).statistic
    assert f"{rank:.2f} (Spearman)" in agreement(found)


def test_erasers_are_those_of_the_package_and_leave_a_probe_nothing():
    torch.manual_seed(0)
    for rows, width, classes in ((80, 12, 2), (20, 30, 2), (60, 16, 3)):
        labels = torch.arange(rows) % classes
        vectors = torch.randn(rows, width) @ torch.randn(width, width) + labels[:, None] * torch.randn(width)
        own, random = fit_erasers(vectors, labels, RANDOM)
        theirs = LeaceEraser.fit(vectors.double(), torch.nn.functional.one_hot(labels).double())
        np.testing.assert_allclose(own(vectors), theirs(vectors.double()), atol=1e-4)
        erased = own(vectors)
        means = torch.stack([erased[labels == label].mean(0) for label in range(classes)])
        np.testing.assert_allclose(means - means.mean(0), 0, atol=1e-3), "no linear probe does better than a constant"
        sizes = torch.linalg.svdvals(vectors - random(vectors)[0])
        assert sizes[classes - 2] > 1e3 * sizes[classes - 1], "of the same rank"


@pytest.fixture
def gendered(tiny, monkeypatch):
    """The tiny vocabulary has few words of any concept."""
    monkeypatch.setitem(concepts.CONCEPTS, "gender", ("man", "cat"))
    return [Item(one.text_a, "", *({"woman": "cat"}.get(word, word) for word in (one.word, one.foil))) for one in GENDERED]


def other_half(found):
    """For each item, the items of the other half of the groups, which here are the items themselves."""
    first, second = halves(len(found.items), found.provenance["seed"])
    return [second if row in first else first for row in range(len(found.items))]


def states_of(model, found):
    """transformers' own hidden states of each item [states, tokens, hidden], its inputs, and the place that is read."""
    module, rows = eager_bert(model), []
    for item in found.items:
        inputs = model.tokenizer(item.text_a, return_tensors="pt")
        with torch.no_grad():
            states = torch.stack(module(**inputs, output_hidden_states=True).hidden_states)[:, 0]
        rows.append((states, inputs, int((inputs["input_ids"][0] == model.mask_id).nonzero()[0])))
    return module, rows


def changed_at(module, state, change, inputs):
    """The logits [tokens, vocabulary] when `change` of a hidden state is in its place."""
    watched = module.bert.embeddings if state == 0 else module.bert.encoder.layer[state - 1]
    with torch.no_grad(), hooked([watched], lambda _, hidden: change(hidden)):
        return module(**inputs).prediction_logits[0]


def differences(model, found, row, logits, place):
    word, foil = model.tokenizer.convert_tokens_to_ids(list(found.pieces[row]))
    return float(logits[place, word] - logits[place, foil])


def test_what_erasure_does_is_that_of_the_package_in_hooks(tiny, gendered):
    found = experiment(tiny, gendered, "erase", "gender")
    module, rows = states_of(tiny, found)
    labels = torch.tensor([int(item.word == "cat") for item in found.items])
    others = other_half(found)
    for row, state in ((0, 0), (4, 1), (7, 2)):
        fitted, (_, inputs, place) = others[row].tolist(), rows[row]
        for role in range(2):
            parts = [rows[at][0][state][[rows[at][2]] if role == 0 else slice(None)] for at in fitted]
            z = torch.nn.functional.one_hot(labels[fitted].repeat_interleave(torch.tensor([len(part) for part in parts])))
            eraser = LeaceEraser.fit(torch.cat(parts).double(), z.double())

            def erase(hidden, role=role, eraser=eraser, place=place):
                hidden = hidden.clone()
                where = slice(place, place + 1) if role == 0 else slice(None)
                hidden[..., where, :] = eraser(hidden[..., where, :].double()).float()
                return hidden

            after = differences(tiny, found, row, changed_at(module, state, erase, inputs), place)
            assert found.before[row] + found.values[row, state, role] == pytest.approx(after, abs=2e-4)
    assert set(np.unique(found.also["probe before"])) <= {0, 1}
    assert found.also["KL"].min() >= -1e-5
    majority = np.mean(
        [max(np.bincount(labels[rest])) == np.bincount(labels[rest], minlength=2)[labels[row]] for row, rest in enumerate(others)]
    )
    assert found.also["probe after"][:, :, 0].mean() <= max(majority, 0.75)
    np.testing.assert_allclose(found.values[:, -1, 0] != 0, True), "the last state is read"


def test_a_direction_is_the_difference_of_means_of_the_other_half(tiny, gendered):
    found = experiment(tiny, gendered, "direction", "gender", seed=2)
    module, rows = states_of(tiny, found)
    np.testing.assert_allclose(found.values[:, :, 0], 0, atol=1e-5), "dose 0 is the identity"
    np.testing.assert_array_equal(found.values[:, :, 0], found.nulls[:, :, 0])
    for row, state in ((1, 1), (5, 1), (10, 2)):
        _, inputs, place = rows[row]
        rest = other_half(found)[row].tolist()
        word, foil = (
            torch.stack([rows[at][0][state][rows[at][2]] for at in rest if found.items[at].word == named]).mean(0)
            for named in (found.items[row].word, found.items[row].foil)
        )
        way = foil - word
        for column, dose in enumerate([*DOSES, None]):

            def move(hidden, dose=dose, place=place, way=way, foil=foil):
                hidden = hidden.clone()
                vector = hidden[..., place, :]
                amount = dose if dose is not None else ((foil - vector) @ way / (way @ way))[..., None]
                hidden[..., place, :] = vector + amount * way
                return hidden

            after = differences(tiny, found, row, changed_at(module, state, move, inputs), place)
            assert found.before[row] + found.values[row, state, column] == pytest.approx(after, abs=2e-4)
    assert found.summary.selected[1] == DOSES.index(1)
    assert (found.summary.p >= found.also["shuffled p"][0] - 1e-6).all()
    assert found.summary.held_out.p >= found.also["shuffled p"][0][found.summary.selected] - 1e-6


def test_the_slopes_that_shuffled_classes_are_judged_by_are_those_of_transformers(tiny, gendered):
    asked = question_of(tiny, "direction", "gender")
    read, _ = read_items_as(asked, gendered[:3])
    module = eager_bert(tiny)
    for item in read:
        (slopes,) = asked._gradients(Batch(asked, [item]))
        inputs = tiny.tokenizer(item.item.text_a, return_tensors="pt")
        watched = [module.bert.embeddings, *module.bert.encoder.layer]
        theirs = gradients(module, inputs, watched, False, item.place, (item.word, item.foil))
        np.testing.assert_allclose(slopes, torch.stack([slope[item.place] for _, slope in theirs]), atol=1e-4)


def test_a_concept_needs_items_of_both_classes_in_both_halves(tiny, gendered, refusal):
    same = [one for one in gendered if one.word == "man"]
    assert "Each half of the groups" in refusal(InputError, lambda: experiment(tiny, same, "direction", "gender"))
    assert "gender tells apart" in refusal(InputError, lambda: experiment(tiny, BOTH[2:4] * 2, "erase", "tense")).replace(
        "tense", "gender"
    )
    found = experiment(tiny, [*gendered, Item("he went to [MASK] .", "", "milk", "dog")], "erase", "gender")
    assert "two words that gender tells apart" in found.left_out[len(gendered) + 1]
    assert list(Erases.ways) == list(Moves.ways) == ["number", "gender", "tense", "words"]


@pytest.fixture(scope="module")
def three_layers(make_tiny):
    """With a layer between that sends nothing of its own."""
    return explorer.load(str(make_tiny(num_hidden_layers=3)))


@pytest.mark.parametrize("how", ["query", "key", "value"])
def test_a_path_is_that_of_two_passes_with_hooks(three_layers, how):
    found, heads = experiment(three_layers, BOTH, "path", how), three_layers.capabilities.heads
    for row, (module, own, changed, _, difference) in enumerate(by_transformers(three_layers, found)):
        dense, parts = every_dense(module), [getattr(layer.attention.self, how) for layer in module.bert.encoder.layer]
        mine, theirs = (seen_in(dense, lambda one=one, run=difference: run(one), before=True) for one in (own, changed))
        for sender in np.ndindex(len(dense), heads):

            def freeze(layer, _, sender=sender, mine=mine, theirs=theirs):
                return with_head(theirs[layer], sender[1], heads, mine[layer]) if layer == sender[0] else theirs[layer]

            with hooked(dense, freeze, before=True):  # the first pass: every head but the sender keeps its output
                received = seen_in(parts, lambda changed=changed, run=difference: run(changed))

            def receive(layer, out, sender=sender, received=received):
                return received[layer] if layer > sender[0] else out

            with hooked(parts, receive):  # the second: later heads read what the first led to
                assert found.before[row] + found.values[row][sender] == pytest.approx(difference(changed), abs=1e-4)
    np.testing.assert_allclose(found.values[:, -1], 0, atol=1e-5), "nothing reads the last layer"
    assert np.abs(found.values[:, 0]).max() > 0
