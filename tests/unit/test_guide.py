"""The guide says what is there, is served with the app, and its generated parts are what they are generated from."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urljoin, urlsplit
from urllib.request import urlopen

import pytest

from explorer import app
from explorer.export import links
from explorer.export.place import slug
from explorer.finetune.cards import STARTER
from explorer.guide.generate import PARTS, fill_in
from explorer.guide.pages import APP, BESIDE, FOLDER, order, pages, render
from explorer.page.examples import first_subject
from explorer.tabs import TABS
from explorer.teaching.lessons import claims
from explorer.teaching.lessons.reading import claim
from tests.asking import ask
from tests.benchmarks.__main__ import BENCHMARKS
from tests.pages import Reader

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(FOLDER.glob("*.md"))
CLAIMS = re.findall(r"<!-- claim: (.+) -->", (FOLDER / "tour.md").read_text("utf-8"))


def ids_in(page: Reader) -> list[str]:
    return [value for name, value in page.attributes if name == "id"]


@pytest.fixture(scope="module")
def read(served):
    """Fetches a page of the app: its address after redirects, and its text."""

    @cache
    def fetch(address: str) -> tuple[str, str]:
        with urlopen(urljoin(f"{served}/", address), timeout=60) as answer:
            return answer.url, answer.read().decode()

    return fetch


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_generated_parts_are_what_they_are_generated_from(path):
    text = path.read_text("utf-8")
    assert fill_in(text) == text, "run python -m explorer.guide.generate"


def test_every_file_is_listed_and_every_generated_part_is_somewhere(guide):
    assert set(order()) == set(guide)
    named = [name for text in guide.values() for name in re.findall(r"<!-- generated: (.+?) -->", text)]
    assert sorted(named) == sorted(PARTS)


READ_AT_GITHUB = [*FOLDER.rglob("*.md"), *(FOLDER.parent / path for path in BESIDE.values()), *ROOT.glob("*.md")]


@pytest.mark.parametrize("path", READ_AT_GITHUB, ids=lambda path: path.stem)
def test_links_lead_somewhere_on_github_too(path):
    for address in re.findall(r"\]\(([^)\s]+)\)", re.sub("`[^`]*`", "", path.read_text("utf-8"))):
        parts = urlsplit(address)
        if address.startswith(APP) and parts.query:
            parameters = dict(parse_qsl(parts.query))
            place = links.read(parameters, first_subject())
            assert (place.told, place.tab) == ((), parameters["tab"]), address
        elif not address.startswith("http"):
            found = (path.parent / parts.path).resolve() if parts.path else path
            assert found.exists(), f"{path.name}: {address}"
            anchors = {one.anchor for one in render(found.read_text("utf-8"), found)[1]} if parts.fragment else {""}
            assert parts.fragment in anchors, f"{path.name}: {address}"


@pytest.mark.parametrize("text", CLAIMS)
def test_what_the_tour_says_of_the_model_is_true(text):
    said = claim(text)
    assert claims.holds(said), f"it is {str(claims.found(said))[:200]}"


def test_a_head_learns_in_the_tour_what_is_told():
    examples = [[line, label] for label, lines in STARTER for line in lines]
    learnt = claims.ASKED["train_head"](examples, pooling="mean", epochs=0)
    assert [len(lines) for _, lines in STARTER] == [6, 6, 6]
    assert learnt["held_out_accuracy"] > 0.7
    assert not any("eagle" in text.lower() for text, _ in examples)
    assert claims.ASKED["classify"](["An eagle circled above the valley."], learnt["head"])["labels"] == ["animal"]


def test_every_argument_and_every_benchmark_is_told(guide, capsys):
    assert all(f"`{name}`" in guide["benchmarks"] for name in BENCHMARKS)
    with pytest.raises(SystemExit):
        app.parse(["--help"])
    for flag in re.findall(r"--(?!help)\w+", capsys.readouterr().out):
        assert flag in guide["operating"]
    for setting in re.findall(r"BERT_EXPLORER_\w+", (ROOT / "explorer" / "app.py").read_text()):
        assert setting in guide["operating"]


def test_every_promise_of_reliability_has_its_tests(guide):
    rows = re.findall(r"^\| (?!promised|---)(.+) \| (.+) \|$", guide["reliability"], flags=re.MULTILINE)
    assert len(rows) >= 10
    for promise, held_by in rows:
        tests = re.findall(r"tests/\w+/\w+\.py", held_by)
        assert tests, promise
        assert all((ROOT / test).is_file() for test in tests), promise


@pytest.mark.parametrize("name", [*order(), *BESIDE])
def test_every_page_opens_and_every_link_on_it_resolves(name, read):
    address, text = read(f"bx/guide/{name}")
    found = Reader(text)
    assert found.tags.count("h1") == 1
    assert len(set(ids_in(found))) == len(ids_in(found))
    addresses = [value for name, value in found.attributes if name in ("href", "src") and not value.startswith("data:")]
    for link in {urljoin(address, one) for one in addresses}:
        target, _, fragment = link.partition("#")
        if not target.startswith(address.partition("/bx/")[0]):
            assert target.startswith("http")  # a link to elsewhere, which nothing follows by itself
        elif "/bx/guide" in target:
            _, there = read(target)
            assert not fragment or fragment in ids_in(Reader(there)), f"{name}: {link}"
        else:
            assert target.partition("?")[0].removeprefix(address.partition("/bx/")[0]) in ("/", "/gradio_api/openapi.json")
    assert not re.search(r'(?:src|action)="(?:https?:)?//|<link[^>]+href="(?:https?:)?//', text)


def test_it_begins_with_its_contents_and_has_no_other_pages(read, served):
    assert read("bx/guide?__theme=dark")[0].endswith("/bx/guide/index?__theme=dark")
    status, _, body = ask(served, "GET", "/bx/guide/nothing")
    assert (status, b"Open bx/guide" in body) == (404, True)


@pytest.mark.parametrize("name", ["index", "search?q=head"])
def test_behind_a_password_it_is_for_those_who_logged_in(locked, name):
    assert ask(locked, "GET", f"/bx/guide/{name}")[0] == 401


def test_every_view_has_its_section():
    for tab in TABS:
        page = pages()[tab.id]
        assert page.title == tab.label
        if len(tab.choices) > 1:
            assert {slug(choice) for choice in tab.choices} <= {section.anchor for section in page.sections}


def test_the_page_on_the_page_lists_every_tab(guide):
    for tab in TABS:
        assert f"\n| [{tab.label}]({tab.id}.md) | " in guide["tabs"]


def test_markdown_is_rendered_with_anchors_and_without_comments():
    html, sections = render("# A [b]\n<!-- claim: x -->\n## It's 1 & 2\ntext\n## It's 1 & 2\n<b>\n", FOLDER / "index.md")
    assert [one.anchor for one in sections] == ["a-b", "its-1--2", "its-1--2-1"]
    assert '<h2 id="its-1--2"><a href="#its-1--2">It\'s 1 &amp; 2</a></h2>' in html
    assert sections[1].text == "text"
    assert "claim" not in html
    assert "&lt;b&gt;" in html


def test_a_link_to_what_is_not_served_is_only_text():
    text = "[here](tabs.md#x) [there](../nothing.md) [app](http://127.0.0.1:7860/?v=1) [web](https://example.org)"
    html, _ = render(text, FOLDER / "index.md")
    assert '<a href="tabs#x">here</a>' in html
    assert "<a>there</a>" in html
    assert '<a href="../../?v=1">app</a>' in html
    assert '<a href="https://example.org" rel="noreferrer">web</a>' in html
