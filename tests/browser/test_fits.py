"""What is to be read at once fits on the screen of a projector: 1280 × 720, in light and in dark."""

import pytest

from tests.at_night import at_night
from tests.browser.expecting import expect
from tests.browser.steps import at, choose, open_choice, settled

PAIR = "?a=The+capital+of+Japan+is+%5BMASK%5D.&b=It+is+a+city+of+temples+and+skyscrapers."
OTHER = "&set.other_a=The+capital+of+France+is+%5BMASK%5D."
SCREEN = {"width": 1280, "height": 720}
CONTRAST = """(element) => {
    const channels = (colour) => {
        const pen = document.createElement("canvas").getContext("2d");
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    };
    const light = (colour) => {
        const [red, green, blue] = channels(colour).map((one) => one / 255)
            .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const style = getComputedStyle(element);
    const two = [light(style.color), light(getComputedStyle(document.body).backgroundColor)];
    return [parseFloat(style.fontSize), (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05)];
}"""


@pytest.fixture
def open_at(open_app):
    """Opens a tab with a query in the window of a projector."""

    def opened(tab: str, query: str = PAIR, **options):
        page = open_app(at(tab, query), viewport=SCREEN, **options)
        settled(page)
        return page

    return opened


@pytest.mark.nightly  # by day, test_projection.py plays them
def test_the_layers_are_played_without_scrolling_and_a_file_begins_without_a_map(open_at):
    page = open_at("Projection")
    play = page.get_by_role("button", name="▶ Play the layers").bounding_box()
    assert play["y"] + play["height"] < SCREEN["height"]
    expect(page.locator("#projection-map-chart .scatterlayer").first).to_be_visible()
    choose(page, "projection-source", "CSV file")
    expect(page.locator("#projection-map-missing")).to_contain_text("Choose a CSV file")
    expect(page.locator("#projection-map-chart .scatterlayer")).to_have_count(0)
    choose(page, "projection-source", "Sentences")
    expect(page.locator("#projection-map-chart .scatterlayer").first).to_be_visible()
    expect(page.locator("#projection-map-missing")).to_be_hidden()


def test_both_sides_stand_side_by_side_with_every_token(open_at):
    page = open_at("Side by side", PAIR + OTHER)
    groups = page.locator("#side-by-side-guesses-answers .bx-group")
    expect(groups).to_have_count(2)
    boxes = [group.bounding_box() for group in groups.all()]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    open_choice(page, "side-by-side", "Attention")
    here = page.locator("#side-by-side-attention-here")
    tokens = page.locator("#strip .bx-token").count()
    expect(here.locator(".yaxislayer-above text, .yaxislayer-below text")).to_have_count(tokens)
    here.hover()
    page.get_by_role("button", name="Present", exact=True).click()
    expect(page.locator("[data-presented] .yaxislayer-above text, [data-presented] .yaxislayer-below text")).to_have_count(tokens)
    page.keyboard.press("Escape")


@pytest.mark.parametrize("scheme", at_night(["light", "dark"], ["dark"]))
def test_captions_can_be_read_from_the_last_row(open_at, scheme):
    page = open_at("Attention", color_scheme=scheme)
    page.locator(".how-toggle:visible").first.click()
    caption = page.locator(".caption p:visible").first
    expect(caption).to_be_visible()
    size, contrast = caption.evaluate(CONTRAST)
    assert size >= 15
    assert contrast >= 7
    page.locator(".how-toggle:visible").first.click()


def test_beside_the_lessons_the_bar_and_the_tabs_each_keep_to_one_line(open_at):
    page = open_at("Attention")
    page.locator("#open-lessons").click()
    expect(page.locator("#lessons")).to_be_visible()
    for line in ("#header > *", "gradio-app #sections [role=tab]", "gradio-app #tabs .tab-container [role=tab]"):
        middles = [box["y"] + box["height"] / 2 for one in page.locator(line).all() if (box := one.bounding_box())]
        assert middles, line
        assert max(middles) - min(middles) < 8, line
    tabs = page.locator("gradio-app #tabs .tab-container").bounding_box()
    assert page.get_by_role("heading", name="Who looks at whom?").bounding_box()["y"] >= tabs["y"] + tabs["height"]
    page.evaluate("() => BertExplorer.lessons.close()")
