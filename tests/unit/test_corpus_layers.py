"""Hidden states over a corpus: CKA, as slow, written-out code finds them with the whole model."""

import json

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.corpus.compute import reading, word_states
from explorer.corpus.compute.layer_similarity import cka_in_steps
from explorer.corpus.compute.word_states import word_states_in_steps, words_alone, words_of_both
from tests.at_night import at_night
from tests.corpora import read_corpus
from tests.families import write_family

TEXTS = ["The man went to the store.", "She was happy, and he was sad!", "the dog's cat", "a slow dog bought milk", "The Dog"]


@pytest.fixture(autouse=True)
def exact(monkeypatch, own_runs):
    """Hidden states are written as float32, and words taken in blocks that end within sentences."""
    monkeypatch.setattr(reading, "LARGE", 0.0)
    monkeypatch.setattr(word_states, "BLOCK", 3)
    yield
    reading._dtypes.clear()  # which a model has for all corpora


@pytest.fixture
def few(write):
    return read_corpus(write("\n".join(TEXTS), "few.txt"))


@pytest.fixture
def model(request, tmp_path, bundled):
    name = request.param
    return bundled if name == "bundled" else explorer.load(write_family(tmp_path / name, name))


def by_hand(model, corpus):
    """For each token of a word by the whole model of transformers: (sentence, word, [layers + 1, hidden] float64)."""
    kind = json.loads((model.checkpoint.folder / "config.json").read_text("utf-8"))["architectures"][0]
    module = getattr(transformers, kind).from_pretrained(model.checkpoint.folder, attn_implementation="eager").eval()
    found = []
    for index, sentence in enumerate(corpus.sentences):
        encoding = model.encode(sentence.text)
        encoded = model.tokenizer(sentence.text, return_tensors="pt")
        with torch.no_grad():
            states = torch.cat(module(**encoded, output_hidden_states=True).hidden_states).double().numpy()
        if model.checkpoint.family.model_type == "modernbert":  # whose last one transformers tells behind the last norm
            states[-1] = model.hidden_states_of([encoding])[0][-1]
        for position in encoding.text_positions:
            start, end = encoding.offsets[position]
            start = end if sentence.text[start:end].isspace() else start  # a blank belongs to the word after it
            word = sum(one <= start for one in sentence.starts) - 1
            found.append((index, word, states[:, position]))
    return found


def words_by_hand(tokens):
    """(sentence, word): [layers + 1, hidden] the mean of its pieces."""
    pieces = {}
    for index, word, vector in tokens:
        pieces.setdefault((index, word), []).append(vector)
    return {key: np.mean(vectors, axis=0) for key, vectors in pieces.items()}


def unbiased_cka(one, other):
    """Song et al. 2012, equation 5: a sum over all quadruples of different words, with its averages written out."""
    n = len(one)
    left, right = one @ one.T, other @ other.T

    def hsic(a, b):
        pairs = sum(a[i, j] * b[i, j] for i in range(n) for j in range(n) if i != j)
        every = sum(a[i, j] for i in range(n) for j in range(n) if i != j)
        others = sum(b[i, j] for i in range(n) for j in range(n) if i != j)
        middle = sum(
            sum(a[i, j] for j in range(n) if i != j) * sum(b[i, q] for q in range(n) if i != q) for i in range(n)
        )  # fmt: skip
        return (pairs + every * others / ((n - 1) * (n - 2)) - 2 * middle / (n - 2)) / (n * (n - 3))

    return hsic(left, right) / np.sqrt(hsic(left, left) * hsic(right, right))


FAMILIES = pytest.mark.parametrize(
    "model", at_night(["bert", "roberta", "albert", "modernbert"], but=["modernbert"]), indirect=True
)


@FAMILIES
def test_a_word_is_the_mean_of_its_pieces(model, few):
    words, wanted = finished(word_states_in_steps(model, few)), words_by_hand(by_hand(model, few))
    assert list(zip(words.sentence.tolist(), words.word.tolist(), strict=True)) == list(wanted)
    every = np.stack(list(wanted.values()), axis=1)  # [layers + 1, words, hidden]
    for layer in words.layers:
        np.testing.assert_allclose(words.at(layer), every[layer], rtol=1e-5, atol=1e-5 * np.abs(every[layer]).max())
        np.testing.assert_allclose(words_alone(model, few, words, layer), every[layer], rtol=1e-4, atol=1e-4)
    some = words.only(np.array([5, 1]))
    np.testing.assert_allclose(some.at(1), every[1][[5, 1]], rtol=1e-5, atol=1e-5)


@FAMILIES
def test_cka_is_that_of_all_pairs_of_words(model, few, tiny):
    words, wanted = finished(word_states_in_steps(model, few)), words_by_hand(by_hand(model, few))
    every = np.stack(list(wanted.values()), axis=1)
    found = finished(cka_in_steps(words, words))
    slow = [[unbiased_cka(one, other) for other in every] for one in every]
    np.testing.assert_allclose(found, slow, atol=1e-5)
    there = words_by_hand(by_hand(tiny, few))
    here, other = words_of_both(words, finished(word_states_in_steps(tiny, few)))
    shared = [key for key in wanted if key in there]
    assert len(here) == len(other) == len(shared)
    every, others = (np.stack([side[key] for key in shared], axis=1) for side in (wanted, there))
    slow = [[unbiased_cka(one, another) for another in others] for one in every]
    np.testing.assert_allclose(finished(cka_in_steps(here, other)), slow, atol=1e-5)


def test_too_few_words(tiny, few):
    words = finished(word_states_in_steps(tiny, few))
    with pytest.raises(InputError, match="4 words or more"):
        finished(cka_in_steps(some := words.only(np.arange(3)), some))
