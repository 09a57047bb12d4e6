"""The static site of a few sentences."""

import re

import pytest

from explorer import gallery
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.subject import Subject
from tests.pages import Reader

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
            assert f"from {whole_percent(sentence.share)} to {whole_percent(cut.after)}" in variant["told"]
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
