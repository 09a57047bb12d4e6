"""The view that the page for contributors shows, taken from there and opened in the app."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.page import shell
from explorer.tabs import TABS
from explorer.ui.view import View
from tests.browser.expecting import expect
from tests.browser.steps import chips, open_choice
from tests.ports import free_port

PAGE = Path(__file__).resolve().parents[2] / "assets" / "guide" / "contributing" / "view.md"


@pytest.fixture
def example() -> type[View]:
    """The class in the page's code block."""
    (code,) = re.findall(r"<!-- a view -->\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    defined: dict = {"__name__": "example"}
    exec(compile(code, str(PAGE), "exec"), defined)
    (view,) = (one for one in defined.values() if isinstance(one, type) and issubclass(one, View) and one.__module__ == "example")
    return view


@pytest.fixture
def served_with(monkeypatch):
    """Serves the app with one more choice in the Attention tab."""
    from explorer import app

    opened = []

    def serve(view: type[View]) -> str:
        tabs = [replace(tab, choices={**tab.choices, "Look ahead": [[view]]}) if tab.id == "attention" else tab for tab in TABS]
        monkeypatch.setattr(shell, "TABS", tabs)
        port = free_port()
        opened.append(app.launch("127.0.0.1", port))
        return f"http://127.0.0.1:{port}"

    yield serve
    for blocks in opened:
        blocks.close()


def test_the_view_of_the_page_is_there_with_its_control_once_it_has_its_line(example, served_with, new_page, bundled):
    page = new_page()
    page.goto(f"{served_with(example)}/?a=The+cat+sat+on+the+mat.&tab=attention")
    expect(chips(page).first).to_be_visible()
    open_choice(page, "attention", "Look ahead")
    expect(page.locator("#attention-ahead-check")).to_contain_text("✓ matches the model")
    bars = page.locator("#attention-ahead-shares .bx-name")
    expect(bars).to_have_count(bundled.capabilities.heads)
    shares = page.locator("#attention-ahead-shares .bx-percent")
    first = shares.first.inner_text()
    slider = page.locator("#attention-in-layer input[type=number]")
    slider.fill("6")
    slider.press("Enter")
    expect(shares.first).not_to_have_text(first)
