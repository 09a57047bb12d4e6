"""The guide's JavaScript, run in a page of the app."""

import re

import pytest

pytestmark = pytest.mark.browser


def test_what_the_guide_shows_in_javascript(page, served, guide, bundled):
    (code,) = re.findall(r"<!-- example javascript -->\n```\w+\n(.*?)```", guide["api"], flags=re.DOTALL)
    code = code.replace("http://127.0.0.1:7860", served).replace("console.log", "return Array.of")
    page.goto(served)
    finding, rows = page.evaluate(f"async () => {{ {code} }}")
    assert rows == bundled.trace("The cat sat on the mat.").kept ** 2
    assert finding.startswith("Layer 3, head 7 attends to ")
