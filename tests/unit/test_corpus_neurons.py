"""Neurons: activations and promoted words as slow, written-out code finds them with transformers' own modules."""

import numpy as np
import pytest
import torch

import explorer
from explorer.core.steps import finished
from explorer.corpus.compute import neurons
from explorer.corpus.compute.neurons import DRIVING, NOBODY, drivers, driving_pieces, find_telling_in_steps, firing_on
from explorer.corpus.endpoints import neuron as endpoint
from explorer.techniques import neurons as technique
from explorer.text.corpora import Corpus, built_in
from tests.at_night import at_night
from tests.corpora import corpus_neurons, read_corpus
from tests.families import write_family
from tests.hooks import hooked
from tests.rounding import assert_same_but_for_rounding

pytestmark = pytest.mark.usefixtures("runs_of_module")

TEXTS = ["The man went to the store.", "She was happy, and he was sad!", "the dog's cat", "a slow dog bought milk"]
READ_BY = dict.fromkeys(("bert", "roberta"), "output.dense")
READ_BY |= {"distilbert": "ffn.lin2", "albert": "ffn_output", "modernbert": "mlp.Wo"}


@pytest.fixture
def few(write):
    return read_corpus(write("\n".join(TEXTS), "few.txt"))


@pytest.fixture(scope="module")
def small():
    return Corpus("some", built_in().sentences[:30], built_in().licence)


def by_hand(model, texts, path):
    """{(text, position): [layers, neurons]} what transformers' own whole model gives to W₂, without [CLS] and [SEP]."""
    found, made = {}, []
    watched = [module.get_submodule(path) for module in dict.fromkeys(layer.module for layer in model.layers)]
    with hooked(watched, lambda _, read: made.append(read), before=True):
        for text in texts:
            made.clear()
            encoding = model.encode(text)
            model.own_hidden(model.pad([(encoding.ids, encoding.segments)]))
            every = torch.stack([one.reshape(-1, one.shape[-1]) for one in made]).numpy()
            found |= {(text, position): every[:, position] for position in encoding.text_positions}
    return found


def assert_drivers(model, corpus, path):
    found, wanted = corpus_neurons(model, corpus), by_hand(model, corpus.texts, path)
    every = np.stack(list(wanted.values()))  # [tokens, layers, neurons]
    kept = min(len(every), found.activations.shape[-1])
    best = np.sort(every, axis=0)[::-1][:kept].transpose(1, 2, 0)
    assert_same_but_for_rounding(found.activations[..., :kept], best)
    assert (found.rows[..., kept:] == NOBODY).all()
    assert found.counted == len(every)
    assert_same_but_for_rounding(found.mean, every.mean(0))
    np.testing.assert_allclose(found.deviation, every.std(0), atol=1e-4)
    np.testing.assert_allclose(found.active, (every > 0).mean(0), atol=1e-3)
    for layer, neuron in ((0, 3), (model.capabilities.layers - 1, model.capabilities.neurons - 1)):
        driving = drivers(model, corpus, found, layer, neuron, 10).hits
        again = neurons.activations_of(model, driving, layer, neuron)
        shown = [one.score for one in driving]
        assert_same_but_for_rounding(again, shown)
        assert_same_but_for_rounding(shown, [wanted[one.sentence.text, one.position][layer, neuron] for one in driving])
        for driver in driving:
            assert model.encode(driver.sentence.text).tokens[driver.position] == driver.token


def test_the_strongest_tokens_are_those_of_every_activation(bundled, small):
    assert_drivers(bundled, small, READ_BY["bert"])


@pytest.mark.parametrize("family", at_night(["roberta", "distilbert", "albert", "modernbert"], but=["albert", "modernbert"]))
def test_other_families_too(family, tmp_path, few):
    model = explorer.load(write_family(tmp_path / family, family))
    assert_drivers(model, few, READ_BY[family])
    weights = technique.piece_weights(model, 1, [2, 5])
    for row, neuron in zip(weights, (2, 5), strict=True):
        column = model.layers[1].module.get_submodule(READ_BY[family]).weight[:, neuron].detach()
        norm = model.family.last_norm and model.layers[1].module.get_submodule(model.family.last_norm)
        ways = [norm(way) if norm else way for way in (column, -column)]
        with torch.no_grad():
            up, down = model.masked_lm(torch.stack(ways))  # which is compared with transformers in test_families
        assert_same_but_for_rounding(row, (up - down) / 2)
    assert_same_but_for_rounding(technique.piece_weights(model, 1, ids=[7, 9])[[2, 5]], weights[:, [7, 9]])


def test_promoted_words_are_those_of_the_models_own_head(bundled):
    layer, neuron = 4, 1089
    norm = bundled.module.bert.encoder.layer[layer].output
    column = norm.dense.weight[:, neuron].detach()
    with torch.no_grad():
        up, down = (bundled.module.cls.predictions(norm.LayerNorm(way)[None])[0] for way in (column, -column))
    weights = (up - down).numpy() / 2
    ids = bundled.ordinary_ids
    found = technique.find_promoted(bundled, layer, neuron, 10)
    best = ids[np.argsort(-weights[ids], kind="stable")]
    assert [piece for piece, _ in found.promotes] == bundled.pieces(best[:10].tolist())
    assert [piece for piece, _ in found.suppresses] == bundled.pieces(best[::-1][:10].tolist())
    np.testing.assert_allclose([weight for _, weight in found.promotes], weights[best[:10]], atol=1e-5)


def test_a_search_by_word_ranks_all_neurons(bundled):
    id = bundled.tokenizer.convert_tokens_to_ids("school")
    head, every = bundled.module.cls.predictions, np.empty((6, 1536))
    for layer, weights in zip(bundled.module.bert.encoder.layer, every, strict=True):  # of this piece only
        columns, norm = layer.output.dense.weight.detach().T, layer.output.LayerNorm
        with torch.no_grad():
            up, down = (head.transform(norm(way)) @ head.decoder.weight[id] for way in (columns, -columns))
        weights[:] = (up - down) / 2
    found = technique.find_promoting(bundled, id, 5)
    np.testing.assert_allclose([weight for _, _, weight in found], np.sort(every.ravel())[::-1][:5], atol=1e-4)
    for layer, neuron, weight in found:
        assert weight == pytest.approx(float(every[layer, neuron]), abs=1e-4)


@pytest.mark.parametrize("most", [neurons.READ, 2])
def test_a_word_is_found_by_what_it_drives_in_its_first_sentences(bundled, small, most, monkeypatch):
    monkeypatch.setattr(neurons, "READ", most)
    found, wanted = corpus_neurons(bundled, small), by_hand(bundled, small.texts, READ_BY["bert"])
    per_sentence: dict[str, list] = {}
    for (text, position), value in wanted.items():
        if bundled.encode(text).tokens[position] == "the":
            per_sentence.setdefault(text, []).append(value)
    assert len(per_sentence) > 2
    mean = np.mean([np.mean(values, axis=0) for values in list(per_sentence.values())[:most]], axis=0)
    deviations = (mean - found.mean) / np.maximum(found.deviation, 1e-6)
    (layer, neuron, most), *_ = firing_on(bundled, small, found, " The ", 3)
    assert most == pytest.approx(float(deviations.max()), rel=1e-3)
    assert (layer, neuron) == np.unravel_index(deviations.argmax(), deviations.shape)


def test_the_telling_neuron_shares_most_words_with_what_it_promotes(bundled, small):
    found, layer = corpus_neurons(bundled, small), 4
    best, median = finished(find_telling_in_steps(bundled, found, layer))

    def shared(neuron):
        promoted = {piece for piece, _ in technique.find_promoted(bundled, layer, neuron, 100).promotes}
        rows = found.rows[layer, neuron, :DRIVING]
        return len(promoted & {piece for piece in bundled.pieces(found.tokens.ids[rows].tolist()) if piece.strip("#").isalpha()})

    assert shared(best) >= 3
    assert 0 <= median < shared(best)
    assert shared(best) >= max(map(shared, range(0, 1536, 64))) - 1  # specials may be among the hundred
    assert len(driving_pieces(bundled, found, layer, best)) <= DRIVING


def test_the_endpoint_answers_as_the_guide_says(bundled, small, monkeypatch):
    monkeypatch.setattr("explorer.corpus.endpoints.built_in", lambda: small)
    answer = endpoint(5, 1090, limit=4)
    assert list(answer) == ["hits", "promotes", "suppresses"]
    assert [list(hit) for hit in answer["hits"]] == [["sentence", "token", "position", "activation"]] * 4
    found = corpus_neurons(bundled, small)
    assert [hit["activation"] for hit in answer["hits"]] == found.activations[4, 1089, :4].tolist()
    promoted = technique.find_promoted(bundled, 4, 1089, 4)
    assert [(one["token"], one["weight"]) for one in answer["promotes"]] == list(promoted.promotes)
    assert [one["token"] for one in answer["suppresses"]] == [piece for piece, _ in promoted.suppresses]
