"""How the components present themselves to Gradio."""

import functools
import re
import warnings

import pytest

from explorer.page.components import OF_PARTS, PLOTLY_ADDRESS, page_head

ALL = sorted(set(OF_PARTS.values()), key=lambda component: component.__name__)


@pytest.mark.parametrize("component", ALL)
def test_each_is_an_html_component_without_a_warning(component):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = component(elem_id="here", visible=False)
    assert made.get_block_name() == "html"
    assert made.api_info()["type"] in ("string", "object")
    assert "{{" not in made.html_template
    assert "${" not in made.html_template
    assert f"BertExplorer.mount('{component.__name__}'" in made.js_on_load
    assert callable(made.select)


@pytest.mark.parametrize("component", ALL)
def test_a_value_passes_as_it_is(component):
    for value in ({"text": "<b>${x}", "list": [1]}, "<script>alert(1)</script>", None):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # gr.HTML warns of script tags in its values, which are markup there
            assert component().postprocess(value) == value


def test_the_head_holds_plotly_once_and_loads_nothing_from_elsewhere():
    made = page_head()
    assert made.count("<script") == 1
    assert made.count(PLOTLY_ADDRESS) == 1
    assert all(len(re.findall(rf'(?:define|drawn)\("{component.__name__}"', made)) == 1 for component in ALL)
    assert "http" not in made.replace("http://www.w3.org/2000/svg", "")


def test_the_page_is_described_by_plain_values(page):
    """An event of the name of an argument would travel in its place, and the whole app with it: a page of 20 seconds."""
    components = page[0].config["components"]
    odd = [
        (component["type"], name)
        for component in components
        for name, value in component["props"].items()
        if isinstance(value, functools.partial)
    ]
    assert not odd
