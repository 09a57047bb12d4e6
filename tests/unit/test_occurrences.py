"""A word wherever it occurs: its vectors by transformers' own pass, and the cosines between them."""

import numpy as np
import pytest

import explorer
from explorer.core.steps import finished
from explorer.corpus.compute.occurrences import occurrences_in_steps, vector_alone
from explorer.text.corpora import Corpus, built_in
from tests.corpora import read_corpus
from tests.families import write_family

pytestmark = pytest.mark.usefixtures("own_runs")


@pytest.fixture
def write(tmp_path):
    def write(*lines):
        (tmp_path / "own.txt").write_text("\n".join(lines), "utf-8")
        return read_corpus(tmp_path / "own.txt")

    return write


@pytest.fixture(scope="module")
def small():
    return Corpus("some", built_in().sentences[:40], built_in().licence)


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
    corpus = write("store", "unhappiness")
    for word in ("store", "unhappiness"):
        found = finished(occurrences_in_steps(model, corpus, word, 1))
        trace = model.trace(word)
        assert trace.kept > 3, "several pieces"
        wanted = trace.hidden_states[1][1:-1].mean(axis=0)
        np.testing.assert_allclose(found.at(1)[0], wanted, rtol=5e-3, atol=5e-3)
    assert found.cosines(1, 0).tolist() == pytest.approx([1.0])
