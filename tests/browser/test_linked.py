"""What is pointed at in one place is marked in all others, without asking the server."""

from tests.browser.expecting import expect
from tests.browser.steps import chips, settled
from tests.tabs import open_tab


def test_a_token_is_marked_in_the_strip_and_in_every_picture(open_app):
    page = open_app("?tab=attention")
    settled(page)
    ticks = page.locator("#attention-head-heatmap .xtick text, #attention-head-heatmap .ytick text")
    expect(ticks.first).to_be_visible()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    chips(page).nth(4).hover()
    marked = page.locator("#attention-head-heatmap text.bx-linked")
    expect(marked).to_have_text(["japan", "japan"])  # one on each axis
    chips(page).nth(0).hover()
    expect(marked).to_have_text(["[CLS]", "[CLS]"])
    heatmap = page.locator("#attention-head-heatmap .nsewdrag").first
    box = heatmap.bounding_box()
    count = chips(page).count()
    page.mouse.move(box["x"] + box["width"] * 4.5 / count, box["y"] + box["height"] * 2.5 / count)
    expect(page.locator("#strip .bx-linked")).to_have_text(["capital", "japan"])
    page.mouse.move(10, 300)
    expect(page.locator(".bx-linked")).to_have_count(0)
    assert asked == []


def test_a_token_and_a_head_are_marked_in_the_overview(open_app):
    page = open_app("?tab=overview&set.opened=%5B4%5D")
    page.locator("gradio-app .bx-flow-box[data-row='4'][data-state='2']").hover()
    expect(page.locator("#strip .bx-linked")).to_have_text(["japan"])
    open_tab(page, "Attention")
    page.locator("#attention-heads-grid [data-head='4.7']").hover()
    expect(page.locator("#attention-heads-grid .bx-linked")).to_have_attribute("data-head", "4.7")
    open_tab(page, "Overview")
    head = page.locator("gradio-app .bx-flow-layer summary").first
    head.hover()
    expect(page.locator("#attention-heads-grid .bx-linked")).to_have_attribute("data-head", head.get_attribute("data-head"))
