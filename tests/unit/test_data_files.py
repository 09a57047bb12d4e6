"""The numbers of a link as CSV and JSON, over plain HTTP, read by pandas in one line."""

import json
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pytest

from explorer.core.errors import CapabilityError
from explorer.export import links, ways
from explorer.export.place import Place, seen_in
from explorer.export.tables import TEXT as SENTENCE
from explorer.export.tables import tables_of
from explorer.server.bounds import TAKE
from explorer.tabs import TABS
from explorer.ui.subject import Subject
from tests.fuzz.promises import check_sentence

pytestmark = pytest.mark.usefixtures("few_sentences")

TEXT = "v=1&a=A+dog+barked+at+the+[MASK].&b=It+was+loud."
HEAD = f"{TEXT}&tab=attention&layer=3&head=7"
READ = {"keep_default_na": False, "na_values": [""]}
TOKENS = ("position", "token", "kind", "segment")  # of a row of tokens
FROM_FILES = {"Saved runs"}  # which shows no numbers before a file is opened
CHOICES = [(tab, choice) for tab in TABS for choice in tab.choices if not tab.optional and choice not in FROM_FILES]


@pytest.fixture(scope="module")
def address(served):
    return lambda query, key="csv": f"{served}{TAKE}view.{key}?{query}"


def refused(url):
    with pytest.raises(HTTPError) as caught:
        urlopen(url, timeout=120)
    sentence = json.loads(caught.value.read())["error"]
    assert caught.value.code in (400, 404)
    check_sentence(sentence)
    return sentence


def test_pandas_reads_the_head_that_a_link_shows(address, bundled):
    numbers = pd.read_csv(address(HEAD), **READ)
    weights = numbers.pivot(index="query_position", columns="key_position", values="weight").to_numpy()
    trace = bundled.trace("A dog barked at the [MASK].", "It was loud.")
    np.testing.assert_allclose(weights, trace.attention(2)[6], atol=1e-6)  # added up by other threads
    assert set(numbers["layer"]) == {3}
    assert numbers["key"].tolist()[: trace.kept] == list(trace.tokens)


@pytest.mark.parametrize("part", ["grid", "attention-heads-grid"])
def test_a_part_goes_by_its_name_and_by_that_of_its_element(address, part):
    heads = pd.read_csv(address(f"{HEAD}&part={part}"), **READ)
    assert len(heads) == 6 * 12
    assert heads[["layer", "head"]].iloc[-1].tolist() == [6, 12]


def test_json_has_all_that_is_seen_together(address, bundled):
    with urlopen(address(HEAD, "json"), timeout=120) as answer:
        assert answer.headers["content-type"] == "application/json"
        assert 'filename="bert-explorer-attention-one-head.json"' in answer.headers["content-disposition"]
        views = {view["view"]: view for view in json.load(answer)["views"]}
    assert set(views) == {"attention/heads", "attention/what-if", "attention/head"}
    head = views["attention/head"]
    assert head["selection"] == {"layer": 3, "head": 7, "token": None}
    assert head["settings"]["look"] == "Heatmap"
    assert head["check"].startswith("✓")
    part = head["tables"]["heatmap"]
    same = pd.read_csv(address(HEAD), **READ)
    pd.testing.assert_frame_equal(pd.DataFrame(part["rows"], columns=part["columns"]), same, check_dtype=False, check_exact=True)


@pytest.mark.parametrize("text", ["the [MASK] sat on the mat.", "the cat sat on the mat."])
def test_a_csv_holds_what_its_place_is_about_and_not_the_tokens_above_it(bundled, text):
    subject = Subject.of(bundled.trace(text))
    for tab, choice in [(tab, choice) for tab, choice in CHOICES if tab.id in ("attention", "fill-mask", "hidden")]:
        place = Place(subject, tab.id, choice, tuple(kind() for kind in seen_in(tab, choice))).opened()
        try:
            tables = [table for view, content in ways.compute_views(place) for table in tables_of(view, content).values()]
        except CapabilityError:  # it asks for a pair
            continue
        columns = tuple(ways.one_table(place).decode().splitlines()[0].split(","))
        assert columns in [table.columns for table in tables]
        has_numbers = any(table.columns not in (SENTENCE, TOKENS) for table in tables)
        assert (columns == TOKENS) != has_numbers, (tab.id, choice)


def test_tokens_that_a_table_would_lose_are_there(address):
    text = "null nan true 1932 ' \" , ; - +"
    tokens = pd.read_csv(address(f"v=1&tab=tokens&a={quote(text)}&part=cards"), **READ)["token"].tolist()
    assert tokens[1:5] == ["null", "nan", "true", "1932"]
    assert "'-" in tokens, "a spreadsheet would run it"
    assert "'+" in tokens


def test_what_is_not_there_is_a_sentence(address, served):
    for choice in FROM_FILES:
        (tab,) = [tab for tab in TABS if choice in tab.choices]
        query = links.query(Place(Subject("bert-l6-h384-uncased", "Hi.", ""), tab.id, choice, ()))
        assert "This view shows no numbers" in refused(address(query))
    assert "grid" in refused(address(f"{HEAD}&part=picture"))
    assert "x" * 60 not in refused(address(f"{HEAD}&part={'x' * 10_000}"))
    assert refused(address("v=1&a=&tab=attention"))
    assert refused(address("v=1&a=Hello.&tab=own-head"))
    assert refused(f"{served}{TAKE}view.xlsx?{HEAD}")
