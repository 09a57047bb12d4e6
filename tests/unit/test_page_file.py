"""Every view of every tab as a file of its own: it is made, holds the values, asks nobody, and no text in it is markup."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import torch
import transformers

import explorer
from explorer.export import contents, page_file
from explorer.page import components
from explorer.page.controls import PARTS
from explorer.tabs import TABS, VIEWS
from explorer.ui.subject import Subject
from tests.conftest import VOCABULARY

pytestmark = pytest.mark.usefixtures("few_sentences")

HOSTILE = "the man </script><script>alert(1)</script> <img src=x onerror=alert(2)> ${alert(3)} [MASK] {style} \\u003c."
MOST_BYTES = 1_500_000
VIEW_NAMES = [view.name for tab in TABS for view in tab.views]


class Reader(HTMLParser):
    """Collects the tags of a page, and what stands in its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.scripts, self._open = [], [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag == "script":
            self._open = dict(attributes).get("id", "")

    def handle_endtag(self, tag):
        self._open = None if tag == "script" else self._open

    def handle_data(self, data):
        if self._open is not None:
            self.scripts[self._open] = self.scripts.get(self._open, "") + data

    @property
    def data(self):
        return json.loads(self.scripts["bx-data"])


@pytest.fixture(scope="module")
def subject(bundled):
    return Subject.of(bundled.trace(HOSTILE, "he bought <b>milk</b>."))


@pytest.mark.parametrize("name", VIEW_NAMES)
def test_a_view_is_one_page_that_asks_nobody(subject, name):
    view = VIEWS[name]()
    tab = next(tab for tab in TABS if type(view) in tab.views)
    if tab.needs and not getattr(subject.model.capabilities, tab.needs):
        with pytest.raises(explorer.CapabilityError):
            page_file.html([view], subject)
        return
    text = page_file.html([view], subject)
    read = Reader(text)
    assert set(read.tags) <= {"html", "head", "meta", "title", "link", "style", "body", "main", "script"}
    assert read.tags.count("script") == len(read.scripts) <= 3, "no text ends a script or begins one"
    assert not [value for name, value in read.attributes if name in ("src", "href", "action") and value != "data:,"]
    assert "connect-src" not in text.split("<title>")[0], "what the policy does not name it forbids"
    assert not re.search(r"@import|url\(\s*['\"]?https?:", text.split("</style>")[0])
    assert read.data["live"] is False, "nobody answers its clicks"
    (side,) = read.data["sides"]
    assert side["texts"] == [HOSTILE, "he bought <b>milk</b>."]
    (made,) = side["views"]
    assert made["parts"] or made["note"], "something is seen, or it is told why not"
    there = contents.opened([view], subject)
    whole = contents.shown(view, there)
    told = {part["name"]: page_file.unpacked(part["value"]) for part in made["parts"]}
    assert list(told) == [part["name"] for part in whole["parts"]]
    if not view.parts.keys() & {"drawing", "row"} and name.split("/")[0] in ("attention", "hidden", "inside-head"):
        assert told == json.loads(json.dumps({part["name"]: part["value"] for part in whole["parts"]}))


def test_the_page_draws_with_the_components_of_the_app():
    for kind, component in contents.COMPONENTS.items():
        made = PARTS[kind]
        assert made is getattr(components, component.name)
        assert dict(made.options) == dict(component.options)
        skeleton = getattr(made, "skeleton", "") if kind != "chart" else components.PlotlyChart().skeleton
        assert f"class='{component.classes}'" in skeleton
    known = contents.COMPONENTS.keys() | contents.WORDS.keys() | set(contents.ONLY_LIVE)
    assert {part.kind for view in VIEWS.values() for part in view.parts.values()} <= known


def test_one_matrix_needs_no_plotly_and_lines_do(subject):
    assert len(page_file.html([VIEWS["attention/head"]()], subject)) < 300_000
    assert "bx-plotly" not in page_file.html([VIEWS["hidden/one-layer"]()], subject).split("<script>")[0]
    assert "bx-plotly" in page_file.html([VIEWS["model/parameters"]()], subject).split("<script>")[0]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A model of the size of bert-base; to write and to read it takes two seconds."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("base") / "base"
    transformers.BertModel(transformers.BertConfig(vocab_size=len(VOCABULARY))).save_pretrained(folder)
    transformers.BertTokenizer(vocab={piece: i for i, piece in enumerate(VOCABULARY)}).save_pretrained(folder)
    return explorer.load(folder)


@pytest.mark.parametrize("look", ["Heatmap", "Lines"])
def test_a_head_of_bert_base_over_512_tokens_stays_small(base, look):
    trace = base.trace("the man went to the store . " * 90)
    assert (trace.kept, base.capabilities.layers, base.capabilities.heads) == (512, 12, 12)
    views = [VIEWS["attention/heads"](), VIEWS["attention/head"](look=look)]
    assert len(page_file.html(views, Subject.of(trace)).encode()) < MOST_BYTES


def flow_in(made):
    """The value of the Overview's picture in what a file is made of."""
    return next(part["value"] for part in made["parts"] if part["kind"] == "flow")


def test_a_file_of_the_overview_has_every_layer_unfolded_and_offers_nothing_that_needs_a_server(subject):
    view = VIEWS["overview/routes"]()
    (side,) = Reader(page_file.html([view], subject)).data["sides"]
    value = page_file.unpacked(next(part["value"] for part in side["views"][0]["parts"] if part["kind"] == "flow"))
    there = contents.opened([view], subject)
    each = [flow_in(contents.shown(replace(view, opened=(layer,)), there, live=True))["inside"] for layer in range(1, 7)]
    assert value["layers"] == json.loads(json.dumps(each)), "what the app shows when its title is clicked"
    assert value["inside"] is None
    assert "look inside" in value["said"]
    assert not re.search("cut|hide|switch", value["said"])


def test_only_a_file_and_a_notebook_have_them(subject):
    view = VIEWS["overview/routes"]()
    there = contents.opened([view], subject)
    assert "layers" not in view.compute(there)["picture"]
    assert "layers" not in flow_in(contents.shown(view, there, live=True))
    assert "cut it" in flow_in(contents.shown(view, there, live=True))["said"]
    followed = flow_in(page_file.data_of([view], subject, unfolded=False)["views"][0])
    assert followed["layers"] == [], "phones of a class have to be quick"
    assert "look inside" not in followed["said"]


def test_the_neurons_of_a_large_model_over_a_long_input_are_left_to_the_app(base):
    long, short = (Subject.of(base.trace("the man went to the store . " * times)) for times in (90, 1))
    view = VIEWS["overview/routes"]()
    layers = flow_in(page_file.data_of([view], long)["views"][0])["layers"]
    assert len(layers) == 12
    assert all(one["neurons"] == [] and "in the app" in one["why"] for one in layers)
    assert all(sum(head["share"] for head in one["heads"]) > 0 for one in layers)
    assert len(page_file.html([view], long).encode()) < MOST_BYTES
    assert "in the app" not in str(flow_in(page_file.data_of([view], short)["views"][0])["layers"])


def test_a_notebook_shows_the_overview(bundled):
    made = bundled.trace("The capital of Japan is [MASK].").show("overview/routes", token=6)
    value = flow_in(made.sides[0]["views"][0])
    assert [one["layer"] for one in value["layers"]] == [1, 2, 3, 4, 5, 6]
    assert {one["row"] for one in value["layers"]} == {6}
    assert "bx-flow" in made.html
    assert "“japan” in layer 6" in repr(made)
    long = bundled.trace("the man went to the store . " * 12).show("overview/routes")
    assert flow_in(long.sides[0]["views"][0])["said"].endswith("Click the title of a layer to look inside, for the chosen token.")


def test_a_link_of_the_app_stands_in_it_and_no_other(subject):
    view = VIEWS["attention/head"]()
    there = Reader(page_file.html([view], subject, "http://localhost:7860/?a=x&b=<y>")).data
    assert there["sides"][0]["address"] == "http://localhost:7860/?a=x&b=<y>"
    assert Reader(page_file.html([view], subject, "javascript:alert(1)")).data["sides"][0]["address"] == ""
    assert 'data-theme="dark"' in page_file.html([view], subject, theme="dark")
    assert 'data-theme=""' in page_file.html([view], subject, theme='"><script>')


def test_a_file_asks_nobody_to_click_what_it_cannot_answer(subject):
    for name in VIEW_NAMES:
        view = VIEWS[name]()
        needs = next(tab for tab in TABS if type(view) in tab.views).needs
        if name.startswith("fine-tune/") or (needs and not getattr(subject.model.capabilities, needs)):
            continue
        told = [
            part["value"] for part in contents.shown(view, contents.opened([view], subject))["parts"] if part["kind"] == "prose"
        ]
        assert not [text for text in told if re.search(r"(^|[.] )Click (?![^.]*sort)", text)], name
    (grid,) = [part for part in contents.shown(VIEWS["attention/heads"](), subject)["parts"] if part["name"] == "about"]
    assert "One picture a head" in grid["value"]
    assert "Click" not in grid["value"]
    live = contents.shown(VIEWS["attention/heads"](), subject, live=True)["parts"]
    assert "Click one" in next(part["value"] for part in live if part["name"] == "about")
