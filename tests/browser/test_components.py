"""Every component on a page of its own: what a click sends to Python, and what it never does."""

import json
import threading

import gradio as gr
import numpy as np
import plotly.graph_objects as go
import pytest

from explorer.attention.pictures import attention_lines
from explorer.core.limits import WAITING
from explorer.core.scheduling import Places
from explorer.page.blocks import PageBlocks
from explorer.page.components import OF_PARTS, Notice, PlotlyChart, TokenRow, page_head
from explorer.page.events import QUIET
from explorer.server.page import Document
from explorer.server.serving import guard
from explorer.ui.pictures.bars import bar_groups, bars
from explorer.ui.pictures.head_grid import head_grid
from explorer.ui.pictures.token_row import Numbers, token_row
from tests.browser.conftest import WINDOW, watched
from tests.browser.expecting import expect
from tests.browser.steps import click_chart, squeeze_charts

TOKENS = ["[CLS]", "un", "##do", "[MASK]", "[UNK]", "[SEP]", "bank", "bank", "[SEP]"]
KINDS = ["special", "piece", "continuation", "mask", "unk", "special", "piece", "piece", "special"]
SEGMENTS = [0] * 6 + [1] * 3
PAYLOADS = [
    "<img src=x onerror=alert(1)>",
    "${alert(1)}",
    "{{value}}",
    r"\u003cimg src=x onerror=alert(1)\u003e",
    "`",
    "`${alert(1)}`",
]

BEGUN, GO_ON = threading.Event(), threading.Event()  # the slow handler tells the first, and waits for the second


def weights(*shape):
    raised = np.exp(np.random.default_rng(1).normal(size=shape) * 2)
    return (raised / raised.sum(-1, keepdims=True)).astype(np.float32)


def heatmap(values):
    figure = go.Figure(go.Heatmap(z=values, coloraxis="coloraxis"))
    axes = {"xaxis": {"zeroline": False, "showgrid": False}, "yaxis": {"zeroline": False, "showgrid": False}}
    colours = {"colorscale": "Viridis", "cmin": 0, "cmax": 1}
    return figure.update_layout(
        template="none",
        uirevision="same",
        meta={"ramp": "sequential"},
        coloraxis=colours,
        margin=dict.fromkeys("ltrb", 40),
        **axes,
    )


def points():
    figure = go.Figure(go.Scatter(x=[0, 1, 2], y=[5, 6, 7], mode="markers", marker={"size": 30}, customdata=["a", "b", "c"]))
    return figure.update_layout(template="none", uirevision="same", margin=dict.fromkeys("ltrb", 40))


def row_value(selected=None):
    size = len(TOKENS)
    numbers = Numbers(ids=range(100, 100 + size), positions=range(size), offsets=[(0, 0)] * size)
    return token_row(TOKENS, KINDS, SEGMENTS, numbers, selected=selected)


def tell(name):
    """A handler that writes down what it was told."""

    def write_down(event: gr.SelectData):
        return json.dumps([name, event.index, event.value])

    return write_down


def slowly():
    BEGUN.set()
    GO_ON.wait(120)
    return row_value(1), "late"


def build():
    with PageBlocks(analytics_enabled=False) as blocks:
        said, masked = gr.Textbox(elem_id="said"), gr.Textbox(elem_id="masked")
        made = {
            "strip": TokenRow(row_value(), elem_id="strip"),
            "grid": OF_PARTS["head_grid"](head_grid(weights(3, 4, 6, 6), (0, 0)), elem_id="grid"),
            "bars": OF_PARTS["bars"](bars([("store", 0.431, ""), ("shop", 0.0001, "rank 2")]), elem_id="bars"),
            "groups": OF_PARTS["bars"](
                bar_groups([("one", [("a", 0.5, "")]), ("two", [("b", 0.2, ""), ("c", 0.1, "")])]), elem_id="groups"
            ),
            "lines": OF_PARTS["lines"](attention_lines(weights(9, 9), TOKENS, KINDS), height=260, elem_id="lines"),
            "chart": PlotlyChart(heatmap(weights(5, 5)), height=300, label="A heatmap", elem_id="chart"),
        }
        Notice(elem_id="silent")
        Notice(keep_height=True, elem_id="kept")
        notice = Notice("hello", elem_id="notice")
        with gr.Tabs():
            with gr.Tab("First"):
                gr.Markdown("nothing")
            with gr.Tab("Second"):
                made["points"] = PlotlyChart(height=300, elem_id="points")
                made["cards"] = TokenRow(detail=True, elem_id="cards")
        for name, component in made.items():
            component.select(tell(name), None, said, trigger_mode="multiple", **QUIET)
        for name, component in {"strip": made["strip"], "cards": made["cards"]}.items():
            component.mask(tell(name), None, masked, trigger_mode="multiple", **QUIET)
        _buttons(made, notice, masked)
        _anew({**made, "notice": notice, "said": said, "masked": masked})
    blocks.turns = Places(1, WAITING)
    return blocks


def _anew(components):
    """Two buttons that bring all components back to how they were at first: what is empty remembers nothing."""
    as_made = {name: component.value for name, component in components.items()}

    def button(name, values):
        gr.Button(name).click(lambda: [values[one] for one in components], None, list(components.values()), **QUIET)

    button("empty all", dict.fromkeys(components) | {"said": "empty", "masked": "empty"})
    button("anew", as_made | {"said": "", "masked": ""})


def _buttons(made, notice, masked):
    """Each sends new values to some components."""

    def button(name, component, value):
        gr.Button(name).click(value, None, component, **QUIET)

    button("new heatmap", made["chart"], lambda: heatmap(weights(6, 6)[:5, :5]))
    button("no heatmap", made["chart"], lambda: None)
    button("fill the closed tab", [made["points"], made["cards"]], lambda: (points(), row_value(2)))
    button("tell an error", notice, lambda: {"text": "It failed.", "kind": "error"})
    button("slowly select token 1", [made["strip"], masked], slowly)
    button("other bars", made["bars"], lambda: bars([("market", 0.9996, ""), ("street", 0, "")]))
    odd = PAYLOADS
    kinds = ["piece"] * len(odd)
    size = len(odd)
    button(
        "odd texts",
        [made["strip"], made["cards"], made["lines"], made["bars"], made["groups"], notice],
        lambda: (
            token_row(odd, kinds, [0] * size, selected=0),
            token_row(odd, kinds, [0] * size, Numbers(ids=range(size))),
            attention_lines(weights(size, size), odd, kinds, selected=1),
            bars([(text, 0.5, text) for text in odd]),
            bar_groups([(text, [(text, 0.5, text)]) for text in odd]),
            " ".join(odd),
        ),
    )


@pytest.fixture(scope="module")
def address():
    blocks = build()
    settings = {"footer_links": [], "run_history": False, "enable_monitoring": False}
    kwargs = guard(blocks, "127.0.0.1", Document(page_head()))
    _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, app_kwargs=kwargs, **settings)
    yield url
    blocks.close()


@pytest.fixture(scope="module")
def shared(browser, address):
    """The demo page that the tests share, since it takes five seconds to open one."""
    page = fresh_kit(watched(browser), address)
    yield page
    browser.close(page)


@pytest.fixture
def page(shared):
    """The shared page, brought back to how it is when it is opened."""
    anew(shared)
    yield shared
    found = shared.problems[:]
    shared.problems.clear()
    assert not found, "\n".join(found)


def fresh_kit(page, address):
    """Opens the demo page, and waits until it is drawn."""
    page.goto(f"{address}?__theme=light")
    expect(page.locator("#chart [data-drawn]")).to_be_visible()
    return page


def anew(page):
    """Bring the demo page back to how it is when it is opened."""
    page.mouse.move(2, 2)
    page.set_viewport_size(WINDOW)
    page.context.set_offline(False)
    page.evaluate(
        """() => {
            document.activeElement?.blur();
            document.querySelectorAll(".added").forEach((one) => one.remove());
            document.body.classList.remove("dark");
            scrollTo(0, 0);
            const now = performance.now.bind(performance); // two seconds on: what Python sends counts again, whatever was clicked
            performance.now = () => now() + 2000;
        }"""
    )
    page.get_by_role("tab", name="First").click()
    press(page, "empty all")
    for box in ("said", "masked"):
        expect(page.locator(f"#{box} textarea")).to_have_value("empty")
    expect(page.locator("#chart .plot-container")).to_have_count(0)
    press(page, "anew")
    for box in ("said", "masked"):
        expect(page.locator(f"#{box} textarea")).to_have_value("")
    expect(page.locator("#strip .bx-token")).to_have_count(len(TOKENS))
    expect(page.locator("#grid canvas")).to_have_count(12)
    expect(page.locator("#chart .plot-container")).to_have_count(1)
    page.evaluate("document.activeElement?.blur()")
    page.mouse.move(2, 2)


@pytest.fixture
def go_on():
    """Lets the slow handler wait until it is set."""
    BEGUN.clear()
    GO_ON.clear()
    yield GO_ON
    GO_ON.set()


def told(page, *what, box="said"):
    """Waits until Python was told this."""
    expect(page.locator(f"#{box} textarea")).to_have_value(json.dumps(list(what)))


def told_to_mask(page, *what):
    """Waits until Python was told to mask this."""
    told(page, *what, box="masked")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def switch_theme(page):
    page.evaluate("document.body.classList.toggle('dark')")


def token(page, index, row="strip"):
    return page.locator(f"#{row} .bx-token").nth(index)


def plot(page, expression, chart="chart"):
    """A JavaScript expression about `plot`, the drawn Plotly chart."""
    return page.evaluate(f"(() => {{ const plot = document.querySelector('#{chart} .bx-chart'); return {expression}; }})()")


def wait_for_plot(page, condition, chart="chart"):
    page.wait_for_function(f"(() => {{ const plot = document.querySelector('#{chart} .bx-chart'); return {condition}; }})()")


def redrawn(page, action, chart="chart"):
    """Does something and waits until the chart was drawn again."""
    before = page.locator(f"#{chart} .bx-chart").get_attribute("data-drawn") or "0"
    action()
    wait_for_plot(page, f"Number(plot.dataset.drawn) > {before}", chart)


class TestHeadGrid:
    def test_a_click_moves_the_ring_at_once_and_arrow_keys_move_on_and_stop_at_the_edge(self, page):
        head = page.get_by_label("layer 1, head 2", exact=True)
        moved = head.evaluate("button => { button.click(); return button.getAttribute('aria-pressed'); }")
        assert moved == "true"
        told(page, "grid", [0, 1], "layer 1, head 2")
        expect(page.locator("#grid [aria-pressed=true]")).to_have_count(1)
        head.focus()
        # Each is waited for: keys faster than any hand may overtake one another on the way to Python.
        for key, (layer, head) in (("ArrowLeft", (0, 0)), ("ArrowRight", (0, 1)), ("ArrowRight", (0, 2)), ("ArrowDown", (1, 2))):
            page.keyboard.press(key)
            told(page, "grid", [layer, head], f"layer {layer + 1}, head {head + 1}")
        expect(page.get_by_label("layer 2, head 3", exact=True)).to_be_focused()
        expect(page.locator("#grid button[tabindex='0']")).to_have_count(1)

    def test_pixels_are_the_ramp_of_the_weights_and_follow_the_theme(self, page):
        read = """() => [...document.querySelectorAll('#grid canvas')].map((canvas) =>
            [...canvas.getContext('2d').getImageData(0, 0, 6, 6).data].filter((_, i) => i % 4 < 3))"""
        levels = np.rint(np.sqrt(weights(3, 4, 6, 6)) * 255).astype(int).reshape(12, -1)
        light = page.evaluate(read)
        ramp = np.array(page.evaluate("BertExplorer.rampTable()"))
        np.testing.assert_array_equal(np.array(light).reshape(12, -1, 3), ramp[levels])
        switch_theme(page)
        page.wait_for_function(f"() => String(({read})()) !== '{','.join(str(v) for c in light for v in c)}'")
        ramp = np.array(page.evaluate("BertExplorer.rampTable()"))
        np.testing.assert_array_equal(np.array(page.evaluate(read)).reshape(12, -1, 3), ramp[levels])


class TestTokenRow:
    def test_a_click_selects_at_once_and_arrows_and_enter_do(self, page):
        assert token(page, 6).evaluate("chip => { chip.click(); return chip.getAttribute('aria-pressed'); }") == "true"
        told(page, "strip", 6, "bank")
        expect(page.locator("#strip [aria-pressed=true]")).to_have_count(1)
        token(page, 0).focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowRight")
        expect(token(page, 1)).to_be_focused()
        page.keyboard.press("Enter")
        told(page, "strip", 1, "un")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        told(page, "strip", 8, "[SEP]")

    def test_three_ways_to_mask_but_not_what_the_tokenizer_added(self, page):
        token(page, 0).dblclick()
        page.keyboard.press("m")
        token(page, 1).click()
        told(page, "strip", 1, "un")
        expect(page.locator("#masked textarea")).to_have_value("")
        page.locator("#strip .bx-do-mask").click()
        told_to_mask(page, "strip", 1, "un")
        token(page, 7).dblclick()
        told_to_mask(page, "strip", 7, "bank")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("m")
        told_to_mask(page, "strip", 6, "bank")

    def test_a_late_answer_does_not_move_the_choice_back(self, page, go_on):
        press(page, "slowly select token 1")
        token(page, 7).click()
        go_on.set()
        expect(page.locator("#masked textarea")).to_have_value("late")
        expect(token(page, 7)).to_have_attribute("aria-pressed", "true")


class TestAttentionLines:
    def test_pointing_shows_the_edges_of_one_token_and_says_the_strongest(self, page):
        paths = page.locator("#lines path")
        expect(paths).to_have_count(81)
        page.locator("#lines [data-side=query]").nth(1).hover()
        expect(page.locator("#lines .bx-lines-caption")).to_contain_text("un looks most at")
        expect(paths.nth(9)).to_have_count(0)
        row = weights(9, 9)[1]
        expect(page.locator("#lines .bx-lines-caption")).to_contain_text(f"{TOKENS[row.argmax()]}: {row.max():#.3g}")
        tint = "button => getComputedStyle(button).backgroundColor"
        assert "rgba(0, 0, 0, 0)" not in page.locator("#lines [data-side=key]").nth(int(row.argmax())).evaluate(tint)
        page.locator("#lines [data-side=key]").nth(2).hover()
        expect(page.locator("#lines .bx-lines-caption")).to_contain_text("##do is looked at most by")
        page.mouse.move(2, 2)
        expect(paths).to_have_count(81)


def test_bars_tell_their_row_and_keep_height_and_focus_and_a_notice_speaks(page):
    page.locator("#groups button").nth(2).click()
    told(page, "groups", [1, 1], "c")
    page.locator("#bars button").nth(1).click()
    told(page, "bars", 1, "shop")
    before = page.locator("#bars").bounding_box()["height"]
    page.evaluate("[...document.querySelectorAll('button')].find((b) => b.textContent.trim() === 'other bars').click()")
    expect(page.locator("#bars .bx-percent")).to_have_text([">99.9%", "0.0%"])
    assert page.locator("#bars").bounding_box()["height"] == before
    expect(page.locator("#bars button").nth(1)).to_be_focused()
    expect(page.locator("#notice [role=status]")).to_have_text("hello")
    expect(page.locator("#silent")).to_be_hidden()
    assert page.locator("#kept").bounding_box()["height"] >= 20
    press(page, "tell an error")
    expect(page.locator("#notice [role=alert]")).to_have_text("It failed.")


class TestPlotlyChart:
    def cell(self, page, row, column, size=5):
        """The middle of a cell of the heatmap, on the screen."""
        page.locator("#chart").scroll_into_view_if_needed()
        area = page.locator("#chart .nsewdrag").first.bounding_box()
        return area["x"] + area["width"] * (column + 0.5) / size, area["y"] + area["height"] * (1 - (row + 0.5) / size)

    def test_zoom_survives_an_update_and_a_new_theme(self, page):
        page.mouse.move(*self.cell(page, 3, 1))
        page.mouse.down()
        page.mouse.move(*self.cell(page, 1, 3), steps=5)
        page.mouse.up()
        wait_for_plot(page, "plot._fullLayout.xaxis.range[0] > 0")
        zoomed = plot(page, "plot._fullLayout.xaxis.range")
        assert zoomed[1] - zoomed[0] < 3
        for change in (lambda: press(page, "new heatmap"), lambda: switch_theme(page)):
            redrawn(page, change)
            assert plot(page, "plot._fullLayout.xaxis.range") == zoomed
        size = plot(page, "plot._fullLayout._size")
        squeeze_charts(page)
        assert plot(page, "plot._fullLayout._size") == size, "a moment without room cuts no label off"

    def test_filled_in_a_closed_tab_it_is_drawn_to_fit_when_shown_and_so_are_cards(self, page):
        press(page, "fill the closed tab")
        page.get_by_role("tab", name="Second").click()
        numbers = page.locator("#cards .bx-cell").nth(2).locator(".bx-number")
        expect(numbers).to_have_text(["102", "0", "2", "–"])
        names = numbers.evaluate_all("nodes => nodes.map((node) => getComputedStyle(node, '::before').content)")
        assert names == ['"id"', '"segment"', '"position"', '"chars"']
        expect(token(page, 2, "cards")).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#points .point")).to_have_count(3)
        wait_for_plot(
            page, "plot._fullLayout.width === plot.clientWidth && plot._fullLayout.height === plot.clientHeight", "points"
        )
        page.locator("#points").scroll_into_view_if_needed()
        box = page.locator("#points .point").nth(1).bounding_box()
        click_chart(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        told(page, "points", 1, 6)


def test_no_text_is_ever_more_than_text(page):
    press(page, "odd texts")
    expect(page.locator("#strip .bx-token")).to_have_text(PAYLOADS)
    for side in ("query", "key"):
        expect(page.locator(f"#lines [data-side={side}]")).to_have_text(PAYLOADS)
    expect(page.locator("#bars .bx-name")).to_have_text(PAYLOADS)
    expect(page.locator("#bars .bx-note")).to_have_text(PAYLOADS)
    expect(page.locator("#groups h3")).to_have_text(PAYLOADS)
    expect(page.locator("#notice .bx-notice")).to_have_text(" ".join(PAYLOADS))
    expect(page.locator("#lines .bx-lines-caption")).to_contain_text(PAYLOADS[1])
    page.get_by_role("tab", name="Second").click()
    expect(page.locator("#cards .bx-token")).to_have_text(PAYLOADS)
    token(page, 1).click()
    told(page, "strip", 1, PAYLOADS[1])
    assert page.locator("img").count() == 0


class TestStream:
    """Answers reach the page, however calls and connections come and go."""

    def test_a_click_that_comes_while_another_is_answered_is_heard(self, page):
        for n in range(10):
            first = 1 + n % 2 * 2
            page.evaluate(
                """([first, wait]) => {
                    const pieces = document.querySelectorAll("#strip .bx-token");
                    pieces[first].click();
                    setTimeout(() => pieces[first + 1].click(), wait);
                }""",
                [first, 6 + 2 * n],
            )
            told(page, "strip", first + 1, TOKENS[first + 1])

    def test_a_page_whose_connection_broke_hears_again(self, page):
        token(page, 1).click()
        told(page, "strip", 1, "un")
        page.context.set_offline(True)
        page.wait_for_timeout(500)
        page.context.set_offline(False)
        token(page, 2).click()
        told(page, "strip", 2, "##do")
        page.problems.clear()
