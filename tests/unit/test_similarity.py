import numpy as np
import pytest

from explorer.analysis.similarity import Nearest, cka_of_products, cosines
from explorer.hidden_states.endpoints import similarity, word_in_context
from explorer.hidden_states.word import within_and_between

RIVER, MONEY = "She sat on the bank of the river.", "He put the money in the bank."


def test_self_similarity_within_and_between_senses():
    occurrences = np.array([[[1, 0], [1, 0], [0, 1], [0, 1]]], dtype=np.float32)
    assert within_and_between(occurrences, [""] * 4)[0] == pytest.approx([1 / 3])
    within, between = within_and_between(occurrences, ["a", "a", "b", "b"])
    assert (within[0], between[0]) == (1, 0)
    assert round(Nearest.of(occurrences[0]).agree(["a", "a", "b", "b"])) == 4
    assert round(Nearest.of(occurrences[0]).agree(["a", "b", "a", "b"])) == 0
    equal = np.ones((6, 2), np.float32)
    equal[::2] *= 1 + 1e-6  # what rounding leaves of equal vectors
    assert round(Nearest.of(equal).agree(["a", "a", "a", "b", "b", "b"])) == round(6 * 2 / 5), "by chance, in whatever order"
    assert np.isnan(within_and_between(occurrences, [""] * 4)[1]).all()


def test_the_matrix_is_that_of_transformers_own_vectors(bundled, eager):
    _, reference = eager(bundled, RIVER, MONEY)
    for layer in (0, 3, -1):
        found = similarity(RIVER, MONEY, layer)
        vectors = reference.hidden_states[layer][0].numpy().astype(np.float64)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(found["matrix"], unit @ unit.T, atol=1e-4)
        assert len(found["tokens"]) == len(vectors)


def test_a_word_is_compared_apart_from_the_other_text(bundled, eager):
    found = word_in_context(RIVER, MONEY, "Bank")["layers"]
    expected = []
    for text, position in ((RIVER, 5), (MONEY, 7)):  # [CLS] she sat on the bank; [CLS] he put the money in the bank
        expected.append([state[0, position].numpy() for state in eager(bundled, text)[1].hidden_states])
    np.testing.assert_allclose(found, cosines(*np.array(expected)), atol=1e-4)
    np.testing.assert_allclose(word_in_context(RIVER, RIVER, "bank")["layers"], 1, atol=1e-5)


def test_a_word_of_several_pieces_is_their_mean_and_its_first_occurrence_counts(bundled, eager):
    word = "ornithologist"
    texts = (f"The {word} met an {word}.", f"An old {word} slept.")
    expected = []
    for text in texts:
        encoded, reference = eager(bundled, text)
        words = encoded.word_ids()
        first = words.index(next(w for w in words if w is not None and words.count(w) > 1))
        pieces = [i for i, w in enumerate(words) if w == words[first]]
        assert len(pieces) > 1
        expected.append([state[0, pieces].mean(0).numpy() for state in reference.hidden_states])
    np.testing.assert_allclose(word_in_context(*texts, word)["layers"], cosines(*np.array(expected)), atol=1e-4)


def test_how_alike_two_layers_are_depends_on_no_length_of_their_vectors():
    here, there = np.random.default_rng(0).normal(size=(2, 40, 8))

    def cka(one, other):
        sides = [side - side.mean(0) for side in (one, other)]
        products = [np.square(a.T @ b).sum() for a, b in ((sides[0], sides[1]), (sides[0], sides[0]), (sides[1], sides[1]))]
        squares = [np.square(side).sum(-1)[None] for side in sides]
        return cka_of_products(np.array([[products[0]]]), [np.array([one]) for one in products[1:]], squares)[0, 0]

    assert cka(here, here) == pytest.approx(1)
    assert cka(here, here + there) == pytest.approx(cka(here / 100, (here + there) / 30))
