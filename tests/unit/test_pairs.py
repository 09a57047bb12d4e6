import json

import pytest

from explorer.core.errors import InputError
from explorer.text import pairs
from explorer.text.lines import pairs_from_lines
from explorer.text.pairs import read_pairs


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "pairs.csv"
        path.write_bytes(content)
        return read_pairs(path)

    return read


def test_lines_are_parted_by_a_tab_or_bars():
    assert pairs_from_lines("a\tb\n\n c d || e f ||\n"[:-4] + "\n") == [("a", "b"), ("c d", "e f")]
    assert pairs_from_lines("one ||| two") == [("one", "two")]
    assert pairs_from_lines("b\nc || d", "a") == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize(
    "content", [b"a,b\nx,y\n", b"\xef\xbb\xbfid,sentence1,sentence2\n1,x,y\n", b'B,A\n"y",x\n', b"text_b,text_a\r\ny,x"]
)
def test_a_csv_has_its_columns_found(content, read):
    assert read(content) == [("x", "y")]


def test_whatever_is_read_as_a_table_is_read_as_pairs(read):
    wanted = [("Grüße, sagte er", "“Danke”; sagte sie"), ("[MASK] went home", "he slept")]
    assert read('Grüße, sagte er;"“Danke”; sagte sie"\n[MASK] went home;he slept\n'.encode()) == wanted
    assert read("\n".join(json.dumps({"id": 1, "sentence2": b, "sentence1": a}) for a, b in wanted).encode()) == wanted
    assert read(json.dumps(wanted).encode()) == wanted


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"one\ntwo\n", b"\xff\xfe", b"a,b\nx\n", b"a,b\nx,\n", b"a,b\n,y\n", b"a,b\n" + b"x,y\n" * 101),
        b"a,b\nx," + b"y" * pairs.FILE_MEGABYTES.bytes,
        b'{"a": "x"}\n',
        b"PK\x03\x04rest",
    ],
)
def test_what_is_no_table_of_pairs_is_refused(content, read, refusal):
    refusal(InputError, lambda: read(content))


@pytest.mark.parametrize("text", ["", "no separator", "a || b || c", "a ||"])
def test_lines_without_two_sentences_are_refused(text, refusal):
    refusal(InputError, lambda: pairs_from_lines(text))
