"""The numbers that leave with a view are those of the model, in full precision, whichever way they leave."""

import html
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from explorer.export import page_file
from explorer.export.notebook import Shown
from explorer.export.tables import TEXT, WITHOUT_NUMBERS, as_data, csv_of, tables_of
from explorer.fill_mask.guesses import Guesses
from explorer.fill_mask.lens import Lens
from explorer.tabs import TABS, VIEWS
from explorer.ui.pictures.numbers import Places, Table, identifier, matrix
from explorer.ui.subject import Selection, Subject
from explorer.ui.view import props
from tests.contents import A, B, opened
from tests.pages import Reader

pytestmark = pytest.mark.usefixtures("few_sentences")

NAMES = [kind.name for tab in TABS for kind in tab.views]


@pytest.fixture(scope="module")
def subject(contents):
    return contents.subject


@pytest.fixture(params=NAMES)
def seen(request, contents):
    """A view, what it is about, and what it shows."""
    shown = contents[request.param]
    assert not shown.view.unless(shown.subject)
    return shown.view, shown.subject, shown.content


def test_every_part_with_numbers_has_a_table_whose_csv_and_json_are_the_same_numbers(seen):
    view, subject, content = seen
    there = json.loads(json.dumps(as_data(view, subject, content, None), allow_nan=False))
    assert there["view"] == view.name
    assert there["texts"] == [A, B]
    assert not {"table", "drawn"} & set(there["settings"]), "they belong to a visitor"
    found = tables_of(view, content)
    for name, value in content.items():
        value = value() if callable(value) else value
        value = value.get("value") if isinstance(value, props) else value
        assert not value or name not in view.parts or view.parts[name].kind in (*WITHOUT_NUMBERS, "sentence") or name in found
    for name, table in found.items():
        assert len(set(table.columns)) == len(table.columns), name
        assert all(column and column == identifier(column) for column in table.columns), table.columns
        assert {len(row) for row in table.rows} == {len(table.columns)}, name
        assert {type(cell) for row in table.rows for cell in row} <= {str, int, float, bool, type(None)}, name
        part = there["tables"][name]
        assert [tuple(row) for row in part["rows"]] == table.rows
        assert part["columns"] == list(table.columns)
        frame = pd.DataFrame(part["rows"], columns=part["columns"])
        assert list(frame.columns) == list(table.columns)
        read = pd.read_csv(io.StringIO(csv_of(table)), keep_default_na=False, na_values=[""], dtype=texts(table))
        assert list(read.columns) == list(table.columns)
        assert len(read) == len(frame)
        for place, column in enumerate(read.columns):
            wanted = [row[place] for row in table.rows]
            if not any(isinstance(cell, str) for cell in wanted):
                numbers = [np.nan if cell is None else float(cell) for cell in wanted]
                np.testing.assert_array_equal(read[column].astype(float), numbers)
                continue
            assert [plainly(cell) for cell in read[column]] == ["" if cell is None else str(cell) for cell in wanted]


def test_it_is_a_page_that_asks_nobody_and_a_frame_in_a_notebook(seen, monkeypatch):
    view, subject, content = seen
    monkeypatch.setattr(type(view), "open", lambda *_: content)
    side = page_file.data_of([view], subject)
    (made,) = side["views"]
    assert made["parts"] or made["note"], "something is seen, or it is told why not"
    shown = Shown((side,))
    frame = shown._repr_html_()
    text = html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1])
    read = Reader(text)
    assert set(read.tags) <= {"html", "head", "meta", "title", "link", "style", "body", "main", "script"}
    assert read.tags.count("script") == len(read.scripts) <= 3, "no text ends a script or begins one"
    assert not [value for name, value in read.attributes if name in ("src", "href", "action") and value != "data:,"]
    assert "connect-src" not in text.split("<title>")[0], "what the policy does not name it forbids"
    assert not re.search(r"@import|url\(\s*['\"]?https?:", text.split("</style>")[0])
    (there,) = read.data["sides"]
    assert there["texts"] == [A, B]
    told = {part["name"]: part["value"] for part in there["views"][0]["parts"]}
    assert told == json.loads(json.dumps({part["name"]: part["value"] for part in made["parts"]}))
    texts = [part["value"] for part in made["parts"] if part["kind"] == "prose"]
    assert not [text for text in texts if re.search(r"(^|[.] )Click (?![^.]*sort)", text)], "nobody answers a click"
    assert frame.count("<iframe") == frame.count("</iframe>") == frame.count("<script") == 1
    assert "sandbox=" in frame
    assert "allow-same-origin" not in frame
    assert view.question in repr(shown)


def texts(table):
    """The columns that hold a text, which pandas must not take for numbers: a token may be '1932'."""
    return {name: str for place, name in enumerate(table.columns) if any(isinstance(row[place], str) for row in table.rows)}


def plainly(cell):
    """A cell of a CSV without the apostrophe that keeps a spreadsheet from running it."""
    text = "" if cell != cell else str(cell)
    return text[1:] if text[:1] == "'" and text[1:2] in set("=+-@\t") else text


def tables_in(view, subject):
    return tables_of(view, view.compute(subject))


def frame(name, subject, **settings):
    found = tables_in(opened(name, subject, **settings), subject)
    table = next(table for table in found.values() if table.columns != TEXT)
    return pd.DataFrame(table.rows, columns=table.columns)


@pytest.mark.parametrize("look", ["Heatmap", "Lines"])
def test_attention_is_that_of_transformers(bundled, subject, eager, look):
    _, output = eager(bundled, A, B)
    numbers = frame("attention/head", subject, look=look)
    weights = numbers.pivot(index="query_position", columns="key_position", values="weight").to_numpy()
    np.testing.assert_allclose(weights, output.attentions[3][0, 6].numpy(), atol=1e-5)
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
    assert (set(numbers["layer"]), set(numbers["head"])) == ({4}, {7})
    assert numbers.groupby("query_position")["query"].first().tolist() == list(subject.trace.tokens)


def test_a_long_input_keeps_every_weight_though_its_picture_has_a_byte_a_cell(bundled):
    subject = Subject.of(bundled.trace("the cat sat on the mat. " * 40), Selection(layer=2, head=3, picked=True))
    numbers = frame("attention/head", subject)
    kept_tokens = subject.trace.kept
    assert kept_tokens > 160
    assert set(numbers["query"]) == set(subject.trace.tokens)
    weights = numbers["weight"].to_numpy().reshape(kept_tokens, kept_tokens)
    np.testing.assert_array_equal(weights.astype(np.float32), subject.trace.attention(1)[2])


def test_hidden_states_are_those_of_transformers(bundled, subject, eager):
    _, output = eager(bundled, A, B)
    state = output.hidden_states[4][0].numpy()
    np.testing.assert_allclose(subject.trace.hidden_states[4], state, atol=1e-4)
    alike = frame("hidden/one-layer", subject).pivot(index="position", columns="other_position", values="cosine")
    unit = state / np.linalg.norm(state, axis=1, keepdims=True)
    np.testing.assert_allclose(alike, unit @ unit.T, atol=1e-5)
    measure = opened("hidden/every-layer", subject).settings["measure"].values[2]
    norms = frame("hidden/every-layer", subject, measure=measure).pivot(index="hidden_state", columns="position", values="norm")
    wanted = [np.linalg.norm(one[0].numpy(), axis=1) for one in output.hidden_states]
    np.testing.assert_allclose(norms, wanted, rtol=1e-4)
    assert list(norms.index) == list(range(7))


def test_guesses_and_lens_are_those_of_transformers(bundled, subject, eager):
    _, output = eager(bundled, A, B)
    guesses = frame(Guesses.name, subject, top_k=7)
    for position in subject.trace.mask_positions:
        here = guesses[guesses["position"] == position]
        shares = output.prediction_logits[0, position].softmax(-1)
        assert here["id"].tolist() == shares.topk(7).indices.tolist()
        np.testing.assert_allclose(here["probability"], shares.topk(7).values, atol=1e-5)
        np.testing.assert_allclose(here["logit"], output.prediction_logits[0, position].topk(7).values, atol=1e-4)
    lens = frame(Lens.name, subject)
    last = lens[lens["hidden_state"] == 6]
    assert last["id"].tolist() == output.prediction_logits[0].argmax(-1).tolist()
    shares = output.prediction_logits[0].double().softmax(-1)  # in single precision torch's own is 3e-5 off
    np.testing.assert_allclose(last["probability"], shares.max(-1).values, atol=1e-5)
    assert (last["rank_of_final_guess"] == 1).all()


def test_what_a_spreadsheet_would_run_is_a_text():
    hostile = ["=1+1", "+1", "-2", "@SUM(A1)", "\tx", 'a "quoted", cell', "two\nlines", "null", "plain"]
    written = csv_of(Table.of(("token", "value"), [[text, -0.1] for text in hostile]))
    lines = written.split("\r\n")
    assert lines[1] == "'=1+1,-0.1"
    read = pd.read_csv(io.StringIO(written), keep_default_na=False, na_values=[""])
    assert [plainly(cell) for cell in read["token"]] == hostile
    assert (read["value"] == -0.1).all()


def test_where_nothing_is_drawn_there_is_no_table(bundled):
    alone = Subject.of(bundled.trace("one text alone."), Selection(layer=1, head=1, picked=True))
    direction = VIEWS["attention/head"].settings["direction"].values[2]
    assert "heatmap" not in tables_in(opened("attention/head", alone, direction=direction), alone)
    empty = matrix(np.full((2, 2), np.nan), Places.of("a", [1, 2]), Places.of("b", ["x", "y"]), "value")
    assert (empty.columns, len(empty), empty.rows) == (("a", "b", "value"), 0, [])
    assert Table.of(("a", "b"), [[float("inf"), np.float32(1.5)]]).rows == [(None, 1.5)]
