"""The page is sent in pieces, and nothing of it is lost or sent before it is needed."""

import asyncio

import pytest

from explorer.page.pieces import Pieces
from tests.stranger import Stranger
from tests.waiting import waited


@pytest.fixture(scope="module")
def built(page):
    blocks, shell = page
    return blocks, shell, Pieces(blocks.config, blocks.containers)


@pytest.fixture
def visitor(served):
    return Stranger(served)


def numbers(config, kind):
    return {one["id"] for one in config[kind]}


def placed(layout):
    return {layout["id"]}.union(*(placed(child) for child in layout.get("children", [])))


def test_the_page_and_all_deliveries_together_are_everything(built):
    _, shell, pieces = built
    there, sent, heard = set(), numbers(pieces.page(()), "components"), numbers(pieces.page(()), "dependencies")
    for tab in shell.tabs.values():
        for container in (tab.item, *(choice.column for choice in tab.choices.values())):
            delivery = pieces.delivery([container._id], {}, there)
            there.add(container._id)
            new = numbers(delivery, "components") - {container._id}
            assert not new & sent, "nothing is sent twice"
            assert placed(delivery["layout"]) == new | {container._id}
            sent |= new
            heard |= numbers(delivery, "dependencies")
    assert sent == numbers(pieces.config, "components")
    ours = [one["id"] for one in pieces.config["dependencies"] if one["api_visibility"] == "private"]
    assert heard == set(ours), "endpoints are for programs"


def test_what_is_sent_listens_only_to_what_is_there_and_brings_what_follows(built):
    blocks, _, pieces = built
    page = pieces.page(blocks.first, without=("api",))
    known = numbers(page, "components") | {page["layout"]["id"]}
    for one in page["dependencies"]:
        targets = [number for number, _ in one["targets"] if number is not None]
        assert not targets or known & set(targets)
        assert one["trigger_after"] is None or one["trigger_after"] in numbers(page, "dependencies")
    assert len(known) < 0.08 * len(pieces.config["components"]), "most of the page stays where it is"
    assert len(page["dependencies"]) <= 36, "Gradio searches all listeners at every event"


def test_a_control_is_usable_exactly_if_it_would_be_on_the_whole_page(built):
    """The browser goes by the listeners it knows, which are not all; so each component says it itself."""
    _, shell, pieces = built
    config = pieces.config
    read = {number for one in config["dependencies"] for number in one["inputs"]}
    delivery = pieces.delivery([shell.tabs["fill-mask"].item._id], {}, set())
    controls = [one for one in delivery["components"] if one["type"] in ("radio", "slider", "textbox", "dropdown")]
    assert controls
    for one in controls:
        declared = next(other for other in config["components"] if other["id"] == one["id"])["props"].get("interactive")
        assert one["props"]["interactive"] == (one["id"] in read if declared is None else declared)


def test_what_waited_for_a_piece_is_forgotten_once_the_browser_has_it(visitor, serving, bundled):
    """Kept, it would grow with every link, and the piece would come with old settings when it is sent again."""
    query = "v=1&tab=fill-mask&view=guesses&a=Tokyo+is+in+%5BMASK%5D.&set.top_k=3"
    visitor.press("visited", "change", visited=f"1?{query}")
    seen = serving._seen_by(serving.state_holder[visitor.session])

    def kept():
        return [number for number in seen.later if serving.pieces.is_there(number, seen.built)]

    assert len(seen.built) > len(serving.first)
    assert set(kept()) <= serving.read, "no picture"
    visitor.draw("fill-mask/Guesses", **{"fill-mask-top-k": 3})
    assert kept() == []


def test_controls_of_a_piece_on_its_way_have_the_values_that_were_sent(served, bundled):
    """The browser sends null for a control that it does not have yet: an error for a slider, and for others the usual value."""

    def guesses(number):
        visitor = Stranger(served)
        query = f"v=1&tab=fill-mask&view=guesses&a=Tokyo+is+in+%5BMASK%5D.&set.top_k={number}"
        visitor.press("visited", "change", visited=f"1?{query}")
        return str(visitor.draw("fill-mask/Guesses", **{"text-a": "Tokyo is in [MASK]."})["data"]).count("'share'")

    assert guesses(7) == guesses(3) + 4


def test_a_browser_without_what_the_server_takes_it_to_have_is_sent_it_again(visitor, bundled):
    for _ in range(2):
        assert visitor.draw("", {"tab": "tokens"})["render_config"]


def test_a_browser_that_the_server_forgot_is_taken_to_have_what_it_speaks_of(visitor, bundled):
    visitor.sent = set(visitor.components)  # it tells the values of its controls
    assert visitor.draw("fill-mask/Guesses", **{"fill-mask-top-k": 2})["render_config"] is None


def told(answer):
    """The finding in an answer, None where it says nothing of it."""
    values = [value.get("value") if isinstance(value, dict) and "__type__" in value else value for value in answer["data"]]
    return next((one["text"] for one in values if isinstance(one, dict) and one.keys() == {"text", "why"}), None)


def pictures(answer):
    return [kind for kind in ("heatmap", "layers") if f'"{kind}"' in str(answer["data"]).replace("'", '"')]


def test_a_picture_at_once_is_followed_by_what_takes_longer(visitor, bundled):
    """After a key nobody waits for the effects of all heads."""
    text = {"text-b": "Noodle shops are everywhere."}
    visitor.draw("", {"tab": "attention"})
    first = visitor.draw("attention/One head", {"at_once": True}, **text)
    assert pictures(first) == ["heatmap", "layers"]
    assert told(first) is None, "it was of the text before, and stays until the next one is there"
    rest = visitor.draw("attention/One head", event="rest", **text)
    sentence = told(rest)
    assert "without it" in sentence
    assert pictures(rest)
    again = visitor.draw("attention/One head", {"at_once": True}, **text)
    assert told(again) == sentence, "what is known is told at once"


def test_what_follows_a_picture_gives_way_to_what_its_session_asks_next(visitor, serving, bundled, monkeypatch):
    monkeypatch.setattr(type(serving), "is_wanted", lambda blocks, session: session == visitor.session)
    text = {"text-b": "It is full of ramen shops."}
    visitor.draw("", {"tab": "attention"})
    assert pictures(visitor.draw("attention/One head", {"at_once": True}, **text))
    rest = visitor.draw("attention/One head", event="rest", **text)
    assert told(rest) is None
    assert not pictures(rest)


def test_a_session_is_wanted_while_a_call_of_it_waits(serving):
    blocks = serving
    state = blocks.state_holder["somebody"]

    async def calls():
        async with blocks.turns.of(state):
            before = blocks.is_wanted("somebody")
            other = asyncio.ensure_future(blocks.turns.of(state).acquire())
            await asyncio.sleep(0)
            during = blocks.is_wanted("somebody")
        await other
        return before, during, blocks.is_wanted("somebody"), blocks.is_wanted("nobody")

    assert waited(calls()) == (False, True, False, False)


def test_a_first_step_of_the_head_keeps_the_layer_that_is_shown(visitor, bundled):
    """The tab opens with a layer and a head that nobody has picked."""
    shown = steppers_in(visitor.draw("", {"tab": "attention"}))
    answer = visitor.draw("attention/One head", {"head": shown["head"] - 1})
    assert steppers_in(answer) == {**shown, "head": shown["head"] - 1}


def steppers_in(answer):
    values = next(value for value in answer["data"] if isinstance(value, list) and value and value[0].get("label") == "Layer")
    return {one["name"]: one["at"] for one in values}
