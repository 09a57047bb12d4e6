"""How the page is wired, read off the app as it is built, and how its components present themselves to Gradio."""

import functools
import re
import sys
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import gradio as gr
import pytest

import explorer
from explorer.finetune.tab import TAB
from explorer.page.components import OF_PARTS, PLOTLY_ADDRESS, page_head
from explorer.page.events import CHOSEN, Values, keep_together, plain
from explorer.page.frame import Shell
from explorer.page.shell import build_shell
from explorer.ui.subject import Selection
from explorer.ui.view import OpenModel
from tests.waiting import set_clock

OURS = str(Path(explorer.__file__).parent)


@pytest.fixture(scope="module")
def blocks(page):
    return page[0]


def listeners(blocks, kind, event):
    """Pairs of a component of the kind and a listener to the event."""
    return [
        (blocks.blocks[target], listener)
        for listener in blocks.fns.values()
        for target, name in listener.targets
        if name == event and isinstance(blocks.blocks.get(target), kind)
    ]


def test_an_id_names_one_component(blocks):
    named = Counter(block.elem_id for block in blocks.blocks.values() if getattr(block, "elem_id", None))
    assert not [name for name, count in named.items() if count > 1]


def test_every_button_does_something(blocks):
    heard = {button for button, _ in listeners(blocks, gr.Button, "click")}
    buttons = [block for block in blocks.blocks.values() if isinstance(block, gr.Button)]
    idle = {button.elem_id for button in buttons if button not in heard and "how-toggle" not in button.elem_classes}
    links = {block.elem_id for block in buttons if str(block.elem_id).endswith("-download")}
    assert idle == links, "those are links to a file, which the browser follows"


def test_a_dropdown_is_heard_once_and_only_when_something_is_chosen(blocks):
    heard = listeners(blocks, gr.Dropdown, "input")
    assert len(heard) >= 20
    assert max(Counter(box for box, _ in heard).values()) == 1, "what one listener hears the next takes for old"
    assert {listener.js for _, listener in heard} == {CHOSEN}


def test_of_a_text_box_is_heard_what_a_person_types(blocks):
    assert not listeners(blocks, gr.Textbox, "input"), "it says nothing of what is pasted or deleted"
    heard = listeners(blocks, gr.Textbox, "change")
    assert len(heard) >= 15
    for box, listener in heard:
        if box.elem_id in ("link", "visited", "given"):  # which nobody types into
            continue
        assert "BertExplorer.page.typed(" in listener.js
        assert f"#{box.elem_id}" in listener.js or "'#input'" in listener.js, box.elem_id


@pytest.mark.parametrize("kind", [gr.Dropdown, gr.Radio, gr.Checkbox, gr.Slider])
def test_the_last_choice_counts(blocks, kind):
    heard = listeners(blocks, kind, "input") + listeners(blocks, kind, "release")
    assert heard
    assert {listener.trigger_mode for _, listener in heard} == {"always_last"}


def test_what_follows_an_event_follows_the_last_one_too(blocks):
    chained = [listener for listener in blocks.fns.values() if listener.trigger_after is not None and listener.fn]
    assert len(chained) >= 10
    dropped = [listener for listener in chained if listener.trigger_mode == "once"]
    trains = sum(name.startswith("begin_") for view in TAB.views for name in dir(view))
    assert len(dropped) == trains == 3, "but for the trainings"


def test_a_button_of_a_view_opens_a_model_in_the_whole_page(page, bundled, monkeypatch):
    blocks, shell = page
    ((tab, panel, name),) = shell.parts_that(OpenModel)
    monkeypatch.setattr(panel.view, f"on_{name}", lambda *_: OpenModel(bundled.name, {"note": "It is open."}))
    ((_, listener),) = [one for one in listeners(blocks, gr.Button, "click") if one[0] is panel.parts[name]]
    values = dict.fromkeys(listener.inputs) | tab.complete({}) | {shell.models.recent: []}
    request = gr.Request(session_hash="anyone")
    content, *_, opened = listener.fn(values, request)
    assert content[panel.parts["note"]] == "It is open."
    assert opened[shell.models.in_use] == bundled.name


Calls = Counter[tuple[str, str]]
"""How often each function is called, comprehensions included, by its file and name."""


def calls_of_a_click(blocks: gr.Blocks, shell: Shell) -> Calls:
    """The calls for a click on a head in Attention, after clicks on other heads of its layer and one of another."""
    tab, inputs = shell.tabs["attention"], shell.inputs
    grid = next(panel for panel in tab.panels if panel.view.name == "attention/heads").parts["grid"]
    click = next(one for one in blocks.fns.values() if (grid._id, "select") in one.targets)
    opened = {box: box.value for box in (inputs.model_name, inputs.text_a, inputs.text_b, shell.address)}
    values = tab.complete({**opened, inputs.selection: Selection()})
    for head in ([1, 1], [1, 2], [2, 2]):
        _click(click.fn, values, head)
    calls: Calls = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            calls[frame.f_code.co_filename.removeprefix(OURS), frame.f_code.co_qualname] += 1

    sys.setprofile(count)
    try:
        _click(click.fn, values, [2, 3])
    finally:
        sys.setprofile(None)
    return calls


def _click(handler: Any, values: Values, head: list[int]) -> None:
    updates = handler(dict(values), gr.SelectData(None, {"index": head, "value": None}))
    values.update({one: plain(value) for one, value in updates.items() if one in values})


def test_a_click_on_a_head_runs_few_of_our_functions():
    calls = calls_of_a_click(*build_shell())
    assert len(calls) <= 120, calls.most_common()
    assert len({file for file, _ in calls}) <= 30


def test_steps_that_reach_the_browser_together_lose_nothing(monkeypatch):
    clock = iter([0.0, 0.1, 0.2, 10.0])
    set_clock(monkeypatch, "explorer.page.events", lambda: next(clock))
    picture, button, progress, state = gr.HTML(), gr.Button(), gr.HTML(), gr.State()

    def steps():
        yield {picture: "drawn", button: gr.update(visible=True), state: 1}
        yield {progress: "half"}
        yield {button: gr.update(interactive=False), progress: "done"}
        yield {progress: "over"}

    first, second, third, late = keep_together(steps)()
    assert first == {picture: "drawn", button: gr.update(visible=True), state: 1}
    assert second == {picture: "drawn", button: gr.update(visible=True), progress: "half"}
    assert third == {picture: "drawn", button: gr.update(visible=True, interactive=False), progress: "done"}
    assert late == {progress: "over"}, "what was seen long ago may have been changed by hand since"


def test_a_box_is_not_set_to_what_was_typed_there_when_it_was_asked(blocks):
    """Somebody types on while the answer comes."""
    heard = {box.elem_id: (box, listener) for box, listener in listeners(blocks, gr.Textbox, "change")}
    box, listener = heard["fine-tune-tried"]
    values = {one: one.value for one in listener.inputs} | {box: "le"}
    updates = listener.fn(values)
    assert len(updates) > 10
    assert "value" not in updates.get(box, {})


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
