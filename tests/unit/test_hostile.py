"""Hostile input by every way into the app; with FUZZ=100 in the environment a hundred times as much, drawn at random."""

import base64
import os
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz import surfaces
from tests.fuzz.calls import Call, targets
from tests.fuzz.visitor import Visitor, Watch


def some(examples):
    """The same few examples each time, however long they take; others, and so many times as many, if FUZZ is a number."""
    times = os.environ.get("FUZZ")
    many = {"max_examples": examples // 3 * int(times or 1), "derandomize": not times}
    return settings(**many, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def visitor(served):
    visitor = Visitor(served, (str(Path(__file__).parents[2]), sys.prefix, "/runs-"))
    yield visitor
    visitor.others.look()


@pytest.fixture(scope="module")
def everything(visitor, tiny_folder):
    return targets(visitor, str(tiny_folder))


@pytest.fixture(scope="module")
def watch(served):
    return Watch(served)


@pytest.fixture(scope="module")
def run(tiny_folder):
    return surfaces.trained(tiny_folder)


@pytest.fixture(scope="module")
def run_in(tmp_path_factory):
    """A folder that the app runs in meanwhile."""
    before, folder = os.getcwd(), tmp_path_factory.mktemp("app")
    os.chdir(folder)
    yield folder
    os.chdir(before)


SURFACES = {  # every way in: how many examples, what it is made of, and the fixtures that this takes
    "endpoints": (100, surfaces.endpoints, "everything"),
    "handlers of the page": (120, surfaces.handlers, "everything"),
    "tables": (40, surfaces.tables, "everything"),
    "zips": (40, surfaces.zips, "everything", "run"),
    "links": (30, surfaces.opening, "everything"),
    "long runs": (60, surfaces.long_runs, "everything", "watch"),
    "headers of safetensors": (40, surfaces.headers, "visitor", "tiny_folder"),
    "folders with a model": (40, surfaces.folders, "visitor", "tiny_folder"),
    "revisions": (20, surfaces.revisions, "visitor", "tiny_folder"),
    "data sets": (40, surfaces.data_sets, "everything", "run_in"),
}


@pytest.mark.parametrize("name", SURFACES)
def test_whatever_comes_in_does_no_harm(request, name):
    """The answer to each example is checked."""
    examples, make, *needs = SURFACES[name]
    surface = make(*map(request.getfixturevalue, needs))

    @some(examples)
    @given(example=surface.examples)
    def send(example):
        surface.send(example)

    send()


BOMB = "~" + base64.urlsafe_b64encode(zlib.compress(b"a" * 20_000_000, 9)).decode()
FOUND = {
    "a click beside every cell": ("attention-heads-grid", {}, 0),
    "a click on a row that is none": ("attention-metrics-table", {"attention-view": "All heads by numbers"}, None),
    "a click in what is no longer open": ("attention-metrics-table", {"attention-view": "One head"}, 0),
    "a click on no token": ("strip", {}, None),
    "a click on a token that is not there": ("tokens-pieces-cards", {}, 10**6),
    "a click on no point": ("projection-map-chart", {}, "a"),
    "a click where nothing is blank": ("fill-mask-heads-board", {"text-a": "dog"}, []),
    "no text": ("next-sentence-method", {"text-a": None}, None),
    "half a character in a link": ("visited", {"visited": "1?a=\ud800&tab=\ud800&model=\ud800&set.marks=\ud800"}, None),
    "a bomb in a link": ("visited", {"visited": f"1?tab=projection&a={BOMB}&set.sentences={BOMB}&set.picked={BOMB}"}, None),
    "half a character in what was seen before": ("attention-look", {"link": "tab=attention&set.marks=\ud800"}, None),
    "half a character for a tab": (None, {"open-tab": "\ud800"}, None),
    "no file": ("projection-table", {}, None),
}


@pytest.mark.parametrize("found", FOUND.values(), ids=FOUND)
def test_what_was_found_once(everything, visitor, found):
    (element, values, index), sent = found, 0
    for target in [one for one in everything if one.element == element and not one.is_public and not one.streams]:
        elements = [visitor.components[place]["props"].get("elem_id") for place in target.inputs]
        if not values.keys() <= set(elements):
            continue
        data = [values.get(name, value) for name, value in zip(elements, target.first, strict=True)]
        target.send(Call(data, {"index": index, "value": ""}, queued=False))
        sent += 1
    assert sent
