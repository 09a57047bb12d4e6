"""Every view of every tab as a file of its own: it is made, holds the values, asks nobody, and no text in it is markup."""

import json
import re
from dataclasses import replace

import pytest

import explorer
from explorer.export import contents, page_file
from explorer.tabs import VIEWS
from explorer.ui.pictures.components import COMPONENTS
from explorer.ui.subject import Subject
from tests.pages import Reader

pytestmark = pytest.mark.usefixtures("few_sentences")

HOSTILE = "the man </script><script>alert(1)</script> <img src=x onerror=alert(2)> ${alert(3)} [MASK] {style} \\u003c."
MOST_BYTES = 1_500_000


@pytest.fixture(scope="module")
def subject(bundled):
    return Subject.of(bundled.trace(HOSTILE, "he bought <b>milk</b>."))


def test_every_kind_of_part_is_drawn_or_left_out():
    known = COMPONENTS.keys() | contents.WORDS.keys() | set(contents.ONLY_LIVE)
    assert {part.kind for view in VIEWS.values() for part in view.parts.values()} <= known


def test_a_file_has_plotly_only_for_a_chart(subject):
    view = VIEWS["attention/head"]()
    assert 'data-theme="dark"' in page_file.html([view], subject, theme="dark")
    assert 'data-theme=""' in page_file.html([view], subject, theme='"><script>')
    lines = page_file.html([VIEWS["attention/head"](look="Lines")], subject)
    assert len(lines) < 300_000
    assert "bx-plotly" not in lines.split("<script>")[0]
    assert "bx-plotly" in page_file.html([view], subject).split("<script>")[0]


def test_a_head_of_bert_base_over_512_tokens_stays_small(make_tiny):
    sizes = {"num_hidden_layers": 12, "num_attention_heads": 12, "hidden_size": 48}  # as many weights
    trace = explorer.load(make_tiny(**sizes, initializer_range=0.02)).trace("the man went to the store . " * 90)
    assert (trace.kept, *trace.hidden_states.shape[:1]) == (512, 13)
    for look in ("Heatmap", "Lines"):
        views = [VIEWS["attention/heads"](), VIEWS["attention/head"](look=look)]
        written = page_file.html(views, Subject.of(trace))
        assert len(re.sub('id="bx-plotly">.*?<', "", written).encode()) < MOST_BYTES


def flow_in(side):
    """The value of the Overview's picture in the data of a file."""
    return next(part["value"] for part in side["views"][0]["parts"] if part["kind"] == "flow")


def test_a_file_of_the_overview_has_every_layer_unfolded_and_offers_nothing_that_needs_a_server(subject):
    view = VIEWS["overview/routes"]()
    (side,) = Reader(page_file.html([view], subject)).data["sides"]
    value = flow_in(side)
    there = contents.open_subject([view], subject)
    each = [replace(view, zoom=(layer,)).compute(there)["picture"]["zoom"]["layer"] for layer in range(1, 7)]
    assert value["layers"] == json.loads(json.dumps(each)), "what the app shows when its title is clicked"
    assert all(one["neurons"]["list"] for one in each), "which it has found for the file"
    assert value["zoom"] is None
    assert "look inside" in value["said"]
    assert not re.search("cut|hide|switch", value["said"])


def test_only_a_file_and_a_notebook_have_them(subject):
    view = VIEWS["overview/routes"]()
    there = contents.open_subject([view], subject)
    assert "layers" not in view.compute(there)["picture"]
    assert "cut it" in view.compute(there)["picture"]["said"]
    followed = flow_in(page_file.data_of([view], subject, unfolded=False))
    assert followed["layers"] == [], "phones of a class have to be quick"
    assert "look inside" not in followed["said"]


def test_a_file_asks_nobody_to_click_what_it_cannot_answer(subject):
    (grid,) = [part for part in contents.describe_view(VIEWS["attention/heads"](), subject)["parts"] if part["name"] == "about"]
    assert "One thumbnail per head" in grid["value"]
    assert "Click" not in grid["value"]
    assert "Click a thumbnail" in VIEWS["attention/heads"]().compute(subject)["about"]
