import pytest

from explorer.base.errors import InputError
from explorer.text.pairs import pairs_from_csv, pairs_from_lines


def test_lines_are_parted_by_a_tab_or_bars():
    assert pairs_from_lines("a\tb\n\n c d || e f ||\n"[:-4] + "\n") == [("a", "b"), ("c d", "e f")]
    assert pairs_from_lines("one ||| two") == [("one", "two")]


@pytest.mark.parametrize(
    "content",
    [b"a,b\nx,y\n", b"x,y\n", b"\xef\xbb\xbfid,sentence1,sentence2\n1,x,y\n", b'B,A\n"y",x\n', b"text_b,text_a\r\ny,x"],
)
def test_a_csv_has_its_columns_found(content):
    assert pairs_from_csv(content) == [("x", "y")]


@pytest.mark.parametrize(
    "content", [b"", b"one\ntwo\n", b"\xff\xfe", b"a,b\nx\n", b"a,b\nx,\n", b"a,b\n" + b"x,y\n" * 101]
)
def test_what_is_no_table_of_pairs_is_refused(content, refusal):
    refusal(InputError, lambda: pairs_from_csv(content))


@pytest.mark.parametrize("text", ["", "no separator", "a || b || c", "a ||"])
def test_lines_without_two_sentences_are_refused(text, refusal):
    refusal(InputError, lambda: pairs_from_lines(text))
