"""What our Blocks leave out of Gradio's changes nothing that a browser or a handler gets, and takes turns."""

import asyncio
import copy

import gradio as gr
import pytest
from gradio.state_holder import SessionState

from explorer.core.scheduling import MODEL
from explorer.page.blocks import PageBlocks
from explorer.page.components import OF_PARTS, Notice
from tests.waiting import waited


def built(kind):
    """A small page with a bit of everything, and its only handler."""
    with kind(analytics_enabled=False) as blocks:
        components = [
            gr.Textbox("a"),
            gr.Slider(1, 9, value=3, step=1),
            gr.Number(2, precision=0),
            gr.Dropdown(["x", "y"], value="x"),
            gr.Radio(["x", "y"], value="y"),
            gr.Checkbox(True),
            gr.CheckboxGroup(["x", "y"], value=["x"]),
            gr.Dataframe([["r", "s"]], headers=["one", "two"]),
            gr.State({"kept": 1}),
            Notice(),
            OF_PARTS["bars"](),
        ]
        gr.Button().click(lambda *values: values, components, components, **MODEL)
    return blocks, next(iter(blocks.fns.values())), components


TABLE = {"headers": ["one", "two"], "data": [["t", "u"]], "metadata": None}
GIVEN = ["typed", 4, 5, "y", "x", False, ["y"], TABLE, None, None, None]


@pytest.fixture(params=[GIVEN, ["", 1, 0, None, None, True, [], TABLE, None, None, None]], ids=["full", "empty"])
def values(request):
    return request.param


def test_a_handler_gets_what_gradio_would_give_it(values):
    def given(kind):
        blocks, function, _ = built(kind)
        return waited(blocks.preprocess_data(function, copy.deepcopy(values), SessionState(blocks)))

    ours, theirs = given(PageBlocks), given(gr.Blocks)
    for own, other in zip(ours, theirs, strict=True):
        assert own.equals(other) if hasattr(own, "equals") else own == other


@pytest.mark.parametrize(
    ("place", "value", "says"), [(3, "z", "list of choices"), (1, 0, "minimum"), (1, "x", "not supported"), (2, "x", "__round__")]
)
def test_a_value_that_cannot_be_is_refused_as_gradio_does_and_read_once(monkeypatch, place, value, says):
    def refused(kind):
        blocks, function, components = built(kind)
        tried = []
        read = type(components[place]).preprocess
        monkeypatch.setattr(components[place], "preprocess", lambda given: tried.append(given) or read(components[place], given))
        given = [*GIVEN[:place], value, *GIVEN[place + 1 :]]
        with pytest.raises((gr.Error, TypeError, ValueError), match=says) as error:
            waited(blocks.preprocess_data(function, given, SessionState(blocks)))
        assert tried == [value]
        return isinstance(error.value, gr.Error)

    assert refused(PageBlocks) == refused(gr.Blocks), "the browser is told the same"


@pytest.mark.parametrize("changed", [[0], [0, 1, 3, 5], [1, 8], [8], list(range(9))])
def test_the_browser_gets_what_gradio_would_send_it(changed):
    longer, other = gr.update(maximum=20, value=12), gr.update(choices=["z"], value="z")
    news = ["new", longer, 7, other, "x", False, ["y"], [["v", "w"]], {"kept": 2}]

    def sent(kind):
        blocks, function, components = built(kind)
        state = SessionState(blocks)
        answer = {components[place]: copy.deepcopy(news[place]) for place in changed}  # Gradio empties updates
        data = waited(blocks.postprocess_data(function, answer, state))
        slider, menu = (state[components[place]._id] for place in (1, 3))
        return data, state[components[8]._id], (slider.maximum, menu.choices)

    (ours, kept, known), (theirs, kept_there, known_there) = sent(PageBlocks), sent(gr.Blocks)
    assert kept == kept_there
    assert known == known_there
    for place, (own, other) in enumerate(zip(ours, theirs, strict=True)):
        assert own == (other if place in changed and place != 8 else gr.skip())  # of a state the browser learns nothing


def test_calls_of_a_session_take_turns_and_those_of_others_do_not_wait():
    running, most = {"a": 0, "b": 0}, {"a": 0, "b": 0, "both": 0}

    with PageBlocks(analytics_enabled=False) as blocks:
        box = gr.Textbox()

        async def work(session):
            running[session] += 1
            most[session] = max(most[session], running[session])
            most["both"] = max(most["both"], sum(running.values()))
            await asyncio.sleep(0.01)
            running[session] -= 1
            return session

        gr.Button().click(work, box, box, **MODEL)
    function = next(iter(blocks.fns.values()))

    async def calls():
        states = {name: SessionState(blocks) for name in ("a", "b")}
        await asyncio.gather(*(blocks.process_api(function, [name], states[name]) for name in "aabbab"))

    waited(calls())
    assert most == {"a": 1, "b": 1, "both": 2}
