"""The Overview, which the page opens with: one picture of all of BERT, used as a person would."""

import io
import re

import numpy as np
import pytest
from PIL import Image, ImageSequence

from tests.browser.expecting import expect
from tests.browser.steps import at, chips, settled

PICTURE = "#overview-routes-picture"
JAPAN = "?a=The+capital+of+Japan+is+%5BMASK%5D.&b="
LONG = "?a=" + "the+old+bank+by+the+river+" * 20 + "&b="
PHONE = {"width": 420, "height": 900}
STATES = 7  # of the bundled model
ROUTES = "[...document.querySelectorAll('gradio-app .bx-flow-hits path')].map((one) => one.dataset.route).join(' ')"
SCENES = """() => document.querySelector('gradio-app .bx-flow').scenes.filter(({ said }) => said)
    .map(({ said, value }) => [said, (value.changes ?? []).map(({ label }) => label)])"""
TITLES = ["read", "embed", "attend", "transform", "repeat", "guess", "judge"]


@pytest.fixture
def opened(open_app):
    """Opens the Overview at a query, and waits until it is still."""

    def at_query(query: str = JAPAN, **options):
        page = open_app(at("Overview", query), **options)
        expect(page.locator(f"gradio-app {PICTURE} .bx-flow-label").first).to_be_visible()
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


def stage(page, inside: str = ""):
    return picture(page, f".bx-zoom:not(.bx-gone) {inside}".strip())


def expect_level(page, *names: str) -> None:
    """The breadcrumb names these places, and the link reopens the last one."""
    expect(stage(page, "nav > :not([aria-hidden])")).to_have_text(["sentence", *names])


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
    expect(picture(page, "")).to_contain_text("Click a box to trace it")


def test_a_click_on_a_box_a_token_or_a_bar_shows_where_that_comes_from(opened):
    page = opened(viewport={"width": 1280, "height": 720})
    finding = page.locator("#overview-finding")
    before, place = page.evaluate(ROUTES), box(page, 4, 3).bounding_box()
    box(page, 4, 3).click()
    expect_chosen(page, 4, 3)
    expect(finding).to_contain_text(re.compile("“japan” after layer 3.*of 10 tried"))
    assert finding.locator("p").evaluate("(one) => one.getClientRects().length") == 2, "the sentence has one line more"
    assert box(page, 4, 3).bounding_box() == pytest.approx(place), "and the picture stays"
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
    moves = {"ArrowRight": (6, 6), "ArrowLeft": (6, 5), "ArrowUp": (5, 5), "Home": (5, 0), "PageUp": (0, 0), "ArrowDown": (1, 0)}
    for key, place in moves.items():
        page.keyboard.press(key)
        expect_chosen(page, *place)
        expect(box(page, *place)).to_be_focused()
    settled(page)
    expect(box(page, 1, 0)).to_be_focused()
    expect(picture(page, ".bx-flow-box[tabindex='0']")).to_have_count(1)
    expect(page.locator("#overview-finding p")).to_be_hidden()  # an embedding comes from nowhere


def test_the_keyboard_goes_from_the_sentence_to_one_weight_and_back(opened, bundled):
    page = opened()
    box(page, 6, 6).focus()
    page.keyboard.press("Enter")
    expect_level(page, "layer 6")
    heads = stage(page, ".bx-zoom-head button")
    expect(heads).to_have_count(12)
    expect(stage(page, "header p")).to_contain_text("“[MASK]” keeps")
    expect(stage(page, ".bx-zoom-neuron")).to_have_count(5)
    expect(stage(page, ".bx-zoom-neuron").first).to_contain_text("promotes")
    strongest = page.locator("gradio-app .bx-zoom-head button:focus")
    expect(strongest).to_have_count(1)
    name = strongest.locator("b").inner_text()
    page.wait_for_url("**set.zoom=*")
    page.keyboard.press("ArrowRight")
    expect(strongest.locator("b")).not_to_have_text(name)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect_level(page, "layer 6", f"head {name}")
    weights = bundled.trace("The capital of Japan is [MASK].").attention(5)[int(name.split(".")[1]) - 1, 6]
    for key in (4, 2):
        expect(stage(page, f".bx-zoom-weight[data-key='{key}']")).to_have_text(
            "<0.001" if weights[key] < 0.0005 else f"{weights[key]:.3f}"
        )
    expect(stage(page, f".bx-zoom-weight[data-key='{weights.argmax()}']")).to_be_focused()
    page.keyboard.press("Enter")
    expect_level(page, "layer 6", f"head {name}", "japan")
    expect(stage(page, ".bx-zoom-strip")).to_have_count(5)
    expect(stage(page, ".bx-zoom-sum")).to_be_focused()
    expect(stage(page, ".bx-zoom-line").filter(has_text="softmax")).to_contain_text(f"{weights[4]:.4f}")
    page.wait_for_url("**set.zoom=*6*,*4*")
    link = page.url
    for names in (["layer 6", f"head {name}"], ["layer 6"]):
        page.keyboard.press("Escape")
        expect_level(page, *names)
    page.keyboard.press("Escape")
    expect(stage(page)).to_have_count(0)
    expect(box(page, 6, 6)).to_be_focused()
    page.wait_for_url(lambda url: "set.zoom" not in url)
    page.goto(link)
    settled(page)
    expect_level(page, "layer 6", f"head {name}", "japan")
    stage(page, "nav button").first.click()
    expect(stage(page)).to_have_count(0)


def test_the_zoom_follows_the_mouse_the_wheel_and_the_token(opened):
    page = opened()
    picture(page, ".bx-flow-title").filter(has_text="layer 4").click()
    expect_level(page, "layer 4")
    box(page, 4, 4).click()
    expect(stage(page, "header p")).to_contain_text("“japan” keeps")
    box(page, 4, 3).click()
    expect_level(page, "layer 3")  # what a token brought to layer 4 was made there
    page.keyboard.press("Escape")
    expect(stage(page)).to_have_count(0)
    box(page, 6, 6).hover()
    page.mouse.wheel(0, -120)
    expect_level(page, "layer 6")
    expect(stage(page, "header p")).to_contain_text("“[MASK]” keeps")
    stage(page, ".bx-zoom-head[data-head='6.4'] button").hover()
    page.wait_for_timeout(500)  # one turn of the wheel is one step
    page.mouse.wheel(0, -120)
    expect_level(page, "layer 6", "head 6.4")
    page.wait_for_timeout(500)
    page.mouse.wheel(0, 120)
    expect_level(page, "layer 6")
    assert page.evaluate("scrollY") == 0


def test_a_cut_snaps_is_told_linked_and_put_back_by_one_key(opened):
    page = opened()
    bars = picture(page, ".bx-flow-output").filter(has_text="What is in the blank?")
    card = picture(page, ".bx-flow-card")
    line = picture(page, "[data-route='[5,6,4]']")
    line.dispatch_event("click")  # it is thin and crossed by others
    expect(card).to_contain_text(re.compile(r"Layer 6: “\[MASK\]” takes \d+(\.\d)?% from “japan”"))
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    line.dispatch_event("click")
    card.get_by_role("button", name="cut it").click()
    expect(card).to_have_count(0)
    finding = page.locator("#overview-finding")
    expect(finding).to_contain_text(re.compile(r"Without japan in layer 6: tokyo \d+% → 2%, \w+ leads with \d+%\."))
    expect(bars).to_contain_text(", was 62%")
    ghost = bars.locator("button", has_text="tokyo").locator("s")
    expect(ghost).to_be_visible()
    assert float(ghost.evaluate("(one) => parseFloat(one.style.width)")) == pytest.approx(62, abs=1)
    expect(picture(page, ".bx-flow-box.bx-changed").first).to_have_attribute("aria-label", re.compile("before the change"))
    expect(line).to_have_count(0)
    expect(picture(page, ".bx-flow-change")).to_have_accessible_name("Put back: japan → [MASK], layer 6")
    page.wait_for_url("**cut=6.6.4.0*")

    link = page.url
    page.reload()
    expect(picture(page, ".bx-flow-output").filter(has_text=", was 62%")).to_have_count(1)
    expect(page).to_have_url(link)
    settled(page)
    page.keyboard.press("x")  # what the blank takes most from now
    expect(picture(page, ".bx-flow-change")).to_have_count(3)  # both, and all
    page.wait_for_url(lambda url: url.count("6.6") > 1 or url.count(",") > link.count(","))
    page.keyboard.press("u")
    expect(picture(page, ".bx-flow-change")).to_have_count(1)
    expect(picture(page, ".bx-flow-change")).to_have_accessible_name("Put back: japan → [MASK], layer 6")
    page.keyboard.press("Control+z")
    expect(picture(page, ".bx-flow-change")).to_have_count(0)
    expect(picture(page, ".bx-changed")).to_have_count(0)
    expect(bars).not_to_contain_text("was")
    expect(finding).to_contain_text("drawing most on “japan” in layer 6")
    page.wait_for_url(lambda url: "cut=" not in url)


def test_a_weight_is_cut_and_a_head_switched_off_inside_the_zoom(opened):
    page = opened(f"{JAPAN}&set.zoom=%5B6,6,4%5D")
    expect_level(page, "layer 6", "head 6.6", "japan")
    page.keyboard.press("x")
    expect(page.locator("#overview-finding")).to_contain_text("Without japan in head 6.6: tokyo")
    expect(stage(page, ".bx-zoom-line").filter(has_text="value of")).to_contain_text("× 0, cut")
    page.keyboard.press("u")
    expect(stage(page, ".bx-zoom-line").filter(has_text="value of")).not_to_contain_text("cut")
    page.keyboard.press("Escape")
    stage(page).get_by_role("button", name="switch it off").click()
    expect(page.locator("#overview-finding")).to_contain_text("Without head 6.6: tokyo")
    expect(picture(page, ".bx-flow-change")).to_have_accessible_name("Put back: head 6.6 off")


def step_by_step(page) -> None:
    """Begin the story, and halt at its first stop."""
    play = picture(page, ".bx-flow-play")
    play.click()
    expect(play).to_have_accessible_name("Pause")
    play.click()
    expect(play).to_have_accessible_name("Play, step by step")


def test_each_stop_tells_a_sentence_and_keys_step_through_them(opened):
    page = opened(f"{JAPAN}It+is+a+city.")
    stops = picture(page, ".bx-flow-stops [data-stop]")
    expect(stops.first).to_be_hidden()
    step_by_step(page)
    expect(stops).to_have_text([*(f"{number} {title}" for number, title in enumerate(TITLES, start=1)), "together"])
    said, told = picture(page, ".bx-flow-story p"), []
    for number in range(len(TITLES)):
        stops.nth(number).click()
        expect(stops.nth(number)).to_have_attribute("aria-pressed", "true")
        expect(stops.nth(number)).to_be_focused()
        expect(said).to_have_class(re.compile("bx-told"))
        told.append(said.inner_text())
    assert len(set(told)) == len(TITLES)
    assert all(re.search(r"\d", one) for one in told), "each has a number in it"
    for key, number in (("ArrowRight", 7), ("ArrowRight", 0), ("ArrowRight", 1), ("ArrowLeft", 0), ("ArrowLeft", 7)):
        page.keyboard.press(key)
        expect(stops.nth(number)).to_be_focused()
        expect(stops.nth(number)).to_have_attribute("aria-pressed", "true")
    stops.nth(1).click()
    expect(picture(page, ".bx-flow-box.bx-later")).to_have_count((STATES - 1) * chips(page).count())
    stops.nth(6).click()
    picture(page, ".bx-flow-play").click()  # ends with the whole picture, which traces again what its headline is about
    expect_chosen(page, 6, STATES - 1)
    expect(picture(page, ".bx-later")).to_have_count(0)


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
    expect(page.locator("#overview-finding")).to_contain_text(" in the end is read as ")
    page.wait_for_url("**token=110*")
    elsewhere = picture(page, ".bx-flow-box[data-row='24']").first
    elsewhere.click()
    expect(elsewhere).to_have_attribute("aria-pressed", "false")


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


def test_share_makes_a_loop_of_what_was_just_done(opened):
    page = opened()
    page.evaluate(
        "() => { const { scenes } = document.querySelector('gradio-app .bx-flow'); scenes.splice(0, scenes.length - 1); }"
    )  # of other tests
    page.keyboard.press("x")
    expect(page.locator("#overview-finding")).to_contain_text("Without japan in layer 6")
    settled(page)
    saved = {}
    no_webp = "HTMLCanvasElement.prototype.toBlob = (then) => then(null);"
    for encoder, kinds in (("", ["webp"]), (no_webp, ["mp4", "webm"])):
        page.evaluate(f"() => {{ {encoder} }}")  # a browser that writes no WebP
        page.locator("#take-away").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="What you just did").click()
        stem, kind = download.value.suggested_filename.split(".")
        assert (stem, kind in kinds) == ("bert-explorer-loop", True)
        saved["webp" if kind == "webp" else "video"] = download.value.path().read_bytes()
        page.keyboard.press("Escape")
    assert all(10_000 < len(one) <= 2_000_000 for one in saved.values())
    with Image.open(io.BytesIO(saved["webp"])) as loop:
        frames = [frame.convert("L") for frame in ImageSequence.Iterator(loop)]
        assert loop.info["loop"] == 0, "for ever"
    assert len(frames) >= STATES + 2
    assert 2_000 < sum(frame.info["duration"] for frame in frames) <= 8_000
    ink = [int((np.asarray(frame) < 128).sum()) for frame in frames]
    assert ink[0] < 0.8 * ink[STATES - 1], "its columns come one after the other"
    assert np.abs(np.asarray(frames[-1], dtype=int) - np.asarray(frames[STATES - 1])).max() > 128, "and the answer falls"


TIRED = "?a=when+he+was+tired,+%5BMASK%5D+went+to+bed.&b="
HE, BLANK = 2, 6  # tokens


def test_a_slider_turns_he_into_she_and_one_key_turns_it_back(opened):
    page = opened(TIRED)
    bars = picture(page, ".bx-flow-output").filter(has_text="What is in the blank?")
    expect(bars.locator("button").first).to_contain_text("he ")
    box(page, HE, 3).click()
    expect_chosen(page, HE, 3)
    settled(page)
    box(page, HE, 3).click()
    expect_level(page, "layer 3")
    settled(page)
    stage(page).get_by_role("button", name="move this vector …").click()
    card = picture(page, ".bx-flow-card")
    expect(card.get_by_label("Direction", exact=True)).to_have_value("he she")
    strength = card.get_by_role("slider", name="Strength of the direction")
    strength.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(card.locator("output")).to_have_text("× 1.0")
    for state in range(3, STATES):
        expect(box(page, HE, state)).to_have_text("she")
    expect(bars.locator("button").first).to_contain_text("she ")
    finding = page.locator("#overview-finding")
    expect(finding).to_contain_text(
        re.compile(r"With 1\.0 × \(she − he\) added to “he” after layer 3: he 40% → <?\d+%, she leads with \d+%\.")
    )
    expect(finding).to_contain_text(re.compile(r"he → she.*A random direction of equal length: he 40% → \d+%\."))
    page.wait_for_url("**move=3,2,he,she,1.0*")
    page.keyboard.press("Shift")  # any gesture: the last scene has its sentence then
    scenes = page.evaluate(SCENES)
    assert len(scenes) >= 2
    for said, labels in scenes:  # of the loop that Share makes
        assert [f"With {label.split()[0]} × (she" for label in labels] == re.findall(r"^With [\d.]+ × \(she", said)

    page.reload()
    expect(bars.locator("button").first).to_contain_text(re.compile(r"she \d+%, was \d"))
    expect(picture(page, ".bx-flow-change")).to_have_accessible_name("Put back: 1.0 × (she − he) at he")
    settled(page)
    page.keyboard.press("u")
    expect(picture(page, ".bx-changed, .bx-flow-change")).to_have_count(0)
    expect(bars).not_to_contain_text("was")
    page.wait_for_url(lambda url: "move=" not in url)


def test_two_places_test_a_path_by_click_and_by_keyboard(opened):
    page = opened(TIRED)
    finding = page.locator("#overview-finding")
    picture(page, f"[data-route='[3,{BLANK},{HE}]']").dispatch_event("click")
    card = picture(page, ".bx-flow-card")
    card.get_by_role("button", name="send it only to …").click()
    expect(card).to_contain_text("Choose what reads he → [MASK] in layer 4")
    expect(box(page, HE, 5)).to_have_class(re.compile("bx-later"))
    box(page, BLANK, 5).click()
    expect(finding).to_contain_text(
        re.compile(r"Without he → \[MASK\] in layer 4, only through “\[MASK\]” after layer 5: he 40% → 3\d")
    )
    expect(picture(page, ".bx-flow-path")).to_have_attribute("d", re.compile("^M"))
    page.wait_for_url("**path=4.6.2,5.6*")
    settled(page)
    page.keyboard.press("u")
    expect(picture(page, ".bx-flow-change")).to_have_count(0)
    settled(page)
    picture(page, "[data-layer='2']").press("Enter")
    stage(page, "[data-head='2.8'] button").press("Enter")
    stage(page).get_by_role("button", name="send it only to …").press("Enter")
    picture(page, "[data-layer='5']").press("Enter")
    stage(page, "[data-head='5.6'] button").press("Enter")
    stage(page).get_by_role("button", name="query", exact=True).press("Enter")
    expect(finding).to_contain_text(re.compile(r"Without head 2\.8, only through head 5\.6's query: he stays at \d"))
    page.wait_for_url("**path=2.8,5.6.query*")
