"""Search by meaning: the same hits as slow, written-out code finds with transformers alone."""

import numpy as np
import pytest
import torch

from explorer.corpus.compute.search import BEGIN, END, SPECIAL, Query, nearest_rows
from explorer.corpus.endpoints import search as endpoint
from tests.corpora import part_of_corpus, search

pytestmark = pytest.mark.usefixtures("runs_of_module")

INPUT = "the happy cat bought a dog ."


def by_hand(model, eager, texts, token, layer):
    """(cosine, text, position) of every token but [CLS] and [SEP], by transformers' own hidden states, the nearest first."""
    wanted = eager(model, INPUT)[1].hidden_states[layer][0, token]
    found = []
    for text in texts:
        states = eager(model, text)[1].hidden_states[layer][0]
        for position in range(1, len(states) - 1):
            cosine = torch.dot(states[position], wanted) / states[position].norm() / wanted.norm()
            found.append((float(cosine), text, position))
    return sorted(found, key=lambda one: -one[0])


@pytest.mark.parametrize("layer", [0, 6])
def test_the_hits_are_those_of_brute_force(bundled, eager, layer):
    corpus = part_of_corpus(15)
    found = search(Query(bundled.trace(INPUT), 2, layer), corpus, 20)
    wanted = by_hand(bundled, eager, corpus.texts, 2, layer)
    assert found.searched == len(wanted)
    np.testing.assert_allclose([hit.score for hit in found.hits], [cosine for cosine, _, _ in wanted[:20]], atol=2e-3)
    known = {(text, position): cosine for cosine, text, position in wanted}
    for hit in found.hits:
        assert hit.score == pytest.approx(known[hit.sentence.text, hit.position], abs=2e-3)


def test_what_a_head_hands_on_is_compared_by_hand_too(bundled, eager):
    corpus, layer, head, size = part_of_corpus(12), 2, 7, 32

    def handed_on(text):
        """[tokens, head_size] by transformers' own weights and values."""
        output = eager(bundled, text)[1]
        module = bundled.layers[layer].module.attention.self
        with torch.no_grad():
            values = module.value(output.hidden_states[layer][0])[:, head * size : (head + 1) * size]
        return output.attentions[layer][0, head] @ values, output.attentions[layer][0, head]

    wanted, found = handed_on(INPUT)[0][3], []
    for text in corpus.texts:
        context, weights = handed_on(text)
        for position in range(1, len(context) - 1):
            cosine = float(torch.cosine_similarity(context[position], wanted, dim=0))
            found.append((cosine, text, position, int(weights[position].argmax())))
    found.sort(key=lambda one: -one[0])
    hits = search(Query(bundled.trace(INPUT), 3, layer, head), corpus, 10).hits
    np.testing.assert_allclose([hit.score for hit in hits], [one[0] for one in found[:10]], atol=5e-3)
    known = {(text, position): looked for _, text, position, looked in found}
    for hit in hits:
        encoding, looked = bundled.encode(hit.sentence.text), known[hit.sentence.text, hit.position]
        if encoding.sequences[looked] < 0:
            assert (hit.target, hit.target_tag, hit.offset) == (encoding.tokens[looked], SPECIAL, None)
        else:
            start, end = encoding.offsets[looked]
            assert hit.sentence.text[start:end].lower() in hit.target


def test_a_hit_tells_of_its_word_and_those_beside_it(bundled):
    corpus = part_of_corpus(200)
    found = search(Query(bundled.trace(INPUT), 1, 4), corpus, 30)
    for hit in found.hits:
        place = next(at for at, start in enumerate(hit.sentence.starts) if start == len(hit.before))
        assert hit.before + hit.word + hit.after == hit.sentence.text
        assert (hit.word, hit.tag, hit.relation) == tuple(
            row[place] for row in (hit.sentence.words, hit.sentence.tags, hit.sentence.relations)
        )
        words = [BEGIN, *(word.lower() for word in hit.sentence.words), END]
        assert (hit.previous, hit.next) == (words[place], words[place + 2])
    assert found.counts("tag")["DET"] > 20
    assert sum(found.counts("next").values()) == 30
    assert list(found.counts("tag").values()) == sorted(found.counts("tag").values(), reverse=True)


def test_specials_are_found_only_when_one_is_searched_for(bundled):
    corpus = part_of_corpus(40)
    trace = bundled.trace(INPUT)
    assert {hit.tag for hit in search(Query(trace, 0, 3), corpus, 10).hits} == {SPECIAL}
    words = search(Query(trace, 1, 0), corpus, 200)
    assert not [hit for hit in words.hits if hit.tag == SPECIAL]
    last = next(hit for hit in search(Query(trace, trace.kept - 1, 6), corpus, 40).hits if hit.tag == SPECIAL)
    assert (last.next, last.token) == (END, "[SEP]")


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("size", [3, 64])
def test_the_nearest_are_those_of_all_vectors(dtype, size):
    """Also where all vectors are nearly the same."""
    random = np.random.default_rng(0)
    for spread in (1.0, 0.02, 0.0):
        vectors = (1 + spread * random.standard_normal((3_000, size))).astype(dtype)
        vector = (1 + spread * random.standard_normal(size)).astype(np.float32)
        rows, cosines = nearest_rows(vectors, vector, 40)
        wanted = vectors.astype(np.float32) @ vector / np.linalg.norm(vectors.astype(np.float32), axis=1) / np.linalg.norm(vector)
        np.testing.assert_allclose(cosines, np.sort(wanted)[::-1][:40], atol=1e-6)
        np.testing.assert_allclose(wanted[rows], cosines, atol=1e-6)
    allowed = np.zeros(3_000, dtype=bool)
    assert len(nearest_rows(vectors, vector, 5, allowed)[0]) == 0
    allowed[[7, 9]] = True
    assert sorted(nearest_rows(vectors, vector, 5, allowed)[0]) == [7, 9]


def test_the_endpoint_answers_as_the_guide_says(bundled, monkeypatch):
    monkeypatch.setattr("explorer.corpus.endpoints.built_in", lambda: part_of_corpus(40))
    answer = endpoint(INPUT, 2, limit=5, layer=3)
    assert list(answer) == ["hits", "summary"]
    assert list(answer["summary"]) == ["tag", "token", "next"]
    assert len(answer["hits"]) == 5
    assert all(list(hit) == ["sentence", "token", "position", "cosine", "tag", "relation"] for hit in answer["hits"])
    found = search(Query(bundled.trace(INPUT), 2, 3), part_of_corpus(40), 5)
    assert [hit["cosine"] for hit in answer["hits"]] == [hit.score for hit in found.hits]
    assert sum(answer["summary"]["token"].values()) == 5
