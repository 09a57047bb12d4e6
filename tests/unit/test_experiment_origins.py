"""Links cut, attribution and likelihood in many items: each number against transformers itself."""

import numpy as np
import pytest
import torch

from explorer.core.errors import InputError
from explorer.experiments.compute import observing
from explorer.experiments.compute.experiment import experiment
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.minimal_pairs import suite_items
from explorer.experiments.compute.observing import METHODS, PARTS
from explorer.experiments.compute.question import Axis
from tests.hooks import cut_weights, eager_bert

STEPS = 6  # of integrated gradients, by the app and by hand
ITEMS = (
    Item("the *man* went to the [MASK] .", "", "store", "dog"),
    Item("she bought the [MASK] *milk and* .", "it was *slow*", "man", "cat"),
    Item("it was the *sad* dog , [MASK] it went", "", "happy", "slow"),
)


def read(model, item):
    """What transformers reads, and the place of the blank."""
    inputs = model.tokenizer(*([item.text_a, item.text_b] if item.text_b else [item.text_a]), return_tensors="pt")
    return inputs, int((inputs["input_ids"][0] == model.mask_id).nonzero()[0])


def ids_of(model, item):
    """The ids of word and foil."""
    return model.tokenizer.convert_tokens_to_ids([item.word, item.foil])


def words_of(inputs, place, signs=False):
    """The tokens of each word of text but the blank; and, with `signs`, of punctuation."""
    words = {}
    for token, (word, sequence) in enumerate(zip(inputs.word_ids(), inputs.sequence_ids(), strict=True)):
        if word is not None and token != place and (signs or any(map(str.isalnum, inputs.tokens()[token]))):
            words.setdefault((sequence, word), []).append(token)
    return list(words.values())


def marks_of(item, inputs):
    """The tokens of each marked stretch, by transformers' own offsets."""
    return [
        sorted({inputs.char_to_token(0, at, mark.text) for at in range(mark.start, mark.end)} - {None}) for mark in item.marks
    ]


@pytest.mark.parametrize("how", ["forward", "backward"])
def test_cut_links_are_those_of_weights_at_zero(tiny, how):
    found, module = experiment(tiny, ITEMS, "cut", how), eager_bert(tiny)
    for row, item in enumerate(ITEMS):
        inputs, place = read(tiny, item)
        marks, (word, foil) = marks_of(item, inputs), ids_of(tiny, item)
        queries, keys = ([place], marks[0]) if len(marks) == 1 else marks
        queries, keys = (queries, keys) if how == "forward" else (keys, queries)

        @torch.no_grad()
        def difference(layer, head, queries, keys, inputs=inputs, place=place, word=word, foil=foil):
            cuts = [(layer, query, key, head) for query in queries for key in keys]
            with cut_weights(module, cuts):
                logits = module(**inputs).prediction_logits[0, place]
            return float(logits[word] - logits[foil])

        before = difference(0, 0, [], [])
        others = [other for other in words_of(inputs, place) if not set(other) & {at for mark in marks for at in mark}]
        nulls = {tuple(other): [] for other in others}
        for layer, head in np.ndindex(found.values.shape[1:]):
            assert found.values[row, layer, head] == pytest.approx(difference(layer, head, queries, keys) - before, abs=1e-4)
            for other, changes in nulls.items():
                instead = (queries, other) if how == "forward" else (other, keys)  # of the marked word
                changes.append(difference(layer, head, *instead) - before)
        assert any(np.allclose(found.nulls[row].ravel(), changes, atol=1e-4) for changes in nulls.values())
    assert max(np.abs(found.values).max(), np.abs(found.nulls).max()) > 0.002


def by_transformers(model, module, item, way, words):
    """The scores of words by each of METHODS, from transformers' own forward pass and automatic gradients."""
    inputs, place = read(model, item)
    word, foil = ids_of(model, item)
    ids, tokenizer = inputs["input_ids"][0], model.tokenizer
    table = module.get_input_embeddings().weight.detach()
    special = torch.tensor([id in tokenizer.all_special_ids for id in ids.tolist()])

    def target(vectors):
        logits = module(inputs_embeds=vectors[None], token_type_ids=inputs["token_type_ids"]).prediction_logits[0, place]
        return logits[word] - logits[foil] if way == "foil" else logits[word]

    def gradient(vectors):
        vectors = vectors.clone().requires_grad_()
        return torch.autograd.grad(target(vectors), vectors)[0]

    def integrated(filler):
        start = torch.where(special[:, None], table[ids], filler)
        points, weights = np.polynomial.legendre.leggauss(STEPS)
        along = sum(w / 2 * gradient(start + (p + 1) / 2 * (table[ids] - start)) for p, w in zip(points, weights, strict=True))
        return ((table[ids] - start) * along).sum(-1)

    fillers = table[tokenizer.pad_token_id], table[tokenizer.mask_token_id], table.mean(0)
    pieces = [(table[ids] * gradient(table[ids])).sum(-1), *map(integrated, fillers)]
    hidden = [torch.where(torch.isin(torch.arange(len(ids)), torch.tensor(word)), model.mask_id, ids) for word in words]
    with torch.no_grad():
        occlusion = [float(target(table[ids]) - target(table[without])) for without in hidden]
    return [[float(one[word].sum()) for word in words] for one in pieces] + [occlusion]


@pytest.mark.parametrize("way", ["foil", "word"])
def test_whether_the_marked_word_is_first_by_transformers_own_gradients(tiny, way, monkeypatch):
    monkeypatch.setattr(observing, "STEPS", STEPS)
    found, module = experiment(tiny, ITEMS, "attribution", way), eager_bert(tiny)
    for row, item in enumerate(ITEMS):
        inputs, place = read(tiny, item)
        cue, *_ = marks_of(item, inputs)
        taken = {at for mark in marks_of(item, inputs) for at in mark}
        words = [cue, *(word for word in words_of(inputs, place) if taken.isdisjoint(word))]
        for method, scores in enumerate(by_transformers(tiny, module, item, way, words)):
            assert found.values[row, method] == (np.argmax(scores) == 0), list(METHODS)[method]
        np.testing.assert_allclose(found.nulls[row], 1 / len(words), atol=1e-6)


def test_with_a_foil_the_word_that_decides_agreement_comes_first(bundled, monkeypatch):
    """In most items by occlusion (75% of all 64), for the word alone in few (19% of all)."""
    monkeypatch.setattr(observing, "METHODS", {"occlusion": METHODS["occlusion"]})
    monkeypatch.setattr(observing.FindsCue, "places", (Axis("method", ("occlusion",)),))
    items = suite_items("agreement")[::6]
    with_foil, alone = (experiment(bundled, items, "attribution", way).summary.effects[-1] for way in ("foil", "word"))
    assert with_foil > 0.5 > alone


@pytest.mark.parametrize("way", ["word_l2r", "pseudo_likelihood"])
def test_likelihoods_are_sums_over_transformers_own_passes(tiny, refusal, way):
    found, module = experiment(tiny, ITEMS, "likelihood", way), eager_bert(tiny)
    for row, item in enumerate(ITEMS):
        inputs, place = read(tiny, item)
        sums = []
        for filler in ids_of(tiny, item):
            logs, ids = [], inputs["input_ids"].clone()
            ids[0, place] = filler
            words = [[place], *words_of(inputs, place, signs=True)]
            for position, later in [(token, word[at:]) for word in words for at, token in enumerate(word, start=1)]:
                hidden = ids.clone()
                hidden[0, [position, *(later if way == "word_l2r" else ())]] = tiny.mask_id
                with torch.no_grad():
                    logits = module(**{**inputs, "input_ids": hidden}).prediction_logits[0, position]
                logs.append(float(logits.log_softmax(-1)[ids[0, position]]))
            sums.append([logs[0], sum(logs[1:]), sum(logs)])
        np.testing.assert_allclose(found.values[row], np.subtract(*sums), atol=1e-4)
    assert found.axes[0].labels == PARTS.labels
    said = refusal(InputError, lambda: experiment(tiny, [["the [MASK] [MASK]", "", "man", "dog"]] * 2, "likelihood"))
    assert "second blank" in said
