"""Files as other people make them."""

import logging

import pytest

from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, COLUMNS, LINES, TABLE_MEGABYTES, TRAINING_EXAMPLES
from explorer.core.paths import EXAMPLES
from explorer.core.steps import finished
from explorer.finetune.compute.from_table import built_in, examples_from_table
from explorer.finetune.recipe import KINDS, TEXTS
from explorer.text.tables import read_table
from explorer.training import hub_data
from explorer.training.columns import guess_columns
from explorer.training.examples import Examples, check_examples, check_texts_or_pairs


def test_why_a_data_set_cannot_be_fetched_is_logged(monkeypatch, caplog, refusal):
    def fail(api, name, timeout):
        raise ConnectionError("no route")

    monkeypatch.setattr(hub_data.HfApi, "dataset_info", fail)
    with caplog.at_level(logging.WARNING, "explorer"):
        refusal(InputError, lambda: finished(hub_data.fetch_data_set("someone/secret-name")))
    (record,) = caplog.records
    assert isinstance(record.exc_info[1], ConnectionError)
    assert "secret-name" not in record.getMessage()


def test_what_is_left_out_is_told(write):
    lines = ["text,label", "one,a", ",a", "two,", "three,b", "One,a", "four,b", "four,a", "x" * 30_000 + ",b", "five"]
    examples, said = examples_from_table(table := read_table(write("\n".join(lines))), guess_columns(table))
    assert len(examples) == 6
    said = " ".join(said)
    assert "3 rows without a text or a label left out." in said
    assert "1 text cut to 20,000 characters." in said
    assert "2 texts are repeats" in said
    assert "1 text has different labels." in said
    assert all(len(text) <= CHARACTERS.most for text in examples.texts)


def test_of_very_many_rows_some_are_drawn(write, monkeypatch):
    monkeypatch.setattr(TRAINING_EXAMPLES, "most", 500)
    table = read_table(write("text,label\n" + "\n".join(f"row {i},{i % 3}" for i in range(2_000))))
    examples, said = examples_from_table(table, guess_columns(table))
    assert len(examples) == 500
    assert "500 of 2,000 rows drawn" in " ".join(said)
    assert examples == examples_from_table(table, guess_columns(table))[0]


REFUSED = {
    "empty": b"",
    "names only": b"text,label\n",
    "zip": b"PK\x03\x04rest",
    "objects without names": b"{}\n{}\n",
    "half a character": b'{"text": "a \\ud800", "label": "x"}\n',
    "too large": b"a" * (TABLE_MEGABYTES.bytes + 1),
    "cells of line ends only": b'"\n"\n' * 3,
    "an open quote over very many short lines": b'text,label\n"' + b"a,b\n" * (LINES.most + 1),
    "very many objects in one list": b"[" + b"{}," * LINES.most + b"{}]",
    "wide rows over very many narrow ones": (b"a," * COLUMNS.most + b"\n") * 300 + b"a\n" * (LINES.most // 2),
    "one object with many names over many without": b'{"a":1' + b',"%d":1' * 99 % tuple(range(99)) + b"}" + b"\n{}" * 150_000,
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_no_table_is_refused(write, data, refusal):
    refusal(InputError, lambda: read_table(write(data)))


@pytest.mark.parametrize("name", [name for name in KINDS[TEXTS].sets if name != "similarity"])
def test_built_in_sets_are_balanced_and_free_of_repeats(name):
    examples = built_in(name)
    table = read_table(EXAMPLES / f"{name}.csv")
    assert examples_from_table(table, guess_columns(table))[1] == []
    assert bool(examples.texts_b) == (name in ("same_meaning", "entailment"))
    assert min(examples.counts.values()) >= 30
    assert max(examples.counts.values()) <= min(examples.counts.values()) + 2


@pytest.mark.parametrize(("name", "size"), [("entailment", 600), ("grammar", 300)])
def test_sets_with_variants_keep_them_on_one_side_of_every_split(name, size):
    examples = built_in(name)
    assert len(examples) >= size
    for group in set(examples.groups):
        mine = [row for row, other in enumerate(examples.groups) if other == group]
        assert len(mine) >= 2
        assert len({examples.labels[row] for row in mine}) >= 2, "a group gives its label away"
    premises = dict(zip(examples.texts, examples.groups, strict=True))
    assert all(premises[text] == group for text, group in zip(examples.texts, examples.groups, strict=True))
    for seed in range(5):
        train, held = examples.split(seed)
        assert sorted([*train, *held]) == list(range(len(examples)))
        assert not {examples.groups[row] for row in train} & {examples.groups[row] for row in held}
        for label, count in examples.counts.items():
            assert sum(examples.labels[row] == label for row in held) == pytest.approx(0.2 * count, abs=5)


def test_examples_of_the_api_keep_their_order():
    found = check_examples([["a", 1], ["b", "x"], ("c", 1.5), ["d", 1], ["e", "x"], ["f", 1.5]])
    assert found == Examples(tuple("abcdef"), ("1", "x", "1.5", "1", "x", "1.5"))
    assert found.targets.tolist() == [0, 2, 1, 0, 2, 1]
    assert check_examples([["a", "b", "x"], ["c", "d", "y"]] * 2).pairs[:2] == [("a", "b"), ("c", "d")]
    assert check_texts_or_pairs(["a", ["b", "c"]]) == [("a", ""), ("b", "c")]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [2, 4, 7, 100])
def test_the_split_is_stratified_and_nothing_held_out_was_trained_on(seed, size):
    texts = [f"{label} {i % max(2, size // 3)}" for i in range(size) for label in "abc"]
    examples = Examples(tuple(texts), tuple(text[0] for text in texts))
    train, held = examples.split(seed)
    assert sorted([*train, *held]) == list(range(len(texts)))
    assert not {texts[row] for row in train} & {texts[row] for row in held}
    for label in "abc":
        count = sum(texts[row][0] == label for row in held)
        assert 1 <= count < size
        assert size < 50 or abs(count - 0.2 * size) <= 3
    again = examples.split(seed)
    assert train.tolist() == again[0].tolist()
    assert held.tolist() == again[1].tolist()


def test_equal_texts_stay_together_whatever_their_label_and_case():
    texts = ("Same  text", "same text", "b", "c", "d", "SAME TEXT", "e")
    examples = Examples(texts, ("x", "y", "x", "y", "x", "x", "y"))
    for seed in range(20):
        train, _ = examples.split(seed)
        assert len({0, 1, 5} & set(train.tolist())) in (0, 3)


def test_what_is_too_large_to_hold_one_out_is_refused(refusal):
    examples = Examples(tuple("abcdefgh"), tuple("xyxyxyxy"), groups=tuple("11112222"))
    assert set(examples.split(0, 0.5).held_out.tolist()) in ({0, 1, 2, 3}, {4, 5, 6, 7}), "a group stays whole"
    refusal(InputError, lambda: Examples(("a", "a", "b", "c"), ("x", "x", "y", "y")).split(0))


FEW = ([], [["a", "x"]], [["a", "x"], ["b", "x"]], [["a", "x"], ["b", "y"]])
ODD = ("text", [["a"]], [["a", "b", "c", "x"]] * 4, [["", "x"]], [["a", None]], [["a", True]], [5])


@pytest.mark.parametrize("rows", FEW + ODD)
def test_examples_that_cannot_be_learnt_from_are_refused(rows, refusal):
    refusal(InputError, lambda: check_examples(rows))
