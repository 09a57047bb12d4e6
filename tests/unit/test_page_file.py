"""Every view of every tab as a file of its own, and the static site: they ask nobody, and no text in them is markup."""

import json
import re
from dataclasses import replace

import pytest

import explorer
from explorer import gallery
from explorer.export import contents, page_file
from explorer.tabs import VIEWS
from explorer.ui.pictures.bars import change_of
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


@pytest.mark.parametrize("name", sorted({component.name for component in COMPONENTS.values()}))
def test_the_script_of_a_component_draws_it(name):
    assert re.search(rf'(define|drawn)\("{name}"', page_file.scripts([page_file._stem(name)], "file/page.js"))


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


LINES = (gallery.FOLDER / "sentences.tsv").read_text("utf-8").splitlines()


@pytest.fixture(scope="module")
def site(bundled, tmp_path_factory):
    """The site of two sentences: one with a right answer, one with a wrong one."""
    folder, few = tmp_path_factory.mktemp("gallery"), tmp_path_factory.mktemp("sentences")
    (few / "sentences.tsv").write_text(f"{LINES[0]}\nA <copy>\tParis is in France, and Rome is in [MASK].\n", "utf-8")
    (few / "index.html").write_text((gallery.FOLDER / "index.html").read_text("utf-8"), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gallery, "FOLDER", few)
        return list(gallery.read_sentences(bundled)), {path.name: path for path in gallery.write_site(folder / "new", bundled)}


def variants_in(page: str) -> list[dict]:
    """The pictures that a page may show beside its own."""
    parts = Reader(page).data["sides"][0]["views"][0]["parts"]
    (picture,) = (part for part in parts if part["name"] == "picture")
    return picture["variants"]


def test_there_are_twelve_sentences_with_a_blank_each_and_an_address_each():
    rows = [line.split("\t") for line in LINES]
    assert len(rows) == 12
    assert all(text.count("[MASK]") == 1 for _, text in rows)
    assert len({gallery.slug(title) for title, _ in rows}) == 12


def test_each_page_has_the_run_without_each_link_as_the_app_computes_it(site, bundled):
    sentences, pages = site
    for sentence in sentences:
        nothing, *variants = variants_in(pages[sentence.address].read_text("utf-8"))
        assert (nothing["value"], nothing["told"]) == (None, "")
        assert len(variants) == len(sentence.cuts) == gallery.CUTS
        for cut, variant in zip(sentence.cuts, variants, strict=True):
            link, tokens = cut.link, sentence.trace.tokens
            assert variant["label"] == f"{tokens[link.key]} → {tokens[link.query]}, layer {link.layer + 1}"
            subject = Subject.of(sentence.trace).select(cut=((link.layer, link.query, link.key, None),))
            wanted, drawn = gallery.Routes().compute(subject)["picture"], variant["value"]
            assert drawn["layers"] == [], "only the run as it is can be unfolded"
            assert drawn["tokens"] == wanted["tokens"]
            (theirs,), (ours,) = wanted["answers"], drawn["answers"]
            assert [word for word, *_ in ours["bars"]] == [word for word, *_ in theirs["bars"]]
            for (word, after, before), (_, *expected) in zip(ours["bars"], theirs["bars"], strict=True):
                assert [after, before] == pytest.approx(expected, abs=1e-5)
                if word == sentence.word:
                    assert [after, before] == pytest.approx([cut.after, sentence.share], abs=1e-5)
            assert change_of(sentence.word, sentence.share, cut.after) in variant["told"]
    assert sentences[0].strongest.after < sentences[0].share / 2
    assert "rises" not in sentences[0].tell(sentences[0].strongest)


def test_the_index_leads_to_every_page_and_asks_for_nothing_else(site):
    sentences, pages = site
    index = pages["index.html"].read_text("utf-8")
    assert re.findall(r'href="([^"]+)"', index) == ["data:,", *(sentence.address for sentence in sentences)]
    assert "A &lt;copy&gt;" in index
    assert "<mark>paris</mark>" in index
    assert "{{" not in index
    assert "default-src 'none'" in index
    assert not re.search(r"(?:src|href)=\"https?:", index)
    assert index.count('class="cut"') == len(sentences)
