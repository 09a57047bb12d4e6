"""The Overview, which the page opens with: one picture of all of BERT, used as a person would."""

import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import at, chips, settled, visit
from tests.tabs import open_tab, opened_tab

PICTURE = "#overview-routes-picture"
JAPAN = "?a=The+capital+of+Japan+is+%5BMASK%5D.&b="
LONG = "?a=" + "the+old+bank+by+the+river+" * 20 + "&b="
PHONE = {"width": 420, "height": 900}
STATES = 7  # of the bundled model
ROUTES = "[...document.querySelectorAll('gradio-app .bx-flow-hits path')].map((one) => one.dataset.route).join(' ')"
TITLES = ["Pieces", "Vectors", "Look around", "Think", "Again and again", "Guess", "Does B follow?"]


@pytest.fixture
def opened(open_app):
    """Opens the Overview at a query, and waits until it is still."""

    def at_query(query: str = JAPAN, **options):
        page = open_app(at("Overview", query), **options)
        expect(page.locator(f"gradio-app {PICTURE} .bx-flow-box").first).to_be_visible()
        settled(page)
        return page

    return at_query


def box(page, row: int, state: int):
    return page.locator(f"gradio-app {PICTURE} .bx-flow-box[data-row='{row}'][data-state='{state}']")


def picture(page, inside: str = ""):
    return page.locator(f"gradio-app {PICTURE} {inside}".strip())


def expect_chosen(page, row: int, state: int) -> None:
    """One box is pressed, and it is this one."""
    expect(picture(page, ".bx-flow-box[aria-pressed=true]")).to_have_count(1)
    expect(box(page, row, state)).to_have_attribute("aria-pressed", "true")


def open_route(page, row: int, state: int) -> None:
    """Unfold the layer below a box and press what its token takes most from; the card of that route is then there."""
    box(page, row, state).click()
    picture(page, f".bx-flow-title[data-layer='{state}']").click()
    layer = page.get_by_role("region", name=f"inside layer {state}")
    layer.locator("p button").first.click()
    expect(layer).to_have_count(0)
    expect(picture(page, ".bx-flow-route")).to_be_visible()


def test_it_opens_on_the_blank_with_boxes_ribbons_and_bars(opened, bundled):
    page = opened()
    trace = bundled.trace("The capital of Japan is [MASK].")
    expect(picture(page, ".bx-flow-box")).to_have_count(trace.kept * STATES)
    expect(picture(page, ".bx-flow-label")).to_have_text(list(trace.tokens))
    expect_chosen(page, trace.mask_positions[0], STATES - 1)
    assert len(page.evaluate(ROUTES).split()) > 20
    assert picture(page, ".bx-flow-lines > g:first-child path").count() >= picture(page, ".bx-flow-hits path").count()
    (guess,) = bundled.fill_mask("The capital of Japan is [MASK].")
    bars = picture(page, ".bx-flow-output").filter(has_text="What is in the blank?").locator("bdi")
    expect(bars).to_have_text([one.token for one in guess.candidates[:5]])
    first = guess.candidates[0]
    expect(box(page, trace.mask_positions[0], STATES - 1)).to_have_text(first.token)
    expect(page.locator("#overview-finding")).to_contain_text(f"“[MASK]” becomes “{first.token}”")
    expect(page.locator("#overview-routes-check")).to_contain_text("✓ matches the model")
    expect(picture(page, "")).to_contain_text("Click a box, a token or a bar")


def test_a_click_on_a_box_a_token_or_a_bar_shows_where_that_comes_from(opened):
    page = opened()
    finding = page.locator("#overview-finding")
    before = page.evaluate(ROUTES)
    box(page, 4, 3).click()
    expect_chosen(page, 4, 3)
    expect(finding).to_contain_text("“japan” after layer 3")
    page.wait_for_function(f"(before) => {ROUTES} !== before", arg=before)
    assert max(int(layer) for layer in re.findall(r"\[(\d+),", page.evaluate(ROUTES))) == 2, "nothing comes from above"
    picture(page, ".bx-flow-label").nth(2).click()
    expect_chosen(page, 2, STATES - 1)
    expect(finding).to_contain_text("“capital” in the end")
    expect(picture(page, ".bx-flow-output").filter(has_text="“capital”, read at the end")).to_have_count(1)
    picture(page, ".bx-flow-output").filter(has_text="What is in the blank?").get_by_role("button").nth(1).click()
    expect_chosen(page, 6, STATES - 1)
    expect(finding).to_contain_text("“[MASK]” becomes “tokyo”")
    page.wait_for_function(f"(before) => {ROUTES} === before", arg=before)


def test_arrow_keys_move_and_choose_and_stop_at_the_edge(opened):
    page = opened()
    box(page, 6, 6).focus()
    for key, (row, state) in (
        ("ArrowRight", (6, 6)),
        ("ArrowLeft", (6, 5)),
        ("ArrowUp", (5, 5)),
        ("Home", (5, 0)),
        ("PageUp", (0, 0)),
        ("ArrowDown", (1, 0)),
    ):
        page.keyboard.press(key)
        expect_chosen(page, row, state)
        expect(box(page, row, state)).to_be_focused()
    settled(page)
    expect(box(page, 1, 0)).to_be_focused()
    expect(picture(page, ".bx-flow-box[tabindex='0']")).to_have_count(1)
    expect(page.locator("#overview-finding p")).to_be_hidden()  # an embedding comes from nowhere


def test_a_layer_unfolds_by_its_title_and_folds_by_escape(opened):
    page = opened()
    title = picture(page, ".bx-flow-title").filter(has_text="layer 4")
    title.focus()
    page.keyboard.press("Enter")
    layer = page.get_by_role("region", name="inside layer 4")
    for part in ("1 · look around", "2 · add & norm", "3 · think", "4 · add & norm"):
        expect(layer).to_contain_text(part)
    expect(layer).to_contain_text("for “[MASK]”")
    expect(layer.locator("details")).to_have_count(6)
    expect(layer).to_contain_text("the other 6: ")
    expect(layer.locator(".bx-flow-neuron")).to_have_count(5)
    expect(layer.locator(".bx-flow-neuron").first).to_contain_text("promotes")
    expect(layer).to_be_focused()
    box(page, 4, 5).click()
    expect(layer).to_contain_text("for “japan”")
    box(page, 4, 2).click()
    expect(layer).to_have_count(0)  # a layer above the place that is followed has brought nothing
    picture(page, ".bx-flow-title").filter(has_text="layer 2").click()
    expect(page.get_by_role("region", name="inside layer 2")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name="inside layer 2")).to_have_count(0)


def test_a_head_of_an_unfolded_layer_leads_inside_it(opened):
    page = opened(f"{JAPAN}&set.opened=%5B4%5D")
    head = page.get_by_role("region", name="inside layer 4").locator("details").first
    name = head.locator("summary span").first.inner_text()
    head.locator("summary").click()
    head.get_by_role("button", name="inside this head").click()
    expect(opened_tab(page)).to_have_text("Inside a head")
    expect(page.locator("#inside-head-dots-about")).to_contain_text(f"layer 4, {name}")
    expect(page.locator("#inside-head-dots-about")).to_contain_text("'[MASK]' (token 6) asks")


def test_a_line_opens_its_card_and_a_cut_is_shown_linked_and_put_back(opened):
    page = opened()
    bars = picture(page, ".bx-flow-output").filter(has_text="What is in the blank?")
    lines = picture(page, ".bx-flow-hits path")
    lines.last.dispatch_event("click")  # the strongest; a line is thin, and others cross it
    card = picture(page, ".bx-flow-route")
    expect(card).to_contain_text("by its heads")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    lines.last.dispatch_event("click")
    expect(card).to_be_visible()
    page.locator("#text-b textarea").fill("")
    expect(card).to_be_visible()  # the words that it is about are where they were
    page.locator("#text-a textarea").fill("Oh, Japan: its capital is [MASK].")
    expect(card).to_have_count(0)
    visit(page, JAPAN)
    open_route(page, 6, 6)
    expect(card).to_contain_text(re.compile(r"Layer 6: “\[MASK\]” takes \d+(\.\d)?% from “japan”"))
    expect(card.locator("details")).to_have_count(6)
    card.get_by_role("button", name="cut this route").click()
    expect(page.locator("#overview-what-if-outcome")).to_contain_text("Without")
    expect(bars).to_contain_text(", was 89%")
    ghost = bars.locator("button", has_text="tokyo").locator("s")
    expect(ghost).to_be_visible()
    assert float(ghost.evaluate("(one) => parseFloat(one.style.width)")) == pytest.approx(89, abs=1)
    expect(picture(page, ".bx-flow-box.bx-changed").first).to_have_attribute("aria-label", re.compile("before the change"))
    page.wait_for_url("**cut=6.6.4.0*")

    link = page.url
    page.reload()
    expect(picture(page, ".bx-flow-output").filter(has_text=", was 89%")).to_have_count(1)
    expect(page).to_have_url(link)
    told = page.locator("#overview-what-if-outcome").inner_text().strip()
    open_tab(page, "Fill-mask")
    expect(page.locator("#fill-mask-what-if-outcome")).to_contain_text(told)
    open_tab(page, "Overview")
    settled(page)

    open_route(page, 6, 6)  # takes now most from another token
    page.locator("#overview-what-if-back").get_by_role("button").first.click()
    expect(page.locator("#overview-what-if-outcome")).to_be_hidden()
    expect(picture(page, ".bx-changed")).to_have_count(0)
    expect(bars).not_to_contain_text("was")
    page.wait_for_url(lambda url: "cut=" not in url)


def step_by_step(page) -> None:
    """Begin the story, and halt at its first stop."""
    play = picture(page, ".bx-flow-play")
    play.click()
    expect(play).to_have_accessible_name("Pause")
    play.click()
    expect(play).to_have_accessible_name("Play, step by step")


def test_each_stop_tells_a_sentence_and_keys_step_through_them(opened):
    page = opened()
    stops = picture(page, ".bx-flow-stops [data-stop]")
    expect(stops.first).to_be_hidden()
    step_by_step(page)
    expect(stops).to_have_text([*(f"{number} {title}" for number, title in enumerate(TITLES, start=1)), "all at once"])
    said, told = picture(page, ".bx-flow-story p"), []
    for number in range(len(TITLES)):
        stops.nth(number).click()
        expect(stops.nth(number)).to_have_attribute("aria-pressed", "true")
        expect(stops.nth(number)).to_be_focused()
        expect(said).to_have_class(re.compile("bx-told"))
        told.append(said.inner_text())
    assert len(set(told)) == len(TITLES)
    assert all(re.search(r"\d", one) for one in told[:-1]), "each has a number in it"
    assert "type one in B" in told[-1]
    for key, number in (("ArrowRight", 7), ("ArrowRight", 0), ("ArrowRight", 1), ("ArrowLeft", 0), ("ArrowLeft", 7)):
        page.keyboard.press(key)
        expect(stops.nth(number)).to_be_focused()
        expect(stops.nth(number)).to_have_attribute("aria-pressed", "true")
    expect(said).to_contain_text("Click a box, a token or a bar")
    stops.nth(0).click()
    expect(picture(page, ".bx-flow-box.bx-later")).to_have_count(STATES * chips(page).count())
    stops.nth(1).click()
    expect(picture(page, ".bx-flow-box.bx-later")).to_have_count((STATES - 1) * chips(page).count())
    stops.nth(7).click()
    expect(picture(page, ".bx-later")).to_have_count(0)


# The seconds at each stop pass when the test says so.
BY_HAND = """() => {
    const { setInterval } = window;
    window.setInterval = (call, ms) => {
        if (ms < 1000) return setInterval(call, ms);
        window.setInterval = setInterval;
        window.goOn = call;
        return setInterval(call, 1e8);
    };
}"""


def test_the_story_plays_until_a_box_is_chosen_and_keeps_the_keyboard_s_place(opened):
    page = opened()
    play, told = picture(page, ".bx-flow-play"), picture(page, ".bx-told")
    expect(play).to_have_accessible_name("Play, step by step")
    play.focus()
    page.evaluate(BY_HAND)
    page.keyboard.press("Enter")
    expect(play).to_have_accessible_name("Pause")
    expect(play).to_be_focused()
    first = told.inner_text()
    page.evaluate("() => window.goOn()")
    expect(told).not_to_have_text(first)
    expect(play).to_be_focused()
    box(page, 2, 2).click()
    expect(play).to_have_accessible_name("Play, step by step")
    expect_chosen(page, 2, 2)
    expect(told).to_have_count(0)


def test_a_long_input_has_a_row_for_what_is_elsewhere(opened, bundled):
    page = opened(LONG)
    rows = picture(page, ".bx-flow-label")
    expect(rows).to_have_count(25)
    expect(rows.last).to_have_text(f"elsewhere ({bundled.encode('the old bank by the river ' * 20).kept - 24})")
    expect(picture(page, ".bx-flow-box")).to_have_count(25 * STATES)
    last = chips(page).nth(110)
    last.scroll_into_view_if_needed()
    last.click()
    expect(page.locator("#strip .bx-token[aria-pressed=true]")).to_have_count(1)
    expect(picture(page, ".bx-flow-box[aria-pressed=true]")).to_have_attribute("data-state", str(STATES - 1))
    expect(page.locator("#overview-finding")).to_contain_text("in the end takes ")
    page.wait_for_url("**token=110*")
    chosen = picture(page, ".bx-flow-box[aria-pressed=true]")
    chosen.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**set.state=5*")
    expect(picture(page, ".bx-flow-box[aria-pressed=true]")).to_have_attribute("data-state", "5")
    elsewhere = picture(page, ".bx-flow-box[data-row='24']").first
    elsewhere.click()
    expect(elsewhere).to_have_attribute("aria-pressed", "false")


GLIDING = """() => {
  const kinds = { box: ".bx-flow-box", line: ".bx-flow-lines path", bar: ".bx-flow-output i" };
  window.glided = [];
  window.kept = [...document.querySelectorAll("gradio-app .bx-flow-box")].at(-1);
  const look = () => {
    for (const { effect, transitionProperty } of document.getAnimations()) {
      const kind = Object.keys(kinds).find((one) => effect.target.matches(kinds[one]));
      if (kind) window.glided.push(`${kind} ${transitionProperty}`);
    }
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.nightly  # nothing on the page is wrong where it fails
@pytest.mark.own_page
def test_another_text_glides_to_its_places_and_keeps_the_rows_that_go_on(opened):
    page = opened(reduced_motion="no-preference")
    last = chips(page).count() - 1
    devtools = page.context.new_cdp_session(page)
    devtools.send("Animation.enable")
    devtools.send("Animation.setPlaybackRate", {"playbackRate": 0.1})  # however rarely a busy machine draws
    page.evaluate(GLIDING)
    page.locator("#text-a textarea").fill("The old capital of Japan is [MASK].")
    expect(picture(page, ".bx-flow-label")).to_contain_text(["[CLS]", "the", "old", "capital"])
    expect(picture(page, ".bx-flow-box")).to_have_count(STATES * (last + 2))
    page.wait_for_function("(row) => window.kept.isConnected && Number(window.kept.dataset.row) === row", arg=last + 1)
    page.wait_for_function("() => ['box top', 'line d', 'bar width'].every((one) => window.glided.includes(one))")
    order = page.evaluate(
        """() => [...document.querySelectorAll("gradio-app .bx-flow-box")].map((one) => [+one.dataset.row, +one.dataset.state])"""
    )
    assert order == sorted(order), "in the order in which they are read out"
    devtools.detach()


def test_on_a_phone_the_sections_and_the_end_of_the_chosen_row_are_in_view(opened):
    page = opened(JAPAN, viewport=PHONE)
    for section in page.locator("gradio-app #sections [role=tab]").all():
        expect(section).to_be_in_viewport(ratio=1)
    expect(box(page, 6, 6)).to_be_in_viewport(ratio=0.9)
    expect(
        picture(page, ".bx-flow-output").filter(has_text="What is in the blank?").get_by_role("button").first
    ).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    expect(picture(page, ".bx-flow-label").nth(6)).to_be_in_viewport(ratio=0.9)  # the tokens stay beside it
    step_by_step(page)
    for number in (0, 6):
        stop = picture(page, f"[data-stop='{number}']")
        stop.focus()
        page.keyboard.press("Enter")
        expect(stop).to_be_in_viewport(ratio=0.9)
