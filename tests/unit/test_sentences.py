"""Where sentences begin: as a reader would say, and for any text a partition of it; and pairs that are typed in lines."""

import itertools
import random

import pytest

from explorer.core.errors import InputError
from explorer.text.lines import pairs_from_lines
from explorer.text.sentences import sentence_starts


def sentences(text: str) -> list[str]:
    starts = [*sentence_starts(text), len(text)]
    return [text[start:end].strip() for start, end in itertools.pairwise(starts)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", [""]),
        ("one without an end", ["one without an end"]),
        ("It rained. we stayed!  Why? ", ["It rained.", "we stayed!", "Why?"]),
        ("Dr. Smith met J. Doe at 3.15, e.g. here. He left.", ["Dr. Smith met J. Doe at 3.15, e.g. here.", "He left."]),
        ("“Stop!” he said. (So I did.) Then?!", ["“Stop!”", "he said.", "(So I did.)", "Then?!"]),
        ("Wait... what? No.", ["Wait...", "what?", "No."]),
        ("I love it! 🍎🍎 Next one. 🎉", ["I love it!", "🍎🍎 Next one.", "🎉"]),
        ("أين البيت؟ هذا هو. نعم", ["أين البيت؟", "هذا هو.", "نعم"]),
        ("یہ گھر ہے۔ وہ باغ ہے۔", ["یہ گھر ہے۔", "وہ باغ ہے۔"]),
        ("我去商店。你呢？「好！」她说。", ["我去商店。", "你呢？", "「好！」", "她说。"]),
        ("यह घर है। वह बाग है।", ["यह घर है।", "वह बाग है।"]),
        ("A heading\n\nand a text\nof two lines.", ["A heading", "and a text\nof two lines."]),
        ("! ! . a", ["! !", ". a"]),
    ],
)
def test_sentences_end_where_a_reader_would_say(text, wanted):
    assert sentences(text) == wanted


LETTERS = random.Random(0)
RANDOM = ["".join(LETTERS.choices("ab .!?\n。\"'Dr👍", k=40)) for _ in range(300)]
RUNS = ["." * 50_000, ". " * 25_000, '."' * 25_000, "\n " * 25_000, "。" * 50_000, "a. " * 17_000]


def test_any_text_is_cut_into_parts_that_are_not_empty():
    for text in RANDOM + RUNS:
        starts = sentence_starts(text)
        assert starts[0] == 0
        assert starts == sorted({*starts}), "each sentence starts after the one before"
        assert len(starts) == 1 or all(text[a:b].strip() for a, b in itertools.pairwise([*starts, len(text)]))


def test_lines_are_parted_by_a_tab_or_bars():
    assert pairs_from_lines("a\tb\n\n c d || e f ||\n"[:-4] + "\n") == [("a", "b"), ("c d", "e f")]
    assert pairs_from_lines("one ||| two") == [("one", "two")]
    assert pairs_from_lines("b\nc || d", "a") == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize("text", ["", "no separator", "a || b || c", "a ||"])
def test_lines_without_two_sentences_are_refused(text, refusal):
    refusal(InputError, lambda: pairs_from_lines(text))
