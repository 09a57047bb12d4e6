"""Files of labelled texts as people have them: benchmarks, spreadsheets, exports, and what is wrong with them."""

import csv
import io
import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer
from explorer.core.errors import InputError
from explorer.text.tables import parse_table
from tests.unit.test_parsers import seconds

GOOD = (
    "I loved every minute of it",
    "Warm, funny and wise",
    "She sings like nobody else",
    "We laughed all evening",
    "Well worth the trip",
)
BAD = ("I fell asleep twice", "Loud, long and empty", "He forgot his own lines", "We left before the end", "Not worth the ticket")
TEXTS = [text for pair in zip(GOOD, BAD, strict=True) for text in pair]
ROWS = [(text, "pos" if text in GOOD else "neg") for text in TEXTS]
HEADED = [("text", "label"), *ROWS]
A = [f"{text}, said neighbour {number}" for number, text in enumerate(TEXTS)]
B = [f"Neighbour {number} spoke of {text.lower()}" for number, text in enumerate(TEXTS)]
SCORES = [f"{row * 0.48:.3f}" for row in range(10)]
FRAME = pd.DataFrame(ROWS, columns=["text", "label"])
RECORDS = FRAME.to_dict("records")
COLUMNS = FRAME.to_dict("list")
ALL = {"quoting": csv.QUOTE_ALL}


def lines(rows, delimiter="\t", end="\n"):
    """Rows without any quoting."""
    return end.join(delimiter.join(map(str, row)) for row in rows)


def written(rows, end="\r\n", **dialect):
    """Rows as Python's csv module writes them."""
    file = io.StringIO()
    csv.writer(file, lineterminator=end, **dialect).writerows(rows)
    return file.getvalue()


def ten(names, row):
    """Ten rows below the names of the columns: `row` is given the number of each. Without names there is no header."""
    return [*([names.split("|")] if names else []), *map(row, range(10))]


def tabs(names, row):
    return lines(ten(names, row))


def commas(names, row, **dialect):
    return written(ten(names, row), **dialect)


CSV = written(HEADED)
SPAM = written([["v1", "v2", "", "", ""], *([label, f"{text} £5", "", "", ""] for text, label in ROWS)])
LOOSE = lines([("text", "label"), *((f'"{text}' if row % 4 == 1 else text, label) for row, (text, label) in enumerate(ROWS))])
SEP = "sep=;\r\n" + lines(HEADED, ";", "\r\n")
UNQUOTED = lines(HEADED, ",")
TITLED = "My reviews\n\n" + CSV
PARTS = json.dumps({"test": [{"text": "x", "label": "y"}], "train": RECORDS})
OVER_LINES = written([("text", "label"), *((f"{text}\nSo, yes", label) for text, label in ROWS)])
BROKEN = commas("text|label", lambda n: (f"{TEXTS[n]}, café", ROWS[n][1])).encode() + b"na\xefve,pos\n"
ONCE = written([*HEADED, ("Hm.", "mixed")])
COLA = tabs("", lambda n: (f"gj{n % 4}", n % 2, "*" * (n % 2), TEXTS[n]))
NAN = [{"text": text, "label": (1.0, 0.0, float("nan"), None)[row % 4]} for row, text in enumerate(TEXTS)]
VIEWER = {"features": [{"name": "text"}], "rows": [{"row_idx": n, "row": row} for n, row in enumerate(RECORDS)]}

USUAL = {
    "quotes that are never closed": LOOSE,
    "Excel's sep=": SEP,
    "single quotes": written(HEADED, quotechar="'", **ALL),
    "single quotes where they are needed": written(HEADED, quotechar="'"),
    "old Mac's line ends": written(HEADED, "\r"),
    "pandas' index": FRAME.to_csv(),
    "UTF-16 without a mark": lines(HEADED).encode("utf-16-le"),
    "quotes after spaces": "\n".join(f'"{a}", "{b}"' for a, b in HEADED),
    "commas without quotes": UNQUOTED,
    "a title above the table": TITLED,
    "a title in a row of the table": "Survey 2024,,\n,,\n" + CSV.replace("\r\n", ",\r\n"),
    "R's numbers of rows": lines([("text", "label"), *((row, *cells) for row, cells in enumerate(ROWS, start=1))]),
    "more names than columns": lines([("text", "label", "note"), *ROWS]),
    "texts over several lines": OVER_LINES,
    "a label that occurs once": ONCE,
    "JSON: columns": json.dumps(COLUMNS),
    **{f"JSON: pandas, {how}": FRAME.to_json(orient=how) for how in ("columns", "index", "records", "split", "table")},
    "JSON: pandas, lines": FRAME.to_json(orient="records", lines=True),
    "JSON: pandas, rows with names": FRAME.set_index(pd.Index([f"r{row}" for row in range(10)])).to_json(orient="index"),
    "JSON: wrapped twice": json.dumps({"data": {"rows": RECORDS}}),
    "JSON: columns, wrapped": json.dumps({"data": COLUMNS}),
    "JSON: parts": PARTS,
    "JSON: the Hub's viewer": json.dumps(VIEWER),
}
OTHERS = {  # what it is: (the file, "rows used|text|second text|label|labels or number")
    "Kaggle's header with empty cells": (SPAM.encode("cp1252"), "10|v2||v1|neg pos"),
    "a label first and no header": (lines([row[::-1] for row in ROWS]), "10|column 2||column 1|neg pos"),
    "no header": (lines(ROWS, ";"), "10|column 1||column 2|neg pos"),
    "one quote in a file of commas": (written([*HEADED, *ROWS]).replace("I fell", '"I fell', 1), "20|text||label|neg pos"),
    "a header that comes again": (written([*HEADED, *HEADED]), "20|text||label|neg pos"),
    "quotes after backslashes": (
        written([*HEADED, ('He said "no", twice', "neg")], doublequote=False, escapechar="\\", **ALL),
        "11|text||label|neg pos",
    ),
    "UTF-8 with a byte that is not": (BROKEN, "11|text||label|neg pos"),
    "columns that pandas numbered": (pd.DataFrame(ROWS).to_csv(index=False), "10|0||1|neg pos"),
    "JSON: pandas, values": (FRAME.to_json(orient="values"), "10|column 1||column 2|neg pos"),
    "JSON: NaN and null": (json.dumps(NAN), "6|text||label|0.0 1.0"),
    **{
        f"texts that begin with {start}": (
            commas("", lambda n, start=start: (f"{start} {A[n]}", "ab"[n % 2])),
            "10|column 1||column 2|a b",
        )
        for start in ("{name}", "[1]")
    },
    "decimals without a header": (commas("", lambda n: (A[n], SCORES[n])), "10|column 1||column 2|number"),
    "decimals with a comma": (lines(ten("text|score", lambda n: (A[n], f"{n},{n}")), ";"), "10|text||score|number"),
    "decimals of a program": (tabs("text|score", lambda n: (A[n], 4 if n % 2 else f"{n + 1}.125")), "10|text||score|number"),
    "percents": (tabs("text|score", lambda n: (TEXTS[n], f"{7 * n}.5%")), "10|text||score|number"),
    "STS-B without a header": (
        tabs("", lambda n: ("news", f"file{n % 3}", 2012 + n % 2, f"{n:04}", SCORES[n], A[n], B[n])),
        "10|column 6|column 7|column 5|number",
    ),
    "CoLA": (COLA, "10|column 4||column 2|0 1"),
    "pairs without a header": (tabs("", lambda n: (A[n], B[n], n % 2)), "10|column 1|column 2|column 3|0 1"),
    "IMDB": (commas("review|sentiment", lambda n: (f"{TEXTS[n]}<br />" * 40, ROWS[n][1])), "10|review||sentiment|neg pos"),
    "AG News": (commas("", lambda n: (n % 3 + 1, A[n], B[n]), **ALL), "10|column 2|column 3|column 1|1 2 3"),
    "Sentiment140": (
        commas("", lambda n: (n % 2 * 4, 10**9 + n, f"Mon Apr 06 22:19:{n + 10} PDT 2009", "NO", f"u{n}", TEXTS[n]), **ALL),
        "10|column 6||column 1|0 4",
    ),
}
CELLS = {  # of the columns of benchmarks; those that are not here are numbers of the row
    **dict.fromkeys(("sentence1", "sentence_A", "question1", "question", "#1 String"), lambda n: A[n]),
    **dict.fromkeys(("sentence2", "sentence_B", "question2", "#2 String"), lambda n: B[n]),
    **dict.fromkeys(("sentence", "text", "Review Text", "comment_text"), lambda n: TEXTS[n]),
    **dict.fromkeys(("label", "label1", "Quality", "is_duplicate", "toxic", "coarse_label"), lambda n: n % 2),
    **dict.fromkeys(("genre", "entailment_judgment", "airline_sentiment"), lambda n: ("a", "b")[n % 2]),
    **dict.fromkeys(("score", "relatedness_score", "airline_sentiment_confidence"), lambda n: SCORES[n]),
    "sentence1_parse": lambda n: f"( {A[n]} )",
    "sentence2_parse": lambda n: f"( {B[n]} )",
    "year": lambda n: 2012 + n % 2,
    "gold_label": lambda n: ("-", "neutral", "entailment")[n % 3],
    "obscene": lambda n: 0,
    "Title": lambda n: "",
    "Rating": lambda n: n % 2 + 4,
    "name": lambda n: f"u{n}",
    "fine_label": lambda n: n % 5,
}
NAMED = {  # the names of the columns: what is found
    "index|genre|year|sentence1|sentence2|score": "10|sentence1|sentence2|score|number",
    "Quality|#1 ID|#2 ID|#1 String|#2 String": "10|#1 String|#2 String|Quality|0 1",
    "id|qid1|qid2|question1|question2|is_duplicate": "10|question1|question2|is_duplicate|0 1",
    "index|question|sentence|label": "10|question|sentence|label|0 1",
    "index|genre|sentence1_parse|sentence2_parse|sentence1|sentence2|label1|gold_label": (
        "6|sentence1|sentence2|gold_label|entailment neutral"
    ),
    "gold_label|sentence1|sentence2|captionID": "6|sentence1|sentence2|gold_label|entailment neutral",
    "pair_ID|sentence_A|sentence_B|entailment_judgment|relatedness_score": "10|sentence_A|sentence_B|entailment_judgment|a b",
    "sentence|label": "10|sentence||label|0 1",
    "id|comment_text|toxic|obscene": "10|comment_text||toxic|0 1",
    "Clothing ID|Age|Title|Review Text|Rating": "10|Review Text||Rating|4 5",
    "tweet_id|airline_sentiment|airline_sentiment_confidence|name|text": "10|text||airline_sentiment|a b",
    "text|coarse_label|fine_label": "10|text||coarse_label|0 1",
}
for names, expected in NAMED.items():
    OTHERS[names] = (
        tabs(names, lambda n, names=names: [CELLS.get(name, lambda n: 1_000 + n)(n) for name in names.split("|")]),
        expected,
    )
FILES = {name: (data, "10|text||label|neg pos") for name, data in USUAL.items()} | OTHERS


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_its_owner_means_it(write, name):
    data, expected = FILES[name]
    rows, text, text_b, label, labels = expected.split("|")
    found = explorer.read_examples(write(data))
    assert (found.text, found.text_b, found.label) == (text, text_b, label), found.notes
    assert found.rows == len(found.examples) == int(rows), found.notes
    assert (found.kind, found.labels) == (("number", []) if labels == "number" else ("classes", labels.split()))
    assert any(column and repr(column) in note for note in found.notes for column in (text, label)), "the guess is stated"


@pytest.mark.parametrize("nothing", ["nan", "NaN", "NA", "null", "", "N/A", "<NA>", "none"])
@pytest.mark.parametrize("others", [("1.0", "0.0"), ("1", "0")])
def test_labels_that_are_missing_are_left_out_and_counted(write, nothing, others):
    rows = ten("text|label", lambda n: (TEXTS[n], nothing if n % 5 == 2 else others[n % 2]))
    found = explorer.read_examples(write(written(rows)))
    assert (found.rows, found.labels) == (8, sorted(others))
    assert any(note.startswith("2 rows without a text or a label left out") for note in found.notes)


RARE = lines([("text", "label"), *((f"text {row}", "ham" if row > 1 else "spam") for row in range(200))])
NOTED = [
    (SPAM, "3 empty columns dropped."),
    (LOOSE, "A quotation mark opens a cell and is not closed in rows 3, 7, 11"),
    (OVER_LINES, "contains commas and line breaks in rows 2, 3, 4"),
    (CSV + "one, two, three,other\n", "contains the delimiter in row 12: its cells are joined"),
    (SEP, "sep=;, names the delimiter"),
    (ONCE, "1 row whose label occurs once left out ('mixed')"),
    (RARE, "198 of 200 examples have the label 'ham'"),
    (written([*HEADED, *ROWS]), "10 texts are repeats; equal texts are never split."),
    (UNQUOTED, "contains the delimiter in rows 4, 5"),
    (TITLED, "What is above the table is skipped."),
    (BROKEN, "UTF-8 with 1 broken character."),
    (COLA, "The first row is data"),
    (tabs("text|score", lambda n: (A[n], n / 2)), "a number is learned"),
    (PARTS, "'test' left out"),
    (tabs("text|price", lambda n: (A[n], f"1,0{n}0" if n > 4 else 180 * n)), "1,050 is read as 1050."),
    (tabs("text|price", lambda n: (A[n], f"1.0{n}0" if n > 4 else 180 * n)), "1.050 is read as 1050."),
]


@pytest.mark.parametrize(("data", "note"), NOTED, ids=[note for _, note in NOTED])
def test_what_was_guessed_or_left_out_is_noted(write, data, note):
    notes = explorer.read_examples(write(data)).notes
    assert any(note in one for one in notes), notes


REFUSED = [
    (written([("text", "label"), *((text, "pos") for text in TEXTS)]), "All examples have the label 'pos'"),
    (json.dumps({"version": "2.0", "data": [{"title": "a", "paragraphs": [{"context": "x"}]}]}), "questions on texts"),
    (tabs("question|context|answer", lambda n: (f"Who {n}?", TEXTS[n], TEXTS[n][:6])), "not in SQuAD"),
    (json.dumps(dict(ROWS)), "shape of JSON"),
    (str(RECORDS), "not valid JSON"),
    ('[\n {"text": "a"},\n]', "not valid JSON: trailing comma at line 3"),
    (tabs("text|label", lambda n: (TEXTS[n], ("NA", "EU")[n % 2])), "'EU': 5 rows without a text or a label"),
    ("[1, 2, 3]", "shape of JSON"),
    (json.dumps([{"data": {"text": text}, "label": [label]} for text, label in ROWS]), "A column has JSON objects"),
    (tabs("text|label", lambda n: (TEXTS[n], ("27", "3", "3,10")[n % 3])), "decimals or another label"),
    (tabs("text|price", lambda n: (TEXTS[n], f"1,0{n}0")), "is before thousands"),
    ('{"text": ["a", "b"], "label": ["x"]}', "shape of JSON"),
    ('{"text": "a", "label": "x"}\n{"text": "b", "lab', "Line 2"),
    (lines([["text"], *([text] for text in TEXTS)]), "only one column"),
    (bytes(range(256)) * 8, "not text"),
    (b'""\n""', "no rows"),
]


@pytest.mark.parametrize(("data", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_a_file_without_examples_is_refused_in_a_true_sentence(write, refusal, data, said):
    assert said in refusal(InputError, lambda: explorer.read_examples(write(data)))


def test_no_file_or_one_of_another_kind_is_a_sentence(tmp_path, write, refusal):
    refusal(InputError, lambda: explorer.read_examples(tmp_path / "none.csv"))
    tagged = write("Ada\tB-PER\nsings\tO\n\nTom\tB-PER\nsleeps\tO\n", "sent")
    assert "words with tags" in refusal(InputError, lambda: explorer.read_examples(tagged))


def test_the_guess_can_be_changed(write):
    path = write(written([("good day", "a"), *ROWS]))
    assert explorer.read_examples(path, names=False).rows == 10, "its label occurs once"
    assert explorer.read_examples(path, names=True).text == "good day"
    pairs = write(OTHERS["pairs without a header"][0])
    assert explorer.read_examples(pairs, text_b="").examples.texts_b == ()
    assert explorer.read_examples(pairs, text="column 2", text_b="").examples.texts == tuple(B)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_one_column_and_keep_their_quotation_marks(end):
    texts = ['"Really?" he said.', "Yes, it is", 'He said "no" twice', "5; 6", "C:\\new"]
    assert [row[0] for row in parse_table(end.join(["text", *texts]).encode()).rows] == texts
    escaped = [text.replace("\\", "\\\\").replace('"', '\\"') for text in texts]
    assert [row[0] for row in parse_table(end.join(f'"{text}"' for text in ["text", *escaped]).encode()).rows] == texts
    mysql = "text,label\n" + '"He said \\"no\\",\\nand left",x\n' * 3
    assert parse_table(mysql.encode()).rows[0][0] == 'He said "no",\nand left'


CELL = st.text("ab é.,;|\t'\"\n-1", min_size=1, max_size=12).map(lambda said: f"x{said}y")
DIALECTS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from(",;\t|"),
        "quoting": st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
        "end": st.sampled_from(["\n", "\r\n"]),
    }
)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(
    texts=st.lists(CELL, min_size=12, max_size=30),
    dialect=DIALECTS,
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
    headed=st.booleans(),
)
def test_any_dialect_is_read_back_equal(texts, dialect, encoding, headed):
    rows = [(text, ("yes", "no", "perhaps")[row % 3]) for row, text in enumerate(texts)]
    data = written([("text", "label"), *rows] if headed else rows, **dialect).encode(encoding)
    table = parse_table(data)
    assert list(table.rows) == rows, table.notes
    assert table.headed == headed


HOSTILE = {
    "spaces": "a," + " " * 200_000 + "x\nb,c\n",
    "one letter": "a" * 200_000,
    "quotes": '"' * 200_000,
    "all delimiters": '",;|\t' * 40_000,
    "lines that open a quote": '"x,a\n' * 24_000,
    "a quote that swallows the rest": 'text,label\n"x,a\n' + "row,b\n" * 24_000,
    "objects in objects": '{"a":' * 40_000,
    "a list of numbers": "[" + "1," * 100_000 + "1]",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_time_grows_with_the_length_of_a_file_and_not_its_square(data):
    quarter, whole = (min(seconds(parse_table, part.encode()) for _ in range(2)) for part in (data[: len(data) // 4], data))
    assert whole < 8 * quarter + 0.2, "4 times as much text, 16 times the work"
