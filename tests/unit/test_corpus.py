"""Corpora: the one that ships with the app, those that people bring, and what a model gives of them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import explorer
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, CORPUS_SENTENCES, CORPUS_STATES_MEGABYTES
from explorer.corpus.compute import reading
from explorer.corpus.compute.reading import ADDED, tokens_of
from explorer.corpus.source import corpus_of
from explorer.text import corpora, tagged
from explorer.text.corpora import built_in, read_sources
from explorer.text.sentences import split_sentences
from explorer.text.tagged import ROOT
from tests.corpora import corpus_states, read_corpus
from tests.families import write_family

WORDS = [
    ("1", "She", "PRON", "2", "nsubj"),
    ("2", "bought", "VERB", "0", "root"),
    ("3", "milk", "NOUN", "2", "obj"),
    ("4", ".", "PUNCT", "2", "punct"),
]
CONLLU = "\n".join(
    "\t".join((number, word, "_", tag, "_", "_", head, relation, "_", "_")) for number, word, tag, head, relation in WORDS
)
TEXTS = ["The man went to the store.", "She was happy, and he was sad!", "the dog's cat", "a slow dog bought milk for $ 5"]
MANY = [f"the {'very ' * (i % 4)}slow dog {i} bought milk" for i in range(40)]


@pytest.fixture
def write(write):
    return lambda text, name="file.txt": write(text, name)


@pytest.fixture
def many(write):
    return read_corpus(write("\n".join(MANY)))


def test_the_built_in_corpus_has_words_tags_and_syntax():
    corpus = built_in()
    assert 700 <= len(corpus.sentences) <= 1_100
    assert len(set(corpus.texts)) == len(corpus.texts)
    assert {"NOUN", "VERB", "ADP"} < set(corpus.tags)
    assert {"nsubj", "obj", "det"} < set(corpus.relations)
    for one in corpus.sentences:
        assert len(one.words) == len(one.starts) == len(one.tags) == len(one.heads) == len(one.relations) > 3
        assert all(one.text[start:].startswith(word) for start, word in zip(one.starts, one.words, strict=True))
        assert one.heads.count(ROOT) == 1
        assert one.relations[one.heads.index(ROOT)] == "root"
        assert all(head == ROOT or (0 <= head < len(one.words) and head != place) for place, head in enumerate(one.heads))


def test_a_text_is_split_into_sentences_and_repeated_ones_are_left_out(write):
    corpus = read_corpus(
        write("The man went. \u201cReally?\u201d he said.\r\n\n  She \u200bwas   happy! \nThe man went.\n\u200b\n")
    )
    assert corpus.texts == ["The man went.", "“Really?” he said.", "She was happy!"]
    assert corpus.sentences[2].words == ("She", "was", "happy", "!")
    assert corpus.sentences[2].starts == (0, 4, 8, 13)
    told = "3 sentences with 15 words, split at line ends and final marks. 1 sentence came again and was left out."
    assert corpus.about == told
    assert (corpus.tags, corpus.relations, corpus.sentences[0].heads, corpus.licence) == ([], [], (), "")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Dr. A. Lee paid $3.50, e.g. in cash! Then she left\u2026 (Why?) No one knew", 4),
        ("\u8fd9\u662f\u4e00\u53e5\u3002\u53c8\u4e00\u53e5\uff01", 2),
        ("a dog runs\na cat sits\na man walks", 3),
        ("It was the best of times, it was the worst of times,\nit was the age of wisdom. Yes.", 2),
        ("A headline of some length about the prices of houses\nAnother headline that is as long, about the weather", 2),
    ],
)
def test_sentences_end_at_final_marks_and_lines_unless_these_are_wrapped(text, wanted):
    assert len(split_sentences(text)) == wanted


def test_files_are_read_together_if_they_go_together(write, refusal):
    texts = [write("The man went. He ran.", "a.txt"), write("She slept.", "b.txt")]
    table = read_sources(texts)
    assert table.rows == (("The man went.", "a.txt"), ("He ran.", "a.txt"), ("She slept.", "b.txt"))
    assert (corpus_of(table).name, len(corpus_of(table).sentences)) == ("2 files", 3)
    trees = read_sources([write(CONLLU, "a.conllu"), write(CONLLU.replace("milk", "tea"), "b.conllu")])
    assert [one.words[2] for one in corpus_of(trees).sentences] == ["milk", "tea"]
    tables = [write(f"id,text,other\n{number},some words,more {number}\n", f"{number}.csv") for number in (1, 2)]
    assert corpus_of(read_sources(tables), "other").texts == ["more 1", "more 2"]
    tweets = write("\n".join(f"{n % 2},Mon Apr 06 22:19:{n} PDT 2009,It is {n} now." for n in range(10, 14)), "e.csv")
    assert corpus_of(read_sources([tweets])).texts[0] == "It is 10 now."
    for wrong in ([texts[0], tables[0]], [texts[0], write(CONLLU, "c.conllu")], [tables[0], write("a,b\n1,x\n", "d.csv")]):
        assert "do not go together" in refusal(InputError, lambda wrong=wrong: read_sources(wrong))


def test_conllu_brings_tags_and_syntax(write):
    ranges = (
        "# text = She bought milk.\n" + CONLLU.replace("\n3", "\n3-4\tmilk.\t_\t_\t_\t_\t_\t_\t_\t_\n3") + "\n4.1" + "\t_" * 9
    )
    for name in ("file.conllu", "file.txt"):
        (one,) = read_corpus(write(f"{ranges}\n\n", name)).sentences
        assert (one.text, one.starts) == ("She bought milk.", (0, 4, 11, 15))
        assert one.words == ("She", "bought", "milk", ".")
        assert one.tags == ("PRON", "VERB", "NOUN", "PUNCT")
        assert one.heads == (1, ROOT, 1, 1)
        assert one.relations == ("nsubj", "root", "obj", "punct")
    untold = read_corpus(write(CONLLU)).sentences[0]
    assert untold.text == "She bought milk ."


def test_a_corpus_has_the_words_of_a_file_in_conll_whose_tags_may_be_of_any_kind(write):
    corpus = read_corpus(write("-DOCSTART- O\n\nAda B-PER\nsings O\n\nBob B-PER\nruns O\n", "a.conll"))
    assert (corpus.texts, corpus.tags) == (["Ada sings", "Bob runs"], [])
    assert corpus.sentences[1].starts == (0, 4)


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (CONLLU.replace("milk\t_", "milk"), "Line 3 has 9 of 10 columns"),
        (CONLLU.replace("NOUN\t_\t_\t2", "NOUN\t_\t_\t9"), "Line 3 has no head"),
        (CONLLU.replace("NOUN\t_\t_\t2", "NOUN\t_\t_\t_"), "Line 3 has no head"),
        (CONLLU.replace("milk", "\u200b"), "Line 3 has no word"),
        (f"{CONLLU}\n\n1\tword only", "Line 6 has 2 of 10 columns"),
        (CONLLU.replace("milk", "m" * 30_000), "The sentence from line 1 has 30,013 characters"),
    ],
)
def test_broken_conllu_names_the_line(write, broken, line, refusal):
    assert line in refusal(InputError, lambda: read_corpus(write(broken)))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", 'text\n"the cat sat"\n"' + "the cat, " * 9_000 + '"\n', "Row 2 has"),
        ("a.txt", "the cat\n" + "the cat. " * 9_000, "Line 2 has"),
        ("a.jsonl", '{"text": "the cat"}\n{"text": "' + "the cat. " * 9_000 + '"}', "Row 2 has"),
        ("a.conllu", "".join(f"{number}\tcat" + "\t_" * 8 + "\n" for number in range(1, 9_000)), "from line 1 has"),
    ],
)
def test_what_is_too_long_is_refused_before_it_is_cut_into_words(write, name, text, told, monkeypatch, refusal):
    read: list[int] = []
    for module, part in ((corpora, "visible"), (corpora, "split_words"), (corpora, "find_starts"), (tagged, "find_starts")):
        real = getattr(module, part)
        monkeypatch.setattr(module, part, lambda text, *more, real=real: read.append(len(text)) or real(text, *more))
    assert told in refusal(InputError, lambda: read_corpus(write(text, name)))
    assert max(read, default=0) <= CHARACTERS.most // 3 + 1


@pytest.mark.parametrize("text", ["\n".join(f"man {i}" for i in range(4)), "\n\n".join([CONLLU] * 4)])
def test_there_may_not_be_too_many(write, text, monkeypatch, refusal):
    monkeypatch.setattr(CORPUS_SENTENCES, "most", 3)
    assert "4 sentences" in refusal(InputError, lambda: read_corpus(write(text)))


def test_every_token_knows_its_sentence_word_and_place(bundled):
    corpus = built_in()
    tokens = tokens_of(bundled, corpus)
    for index in range(0, len(corpus.sentences), 50):
        sentence, encoding = corpus.sentences[index], bundled.encode(corpus.texts[index])
        mine = slice(tokens.starts[index], tokens.starts[index + 1])
        assert tuple(tokens.ids[mine]) == encoding.ids
        assert (tokens.sentence[mine] == index).all()
        assert tokens.position[mine].tolist() == list(range(encoding.kept))
        for (start, end), sequence, word in zip(encoding.offsets, encoding.sequences, tokens.word[mine], strict=True):
            if sequence < 0:
                assert word == ADDED
            else:  # it begins within its word, or ends there where words are written as one
                begin = sentence.starts[word]
                assert begin <= start < begin + len(sentence.words[word])
                assert end > start


@pytest.mark.parametrize("family", ["roberta", "modernbert"])
def test_hidden_states_are_those_of_each_sentence_alone(family, tmp_path, write, own_runs):
    model = explorer.load(write_family(tmp_path / family, family))
    corpus = read_corpus(write("\n".join(TEXTS)))
    found = corpus_states(model, corpus, [1])
    assert found.layers == tuple(range(model.capabilities.layers + 1)), "all of them, where there is room"
    for index, text in enumerate(TEXTS):
        trace, mine = model.trace(text), slice(*found.tokens.starts[index : index + 2])
        assert tuple(found.tokens.ids[mine]) == trace.ids
        scale = max(1, np.abs(trace.hidden_states).max())
        for layer in found.layers:
            np.testing.assert_allclose(found.at(layer)[mine], trace.hidden_states[layer], atol=2e-3 * scale)
        words = [
            corpus.sentences[index].words[word]
            for (start, end), word in zip(trace.encoding.offsets, found.tokens.word[mine], strict=True)
            if word != ADDED and text[start:end].strip()
        ]
        pieces = [text[start:end] for start, end in trace.encoding.offsets if text[start:end].strip()]
        assert all(piece in word for piece, word in zip(pieces, words, strict=True))


def test_some_sentences_padded_are_what_a_layer_reads(tiny, many, own_runs):
    found = corpus_states(tiny, many, [0])
    rows = np.array([3, 0, 17])
    hidden, real = found.pad(1, rows)
    weights = tiny.layers[1].heads(hidden, real).weights()
    for place, row in enumerate(rows):
        trace = tiny.trace(MANY[row])
        assert int(real[place].sum()) == trace.kept
        mine = weights[place, :, : trace.kept, : trace.kept].detach()
        torch.testing.assert_close(mine, torch.from_numpy(trace.attention(1)), atol=1e-2, rtol=0)
    assert sorted(np.concatenate(found.tokens.batches())) == list(range(len(MANY)))


def test_where_not_all_fit_the_asked_ones_are_read(tiny, many, own_runs, monkeypatch, refusal):
    size = len(tokens_of(tiny, many)) * 16 * 2  # bytes of one hidden state
    limit = SimpleNamespace(bytes=2 * size, tell=CORPUS_STATES_MEGABYTES.tell)
    monkeypatch.setattr(reading, "CORPUS_STATES_MEGABYTES", limit)
    assert corpus_states(tiny, many, [2]).layers == (2,)
    assert corpus_states(tiny, many, [2, 0]).layers == (0, 2)
    assert "MB on the disk" in refusal(InputError, lambda: corpus_states(tiny, many, [0, 1, 2]))


def test_numbers_too_large_for_half_precision_are_written_in_single(tiny, many, own_runs, monkeypatch):
    assert corpus_states(tiny, many, [1]).states.dtype == np.float16
    monkeypatch.setattr(reading, "LARGE", 0.1)
    reading._dtypes.clear()
    found = corpus_states(tiny, many, [1])
    reading._dtypes.clear()
    assert found.states.dtype == np.float32
    np.testing.assert_allclose(found.states[:, : found.tokens.starts[1]], tiny.trace(MANY[0]).hidden_states, atol=1e-5)
