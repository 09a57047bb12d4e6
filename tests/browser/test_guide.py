"""The guide in a browser: the way from a view to its section, the search, and that it is for everyone."""

import re

import pytest

from explorer.export.place import slug
from explorer.guide.pages import BESIDE, anchor, order
from explorer.tabs import TABS
from tests.browser.expecting import expect
from tests.browser.test_everyone import AXE, wrong

PHONE = {"width": 420, "height": 800}
TOO_WIDE = "() => document.documentElement.scrollWidth - innerWidth"


@pytest.mark.parametrize(
    "names", [order()[:2], pytest.param([*order()[2:], *BESIDE], marks=pytest.mark.nightly)], ids=["some", "the others"]
)
@pytest.mark.parametrize(("scheme", "size"), [("light", {"width": 1280, "height": 720}), ("dark", PHONE)], ids=["light", "dark"])
def test_no_page_shuts_anybody_out_or_is_too_wide(new_page, served, scheme, size, names):
    page, problems = new_page(viewport=size, color_scheme=scheme), []
    for name in names:
        page.goto(f"{served}/bx/guide/{name}")
        expect(page.locator("html.dark")).to_have_count(int(scheme == "dark"))
        page.evaluate(AXE)
        found = wrong(page, "html", None if scheme == "light" else ["color-contrast"])  # the rest is the same in both
        if (over := page.evaluate(TOO_WIDE)) > 0:
            found.append(f"{over} px too wide")
        problems += [f"{name}: {one}" for one in found]
    assert not problems, "\n".join(problems)


@pytest.mark.own_page
def test_the_page_leads_to_the_section_on_what_is_open(open_app, new_page, served):
    page = open_app("?__theme=dark&tab=attention&view=all-heads-by-numbers")
    link = page.get_by_role("link", name="Guide", exact=True)
    link.hover()
    address = link.get_attribute("href")
    assert address == "bx/guide/attention?__theme=dark#all-heads-by-numbers"
    there = new_page(viewport=PHONE, color_scheme="light")
    there.goto(f"{served}/{address}")
    expect(there.locator("#all-heads-by-numbers")).to_be_in_viewport()
    expect(there.locator("html.dark")).to_have_count(1)  # as the app was, on the next page too
    there.get_by_role("navigation", name="Contents").get_by_role("link", name="Limits").click()
    expect(there.get_by_role("heading", name="Limits")).to_be_visible()
    expect(there.locator("html.dark")).to_have_count(1)
    there.get_by_role("button", name="◐").click()
    expect(there.locator("html.dark")).to_have_count(0)

    assert all(anchor(choice) == slug(choice) for tab in TABS for choice in tab.choices)


def test_a_word_is_found_by_keyboard(page, served):
    page.goto(f"{served}/bx/guide")
    expect(page).to_have_url(re.compile("/bx/guide/index$"))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.get_by_role("searchbox", name="Search the guide").fill("stikcy sesions <b>")
    expect(page.get_by_role("status")).to_contain_text("Found")
    expect(page.locator("#hits li").first).to_contain_text("Sticky sessions")
    page.evaluate(AXE)
    assert wrong(page, "html") == []
    page.get_by_role("link", name="Sticky sessions").first.click()
    expect(page.locator("#sticky-sessions")).to_be_in_viewport()
    expect(page.get_by_role("link", name="BERT Explorer", exact=True)).to_be_visible()


def test_what_the_guide_shows_in_javascript(open_app, served, guide, bundled):
    (code,) = re.findall(r"<!-- example javascript -->\n```\w+\n(.*?)```", guide["api"], flags=re.DOTALL)
    code = code.replace("http://127.0.0.1:7860", served).replace("console.log", "return Array.of")
    finding, rows = open_app().evaluate(f"async () => {{ {code} }}")
    assert rows == bundled.trace("The cat sat on the mat.").kept ** 2
    assert finding.startswith("Layer 3, head 7 attends to ")
