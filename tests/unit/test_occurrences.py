"""A word wherever it occurs: its vectors by transformers' own pass, what is near them, and senses that fall apart."""

import numpy as np
import pytest

import explorer
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.corpus.compute import reading
from explorer.corpus.compute.occurrences import contextual_neighbors, occurrences_in_steps, static_neighbors, vector_alone
from explorer.text.corpora import Corpus, built_in, read_corpus
from tests.families import write_family


@pytest.fixture(autouse=True)
def own_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("BERT_EXPLORER_RUNS", str(tmp_path / "runs"))
    reading._opened.clear()


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
    assert found.total == len(found.occurrences) == len(wanted)
    np.testing.assert_allclose(found.at(4), np.stack(wanted), atol=5e-3)  # kept in half precision
    for place, one in enumerate(found.occurrences):
        assert one.before + one.written + one.after == one.sentence.text
        assert bundled.encode(one.sentence.text).tokens[one.position] == "the"
        np.testing.assert_allclose(vector_alone(bundled, found, place, 4), wanted[place], atol=1e-5)


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


def test_neighbours_in_context_are_those_of_brute_force(bundled, small):
    found = finished(occurrences_in_steps(bundled, small, "the", 6))
    own, best = found.at(6)[2], {}
    for row, word in enumerate(found.read.tokens.word):
        if word >= 0:
            vector = found.read.at(6)[row].astype(np.float32)
            cosine = float(vector @ own / np.linalg.norm(vector) / np.linalg.norm(own))
            name = small.sentences[found.read.tokens.sentence[row]].words[word].lower()
            best[name] = max(best.get(name, -1.0), cosine)
    del best["the"]
    wanted = sorted(best.values(), reverse=True)[:6]
    near = contextual_neighbors(small, found, 6, 2, 6)
    np.testing.assert_allclose([cosine for _, cosine in near], wanted, atol=1e-4)
    assert all(best[word] == pytest.approx(cosine, abs=1e-4) for word, cosine in near)


def test_static_neighbours_are_rows_of_the_word_table(bundled, refusal):
    id = bundled.tokenizer.convert_tokens_to_ids("school")
    table = bundled.word_table / np.linalg.norm(bundled.word_table, axis=1, keepdims=True)
    alike = table @ table[id]
    alike[id] = -1
    near = static_neighbors(bundled, "school", 5)
    np.testing.assert_allclose([cosine for _, cosine in near], np.sort(alike)[::-1][:5], atol=1e-5)
    refusal(InputError, lambda: static_neighbors(bundled, "antidisestablishmentarian", 5))
