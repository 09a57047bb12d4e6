"""The facts that are read in pre-training: tables and templates, and what becomes of them."""

import re
import sys

import pytest

from explorer.core.errors import InputError
from explorer.pretraining.facts import documents, main, read, sentences
from explorer.pretraining.overlap import own_runs


@pytest.fixture
def written(tmp_path):
    """What is made of the text of a file."""

    def written(text):
        path = tmp_path / "facts.txt"
        path.write_text(text, "utf-8")
        return list(sentences(read(path)))

    return written


def test_every_template_is_filled_with_every_row(written):
    assert written("[pets: pet, food]\ncat, mice\nowl, fish\n\n- A {pet} eats {food}.\n- {Food} for the {pet}.\n") == [
        "A cat eats mice.",
        "Mice for the cat.",
        "An owl eats fish.",
        "Fish for the owl.",
    ]


def test_opposites_hold_both_ways(written):
    assert written("[opposites: x, y] both ways\nhot, cold\n- not {x} but {y}\n") == ["not hot but cold", "not cold but hot"]


def test_a_single_column_may_hold_commas_and_names(written):
    said = written("[boy]\nTom\nSam\n\n[said: text]\n{Boy}, come in, please.\n- {text}\n")
    assert said in (["Tom, come in, please."], ["Sam, come in, please."])


def test_a_row_that_is_too_short_is_named(written):
    with pytest.raises(InputError, match="line 2"):
        written("[pets: pet, food]\ncat\n- A {pet} eats {food}.\n")


def test_a_stroke_makes_two_lines_of_one_document(tmp_path):
    path = tmp_path / "stories.txt"
    path.write_text("[stories: text]\nIt rained. / We got wet.\n- {text}\n- {text}\n", "utf-8")
    assert documents(path) == [["It rained.", "We got wet."]]


@pytest.mark.parametrize("name", ["facts", "stories"])
def test_what_ships_is_whole_sentences_and_hardly_gives_away_a_test(name, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["facts", name])
    assert main() == 0
    written = capsys.readouterr().out
    lines = [line for line in written.splitlines() if line]
    assert len(set(written.split("\n\n"))) > 200
    assert not any(re.search(r"[{}/]|  | [.,?!]", line) for line in lines)
    # Training leaves these out; were there many, the sentences would be too near to those of the test.
    assert len(own_runs().find(lines)) < 20
