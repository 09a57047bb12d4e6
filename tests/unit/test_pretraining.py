"""The pre-training recipe on a tiny random BERT and a made-up corpus."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertForPreTraining, PreTrainedTokenizerFast

from explorer.core.errors import InputError, ModelError
from explorer.pretraining import __main__ as command
from explorer.pretraining import sampling
from explorer.pretraining.average import average
from explorer.pretraining.batches import Vocabulary, collate
from explorer.pretraining.corpus import Corpus, load_corpus, load_file, read_documents
from explorer.pretraining.evaluate import evaluate
from explorer.pretraining.losses import predict
from explorer.pretraining.sampling import IS_NEXT, NOT_NEXT
from explorer.pretraining.saving import checkpoints, export
from explorer.pretraining.settings import Settings
from explorer.pretraining.stream import BatchStream, Mixture
from explorer.pretraining.teacher import Teacher, similarities
from explorer.pretraining.training import Trainer
from explorer.text.masking import IGNORED

WORDS = [f"w{i}" for i in range(60)]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@pytest.fixture(scope="module")
def tokenizer():
    vocabulary = {token: i for i, token in enumerate([*SPECIALS, "[unused0]", *WORDS])}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer, backend.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    names = zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], SPECIALS, strict=True)
    return PreTrainedTokenizerFast(tokenizer_object=backend, **dict(names))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """A file of 30 documents; document d uses two words only, so that what belongs together can be learnt."""
    rng = np.random.default_rng(0)
    documents = []
    for d in range(30):
        words = [WORDS[2 * d], WORDS[2 * d + 1]]
        lines = [" ".join(rng.choice(words, size=rng.integers(4, 9))) for _ in range(rng.integers(2, 9))]
        documents.append("\n".join(lines))
    path = tmp_path_factory.mktemp("corpus") / "part-000.txt"
    path.write_text("\n\n".join(documents) + "\n")
    return path


@pytest.fixture(scope="module")
def corpus(text, tokenizer) -> Corpus:
    return load_file(text, tokenizer)


@pytest.fixture(scope="module")
def vocabulary(tokenizer):
    return Vocabulary.of(tokenizer)


def tiny_bert(seed: int = 0, positions: int = 64) -> BertForPreTraining:
    torch.manual_seed(seed)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return BertForPreTraining(BertConfig(vocab_size=66, max_position_embeddings=positions, **sizes, **off))


def stream(corpus, vocabulary, seed: int = 1) -> BatchStream:
    mixture = Mixture(pieces=256, length=32, long_length=64, short_length=16)
    return BatchStream([(1.0, corpus)], vocabulary, mixture, seed)


def test_a_run_with_another_seed_reads_on_elsewhere(corpus, vocabulary):
    first, again, other = (stream(corpus, vocabulary, seed) for seed in (1, 1, 2))
    begun = [walk.starts(0, 8, walk.sources[0].pair_starts) for walk in (first, again, other)]
    assert begun[0] == begun[1]
    assert len(set(begun[0]) & set(begun[2])) < 8


def documents_of(corpus: Corpus, ids) -> set[int]:
    """The documents that pieces come from: each has two words of its own, from id 6 on."""
    return {(int(i) - 6) // 2 for i in ids}


def contains(long, short) -> bool:
    return any((long[i : i + len(short)] == short).all() for i in range(len(long) - len(short) + 1))


def test_corpus_keeps_documents_and_sentences(text, corpus):
    documents = list(read_documents(text))
    assert len(corpus.document_starts) - 1 == len(documents) == 30
    assert corpus.sentences == sum(map(len, documents))
    assert len(corpus.pieces) == sum(len(s.split()) for d in documents for s in d)
    first, last = corpus.document_of(corpus.sentences - 1)
    assert last - first == len(documents[-1])


def test_cached_corpus_is_the_same_and_a_repeated_file_is_read_again(text, corpus, tokenizer, tmp_path):
    load_file(text, tokenizer, tmp_path)
    again = load_file(text, tokenizer, tmp_path)
    assert (again.pieces == corpus.pieces).all()
    assert len(list(tmp_path.iterdir())) == 1
    twice = load_corpus(text.parent, tokenizer, tmp_path, {"part": 2})
    assert len(twice.document_starts) - 1 == 60
    assert (twice.text(*twice.document_of(corpus.sentences)) == corpus.text(*corpus.document_of(0))).all()


def test_an_empty_folder_is_refused(tmp_path, tokenizer):
    with pytest.raises(InputError, match=r"no \.txt"):
        load_corpus(tmp_path, tokenizer)


@pytest.mark.parametrize("sentences", [None, 2])
def test_pairs_are_what_their_label_says(corpus, sentences):
    rng = np.random.default_rng(0)
    labels = []
    for n in range(600):
        start = n % corpus.sentences
        example = sampling.pair(corpus, start, 20, rng, sentences)
        labels.append(example.next_label)
        assert len(example.a) >= 1
        assert len(example.b) >= 1
        assert len(example.a) + len(example.b) <= 17
        home = corpus.text(*corpus.document_of(start))
        if example.next_label == IS_NEXT:
            assert contains(home, np.concatenate([example.a, example.b]))  # nothing between A and B
        else:
            assert example.next_label == NOT_NEXT
            assert contains(home, example.a)
            assert documents_of(corpus, example.a).isdisjoint(documents_of(corpus, example.b))
    assert 240 < labels.count(IS_NEXT) < 360  # a fair coin: five standard deviations


def test_fit_cuts_the_longer_one_away_from_the_seam():
    a, b = sampling.fit(np.arange(10), np.arange(100, 104), 8)
    assert a.tolist() == [6, 7, 8, 9]
    assert b.tolist() == [100, 101, 102, 103]
    a, b = sampling.fit(np.arange(3), np.arange(100, 120), 8)
    assert a.tolist() == [0, 1, 2]
    assert b.tolist() == [100, 101, 102, 103, 104]


def test_collate_sets_specials_segments_and_padding(vocabulary):
    long = sampling.Example(np.array([10, 11]), np.array([12]), IS_NEXT)
    short = sampling.Example(np.array([13]), np.array([14]), NOT_NEXT)
    batch = collate([long, short], vocabulary, np.random.default_rng(0))
    original = np.where(batch.labels == IGNORED, batch.input_ids, batch.labels)
    assert original.tolist() == [[2, 10, 11, 3, 12, 3], [2, 13, 3, 14, 3, 0]]
    assert batch.token_type_ids.tolist() == [[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]]
    assert batch.attention_mask.tolist() == [[1] * 6, [1] * 5 + [0]]
    assert batch.next_labels.tolist() == [0, 1]
    assert batch.pieces == 11


def test_batches_depend_on_seed_and_step_only_and_keep_their_bounds(corpus, vocabulary):
    one, two = stream(corpus, vocabulary), stream(corpus, vocabulary)
    two.batch(3)
    kinds = set()
    for step in range(60):
        batch, again = one.batch(step), two.batch(step)
        assert (batch.input_ids == again.input_ids).all()
        assert (batch.labels == again.labels).all()
        assert batch.input_ids.shape[1] <= 64
        has_b = batch.token_type_ids.any(axis=1)
        assert has_b.all() if batch.next_labels is not None else not has_b.any()
        kinds.add((batch.input_ids.shape[1] > 32, batch.next_labels is None))
    assert len(kinds) == 4  # pairs, single sentences, long pairs and long packs have all come up
    assert (one.batch(1).input_ids.shape != one.batch(2).input_ids.shape) or (
        one.batch(1).input_ids != one.batch(2).input_ids
    ).any()


def test_losses_equal_those_of_transformers(corpus, vocabulary):
    model = tiny_bert().eval()
    rng = np.random.default_rng(0)
    batch = collate([sampling.pair(corpus, s, 24, rng) for s in range(8)], vocabulary, rng)
    mlm, following = predict(model, batch).losses()
    theirs = model(
        input_ids=torch.from_numpy(batch.input_ids),
        attention_mask=torch.from_numpy(batch.attention_mask),
        token_type_ids=torch.from_numpy(batch.token_type_ids),
        labels=torch.from_numpy(batch.labels),
        next_sentence_label=torch.from_numpy(batch.next_labels),
    )
    assert (mlm + following).item() == pytest.approx(theirs.loss.item(), abs=1e-5)


def test_a_resumed_run_ends_with_the_same_weights(corpus, vocabulary, tmp_path):
    settings = Settings(steps=12, peak_rate=1e-3, warmup=3, first_mask_rate=0.3)
    whole, first_leg, second_leg = tiny_bert(), tiny_bert(), tiny_bert(seed=5)
    Trainer(whole, stream(corpus, vocabulary), settings, tmp_path / "whole").run()
    Trainer(first_leg, stream(corpus, vocabulary), settings, tmp_path / "legs").run(max_steps=5)
    resumed = Trainer(second_leg, stream(corpus, vocabulary), settings, tmp_path / "legs")
    assert resumed.progress.step == 5
    resumed.run()
    for (name, a), (_, b) in zip(whole.named_parameters(), second_leg.named_parameters(), strict=True):
        assert torch.equal(a, b), name


def test_an_unfinished_checkpoint_is_not_resumed_and_a_foreign_one_is_refused(corpus, vocabulary, tmp_path):
    (tmp_path / "unfinished-00000009").mkdir()
    settings = Settings(steps=4, warmup=1)
    Trainer(tiny_bert(), stream(corpus, vocabulary), settings, tmp_path).run(max_steps=2)
    assert [p.name for p in checkpoints(tmp_path)] == ["checkpoint-00000002"]
    other = BertForPreTraining(BertConfig(vocab_size=66, hidden_size=24, num_hidden_layers=1, num_attention_heads=2))
    with pytest.raises(ModelError, match="another model"):
        Trainer(other, stream(corpus, vocabulary), settings, tmp_path)


def test_training_lowers_the_loss_and_writes_a_log(corpus, vocabulary, tmp_path):
    trainer = Trainer(
        tiny_bert(), stream(corpus, vocabulary), Settings(steps=150, peak_rate=3e-3, warmup=10, bf16=False), tmp_path
    )
    trainer.run()
    lines = list(csv.DictReader((tmp_path / "log.csv").open()))
    assert [int(line["step"]) for line in lines] == [50, 100, 150]
    assert float(lines[-1]["mlm_loss"]) < float(lines[0]["mlm_loss"]) - 0.5
    assert json.loads((checkpoints(tmp_path)[-1] / "progress.json").read_text())["step"] == 150


def test_similarities_are_dot_products_of_centred_means_without_padding():
    rng = np.random.default_rng(0)
    states, mask = rng.normal(size=(3, 5, 4)), np.array([[1] * 5, [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])
    means = np.stack([row[: kept.sum()].mean(axis=0) for row, kept in zip(states, mask, strict=True)])
    means -= means.mean(axis=0)
    found = similarities(torch.from_numpy(states).float(), torch.from_numpy(mask))
    assert found.numpy() == pytest.approx(means @ means.T, abs=1e-5)


def test_a_teacher_judges_sentences_only_and_itself_perfect_in_any_turned_and_stretched_space(corpus, vocabulary, tmp_path):
    rng, pupil = np.random.default_rng(0), tiny_bert().eval()
    pupil.bert.save_pretrained(tmp_path)
    teacher = Teacher(tmp_path, pupil.device)
    masked = collate([sampling.single(corpus, s, 24) for s in range(8)], vocabulary, rng, rate=0.5)
    unmasked = replace(masked, input_ids=np.where(masked.labels == IGNORED, masked.input_ids, masked.labels))
    states = predict(pupil, unmasked).hidden_states.detach()
    turn = torch.linalg.qr(torch.randn(states.shape[-1], states.shape[-1]))[0]
    assert teacher.distance(unmasked, states).item() == pytest.approx(0, abs=1e-5)
    assert teacher.distance(unmasked, 3 * states @ turn + 1).item() == pytest.approx(0, abs=1e-5)
    assert 0.01 < teacher.distance(masked, predict(pupil, masked).hidden_states).item() < 1
    pairs = collate([sampling.pair(corpus, s, 24, rng) for s in range(8)], vocabulary, rng)
    assert teacher.distance(pairs, predict(pupil, pairs).hidden_states) is None
    with pytest.raises(ModelError, match="to learn from"):
        Teacher(tmp_path / "nobody", pupil.device)


def test_a_teacher_pulls_the_model_towards_what_it_finds_alike(corpus, vocabulary, tmp_path):
    tiny_bert(seed=3).bert.save_pretrained(tmp_path / "teacher")
    distances = []
    for weight in (0.0, 5.0):
        pupil = tiny_bert()
        teacher = Teacher(tmp_path / "teacher", pupil.device)
        settings = Settings(steps=100, peak_rate=3e-3, warmup=10, bf16=False, teacher_weight=weight)
        out = tmp_path / f"weight-{weight}"
        Trainer(pupil, stream(corpus, vocabulary), settings, out, teacher=teacher).run()
        distances.append(float(list(csv.DictReader((out / "log.csv").open()))[-1]["teacher_distance"]))
    assert distances[1] < 0.8 * distances[0]


def test_the_command_trains_from_a_folder_to_a_folder_and_hears_the_teacher(text, tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(command.signal, "signal", lambda *_: None)  # pytest keeps its own handlers
    export(tmp_path / "start", tiny_bert(positions=512), tokenizer)
    tiny_bert(seed=3).bert.save_pretrained(tmp_path / "teacher")
    ended = {}
    for weight in ("0", "10"):
        given = f"--corpus {text.parent} --init {tmp_path}/start --out {tmp_path}/{weight} --steps 12 --batch 256"
        given += f" --warmup 1 --teacher {tmp_path}/teacher --teacher-weight {weight} --cache {tmp_path}/cache"
        given += f" --decay 0.5 --average 0.5 --workers 1 --alone 0.2:{text} --near 0.1 --copy-weight 0.5"
        command.run(command.arguments().parse_args(given.split()))
        model, report = BertForPreTraining.from_pretrained(tmp_path / weight / "model", output_loading_info=True)
        assert not any(report.values())
        assert (tmp_path / weight / "mean" / "model.safetensors").exists()
        ended[weight] = model.bert.encoder.layer[0].output.dense.weight
    assert (ended["0"] - ended["10"]).abs().max() > 1e-4
    assert len(list((tmp_path / "cache").iterdir())) == 1  # read once, shared by all
    endless = ["--corpus", str(text.parent), "--init", f"{tmp_path}/start", "--out", f"{tmp_path}/endless"]
    with pytest.raises(InputError, match="how long"):
        command.run(command.arguments().parse_args(endless))


def test_the_rate_warms_up_and_ends_at_zero():
    settings = Settings(steps=100, peak_rate=1.0, warmup=10, first_mask_rate=0.25)
    assert settings.rate(0, 0.0) == pytest.approx(0.1)
    assert settings.rate(9, 0.0) == pytest.approx(1.0)
    assert settings.rate(50, settings.progress(50, 0)) == pytest.approx(0.5)
    assert settings.rate(100, settings.progress(100, 0)) == 0
    assert Settings(minutes=10).progress(5, 300) == pytest.approx(0.5)
    assert settings.masking(0.0) == 0.25
    assert settings.masking(1.0) == pytest.approx(0.15)
    with pytest.raises(InputError, match="how long"):
        Settings()


def test_an_average_lies_between_the_checkpoints(tokenizer, tmp_path):
    models = [tiny_bert(seed) for seed in (0, 1)]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, model in zip(folders, models, strict=True):
        model.save_pretrained(folder)
    found = average(folders, [3, 1]).state_dict()
    for name, value in found.items():
        one, two = (model.state_dict()[name] for model in models)
        torch.testing.assert_close(value, 0.75 * one + 0.25 * two)
    moved = average(folders, [3, 1], follows=1.5).cls.seq_relationship.bias - found["cls.seq_relationship.bias"]
    torch.testing.assert_close(moved, torch.tensor([1.5, 0.0]))
    with pytest.raises(InputError, match="above 0"):
        average(folders, [1, 0])
    tiny_bert().bert.save_pretrained(tmp_path / "encoder")
    with pytest.raises(ModelError, match="both pre-training heads"):
        average([folders[0], tmp_path / "encoder"], [1, 1])


def test_evaluation_of_a_shipped_folder_is_deterministic(text, tokenizer, tmp_path):
    export(tmp_path, tiny_bert(), tokenizer)
    _, report = BertForPreTraining.from_pretrained(tmp_path, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    first, second = (evaluate(str(tmp_path), text, pairs=20, length=24, seed=1, long_pairs=4) for _ in range(2))
    assert first == second
    assert set(first) == {"pairs of 24", "single sentences", "pairs of two sentences", "pairs of 64", "packs of 64"}
    assert first["single sentences"].next_accuracy is None
    assert 0 <= first["pairs of 24"].top1 <= first["pairs of 24"].top5 <= 1
    with pytest.raises(InputError, match="--length"):
        evaluate(str(tmp_path), text, pairs=20, length=65, seed=1, long_pairs=0)
    with pytest.raises(ModelError, match="no tokenizer"):
        evaluate(str(tmp_path / "nothing"), text, pairs=20, length=24, seed=1, long_pairs=0)
