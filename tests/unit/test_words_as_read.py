"""A word is found where the model reads it the same (cafe in a café here), in every search, and so are all its occurrences."""

import numpy as np
import pytest
import transformers

import explorer
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.corpus.compute.neurons import corpus_neurons_in_steps, firing_on
from explorer.corpus.compute.occurrences import occurrences_in_steps, vector_alone
from explorer.hidden_states.endpoints import word_in_context
from explorer.hidden_states.word import ABOVE, OneWord, comparable_words, contexts_of
from explorer.projection.map import Map
from explorer.projection.points import SENTENCES
from explorer.ui.subject import Subject
from tests.corpora import part_of_corpus, read_corpus
from tests.families import KINDS, write_family

CAFE = "a caf\u00e9 here", "the CAFE\u0301 is old", "our cafe was sold"
SPELLED = "cafe", "caf\u00e9", "Cafe\u0301", "CAF\u00c9"


@pytest.fixture(scope="module")
def cased(tmp_path_factory):
    """A model that keeps accents: for it, café is another word than cafe."""
    folder = write_family(tmp_path_factory.mktemp("cased") / "model", "bert")
    tokenizer = transformers.BertTokenizer.from_pretrained(folder, strip_accents=False, do_lower_case=False)
    tokenizer.save_pretrained(folder)
    return explorer.load(folder)


@pytest.mark.parametrize("name", KINDS)
def test_a_letter_is_read_as_the_tokenizer_reads_it(name, tmp_path):
    model = explorer.load(write_family(tmp_path / "model", name))
    for letter in "éÉñçåßœÅžøİ中が€½ﬁ①１":
        read = model.as_read(letter)
        assert len(read) == 1
        assert model.tokenizer.tokenize(f"a{read}b") == model.tokenizer.tokenize(f"a{letter}b")


@pytest.mark.parametrize("word", SPELLED, ids=ascii)
def test_a_word_in_its_contexts_is_found_however_it_is_written(word, bundled):
    found = contexts_of(bundled, CAFE, ["", "", ""], word)
    assert found.texts == list(CAFE)
    for text, vectors in zip(CAFE, found.vectors.transpose(1, 0, 2), strict=True):
        trace = bundled.trace(text)
        place = trace.tokens.index("cafe")
        np.testing.assert_array_equal(vectors, trace.hidden_states[:, place])
    assert word_in_context(CAFE[0], CAFE[2], word)["layers"][-1] < 1
    view = OneWord.read({"source": ABOVE, "word": word}, bundled.capabilities)
    assert view.finding(Subject(bundled.name, *CAFE[:2])).text.count("“") == 1


def test_the_words_to_choose_from_are_those_that_the_model_reads(bundled, cased):
    assert comparable_words(bundled, CAFE) == ["cafe"]
    assert sorted(comparable_words(cased, CAFE[:1] * 2)) == ["a", "café", "here"]
    with pytest.raises(InputError, match="fewer than twice"):
        contexts_of(cased, CAFE[::2], ["", ""], "cafe")


@pytest.mark.parametrize("word", SPELLED, ids=ascii)
def test_searches_in_many_texts_find_it(word, bundled, write):
    given = Map.read({"source": SENTENCES, "sentences": "\n".join(CAFE), "search": word}, bundled.capabilities)
    assert "3 of 3 contain" in given.compute(Subject(bundled.name, "a", ""))["summary"]
    corpus = read_corpus(write("\n".join((*CAFE, "no such word")), "own.txt"))
    assert len(finished(occurrences_in_steps(bundled, corpus, word, 4)).hits) == 3
    assert len(corpus.places(word, bundled.as_searched)) == 3
    neurons = finished(corpus_neurons_in_steps(bundled, corpus))
    assert firing_on(bundled, corpus, neurons, word, 3) == firing_on(bundled, corpus, neurons, "cafe", 3)


pytestmark = pytest.mark.usefixtures("own_runs")


@pytest.fixture(scope="module")
def small():
    return part_of_corpus(40)


def test_vectors_are_those_of_every_occurrence(bundled, eager, small):
    found = finished(occurrences_in_steps(bundled, small, " The ", 4))
    wanted = []
    for text in small.texts:
        states = eager(bundled, text)[1].hidden_states[4][0].numpy()
        wanted += [states[place] for place, token in enumerate(bundled.encode(text).tokens) if token == "the"]
    assert found.total == len(found.hits) == len(wanted)
    np.testing.assert_allclose(found.at(4), np.stack(wanted), atol=5e-3)  # kept in half precision
    for place, one in enumerate(found.hits):
        assert one.before + one.word + one.after == one.sentence.text
        assert bundled.encode(one.sentence.text).tokens[one.position] == "the"
        np.testing.assert_allclose(vector_alone(bundled, found, place, 4), wanted[place], atol=1e-5)
    unit = np.stack(wanted) / np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(found.cosines(4, 2), unit @ unit[2], atol=2e-3)


@pytest.mark.parametrize("family", ["roberta", "albert"])
def test_a_word_of_several_pieces_is_their_mean(family, tmp_path, write):
    model = explorer.load(write_family(tmp_path / family, family))
    corpus = read_corpus(write("store\nunhappiness", "own.txt"))
    for word in ("store", "unhappiness"):
        found = finished(occurrences_in_steps(model, corpus, word, 1))
        trace = model.trace(word)
        assert trace.kept > 3, "several pieces"
        wanted = trace.hidden_states[1][1:-1].mean(axis=0)
        np.testing.assert_allclose(found.at(1)[0], wanted, rtol=5e-3, atol=5e-3)
    assert found.cosines(1, 0).tolist() == pytest.approx([1.0])
