"""Files of labelled texts as people have them: benchmarks, spreadsheets, exports, and what is wrong with them."""

import csv
import io
import json
import time
from contextlib import suppress

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer
from explorer.core.errors import InputError
from explorer.text.tables import parse_table

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
PREMISES = [f"{text}, said neighbour {number}" for number, text in enumerate(TEXTS)]
ANSWERS = [f"Neighbour {number} spoke of {text.lower()}" for number, text in enumerate(TEXTS)]


def lines(rows, delimiter="\t", end="\n"):
    """Rows without any quoting."""
    return end.join(delimiter.join(map(str, row)) for row in rows)


def written(rows, end="\r\n", **dialect):
    """Rows as Python's csv module writes them."""
    file = io.StringIO()
    csv.writer(file, lineterminator=end, **dialect).writerows(rows)
    return file.getvalue()


def several(cells, **others):
    """Rows of a benchmark: the number of the row, what is in `others` in turn, then these columns."""
    return [[row, *(values[row % len(values)] for values in others.values()), *given] for row, given in enumerate(cells)]


def benchmark(names, cells, **others):
    return lines([[*names.split("|")], *several(cells, **others)])


PAIRED = [[a, b, row % 2] for row, (a, b) in enumerate(zip(PREMISES, ANSWERS, strict=True))]
SCORED = [[*row[:2], f"{number * 0.48:.3f}"] for number, row in enumerate(PAIRED)]
FRAME = pd.DataFrame(ROWS, columns=["text", "label"])
SPAM = written([["v1", "v2", "", "", ""], *([label, f"{text} £5", "", "", ""] for text, label in ROWS)]).encode("cp1252")
LOOSE = lines([("text", "label"), *((f'"{text}' if row % 4 == 1 else text, label) for row, (text, label) in enumerate(ROWS))])
VERBS = ("likes", "hates", "eats", "drinks", "brings", "sells")

# what it is: (the file, "rows used|text|second text|label|labels or number")
FILES = {
    "Kaggle's header with empty cells": (SPAM, "10|v2||v1|neg pos"),
    "the same in UTF-16 with a mark": (SPAM.decode("cp1252").encode("utf-16"), "10|v2||v1|neg pos"),
    "a label first and no header": (lines([row[::-1] for row in ROWS]), "10|column 2||column 1|neg pos"),
    "quotes that are never closed": (LOOSE, "10|text||label|neg pos"),
    "one quote in a file of commas": (
        written([("text", "label"), *ROWS, *ROWS]).replace("I fell", '"I fell', 1),
        "20|text||label|neg pos",
    ),
    "decimals without a header": (
        written([(text, f"{row * 0.7 % 5:.3f}") for row, text in enumerate(PREMISES)]),
        "10|column 1||column 2|number",
    ),
    "decimals with a comma": (
        lines([("text", "score"), *((text, f"{row},{row}") for row, text in enumerate(PREMISES))], ";"),
        "10|text||score|number",
    ),
    "decimal commas without a header, quoted": (
        written([(text, f"{row},5") for row, text in enumerate(PREMISES)], quoting=csv.QUOTE_ALL),
        "10|column 1||column 2|number",
    ),
    "Excel's sep=": ("sep=;\r\n" + lines([("text", "label"), *ROWS], ";", "\r\n"), "10|text||label|neg pos"),
    "Excel's sep=, in UTF-8 with a mark": (
        ("\ufeffsep=,\n" + written([("text", "label"), *ROWS])).encode(),
        "10|text||label|neg pos",
    ),
    "quotes after backslashes": (
        written(
            [("text", "label"), ('He said "no", twice', "neg"), *ROWS], doublequote=False, escapechar="\\", quoting=csv.QUOTE_ALL
        ),
        "11|text||label|neg pos",
    ),
    "single quotes": (written([("text", "label"), *ROWS], quotechar="'", quoting=csv.QUOTE_ALL), "10|text||label|neg pos"),
    "old Mac's line ends": (written([("text", "label"), *ROWS], "\r"), "10|text||label|neg pos"),
    "pandas' index": (FRAME.to_csv(), "10|text||label|neg pos"),
    "columns that pandas numbered": (pd.DataFrame(ROWS).to_csv(index=False), "10|0||1|neg pos"),
    "UTF-16 without a mark": (lines([("text", "label"), *ROWS]).encode("utf-16-le"), "10|text||label|neg pos"),
    "UTF-16, big-endian, without a mark": (lines([("text", "label"), *ROWS]).encode("utf-16-be"), "10|text||label|neg pos"),
    "texts in braces": (
        written([(f"{{name}} {word}", "ab"[row % 2]) for row, word in enumerate(VERBS)]),
        "6|column 1||column 2|a b",
    ),
    "texts with references": (
        written([(f"[{row}] {word}", "ab"[row % 2]) for row, word in enumerate(VERBS)]),
        "6|column 1||column 2|a b",
    ),
    "texts that begin like a list": (
        written([(f"[1, 2] {word}", "ab"[row % 2]) for row, word in enumerate(VERBS)]),
        "6|column 1||column 2|a b",
    ),
    "JSON: columns": (json.dumps({"text": TEXTS, "label": [row[1] for row in ROWS]}), "10|text||label|neg pos"),
    **{
        f"JSON: pandas, {orient}": (FRAME.to_json(orient=orient), "10|text||label|neg pos")
        for orient in ("columns", "index", "records", "split", "table")
    },
    "JSON: pandas, values": (FRAME.to_json(orient="values"), "10|column 1||column 2|neg pos"),
    "JSON: pandas, lines": (FRAME.to_json(orient="records", lines=True), "10|text||label|neg pos"),
    "JSON: wrapped": (json.dumps({"version": 1, "data": FRAME.to_dict("records")}), "10|text||label|neg pos"),
    "JSON: parts": (
        json.dumps({"test": [{"text": "x", "label": "y"}], "train": FRAME.to_dict("records")}),
        "10|text||label|neg pos",
    ),
    "JSON: the Hub's viewer": (
        json.dumps(
            {
                "features": [{"name": "text"}],
                "rows": [{"row_idx": n, "row": {"text": t, "label": i}} for n, (t, i) in enumerate(ROWS)],
            }
        ),
        "10|text||label|neg pos",
    ),
    "STS-B": (
        benchmark(
            "index|genre|filename|year|old_index|source1|source2|sentence1|sentence2|score",
            SCORED,
            **{"genre": ["news", "forum"], "file": ["a"], "year": [2012, 2014], "old": range(10), "s1": ["none"], "s2": ["none"]},
        ),
        "10|sentence1|sentence2|score|number",
    ),
    "STS-B without a header": (
        lines([["news", f"file{row % 3}", 2012 + row % 2, f"{row:04}", score, a, b] for row, (a, b, score) in enumerate(SCORED)]),
        "10|column 6|column 7|column 5|number",
    ),
    "MRPC": (
        lines(
            [
                ["Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"],
                *([y, 10 + row, 99 - row, a, b] for row, (a, b, y) in enumerate(PAIRED)),
            ]
        ),
        "10|#1 String|#2 String|Quality|0 1",
    ),
    "QQP": (
        benchmark("id|qid1|qid2|question1|question2|is_duplicate", PAIRED, qid1=range(10), qid2=range(20, 30)),
        "10|question1|question2|is_duplicate|0 1",
    ),
    "QNLI": (benchmark("index|question|sentence|label", PAIRED), "10|question|sentence|label|0 1"),
    "RTE and WNLI": (benchmark("index|sentence1|sentence2|label", PAIRED), "10|sentence1|sentence2|label|0 1"),
    "MNLI": (
        benchmark(
            "index|promptID|genre|sentence1_parse|sentence2_parse|sentence1|sentence2|label1|gold_label",
            [[f"( {a} )", f"( {b} )", a, b, y, y] for a, b, y in PAIRED],
            prompt=range(10),
            genre=["fiction", "travel"],
        ),
        "10|sentence1|sentence2|gold_label|0 1",
    ),
    "SNLI": (
        lines(
            [
                ["gold_label", "sentence1", "sentence2", "captionID"],
                *([("-", "neutral", "entailment")[row % 3], a, b, row] for row, (a, b, _) in enumerate(PAIRED)),
            ]
        ),
        "6|sentence1|sentence2|gold_label|entailment neutral",
    ),
    "SICK": (
        lines(
            [
                ["pair_ID", "sentence_A", "sentence_B", "entailment_judgment", "relatedness_score"],
                *([n, a, b, ("NEUTRAL", "ENTAILMENT")[y], n / 3] for n, (a, b, y) in enumerate(PAIRED)),
            ]
        ),
        "10|sentence_A|sentence_B|entailment_judgment|ENTAILMENT NEUTRAL",
    ),
    "CoLA": (
        lines([[f"gj{row % 4}", row % 2, "*" * (row % 2), text] for row, text in enumerate(TEXTS)]),
        "10|column 4||column 2|0 1",
    ),
    "SST-2": (lines([("sentence", "label"), *((text, row % 2) for row, text in enumerate(TEXTS))]), "10|sentence||label|0 1"),
    "pairs without a header": (lines(PAIRED), "10|column 1|column 2|column 3|0 1"),
    "IMDB": (
        written([("review", "sentiment"), *((f"{text}<br />" * 40, label) for text, label in ROWS)]),
        "10|review||sentiment|neg pos",
    ),
    "AG News": (
        written([(row % 3 + 1, a, b) for row, (a, b, _) in enumerate(PAIRED)], quoting=csv.QUOTE_ALL),
        "10|column 2|column 3|column 1|1 2 3",
    ),
    "Yelp": (
        written([(row % 2 + 1, f"{text}\\n{text}") for row, text in enumerate(TEXTS)], quoting=csv.QUOTE_ALL),
        "10|column 2||column 1|1 2",
    ),
    "Sentiment140": (
        written(
            [
                (row % 2 * 4, 1467810369 + row, f"Mon Apr 06 22:19:{row + 10} PDT 2009", "NO_QUERY", f"user{row}", text)
                for row, text in enumerate(TEXTS)
            ],
            quoting=csv.QUOTE_ALL,
        ),
        "10|column 6||column 1|0 4",
    ),
    "toxic comments": (
        written(
            [("id", "comment_text", "toxic", "obscene"), *((f"{row:08x}f", text, row % 2, 0) for row, text in enumerate(TEXTS))]
        ),
        "10|comment_text||toxic|0 1",
    ),
    "a survey": (
        written(
            [
                ("Clothing ID", "Age", "Title", "Review Text", "Rating"),
                *((row, 30 + row, "", text, row % 2 + 4) for row, text in enumerate(TEXTS)),
            ]
        ),
        "10|Review Text||Rating|4 5",
    ),
    "airline tweets": (
        written(
            [
                ("tweet_id", "airline_sentiment", "airline_sentiment_confidence", "name", "text"),
                *((10**9 + row, label, 0.3 + row / 20, f"u{row}", text) for row, (text, label) in enumerate(ROWS)),
            ]
        ),
        "10|text||airline_sentiment|neg pos",
    ),
    "tweet_eval": (json.dumps(FRAME.to_dict("records"), indent=1), "10|text||label|neg pos"),
    "TREC": (
        written([("text", "coarse_label", "fine_label"), *((text, row % 2, row % 5) for row, text in enumerate(TEXTS))]),
        "10|text||coarse_label|0 1",
    ),
    "emotion": (lines(ROWS, ";"), "10|column 1||column 2|neg pos"),
    "a header that comes again": (written([("text", "label"), *ROWS, ("text", "label"), *ROWS]), "20|text||label|neg pos"),
    "a label that occurs once": (written([("text", "label"), *ROWS, ("Hm.", "mixed")]), "10|text||label|neg pos"),
    "quotes after spaces": ("\n".join(f'"{a}", "{b}"' for a, b in [("text", "label"), *ROWS]), "10|text||label|neg pos"),
    "commas without quotes": (lines([("text", "label"), *ROWS], ","), "10|text||label|neg pos"),
    "a title above the table": ("My reviews\n\n" + written([("text", "label"), *ROWS]), "10|text||label|neg pos"),
    "UTF-8 with a byte that is not": (
        written([("text", "label"), *((f"{text}, café", label) for text, label in ROWS)]).encode() + b"na\xefve,pos\n",
        "11|text||label|neg pos",
    ),
    "thousands": (
        lines([("text", "score"), *((text, f"1.{row}00,5") for row, text in enumerate(TEXTS))], ";"),
        "10|text||score|number",
    ),
    "percents": (
        lines([("text", "score"), *((text, f"{7 * row}.5%") for row, text in enumerate(TEXTS))]),
        "10|text||score|number",
    ),
    "JSON: columns, wrapped": (
        json.dumps({"data": {"text": TEXTS, "label": [label for _, label in ROWS]}}),
        "10|text||label|neg pos",
    ),
    "JSON: wrapped twice": (json.dumps({"data": {"rows": FRAME.to_dict("records")}}), "10|text||label|neg pos"),
    "JSON: pandas, rows with names": (
        FRAME.set_index(pd.Index([f"r{row}" for row in range(10)])).to_json(orient="index"),
        "10|text||label|neg pos",
    ),
    "texts over several lines": (
        written([("text", "label"), *((f"{text}\nSo, yes", label) for text, label in ROWS)]),
        "10|text||label|neg pos",
    ),
}


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
    rows = [(text, nothing if row % 5 == 2 else others[row % 2]) for row, text in enumerate(TEXTS)]
    found = explorer.read_examples(write(written([("text", "label"), *rows])))
    assert found.rows == 8
    assert found.labels == sorted(others)
    assert any(note.startswith("2 rows without a text or a label left out") for note in found.notes)


def test_the_nan_of_json_is_no_label(write):
    rows = [{"text": text, "label": (1.0, 0.0, float("nan"), None)[row % 4]} for row, text in enumerate(TEXTS)]
    found = explorer.read_examples(write(json.dumps(rows)))
    assert found.rows == 6
    assert found.labels == ["0.0", "1.0"]


NOTED = {
    "empty columns": (SPAM, "3 empty columns dropped."),
    "a quote that is never closed": (LOOSE, "A quotation mark opens a cell and is not closed in rows 3, 7 and 11"),
    "a cell with delimiters and line breaks": (
        FILES["texts over several lines"][0],
        "contains commas and line breaks in rows 2, 3, 4",
    ),
    "more cells than columns": (written([("text", "label"), *ROWS]) + "one, two, three,other\n", "Row 12 has more than 2 cells"),
    "sep": (FILES["Excel's sep="][0], "sep=;, names the delimiter"),
    "a rare label": (FILES["a label that occurs once"][0], "1 row whose label occurs once left out ('mixed')"),
    "one label nearly always": (
        lines([("text", "label"), *((f"text {row}", "ham" if row > 1 else "spam") for row in range(200))]),
        "198 of 200 examples have the label 'ham'",
    ),
    "equal texts": (written([("text", "label"), *ROWS, *ROWS]), "10 texts are repeats; equal texts are never split."),
    "commas without quotes": (FILES["commas without quotes"][0], "contains the delimiter in rows 4 and 5"),
    "a title": (FILES["a title above the table"][0], "The first line above the table skipped."),
    "broken characters": (FILES["UTF-8 with a byte that is not"][0], "UTF-8 with 1 broken character."),
    "data in the first row": (FILES["CoLA"][0], "The first row is data"),
    "other parts": (FILES["JSON: parts"][0], "'test' left out"),
}


@pytest.mark.parametrize(("data", "note"), NOTED.values(), ids=NOTED)
def test_what_was_guessed_or_left_out_is_noted(write, data, note):
    notes = explorer.read_examples(write(data)).notes
    assert any(note in one for one in notes), notes


REFUSED = {
    "one label": (written([("text", "label"), *((text, "pos") for text in TEXTS)]), "All examples have the label 'pos'"),
    "SQuAD": (json.dumps({"version": "2.0", "data": [{"title": "a", "paragraphs": [{"context": "x"}]}]}), "questions on texts"),
    "a dictionary of texts": (json.dumps(dict(ROWS)), "shape of JSON"),
    "Python's own writing": (str(FRAME.to_dict("records")), "not valid JSON"),
    "numbers": ("[1, 2, 3]", "shape of JSON"),
    "columns of two lengths": ('{"text": ["a", "b"], "label": ["x"]}', "values"),
    "a line of JSON that is cut": ('{"text": "a", "label": "x"}\n{"text": "b", "lab', "Line 2"),
    "texts only": (lines([["text"], *([text] for text in TEXTS)]), "column with the labels"),
    "noise": (bytes(range(256)) * 8, "not text"),
}


@pytest.mark.parametrize(("data", "said"), REFUSED.values(), ids=REFUSED)
def test_a_file_without_examples_is_refused_in_a_true_sentence(write, refusal, data, said):
    refusal(InputError, lambda: explorer.read_examples(write(data)))
    with pytest.raises(InputError, match=said):
        explorer.read_examples(write(data))


def test_no_file_is_a_sentence(tmp_path, refusal):
    refusal(InputError, lambda: explorer.read_examples(tmp_path / "none.csv"))


def test_the_guess_can_be_changed(write):
    path = write(written([("good day", "a"), *((text, label) for text, label in ROWS)]))
    assert explorer.read_examples(path, names=False).rows == 10, "its label occurs once"
    assert explorer.read_examples(path, names=True).text == "good day"
    pairs = write(lines(PAIRED))
    assert explorer.read_examples(pairs, text_b="").examples.texts_b == ()
    assert explorer.read_examples(pairs, text="column 2", text_b="").examples.texts == tuple(ANSWERS)


LETTERS = "ab é.,;|\t'\"\n-1"
CELL = st.text(LETTERS, min_size=1, max_size=12).map(lambda said: f"x{said}y")
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
    "spaces": "a," + " " * 500_000 + "x\nb,c\n",
    "one letter": "a" * 500_000,
    "quotes": '"' * 500_000,
    "quotes and commas": '",' * 250_000,
    "all delimiters": '",;|\t' * 100_000,
    "lines that open a quote": '"x,a\n' * 60_000,
    "a quote that swallows the rest": 'text,label\n"x,a\n' + "row,b\n" * 60_000,
    "backslashes": '\\"' * 250_000,
    "brackets": "[" * 500_000,
    "objects in objects": '{"a":' * 100_000,
    "a list of numbers": "[" + "1," * 250_000 + "1]",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_time_grows_with_the_length_of_a_file_and_not_its_square(data):
    def seconds(part):
        best = float("inf")
        for _ in range(2):
            begun = time.thread_time()
            with suppress(InputError):
                parse_table(part.encode())
            best = min(best, time.thread_time() - begun)
        return best

    assert seconds(data) < 8 * seconds(data[: len(data) // 4]) + 0.2, "4 times as much text, 16 times the work"
