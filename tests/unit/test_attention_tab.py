"""The Attention tab as the server sees it, and the endpoints of Attention, Inside a head and the Overview."""

import base64
import itertools
import json
import re
from typing import Any

import numpy as np
import pytest

from explorer.attention.endpoints import head_metrics, rollout
from explorer.bert import attending
from explorer.bert.explorer import Explorer
from explorer.bert.trace import Reading, Trace
from explorer.core.errors import InputError, ModelError
from explorer.inside_head.endpoints import inside_layer
from explorer.overview.endpoints import routes
from explorer.page.listening import apply
from explorer.page.shell import Shell
from explorer.page.tab import TabPage
from explorer.techniques import ablation
from explorer.techniques.routes import mixing
from explorer.tokens.endpoints import vocabulary
from explorer.ui import answers
from explorer.ui.subject import Selection, Subject
from explorer.ui.view import select
from tests.benchmarks.base_model import text_of
from tests.decomposing import head_shares

fresh = itertools.count()


class Opened:
    """The page's tabs as the server sees them, on one input."""

    def __init__(self, model: Explorer, shell: Shell, tokens: int) -> None:
        self.model, self.texts = model, (text_of(tokens), "")
        self.shell = shell
        self.encoding = model.encode(*self.texts)
        assert self.encoding.kept == tokens
        self.trace = self.forward_pass()

    def forward_pass(self) -> Trace:
        """What the model itself does with the input."""
        return Trace.of(self.model, self.encoding)

    def subject(self, **chosen: Any) -> Subject:
        """The input on the page, its trace in the cache."""
        subject = Subject(self.model.name, *self.texts, Selection(**chosen))
        vars(subject)["trace"] = self.trace  # the forward pass is what this is compared with
        return subject

    def show(self, tab: str = "attention", choice: str = "") -> int:
        """Everything a tab does when it opens, on a trace of which nothing was derived yet; the bytes it sends."""
        self.trace = Trace(self.model, Reading(self.encoding, self.trace.states))
        page = self.shell.tabs[tab]
        return sent(page.show(self.subject(), values_of(page, choice)))

    def change_head(self) -> int:
        """The bytes that a click on another picture sends."""
        number, page = next(fresh), self.shell.tabs["attention"]
        grid = next(panel for panel in page.panels if panel.view.name == "attention/heads")
        change = select(layer=number // 12 % 12 + 1, head=number % 12 + 1)
        return sent(apply(page, grid, self.subject(), values_of(page), change, grid.parts["grid"]))


def values_of(page: TabPage, choice: str = "") -> dict[Any, Any]:
    """The values that the controls of a tab open with, and which of its choices is open."""
    values = {control: control.value for control in page.controls.values()}
    return values | ({page.which: choice or page.which.value} if page.which else {})


def sent(updates: dict[Any, Any]) -> int:
    """The bytes of what Gradio sends for these updates."""
    return sum(len(json.dumps(_as_sent(component, value))) for component, value in updates.items())


def _as_sent(component: Any, value: Any) -> Any:
    if isinstance(value, dict) and value.get("__type__") == "update":
        return {key: _as_sent(component, part) if key == "value" else part for key, part in value.items()}
    if hasattr(value, "get_config"):  # a component that stands for an update
        return dict(value.constructor_args)
    data = component.postprocess(value)
    if hasattr(data, "model_dump"):
        return data.model_dump()
    return data if data is None or isinstance(data, str | int | float | list | dict) else str(data)


VIEWS = [
    ("overview", ""),
    ("tokens", ""),
    ("attention", ""),
    ("attention", "Several heads"),
    ("attention", "All heads by numbers"),
    ("attention", "Through all layers"),
    ("inside-head", ""),
    ("inside-head", "The whole layer"),
    ("inside-head", "If it were a decoder"),
    ("inside-head", "Positions"),
]


@pytest.fixture
def passes(monkeypatch, bundled):
    """How many forward passes were run, and how many layers were run as a whole."""
    counted = {"passes": 0, "layers": 0}
    run = Explorer.hidden_states_of

    def counting(self, encodings):
        counted["passes"] += len(encodings)
        return run(self, encodings)

    monkeypatch.setattr(Explorer, "hidden_states_of", counting)
    monkeypatch.setattr(answers, "AT_ONCE", 1e-9)  # hiding each word in turn is asked for beside the picture

    def count_layer(*_):
        if attending._asking.answer is None:  # else it proves what is shown, with weights that were put in
            counted["layers"] += 1

    hooks = [layer.module.register_forward_hook(count_layer) for layer in bundled.layers]
    yield counted
    for hook in hooks:
        hook.remove()


def test_another_head_and_another_view_need_no_forward_pass(bundled, page, passes):
    opened = Opened(bundled, page[1], 17)
    assert passes == {"passes": 1, "layers": 6}
    for tab, choice in VIEWS:
        opened.show(tab, choice)
    assert passes["passes"] == 1
    assert passes["layers"] < 2 * 6, "the Overview's sentence cuts its links together, once, from their layers on"
    before = dict(passes)
    for tab, choice in VIEWS:
        if tab != "overview":  # which cuts its links again
            opened.show(tab, choice)
    for _ in range(3):
        opened.change_head()
    assert passes == before


def test_what_was_picked_stays_and_what_was_not_follows_the_input(bundled, page):
    opened = Opened(bundled, page[1], 17)
    page = opened.shell.tabs["attention"]

    def selected(**chosen):
        return page.show(opened.subject(**chosen), values_of(page))[page.inputs.selection]

    best = selected(layer=5, head=5)
    assert (best.layer, best.head) != (5, 5)
    assert not best.picked
    assert selected(layer=best.layer, head=best.head) == best
    kept = selected(layer=5, head=5, picked=True)
    assert (kept.layer, kept.head, kept.picked) == (5, 5, True)
    assert opened.subject().select(head=3).selection.picked
    assert not opened.subject().select(token=3).selection.picked


@pytest.mark.parametrize("tokens", [5, 40, 128, 512])
def test_every_view_opens_at_any_length_and_sends_little(bundled, page, tokens):
    opened = Opened(bundled, page[1], tokens)
    for tab, choice in VIEWS:
        most = 1_100_000 if choice == "If it were a decoder" else 800_000  # two whole heads
        assert opened.show(tab, choice) < most, (tab, choice)


TEXT = "The man went to the store."


def test_rollout_is_the_product_up_to_the_layer_that_was_asked(bundled):
    trace = bundled.trace(TEXT)
    step = [0.5 * trace.attention(k).mean(0) + 0.5 * np.eye(trace.kept) for k in range(6)]
    np.testing.assert_allclose(rollout(TEXT, layer=1)["weights"], step[0], atol=1e-6)
    np.testing.assert_allclose(rollout(TEXT, layer=2)["weights"], step[1] @ step[0], atol=1e-6)
    whole = rollout(TEXT)
    assert whole == rollout(TEXT, "", 6, "")
    assert whole["tokens"] == list(trace.tokens)
    np.testing.assert_allclose(np.sum(whole["weights"], axis=-1), 1, atol=1e-9)


def test_inside_layer_ends_in_the_models_own_output():
    answer = inside_layer(TEXT, layer=3)
    assert answer["max_error"] < 1e-5
    assert answer["steps"][0] == {"name": "hidden state 2", "shape": [9, 384]}
    assert answer["steps"][-1] == {"name": "hidden state 3", "shape": [9, 384]}
    assert inside_layer(TEXT, layer=-1) == inside_layer(TEXT, "", 6, "")


def test_wrong_arguments_get_one_sentence(refusal):
    refusal(InputError, lambda: rollout("", ""))
    refusal(InputError, lambda: rollout(TEXT, layer=7))
    refusal(InputError, lambda: rollout(TEXT, layer=0))
    refusal(InputError, lambda: inside_layer(TEXT, layer=0))
    refusal(InputError, lambda: vocabulary(""))
    refusal(InputError, lambda: vocabulary("a" * 200))
    refusal(InputError, lambda: vocabulary("a", limit=0))
    refusal(ModelError, lambda: head_metrics(TEXT, model="no such folder/at all"))


def test_routes_say_where_what_stands_at_the_blank_comes_from(bundled, tiny):
    text = "The capital of Japan is [MASK]."
    answer, trace = routes(text, mixing=True), bundled.trace(text)
    blank = trace.mask_positions[0]
    assert routes(text, position=blank, state=6, mixing=True) == answer
    assert routes(text) == {name: value for name, value in answer.items() if name != "mixing"}
    assert set(answer) == {"tokens", "words", "mixing", "shares", "routes", "max_error"}
    assert answer["tokens"] == list(trace.tokens)
    assert answer["max_error"] < 1e-4
    mixing, shares = np.array(answer["mixing"]), np.array(answer["shares"])
    assert mixing.shape == (6, trace.kept, trace.kept)
    np.testing.assert_array_equal(shares[-1], np.eye(trace.kept)[blank])
    for step in answer["routes"]:
        by_hand = shares[step["layer"], step["query"]] * mixing[step["layer"] - 1, step["query"], step["key"]]
        assert step["share"] == pytest.approx(by_hand, abs=1e-6)
    strongest = answer["routes"][0]
    heads = head_shares(trace, strongest["layer"] - 1, strongest["query"])[:, strongest["key"]]
    assert strongest["head"] == (int(heads.argmax()) + 1) % 13
    guess = bundled.fill_mask(text, top_k=1)[0].candidates[0]
    assert answer["words"][6][blank]["token"] == guess.token
    assert answer["words"][6][blank]["probability"] == pytest.approx(guess.probability, abs=1e-5)
    first = routes(text, position=2, state=1)
    assert len(first["shares"]) == 2
    assert {step["layer"] for step in first["routes"]} == {1}
    assert routes("The man.", state=0)["routes"] == []
    assert routes("The man.")["shares"][-1][0] == 1
    packed = routes(text, packed=True)["mixing"]
    halves = np.frombuffer(base64.b64decode(packed["float16"]), "<f2").reshape(packed["shape"])
    np.testing.assert_array_equal(halves, mixing.astype(np.float16))


def test_routes_of_a_cut_run_are_those_of_that_run(bundled):
    text = "The capital of Japan is [MASK]."
    answer, trace = routes(text, cut=[[6, 6, 4, 0], [2, 6, 2, 3]], mixing=True), bundled.trace(text)
    cuts = [(5, 6, 4, None), (1, 6, 2, 2)]
    assert answer["mixing"][5][6][4] == 0
    np.testing.assert_allclose(
        answer["mixing"], mixing(ablation.Run(trace, cuts=cuts)).shares, atol=1e-6
    )  # sums of float32 in another order
    changed = ablation.Run(trace, cuts=cuts).states[-1][[6]]
    guess = bundled.guesses(changed, [6], top_k=1)[0].candidates[0]
    assert answer["words"][6][6]["token"] == guess.token
    assert answer["words"][6][6]["probability"] == pytest.approx(guess.probability, abs=1e-5)
    assert answer["words"] != routes(text)["words"]


def test_a_long_text_has_words_on_its_routes_only_and_a_small_answer(bundled):
    text = "The capital of Japan is [MASK]. " + "A dog barked at the cat in the garden. " * 20
    answer, trace = routes(text, state=6), bundled.trace(text)
    words, on_routes = answer["words"], {(at["layer"], at["query"]) for at in answer["routes"]}
    on_routes |= {(at["layer"] - 1, at["key"]) for at in answer["routes"]}
    assert {(state, token) for state, row in enumerate(words) for token, word in enumerate(row) if word} == on_routes
    guess = bundled.fill_mask(text, top_k=1)[0].candidates[0]
    assert words[6][trace.mask_positions[0]]["token"] == guess.token
    for step in answer["routes"][::40]:
        heads = head_shares(trace, step["layer"] - 1, step["query"])[:, step["key"]]
        assert step["head"] == (int(heads.argmax()) + 1) % 13
    assert len(json.dumps(answer)) < 2_000_000 / 4


def test_routes_of_a_model_without_a_head_have_no_words(variant_folders):
    answer = routes("the man", model=str(variant_folders["encoder_only"]))
    assert answer["words"] is None
    assert answer["routes"]


def test_routes_refuse_what_is_not_there(refusal):
    for position in (-2, 9, 1.5, "first", None):
        refusal(InputError, lambda position=position: routes(TEXT, position=position))
    for state in (-2, 7, "last"):
        refusal(InputError, lambda state=state: routes(TEXT, state=state))
    for cut in ("1.1.1.0", None, [1], [[1, 1, 1]], [[0, 1, 1, 0]], [[1, 9, 1, 0]], [[1, 1, 1, 13]], [["a", 1, 1, 0]]):
        refusal(InputError, lambda cut=cut: routes(TEXT, cut=cut))


def test_the_numbers_of_heads_are_all_named_where_their_endpoint_is_described():
    named = re.findall(r"`(\w+)`", head_metrics.__doc__.partition("Returns:")[2])
    assert named == ["metrics", *head_metrics("Hi.")["metrics"]]
