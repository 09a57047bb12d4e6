"""The page as it is first sent: with what the first example gives, and without it where a link asks for something else."""

import json
import urllib.request
from urllib.parse import urlencode

import pytest

from explorer.page.examples import EXAMPLES, FIRST_A, FIRST_B, number_of
from explorer.page.pieces import fill_config
from explorer.server.page import Document, address_of
from explorer.ui.pictures.token_row import token_row_of


@pytest.fixture(scope="module")
def opened(page):
    return page[0], page[0].opens_with()


def props(config, elem_id):
    return next(one["props"] for one in config["components"] if one["props"].get("elem_id") == elem_id)


def test_it_carries_what_the_first_example_gives(opened, bundled):
    blocks, updates = opened
    config = fill_config(blocks.config, updates)
    trace = bundled.trace(FIRST_A, FIRST_B)
    assert props(config, "strip")["value"] == json.loads(json.dumps(token_row_of(trace.encoding, None)))
    assert props(config, "overview-routes-picture")["value"]["states"] == bundled.capabilities.layers + 1
    assert "✓ matches the model" in props(config, "overview-routes-check")["value"]["text"]
    assert [one["id"] for one in config["components"]] == [one["id"] for one in blocks.config["components"]]


def test_what_opens_the_page_leaves_the_page_itself_as_it_was(opened):
    blocks, updates = opened
    before = json.dumps(blocks.config, default=str)
    fill_config(blocks.config, updates)
    assert json.dumps(blocks.config, default=str) == before


def test_every_example_says_which_it_is():
    assert [number_of(*texts) for texts in EXAMPLES.values()] == list(range(len(EXAMPLES)))
    assert number_of("anything", "else") is None


@pytest.mark.parametrize(
    ("query", "carries"), [({}, True), ({"__theme": "dark"}, True), ({"a": "x"}, False), ({"tab": ""}, False)]
)
def test_only_a_page_that_no_link_describes_carries_it(served, query, carries):
    html = urllib.request.urlopen(f"{served}/?{urlencode(query)}").read().decode()
    config, _ = json.JSONDecoder().raw_decode(html.partition("window.gradio_config = ")[2])
    assert bool(props(config, "strip").get("value")) == carries


def test_a_document_gets_what_is_ours_and_loses_what_gradio_says_of_itself():
    page = b'<head><meta property="og:title" content="Gradio" /><title>x</title></head><body><p></body></html>'
    complete = Document("<style>a</style>", "<script>b</script>").complete(page)
    assert complete == b"<head><title>x</title><style>a</style></head><body><p><script>b</script></body></html>"


@pytest.mark.parametrize(
    ("host", "proto", "tells"),
    [
        ("bert.example:7860", None, "http://bert.example:7860/card.png"),
        ("bert.example", "https", "https://bert.example/card.png"),
        ("bert.example", "javascript", "http://bert.example/card.png"),
        ('"><script>x</script>', None, "http://&quot;&gt;&lt;script&gt;x&lt;/script&gt;/card.png"),
        ("", None, "card.png"),
    ],
)
def test_other_sites_are_told_where_its_picture_is_and_no_host_gets_markup_in(host, proto, tells):
    headers = [(name, value.encode()) for name, value in ((b"host", host), (b"x-forwarded-proto", proto)) if value]
    address = address_of({"type": "http", "scheme": "http", "headers": headers})
    page = Document("", card="card.png").complete(b"<head></head><body></body>", address)
    assert page == f'<head><meta property="og:image" content="{tells}"></head><body></body>'.encode()
