"""The reference: made from docstrings, with nothing from elsewhere."""

import re

import pytest

from explorer.core.errors import InputError
from explorer.core.lazy import Library
from explorer.export import reference
from explorer.tabs import VIEWS

DRAWN = ("attention/heads", "fill-mask/guesses", "own-head/answer")  # of the last the bundled model shows nothing


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The reference of a few modules."""
    place = tmp_path_factory.mktemp("reference")
    reference.build(place, ("explorer", "explorer.bert.trace", "explorer.attention.compute"), DRAWN)
    return place


def text_of(page):
    """What a person reads of a page."""
    return re.sub(r"<[^>]+>", "", page.read_text("utf-8"))


def test_it_tells_what_the_docstrings_tell(folder):
    assert "Attention rollout after each layer" in text_of(folder / "explorer/attention/compute.html")
    assert "load(" in text_of(folder / "explorer.html"), "what is loaded when it is used is there too"
    assert "A view" in text_of(folder / "contributing.html")
    index = (folder / "index.html").read_text("utf-8")
    for link in re.findall(r'href="([^"#]+\.html)', index):
        assert (folder / link.removeprefix("./")).is_file(), link
    assert 'href="explorer/bert/trace.html"' in index


def test_every_view_is_there_with_its_settings(folder):
    page = text_of(folder / "views.html")
    for view in VIEWS.values():
        assert view.name in page
        for name, setting in view.settings.items():
            assert not setting.linked or name in page


def test_views_are_seen_as_the_app_draws_them(folder):
    page = (folder / "views.html").read_text("utf-8")
    seen = re.findall(r'<iframe src="([^"]+)"', page)
    assert seen == ["pictures/attention-heads.html", "pictures/fill-mask-guesses.html"]
    assert "tokyo" in (folder / seen[1]).read_text("utf-8")


def test_nothing_comes_from_elsewhere(folder):
    pages = list(folder.rglob("*.html"))
    assert len(pages) == 8
    for page in pages:
        asked = re.findall(r"""(?:src|href|action|data)\s*=\s*["']?((?:https?:)?//[^"'\s>]*)""", page.read_text("utf-8"))
        assert not asked, page
        assert not re.search(r"url\((?!\s*[\"']?(?:data:|\$\{))|@import", page.read_text("utf-8")), page


def test_the_modules_that_it_names_are_there_and_say_what_they_are():
    import importlib

    for name in reference.NAMES:
        assert importlib.import_module(name).__doc__, name


def test_without_pdoc_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr("explorer.export.reference.pdoc", Library("no_such_library"))
    with pytest.raises(InputError, match="pip install -r tests/requirements"):
        reference.build(tmp_path)
    with pytest.raises(SystemExit, match="is made by pdoc"):
        reference.main([str(tmp_path)])
