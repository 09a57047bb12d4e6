import pytest

from explorer.core.errors import InputError
from explorer.text.lines import pairs_from_lines


def test_lines_are_parted_by_a_tab_or_bars():
    assert pairs_from_lines("a\tb\n\n c d || e f ||\n"[:-4] + "\n") == [("a", "b"), ("c d", "e f")]
    assert pairs_from_lines("one ||| two") == [("one", "two")]
    assert pairs_from_lines("b\nc || d", "a") == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize("text", ["", "no separator", "a || b || c", "a ||"])
def test_lines_without_two_sentences_are_refused(text, refusal):
    refusal(InputError, lambda: pairs_from_lines(text))
