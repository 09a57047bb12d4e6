"""Every picture as SVG and PNG: shapes and text that parse, light on a dark page, at 300 dots an inch."""

import json
import re
import struct
import xml.etree.ElementTree as ET

import pytest

from explorer.export import page_file
from explorer.tabs import VIEWS
from explorer.ui.subject import Subject

HOSTILE = "the man </svg><script>alert(1)</script> ]]> &amp; \u202e went to the [MASK]."
SVG = "{http://www.w3.org/2000/svg}"
KINDS = {  # a view for each component that can be saved
    "overview/routes": "Flow",
    "attention/heads": "HeadGrid",
    "attention/metrics": "StripTable",
    "tokens/pieces": "TokenRow",
    "fill-mask/guesses": "Bars",
    "fill-mask/lens": "WordGrid",
    "fill-mask/heads": "SwitchBoard",
    "model/drawing": "Architecture",
    "projection/map": "TextMap",
}


def saved(window, box):
    """What is downloaded when somebody wants the picture in `box` of a file."""
    box.hover()
    with window.expect_download() as download:
        box.get_by_role("button", name="Save this picture").click()
    assert download.value.suggested_filename.endswith(".svg")
    return download.value.path().read_bytes()


SVG_OF = """(box) => new Promise((done) => {
    const { createObjectURL } = URL;
    URL.createObjectURL = (blob) => {
        URL.createObjectURL = createObjectURL;
        blob.text().then(done);
        return createObjectURL(blob);
    };
    box.dispatchEvent(new PointerEvent("pointerenter"));  // which brings the button
    box.querySelector(".bx-save").click();
})"""


def check(written):
    """An SVG of shapes and text alone, on white, and what is written in it."""
    root = ET.fromstring(written)
    assert root.tag == f"{SVG}svg"
    tags = {one.tag.removeprefix(SVG) for one in root.iter()}
    told = {"svg", "title", "desc", "metadata", "style", "defs", "linearGradient", "stop"}
    shapes = {"rect", "line", "circle", "polygon", "text", "tspan", "image", "g", "path"}
    assert tags <= told | shapes
    links = [value for one in root.iter() for name, value in one.attrib.items() if name.endswith("href")]
    assert all(link.startswith("data:image/png") for link in links)
    assert not [name for one in root.iter() for name in one.attrib if name.startswith("on")]
    paper = root.find(f"{SVG}rect")
    assert (paper.get("fill"), paper.get("width")) == ("#fff", root.get("viewBox").split()[2])
    assert root.get("width") == "175mm"
    assert len(json.loads(root.find(f"{SVG}metadata").text)["weights"]) == 64
    shown = [("".join(one.itertext()), one.get("stroke") or "none") for one in root.iter(f"{SVG}text")]
    assert all((text, "none") in shown for text, _ in shown), "an outline covers its text"
    return root, [text for text, _ in shown]


def test_every_kind_of_picture_is_an_svg_that_parses(bundled, from_disk):
    subject = Subject.of(bundled.trace(HOSTILE, "he bought milk."))
    views = [VIEWS[name]() for name in KINDS] + [VIEWS["attention/head"](look="Lines")]
    window = from_disk(page_file.html(views, subject), color_scheme="dark")
    seen = set()
    for box in window.locator(".bx-part.bx-saved:not(:has(.bx-chart))").all():
        root, words = check(box.evaluate(SVG_OF))
        assert words, "something is written"
        assert not any("Point at" in text for text in words), "nobody points at paper"
        assert len(list(root.iter())) > 8, "something is drawn"
        if box.locator(".bx-flow").count():
            names = [float(one.get("x")) for one in root.iter(f"{SVG}text")][: words.index("embeddings") + 1]
            assert max(names[:-1]) < names[-1], "the rows' names are before the first column"
        assert all(one.get("fill") and not one.get("class") for one in root.iter(f"{SVG}circle")), "a style sheet is not on paper"
        seen.update(box.locator(".bx").first.get_attribute("class").split())
    named = ["flow", "heads", "strips", "tokens", "bars", "words", "board", "architecture", "lines"]
    assert seen >= {f"bx-{name}" for name in named}
    assert window.evaluate("document.body.classList.contains('dark')"), "the page is as it was"
    assert window.locator(".bx-paper").count() == 0


def test_svg_has_cells_and_dark_text_on_a_dark_page_too(bundled, from_disk):
    trace = bundled.trace("The man slept.")
    views = [VIEWS["attention/head"](), VIEWS["tokens/pieces"]()]
    window = from_disk(page_file.html(views, Subject.of(trace)), color_scheme="dark")
    root = ET.fromstring(saved(window, window.locator("[data-part=heatmap]")))
    cells = [one.get("d").count("M") for one in root.iter(f"{SVG}path") if "h1v1h-1z" in one.get("d", "")]
    assert sum(cells) == trace.kept**2
    assert root.find(f"{SVG}title").text == "Attention of one head"
    assert root.find(f"{SVG}desc").text.startswith("The strongest 3 of")
    root, words = check(saved(window, window.locator("[data-part=cards]")))
    assert {"the", "man", "slept"} <= set(words)
    for one in root.iter(f"{SVG}text"):
        red, green, blue = map(int, re.findall(r"\d+", one.get("fill"))[:3])
        assert red + green + blue < 400, one.text
        assert len(one.text.strip()) < 2 or float(one.get("textLength")) > 4, "text keeps its width"


def test_a_png_has_three_hundred_dots_an_inch(open_app):
    page = open_app("?v=1&tab=fill-mask&a=The+man+%5BMASK%5D.")
    page.locator("#take-away").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile(" as PNG$")).last.click()
    data = download.value.path().read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert width == pytest.approx(175 / 25.4 * 300, abs=4)
    assert height > 100
    at = data.index(b"pHYs")
    assert struct.unpack(">IIB", data[at + 4 : at + 13]) == (11811, 11811, 1)
