"""The Attention tab as the server sees it: what is computed again, what is sent, and which head comes first."""

import pytest

from explorer.bert import attending
from explorer.bert.explorer import Explorer
from explorer.ui import answers
from tests.benchmarks.attention import VIEWS, Opened, values_of


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


def test_another_head_and_another_view_need_no_forward_pass(bundled, passes):
    opened = Opened(bundled, 17)
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


def test_what_was_picked_stays_and_what_was_not_follows_the_input(bundled):
    opened = Opened(bundled, 17)
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
def test_every_view_opens_at_any_length_and_sends_little(bundled, tokens):
    opened = Opened(bundled, tokens)
    for tab, choice in VIEWS:
        most = 1_100_000 if choice == "If it were a decoder" else 800_000  # two whole heads
        assert opened.show(tab, choice) < most, (tab, choice)
