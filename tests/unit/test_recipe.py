"""The recipe of the bundled model: what a batch is, what no text may hold, and one training of a tiny model."""

import json

import numpy as np
import pytest
import torch
import transformers

from explorer.bert.checkpoints import BUNDLED_FOLDER
from tests.recipe import FOLDER, batches, evaluate, text, train

DOCUMENTS = [
    [f"the {who} {does} {where} ." for where in ("here", "there", "outside", "at home")]
    for who in ("man", "dog", "cat")
    for does in ("sat", "slept", "sang")
]
LINES = "\n\n".join("\n".join(document) for document in DOCUMENTS)
SIZE = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.AutoTokenizer.from_pretrained(BUNDLED_FOLDER)


@pytest.fixture(scope="module")
def vocabulary(tokenizer):
    return batches.Vocabulary.of(tokenizer)


@pytest.fixture(scope="module")
def stream(tokenizer, vocabulary):
    return batches.Stream([(1.0, text.tokenize(DOCUMENTS, tokenizer))], vocabulary, 1024, 0.15, seed=3)


def originals(batch):
    ids = batch.input_ids.copy()
    np.put_along_axis(ids, batch.places, np.where(batch.targets >= 0, batch.targets, np.take_along_axis(ids, batch.places, 1)), 1)
    return ids


def test_a_run_of_words_of_our_own_sentences_is_left_out(tokenizer):
    leaks = text.Leaks()
    for row in text.own_tests("blanks"):
        assert leaks.in_line(f"And so: {row['sentence'].replace('[MASK]', 'xyz').upper()}"), row
    assert not any(leaks.in_line(line) for line in ("The cat sat.", "", "four"))
    lines = [["A spider has eight legs.", "It is small."], ["It rains."]]
    kept = text.tokenize(lines, tokenizer)
    assert [tokenizer.decode(kept.between(n, n + 1)) for n in range(len(kept.sentences) - 1)] == ["it is small.", "it rains."]


def test_the_tables_give_sentences_without_a_slot_that_stays_empty():
    for name in ("facts", "stories"):
        lines = [line for document in text.written_out(FOLDER / f"{name}.txt") for line in document]
        assert len(lines) == len(set(lines)) > 300 or name == "stories"
        assert not [line for line in lines if {"{", "}"} & {*line}]


def test_a_batch_depends_on_seed_and_step_only(stream):
    first, again, other = (vars(stream[step]) for step in (5, 5, 6))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["input_ids"], other["input_ids"])


@pytest.mark.parametrize("kind", batches.KINDS)
def test_only_whole_pieces_of_text_are_chosen_and_the_rest_is_as_it_was(stream, vocabulary, kind):
    batch = stream.of_kind(0, kind, np.random.default_rng(1))
    ids = originals(batch)
    assert batch.input_ids.shape[1] == batches.KINDS[kind][0]
    assert not np.isin(batch.targets, [vocabulary.cls, vocabulary.sep, vocabulary.pad]).any()
    text_pieces = (~np.isin(ids, [vocabulary.cls, vocabulary.sep, vocabulary.pad])).sum(1)
    np.testing.assert_array_equal((batch.targets >= 0).sum(1), np.maximum(1, np.rint(0.15 * text_pieces)))
    changed = np.flatnonzero((batch.input_ids != ids).any(0))
    assert {*changed} <= {*batch.places[batch.targets >= 0].tolist()}


def test_half_of_the_pairs_follow_each_other_in_the_text_and_the_others_do_not(stream, vocabulary):
    read, dice = stream.texts[0], np.random.default_rng(0)

    def bare(ids):  # without the final mark, which some inputs lack
        return tuple(ids[:-1].tolist() if vocabulary.ends[ids[-1]] else ids.tolist())

    lines = [bare(read.between(n, n + 1)) for n in range(len(read.sentences) - 1)]
    after = {(lines[n], lines[n + 1]) for n in range(len(lines) - 1) if n + 1 not in read.documents}
    rows = [stream.example(0, "short pairs", dice) for _ in range(400)]
    assert 150 < sum(label == batches.IS_NEXT for *_, label in rows) < 250
    for a, b, label in rows:
        assert ((bare(a), bare(b)) in after) == (label == batches.IS_NEXT)


@pytest.mark.nightly
def test_a_tiny_model_learns_in_one_command_and_is_read_by_transformers(tmp_path, tokenizer):
    (tmp_path / "text.txt").write_text(LINES, "utf-8")
    given = ["--text", f"1:{tmp_path / 'text.txt'}", "--heldout", str(tmp_path / "text.txt"), "--out", str(tmp_path / "run")]
    given += (
        f"--init none --steps 121 --pieces 256 --rate 1e-2 --warm-up 5 --size {json.dumps(SIZE, separators=(',', ':'))}".split()
    )
    given += ["--mean", "0.9", "--every", "0", "--parts", "--features", str(BUNDLED_FOLDER), "--teacher", str(BUNDLED_FOLDER)]
    train.train(train.arguments().parse_args(given))
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert lines[-1]["loss"] < lines[0]["loss"] - 3  # held out, in nats
    parts = sorted((tmp_path / "run" / "model").glob("model.safetensors.*"))
    (tmp_path / "run" / "model" / "model.safetensors").write_bytes(b"".join(part.read_bytes() for part in parts))
    model, report = transformers.BertForPreTraining.from_pretrained(tmp_path / "run" / "model", output_loading_info=True)
    assert not any(report.values())
    assert next(model.parameters()).dtype == torch.float16
    both = evaluate.average([str(tmp_path / "run" / "model")] * 2, [0.5, 0.5])
    for name, value in both.state_dict().items():
        torch.testing.assert_close(value, model.state_dict()[name].float())
