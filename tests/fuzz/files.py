"""Files of every kind: tables, zips of runs, weights and models, each a little or wholly wrong."""

import io
import json
import struct
import zipfile
from functools import cache

from hypothesis import strategies as st

from tests.fuzz.values import SENTENCES, TEXTS, any_of, hostile, texts

NAMES = [
    *("table.csv", "table.tsv", "table.jsonl", "table.json", "evil.csv.exe", "é🥛.csv"),
    *("../../evil.csv", "a\x00b.csv", "x" * 300 + ".csv"),
]
COLUMNS = ["text", "label", "a", "b", "sentence1", "sentence2", "", "text", "5"]
INSIDE = [
    *("../../evil", "/etc/evil", "C:\\evil", "model/../../evil", "evil\x00.json"),
    *("model/", "settings.json", "model/tokenizer.model"),
]
STUFFING = [b"evil", bytes(10 * 2**20), *(text.encode("utf-8", "replace") for text in TEXTS[:9])]
DTYPES = ["F32", "F16", "I64", "BOOL", "F8_E4M3", "F4", "X", "", None, 7]
SIZES = [-1, 0, 1, 2, 7, 2**31, 2**63, 2**64, 10**30, 1.5, None, "2", [2]]


def cut(data):
    """The data whole or in half, or with other bytes somewhere."""
    return st.one_of(
        st.integers(0, max(len(data) - 1, 0)).map(lambda end: data[:end]),
        st.tuples(st.integers(0, max(len(data) - 1, 0)), st.binary(min_size=1, max_size=8)).map(
            lambda edit: data[: edit[0]] + edit[1] + data[edit[0] + len(edit[1]) :]
        ),
        st.just(b""),
        st.binary(max_size=200),
    )


def edited(value, others=hostile):
    """What JSON holds with one of its parts, however deep, changed to one of `others`, or gone."""
    if not isinstance(value, dict | list) or not value:
        return others
    keys = list(value if isinstance(value, dict) else range(len(value)))[:40]

    def change(key):
        inner = others | st.deferred(lambda: edited(value[key], others))
        return inner.map(lambda new: {**value, key: new} if isinstance(value, dict) else [*value[:key], new, *value[key + 1 :]])

    def drop(key):
        return {k: v for k, v in value.items() if k != key} if isinstance(value, dict) else value[:key] + value[key + 1 :]

    places = st.sampled_from(keys)
    return st.one_of(places.flatmap(change), places.flatmap(change), places.map(drop))


@st.composite
def tables(draw):
    """A name and the bytes of a table: rows of cells between delimiters or as JSON, in some encoding, whole or not."""
    cells = st.sampled_from([*SENTENCES, "good", "bad", "1"]) | texts.filter(lambda text: len(text) < 5_000)
    rows = draw(st.lists(st.lists(cells, min_size=1, max_size=4), max_size=8))
    header = draw(st.lists(st.sampled_from(COLUMNS) | texts.filter(lambda text: len(text) < 400), max_size=4))
    kind = draw(st.sampled_from(["csv", "objects", "lists", "raw", "values"]))
    if kind == "csv":
        delimiter, quote = draw(st.sampled_from([",", ";", "\t", "|", ""])), draw(st.sampled_from(["", '"', "'"]))
        text = "\n".join(delimiter.join(f"{quote}{cell}{quote}" for cell in row) for row in [header, *rows])
    elif kind == "objects":
        text = "\n".join(json.dumps(dict(zip(header, row, strict=False))) for row in rows)
    elif kind == "lists":
        text = json.dumps([header, *rows])
    else:
        text = draw(st.just("{") | st.just("[[") | texts) if kind == "raw" else json.dumps(draw(hostile))
    data = text.encode(draw(st.sampled_from(["utf-8", "utf-16", "utf-8-sig", "cp1252"])), "replace")
    return draw(st.sampled_from(NAMES) | st.just("table.csv")), draw(st.just(data) | st.just(data) | cut(data))


def weights(data):
    """The bytes of a safetensors file whose header lies: of its own length, or of what a tensor is and where it lies."""
    length = struct.unpack("<Q", data[:8])[0]
    header, rest = json.loads(data[8 : 8 + length]), data[8 + length :]
    headers = edited(header, st.sampled_from(DTYPES) | st.lists(st.sampled_from(SIZES), max_size=4) | hostile)
    lengths = st.sampled_from([None] * 4 + [0, 1, length - 1, 2**32, 2**63, 2**64 - 1])
    ends = cut(rest).map(lambda end: _packed(header, None, end))
    return st.one_of(st.builds(_packed, headers, lengths, st.just(rest)), ends, cut(data))


def _packed(header, length, rest):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + rest


MANY = 10**6


@cache
def tiny_texts() -> dict[str, str]:
    """Texts of a million tiny values, by what they hold."""
    return {
        **{f"{value} in a list": f"[{(value + ',') * MANY}0]" for value in ("0", "[]", "{}", '""')},
        **{f"{value} in lines": f"{value}\n" * MANY for value in ("0", "[]", "{}", ",", '""', "a\tO")},
        "objects": "[" + '{"text":""},' * (MANY // 2) + "0]",
        "names": "{" + ",".join(f'"{number}":0' for number in range(MANY // 2)) + "}",
        "values": '{"values":[' + "0," * MANY + "0]}",
        "lists in lists": "[" * MANY,
        "quotes": "text,label\n" + '"' * 2 * MANY,
        "commas": "text,label\n" + "," * 2 * MANY,
    }


def _zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _changed(name, data):
    """Another file of a model or a run, by its name."""
    if name.endswith(".safetensors"):
        return weights(data)
    if name.endswith(".json"):
        return edited(json.loads(data)).map(lambda value: json.dumps(value).encode()) | cut(data)
    return cut(data)


@st.composite
def folders(draw, files):
    """The files of a model, by name, one or two of them not as they should be or not there."""
    changed = dict(files)
    for name in draw(st.lists(st.sampled_from(sorted(files)), min_size=1, max_size=2, unique=True)):
        changed[name] = draw(_changed(name, files[name]))
        if draw(st.integers(0, 9)) == 9:
            del changed[name]
    return changed


@st.composite
def zips(draw, files):
    """The zip of a run, whose entries are changed, gone, too many, larger than they look, or cut."""
    changed = draw(folders(files))
    if draw(st.integers(0, 4)) == 4:
        changed[draw(st.sampled_from(INSIDE))] = draw(any_of(STUFFING))
    data = _zipped(changed)
    return draw(st.just(data) | st.just(data) | cut(data))
