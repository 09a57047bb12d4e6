"""A head that tags words: what it reads is what transformers reads, and it beats what needs no BERT."""

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.analysis.evaluation import by_sentence, entity_scores
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute import layers, store
from explorer.finetune.compute.export import write_standard
from explorer.finetune.compute.from_table import built_in
from explorer.finetune.compute.predictor import as_kind
from explorer.finetune.compute.texts import Classifier
from explorer.finetune.compute.words import Tagger
from explorer.finetune.endpoints import tag, train_tokens
from explorer.text.tagged import Sentence
from explorer.training.probe import control_targets, draw_rows
from explorer.training.tagging import TaggedExamples, sentence_folds
from tests.learning import learn_run

pytestmark = pytest.mark.usefixtures("own_runs")


PLAIN = [[["ada", "sings", "loudly", "!"], ["N", "V", "R", "P"]], [["bob", "runs", "."], ["N", "V", "P"]]] * 3 + [
    [["ada", "runs", "."], ["N", "V", "P"]], [["unbelievable", "bob", "sings"], ["A", "N", "V"]]]  # fmt: skip
NAMES = [[words, ["B-X" if tag == "N" else "O" for tag in tags]] for words, tags in PLAIN]


def trained(model, examples, **settings):
    return learn_run(model, examples, **{"epochs": 3, "batch_size": 32, **settings})


def tagged(rows):
    return TaggedExamples(tuple(Sentence(tuple(words), tuple(tags)) for words, tags in rows))


@pytest.mark.parametrize("pieces", ["first", "mean"])
@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_vectors_of_words_are_those_of_transformers(tiny_folder, pieces, layer):
    model = explorer.load(tiny_folder)
    sentences = [["Unbelievable", "!"], ["a", "don't", "b"], ["she", "was", "here"]]
    tagger = Tagger((), None, model.name, layer, pieces)
    found = tagger.vectors(finished(tagger.read(model, sentences, tagger)))
    wanted = []
    for words in sentences:
        encoded = model.tokenizer(words, is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            hidden = model.encoder(**encoded, output_hidden_states=True).hidden_states[layer][0]
        for word in range(len(words)):
            mine = [token for token, one in enumerate(encoded.word_ids(0)) if one == word]
            wanted.append(hidden[mine[0]] if pieces == "first" else hidden[mine].mean(0))
    np.testing.assert_allclose(found, torch.stack(wanted), atol=1e-5)


def test_trained_layers_that_learnt_nothing_read_the_same(tiny_folder):
    model, examples = explorer.load(tiny_folder), tagged(PLAIN)
    for pieces in ("first", "mean"):
        run = trained(model, examples, layers_trained=2, pooling=pieces, learning_rate=1e-6)
        words = [one.words for one in examples.sentences]
        with torch.no_grad():
            for weights, own in zip(run.predictor.top.layers, model.layers, strict=True):
                weights.load_state_dict(own.module.state_dict())
        frozen = Tagger(run.predictor.labels, run.predictor.head, model.name, 2, pieces)
        for one, other in zip(run.predictor.tag(model, words), frozen.tag(model, words), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_the_names_of_our_own_are_learnt(bundled):
    examples = built_in("names")
    run = trained(bundled, examples, layer=4, epochs=10)
    assert run.score >= 0.92
    assert run.score > max(value for name, value in run.baselines.items() if "F1" not in name) + 0.05
    scores = run.held_out.entities(examples.classes)
    assert scores[0].f1 >= 0.75 > run.baselines["word memory, F1 of names"]
    assert [one.type for one in scores] == ["", "LOC", "ORG", "PER", "TIME"]


def test_equal_sentences_stay_on_one_side_and_the_split_is_of_sentences():
    examples = tagged(PLAIN)
    for seed in range(5):
        parts = examples.split(seed, 0.3)
        assert sorted([*parts.train, *parts.held_out]) == list(range(len(examples)))
        texts = [{" ".join(examples.sentences[row].words) for row in rows} for rows in parts]
        assert not texts[0] & texts[1]
    with pytest.raises(InputError, match="are identical"):
        tagged(PLAIN[:1] * 3).split(0, 0.2)


def test_names_are_counted_as_seqeval_does():
    right, said = [["B-P", "I-P", "O", "B-L"]], [["B-P", "I-P", "B-L", "I-L"]]
    together, place, person = entity_scores(right, said)
    assert (together.precision, together.recall, together.support) == (0.5, 0.5, 2)
    assert (place.type, place.f1, person.type, person.f1) == ("L", 0, "P", 1)
    assert entity_scores([["NOUN"]], [["VERB"]]) == []
    assert by_sentence(np.array([3, 3, 5]), "abc") == [["a", "b"], ["c"]]


def test_a_head_is_trained_and_asked_by_programs(tiny_folder):
    found = train_tokens(NAMES, model=str(tiny_folder))
    assert found["held_out_accuracy"] == found["history"][-1]["held_out_accuracy"]
    answer = tag(["Ada doesn't sing.", ["doesn't", "sing."]], found["head"])
    assert [len(row) for row in answer["tags"]] == [len(row) for row in answer["words"]]
    assert all(0.5 <= share <= 1 for row in answer["probabilities"] for share in row)
    assert train_tokens(PLAIN, model=str(tiny_folder), pieces="mean", layers_trained=1, epochs=1)["entity_f1"] is None
    with pytest.raises(InputError, match="too long, for the model reads 510 of its 600 words"):
        tag([["a"] * 600], found["head"])
    with pytest.raises(InputError, match="Word 2 of text 1 has nothing"):
        tag([["ada", "\ufffd"]], found["head"])
    with pytest.raises(InputError, match="tags words"):
        as_kind(store.fetch(found["head"]).predictor, Classifier)


@pytest.mark.parametrize(
    ("examples", "settings", "said"),
    [
        ("x", {}, "list of"),
        ([["a"]], {}, "Example 1 is not a pair"),
        ([[["a"], ["X", "Y"]]], {}, "1 words and 2 tags"),
        ([[["a"], ["X"]], [["b"], ["X"]]], {}, "All words have the tag 'X'"),
        ([[["a", "b"], ["X", "Y"]]], {}, "two sentences"),
        ([[["a", "\0"], ["X", "Y"]]], {}, "word 2 of example 1 is empty|Word 2 of example 1 is empty"),
        ([[["a", "b"], ["X", 1.5]]], {}, "has no tag"),
        (PLAIN, {"pieces": "last"}, "first, mean"),
        (PLAIN, {"layer": 1, "layers_trained": 2}, "no more than 1"),
        ([[["a"], [f"tag {i}"]] for i in range(200)], {}, "200 different labels"),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(tiny_folder, examples, settings, said):
    with pytest.raises(InputError, match=said):
        train_tokens(examples, model=str(tiny_folder), **settings)


def test_words_beyond_what_the_model_takes_are_left_out(tiny_folder):
    model = explorer.load(tiny_folder)
    long = Sentence(("a",) * 600, ("X",) * 599 + ("Y",))
    run = trained(model, TaggedExamples((long, Sentence(("b", "c"), ("X", "Y")))), held_out=0.5, seed=1)
    assert len(run.held_out.words) in (2, 510)
    (shares,) = run.predictor.tag(model, [long.words])
    assert shares.shape == (510, 2)


@pytest.mark.parametrize("layers_trained", [0, 1])
def test_words_keep_their_sentence_where_not_all_fit_into_memory(tiny_folder, monkeypatch, layers_trained):
    model = explorer.load(tiny_folder)
    tagger = trained(model, tagged(PLAIN), layers_trained=layers_trained, epochs=1).predictor
    whole, wanted = tagger.tag(model, sentences := [["ada", "sings", "loudly", "!"], ["a"]])
    monkeypatch.setattr(layers, "CUTS", (4,))
    first, second = tagger.tag(model, sentences)
    assert 0 < len(first) < len(whole) == 4
    np.testing.assert_allclose(second, wanted, atol=1e-5)


@pytest.mark.parametrize("layer", [1, 2])
def test_a_pipeline_of_transformers_opens_the_tagger_in_one_line(tiny_folder, tmp_path, layer):
    model, examples = explorer.load(tiny_folder), tagged(NAMES)
    run = trained(model, examples, layer=layer, layers_trained=1)
    write_standard(run.predictor, tmp_path)
    words = ["ada", "sings", "loudly", "."]
    (wanted,) = run.predictor.tag(model, [words])
    said = transformers.pipeline("token-classification", str(tmp_path), aggregation_strategy="none", ignore_labels=[])(
        " ".join(words)
    )
    first = {one["start"]: one for one in reversed(said)}
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
    assert [first[start]["entity"] for start in starts] == [run.predictor.labels[best] for best in wanted.argmax(-1)]
    np.testing.assert_allclose([first[start]["score"] for start in starts], wanted.max(-1), atol=1e-5)


def test_the_control_task_gives_each_word_one_tag_by_lot():
    examples = built_in("parts_of_speech")
    names = [word.casefold() for word in examples.words]
    tags, other = (control_targets(names, examples.targets, seed) for seed in (0, 1))
    seen = {}
    for word, one in zip(examples.words, tags, strict=True):
        assert seen.setdefault(word.casefold(), one) == one
    assert (tags == control_targets(names, examples.targets, 0)).all()
    assert (tags != other).any()
    lengths = [len(sentence.words) for sentence in examples.sentences]
    assert sum(lengths[row] for row in draw_rows(lengths, 500)) <= 500


def test_each_sentence_is_held_out_once_and_equal_ones_together():
    words = [["the", "man"], ["The", "man"], ["a", "dog"], ["milk"], ["a", "store", "and", "milk"]]
    examples = TaggedExamples(tuple(Sentence(tuple(one), ("X",) * len(one)) for one in words))
    folds = sentence_folds(examples, 5)
    assert len(folds) == 4
    assert sorted(row for fold in folds for row in fold.held_out) == list(range(5))
    assert any({0, 1} <= set(map(int, fold.held_out)) for fold in folds)
    assert all(not set(fold.train) & set(fold.held_out) for fold in folds)
