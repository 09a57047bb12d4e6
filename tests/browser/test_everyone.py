"""The page for everyone: by keyboard, through a screen reader, at 200%, from the back row and on paper."""

import re
from pathlib import Path

import axe_playwright_python
import pytest

from explorer.tabs import TABS
from tests.browser.expecting import expect
from tests.browser.steps import CALM, open_choice, settled
from tests.tabs import open_tab, opened_tab

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")  # the wrapper itself is not needed
GRADIOS = {  # what is wrong inside Gradio itself: the rule, what it is about, and why nobody is harmed
    ("aria-prohibited-attr", "Static column"): "a sign in the head of a column that cannot be edited; its cells say so too"
}
ALIKE = ["tr:nth-child(n+4)", ".bx-cell:nth-child(n+9)", "svg.main-svg > *"]  # more of the same, of which looking takes minutes
FIND = """async ([where, alike, rules]) => {
    const run = { resultTypes: ['violations'], selectors: false, preload: false, ...(rules ? { runOnly: rules } : {}) };
    const seen = [...document.querySelectorAll(where)].filter((one) => one.checkVisibility());
    // It reads the whole document, whatever it is asked about: what is in closed tabs is put aside meanwhile.
    const closed = [...document.querySelectorAll('#tabs [role=tabpanel]')].filter((one) => !one.checkVisibility());
    const aside = closed.map((panel) => [panel, [...panel.childNodes]]);
    closed.forEach((panel) => panel.replaceChildren());
    const { violations } = await axe.run({ include: seen, exclude: alike.map((one) => [one]) }, run)
        .finally(() => aside.forEach(([panel, nodes]) => panel.replaceChildren(...nodes)));
    return violations.filter(({ impact }) => impact !== 'minor')
        .flatMap(({ id, impact, nodes }) => nodes.map((node) => [id, impact, node.html.slice(0, 200)]));
}"""
TWICE = """() => {
    const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
    return ids.filter((one, place) => one && ids.indexOf(one) !== place);
}"""
MOST = 8  # controls that are seen at the same time besides the bar and the tabs
MORE = {"fine-tune": 12}  # with the three kinds of examples, the tasks, and what is tried on the right
# Anything to set or press is a control: a slider with its number, each option of a radio, a table to type in. Not counted are
# navigation, what is drawn from data (tokens, heads, boxes, cells), and Stop and Cancel while work is under way.
CONTROLS = """() => {
  const isSeen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const panel = [...document.querySelectorAll("#tabs [role=tabpanel]")].find((one) => one.checkVisibility());
  const DATA = ".bx-tokens, .bx-heads, .bx-flow-sheet, .bx-flow-output, .bx-words, .bx-strips, .bx-board, .bx-lines," +
    ".bx-text-map, .bx-ranking, .bx-bars, .bx-architecture, .bx-head-sheet, .bx-chart, .table-wrap";
  // the question and its choices
  const AROUND = ".question, nav, [id$=-stop], [id$=-cancel]";
  const SHEET = ".bx-cards"; // all cards together are one thing to type into
  const NAMED = "button, input, select, textarea, summary, a[href], [role=button], [role=combobox], .bx-chart, .table-wrap";
  const found = [...panel.querySelectorAll(NAMED)].filter((one) => {
    const box = one.getBoundingClientRect();
    return isSeen(one) && box.width > 1 && box.height > 1;
  });
  const controls = new Set();
  for (const one of found) {
    if (one.closest(AROUND) || one.closest(DATA)) continue;
    if (one.closest(".block")?.querySelector(".table-wrap[aria-readonly=true]")) continue;
    const block = one.closest(".block, .accordion"), sheet = one.closest(SHEET) && document.querySelector(".bx-cards");
    const slider = one.closest(".block")?.querySelector("input[type=range]");
    if (sheet) controls.add(sheet);
    else if (slider) controls.add(one.closest(".block"));
    else if (block?.querySelector("[role=combobox], input[type=file]")) controls.add(block);
    else controls.add(one);
  }
  const name = (one) => (one.getAttribute("aria-label") || one.innerText || one.closest("label")?.innerText || one.tagName);
  return [...controls].map((one) => name(one).trim().slice(0, 30));
}"""
HALF = {"width": 720, "height": 900}  # what a window of 1440 has at a zoom of 200%


def wrong(page, where: str = "#tabs > *", rules: list[str] | None = None) -> list[str]:
    """What axe finds where there is something to see, but for what is Gradio's; tabs that are closed take as long to look at."""
    found = page.evaluate(FIND, [where, ALIKE, rules])
    known = [(rule, part) for rule, part in GRADIOS]
    return [" ".join(one) for one in found if not any(one[0] == rule and part in one[2] for rule, part in known)]


def wrong_in_both(page, where: str = "#tabs > *") -> list[str]:
    """What is wrong in the theme that is on, and what is too pale in the other; everything else is the same in both.

    The other stays on: with every change of the theme all charts are drawn anew.
    """
    found = wrong(page, where)
    dark = page.evaluate("() => document.body.classList.toggle('dark')")
    return found + [f"{'dark' if dark else 'light'}: {one}" for one in wrong(page, where, ["color-contrast"])]


def test_every_level_of_the_zoom_can_be_read_and_told(open_app):
    page = open_app("?tab=overview&set.zoom=%5B6,6,4%5D")
    page.add_style_tag(content=CALM)
    page.evaluate(AXE)
    crumbs = page.locator("gradio-app .bx-zoom:not(.bx-gone) nav > :not([aria-hidden])")
    for level in (4, 3, 2):
        expect(crumbs).to_have_count(level)
        settled(page)
        assert wrong_in_both(page, "#overview-routes-picture") == []
        assert page.locator("gradio-app .bx-zoom p[role=status]").inner_text()
        page.keyboard.press("Escape")
    expect(crumbs).to_have_count(0)


def choices_of(page, tab, most):
    """Opens the first `most` choices of a tab, one after the other."""
    open_tab(page, tab.label)
    expect(page.get_by_role("heading", name=tab.question, exact=True)).to_be_visible()
    for choice in [*tab.choices][:most]:
        if len(tab.choices) > 1:
            open_choice(page, tab.id, choice)
        settled(page)
        yield f"{tab.label}, {choice}"


def expect_tabs_for_everyone(page, most=None, read=tuple(tab.id for tab in TABS)) -> None:
    """No tab shuts anyone out, at 200%, nor shows a wall of controls: in its first `most` choices, or in all.

    With axe, in light and in dark, only the tabs in `read` are gone through.
    """
    page.evaluate(AXE)
    page.add_style_tag(content=CALM)
    settled(page)
    problems = wrong(page, "html")
    for tab in [tab for tab in TABS if not tab.optional]:
        for name in choices_of(page, tab, most):
            found = wrong_in_both(page) if tab.id in read else []
            if len(seen := page.evaluate(CONTROLS)) > MORE.get(tab.id, MOST):
                found.append(f"{len(seen)} controls are seen at once: {', '.join(seen)}")
            if over := page.evaluate("() => Math.max(0, document.documentElement.scrollWidth - innerWidth)"):
                found.append(f"{over} px too wide")
            problems += [f"{name}: {one}" for one in found]
    twice = page.evaluate(TWICE)  # axe, which sees one tab at a time, does not
    problems += [f"two elements have the id {one}" for one in twice]
    assert not problems, "\n".join(problems)


@pytest.mark.own_page  # the theme is part of the address that is opened
@pytest.mark.usefixtures("few_sentences")
def test_every_tab_is_for_everyone_as_it_opens(open_app):
    read = ("overview", "attention", "fill-mask", "fine-tune")
    expect_tabs_for_everyone(open_app("?__theme=light", viewport=HALF), 1, read)


@pytest.mark.nightly
@pytest.mark.own_page
@pytest.mark.usefixtures("few_sentences")
def test_every_choice_is_for_everyone(open_app):
    expect_tabs_for_everyone(open_app("?__theme=light", viewport=HALF))


@pytest.mark.own_page  # a section opens with the tab that was open last
def test_keys_reach_tabs_choices_and_cells(open_app):
    page = open_app()
    settled(page)
    page.locator("#skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#tabs [role=tabpanel]:visible")).to_be_focused()
    page.get_by_role("tab", name="Overview", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Look inside")).to_be_focused()
    expect(opened_tab(page)).to_have_text("Tokens")
    page.get_by_role("tab", name="Attention", exact=True).focus()
    for key, opened in (("ArrowRight", "Inside a head"), ("Home", "Tokens"), ("ArrowRight", "Attention")):
        page.keyboard.press(key)
        expect(page.get_by_role("tab", name=opened, exact=True)).to_have_attribute("aria-selected", "true")
    assert page.locator("#tabs [role=tab][tabindex='0']").all_inner_texts() == ["Attention"]
    settled(page)
    page.locator("#attention-heads-grid button[aria-pressed=true]").focus()
    keys = {"PageDown": "layer 6,", "End": "layer 6, head 12", "Home": "layer 6, head 1:", "ArrowLeft": "layer 6, head 1:"}
    for key, name in (*keys.items(), ("ArrowUp", "layer 5, head 1:")):
        page.keyboard.press(key)
        expect(page.locator("#attention-heads-grid button:focus")).to_have_attribute("aria-label", re.compile(f"^{name}"))
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 5, head 1")
    page.locator("#attention-view").get_by_label("One head", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("All heads by numbers", exact=True)).to_be_checked()
    expect(page.locator("#attention-metrics-table")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.activeElement.closest('label')).outlineWidth") == "2px"


def test_a_picture_fills_the_screen_is_stepped_through_and_returns(open_app):
    page = open_app("?tab=attention&layer=2&head=2")
    heatmap = page.locator("#attention-head-heatmap .bx-chart")
    expect(heatmap.locator(".colorbar, .cbaxis").first).to_be_attached()
    page.locator("#present").focus()
    before = page.evaluate(STATE)
    page.keyboard.press("p")
    expect(page.get_by_role("heading", name="Who looks at whom?")).to_be_visible()
    expect(page.locator("#take-away")).to_be_hidden()
    page.wait_for_function("() => document.querySelector('#attention-head-heatmap .bx-chart')._fullLayout.font.size >= 22")
    assert heatmap.bounding_box()["width"] > 1300
    assert heatmap.bounding_box()["height"] > 600
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#stage footer")).to_contain_text("layer 3, head 3")
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 3, head 3")
    page.keyboard.press("Escape")
    expect(page.locator("#stage")).to_be_hidden()
    page.wait_for_function("() => document.querySelector('#attention-head-heatmap .bx-chart')._fullLayout.font.size < 22")
    assert page.evaluate(STATE) == before
    page.locator("#text-a textarea").press("End")
    page.keyboard.type("p")
    expect(page.locator("#stage")).to_be_hidden()
    page.emulate_media(media="print")
    for gone in ("#take-away", "#present", "#tabs [role=tablist]", "#attention-view"):
        expect(page.locator(gone).first).to_be_hidden()
    for there in ("#attention-head-heatmap", "#attention-heads-grid", "#strip", "#tabs .question:visible"):
        expect(page.locator(there).first).to_be_visible()
    page.emulate_media(media="screen")


STATE = """() => [scrollY, document.activeElement.id, document.querySelectorAll('[inert], [popover]:popover-open').length,
    document.querySelector('#attention-head-heatmap').getBoundingClientRect().toJSON()]"""
