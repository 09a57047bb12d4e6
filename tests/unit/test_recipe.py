"""The bundled model's recipe: what a batch is, what no text may hold, and one training; and its card, which says what it does."""

import importlib
import json
import re
import sys

import numpy as np
import pytest
import torch
import transformers

from explorer.bert.checkpoints import BUNDLED_FOLDER

RECIPE = BUNDLED_FOLDER / "recipe"  # which is no package
sys.path.insert(0, str(RECIPE))
try:
    batches, evaluate, text, train = map(importlib.import_module, ("batches", "evaluate", "text", "train"))
finally:
    sys.path.remove(str(RECIPE))

DOCUMENTS = [
    [f"the {who} {does} {where} ." for where in ("here", "there", "outside", "at home")]
    for who in ("man", "dog", "cat")
    for does in ("sat", "slept", "sang")
]
LINES = "\n\n".join("\n".join(document) for document in DOCUMENTS)
SIZE = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}


@pytest.fixture(scope="module")
def vocabulary(tokenizer):
    return batches.Vocabulary.of(tokenizer)


@pytest.fixture(scope="module")
def stream(tokenizer, vocabulary):
    return batches.Stream([(1.0, text.tokenize(DOCUMENTS, tokenizer))], vocabulary, 1024, (0.15, 0.3), seed=3)


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
        lines = [line for document in text.written_out(RECIPE / f"{name}.txt") for line in document]
        assert len(lines) == len(set(lines)) > 300 or name == "stories"
        assert not [line for line in lines if {"{", "}"} & {*line}]


@pytest.mark.parametrize("kind", batches.KINDS)
def test_only_whole_pieces_of_text_are_chosen_and_the_rest_is_as_it_was(stream, vocabulary, kind):
    batch = stream.of_kind(0, kind, np.random.default_rng(1))
    ids, length = batch.originals, batches.KINDS[kind][0]
    assert ids.shape[1] == length
    eligible = ~np.isin(ids, [vocabulary.cls, vocabulary.sep, vocabulary.pad])
    chosen = batch.places[batch.targets >= 0]
    assert {*chosen.tolist()} <= {*np.flatnonzero(eligible)}
    assert torch.equal(batch.targets[batch.targets >= 0], ids.flatten()[chosen])
    counts, per_row = eligible.sum(1), np.bincount(chosen // length, minlength=len(ids))
    assert (np.maximum(1, np.rint(0.15 * counts)) <= per_row).all()
    assert (per_row <= np.maximum(1, np.rint(0.3 * counts))).all()
    assert {*np.flatnonzero(batch.input_ids.flatten() != ids.flatten())} <= {*chosen.tolist()}


@torch.no_grad()
def test_an_input_in_a_full_row_is_read_as_if_it_were_alone(stream, bundled):
    for length in stream.lengths:
        batch = stream.of_length(length, np.random.default_rng(2))
        _, follows, states = train.predict(bundled.module, batch)
        numbers = batch.owners.amax(1)
        assert numbers.max() > 1
        for row, number in [(0, one + 1) for one in range(int(numbers[0]))]:
            own = batch.owners[row] == number
            alone = bundled.module(input_ids=batch.input_ids[row, own][None], token_type_ids=batch.segments[row, own][None])
            states_alone = bundled.module.bert(batch.input_ids[row, own][None], token_type_ids=batch.segments[row, own][None])
            torch.testing.assert_close(states[row, own], states_alone.last_hidden_state[0], atol=1e-4, rtol=0)
            torch.testing.assert_close(follows[row, number - 1], alone.seq_relationship_logits[0], atol=1e-4, rtol=0)


def test_half_of_the_pairs_follow_each_other_in_the_text_and_the_others_do_not(stream, vocabulary):
    read, dice = stream.texts[0], np.random.default_rng(0)

    def bare(ids):  # without the final mark, which some inputs lack
        return tuple(ids[:-1].tolist() if vocabulary.ends[ids[-1]] else ids.tolist())

    lines = [bare(read.between(n, n + 1)) for n in range(len(read.sentences) - 1)]
    after = {(lines[n], lines[n + 1]) for n in range(len(lines) - 1) if n + 1 not in read.documents}
    rows = [stream.example(0, "short pairs", 128, dice) for _ in range(400)]
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
    given += ["--mean", "0.9", "--every", "0", "--parts", "--features", str(BUNDLED_FOLDER)]
    train.train(train.arguments().parse_args(given))
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    first, last = (line["text.txt"] for line in (lines[0], lines[-1]))
    assert last["loss"] < first["loss"] - 3  # held out, in nats
    assert lines[-1]["taught"] < lines[0]["taught"]
    parts = sorted((tmp_path / "run" / "model").glob("model.safetensors.*"))
    (tmp_path / "run" / "model" / "model.safetensors").write_bytes(b"".join(part.read_bytes() for part in parts))
    model, report = transformers.BertForPreTraining.from_pretrained(tmp_path / "run" / "model", output_loading_info=True)
    assert not any(report.values())
    assert next(model.parameters()).dtype == torch.float16
    both = evaluate.average([str(tmp_path / "run" / "model")] * 2, [0.5, 0.5])
    for name, value in both.state_dict().items():
        torch.testing.assert_close(value, model.state_dict()[name].float())


@pytest.fixture(scope="module")
def card():
    return (BUNDLED_FOLDER / "README.md").read_text("utf-8")


def test_transformers_reads_the_folder_whole_and_small(card):
    model, report = transformers.BertForPreTraining.from_pretrained(BUNDLED_FOLDER, dtype=torch.float16, output_loading_info=True)
    assert not any(report.values())
    assert (BUNDLED_FOLDER / "model.safetensors").stat().st_size < 50e6
    assert f"{sum(weights.numel() for weights in model.parameters()) / 1e6:.1f} million parameters" in card


def test_the_tables_of_our_own_blanks_and_pairs_are_what_the_model_says(bundled, tokenizer, card):
    filled, judged = (ask(bundled.module, tokenizer) for ask in (evaluate.fill_blanks, evaluate.judge_pairs))
    for kind, (count, first, five) in evaluate.by_kind(filled).items():
        assert f"| {kind} | {count} | {100 * first / count:.0f}% | {100 * five / count:.0f}% |" in card
    for row, guesses in filled:
        listed = re.search(rf"^\| {row['kind']} \| `{re.escape(row['sentence'])}` \| (\S+) (\d+)", card, re.MULTILINE)
        assert (listed is None) == any(sensible for *_, sensible in guesses), row["sentence"]
        if listed:
            assert listed[1] == guesses[0][0]
            assert int(listed[2]) == pytest.approx(100 * guesses[0][1], abs=1)
    right = [(follows > 0.5) == (row["label"] == "next") for row, follows in judged]
    assert f"Pairs: {sum(right)} of {len(right)} are judged right." in card
    for (row, _), good in zip(judged, right, strict=True):
        assert (f"| `{row['text']} / {row['text_b']}` |" in card) != good
