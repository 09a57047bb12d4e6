"""The page as it is first sent: with what the first example gives, and without it where a link asks for something else."""

import base64
import json
import urllib.request
from urllib.parse import urlencode

import numpy as np
import pytest

from explorer.page import first
from explorer.server.page import Document, address_of


def rounded(value):
    """The value with numbers that another processor's arithmetic gives too."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return pytest.approx(value, rel=1e-3, abs=1e-4) if isinstance(value, float) else value


def levels(page):
    """The packed shares of the picture, which are taken out: int, in steps of a 16-bit number."""
    packed = page["overview-routes-picture"]["value"].pop("mixing")
    return np.frombuffer(base64.b64decode(packed), "<u2").astype(int)


def test_its_file_is_the_app_s_own_answer(page):
    kept = dict(first.read())
    made = first.make(page[1])
    error = "max error "  # of float32, another on every processor
    checks = [one.pop("overview-routes-check")["value"]["text"].partition(error)[0] for one in (kept, made)]
    assert checks[0] == checks[1]
    assert np.abs(levels(kept) - levels(made)).max() <= 2
    assert made == rounded(kept), "python -m explorer.page.first makes the file again"


def test_what_opens_the_page_is_of_components_that_every_page_is_sent(page):
    sent = {one["props"].get("elem_id") for one in page[0].pieces.page(page[0].first)["components"]}
    assert first.read().keys() <= sent


@pytest.mark.parametrize(
    ("query", "carries"), [({}, True), ({"__theme": "dark"}, True), ({"a": "x"}, False), ({"tab": ""}, False)]
)
def test_only_a_page_that_no_link_describes_carries_it(served, query, carries):
    html = urllib.request.urlopen(f"{served}/?{urlencode(query)}").read().decode()
    place, _ = json.JSONDecoder().raw_decode(html.partition('id="bx-place">')[2])
    assert ("strip" in place.get("elements", {})) == carries


def test_a_document_gets_what_is_ours_and_loses_what_gradio_says_of_itself():
    page = b'<head><meta property="og:title" content="Gradio" /><title>x</title></head><body><p></body></html>'
    complete = Document("<style>a</style>", "<script>b</script>").complete(page, "https://a/")
    card = b'<meta property="og:image" content="https://a/bx/card.png">'
    assert complete == b"<head><title>x</title>" + card + b"<style>a</style></head><body><p><script>b</script></body></html>"


@pytest.mark.parametrize(
    ("host", "proto", "tells"),
    [
        ("bert.example:7860", None, "http://bert.example:7860/bx/card.png"),
        ("bert.example", "https", "https://bert.example/bx/card.png"),
        ("bert.example", "javascript", "http://bert.example/bx/card.png"),
        ('"><script>x</script>', None, "http://&quot;&gt;&lt;script&gt;x&lt;/script&gt;/bx/card.png"),
        ("", None, "bx/card.png"),
    ],
)
def test_other_sites_are_told_where_its_picture_is_and_no_host_gets_markup_in(host, proto, tells):
    headers = [(name, value.encode()) for name, value in ((b"host", host), (b"x-forwarded-proto", proto)) if value]
    address = address_of({"type": "http", "scheme": "http", "headers": headers})
    page = Document("").complete(b"<head></head><body></body>", address)
    assert page == f'<head><meta property="og:image" content="{tells}"></head><body></body>'.encode()
