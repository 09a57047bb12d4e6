"""Which heads matter, and what happens without them: one board for a word in a blank and for IsNext."""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np

from explorer.page.components import Bars, Notice, SwitchBoard
from explorer.page.components.bars import percent
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.parts import Part, Slow, check_line, slow_buttons

if TYPE_CHECKING:
    import torch

    from explorer.techniques.targets import Target

Off = tuple[tuple[int, int], ...]
"""Zero-based (layer, head) of what is switched off."""

Answer = Callable[[View, "Target", "torch.Tensor"], list[tuple[str, float, str]]]
"""What the model says from last hidden states [tokens, hidden]: rows of bars, the target among them."""

CAPTION = (
    "One switch a head. Blue: without that head alone, {what} is less probable; orange: more probable; the strongest "
    "colour is the largest change here. Click heads to switch them off together, or a layer's number for all of its "
    "heads. Off means that the head's slice of the concatenated context, before W_O, is zero; Michel et al. 2019 "
    "found that many heads can go. Other heads may take over, so a pale one is not idle."
)


def build(
    page: Page,
    label: str,
    what: str,
    target_of: "Callable[[View, str], Target]",
    answer: Answer,
    *,
    word: gr.Textbox | gr.State,
    column: gr.Column,
    prefix: str,
    unless: Callable[[View], str],
) -> Part:
    """Make the view inside `column`; `target_of(view, word)` is what is asked, `prefix` begins the ids of elements."""
    with gr.Row(elem_classes="overview-detail"):
        with gr.Column(scale=5, min_width=320):
            start, stop, status = slow_buttons("Which heads matter here?")
            board = SwitchBoard(elem_id=f"{prefix}-board")
            strongest = Notice(elem_classes="caption", keep_height=True)
            gr.Markdown(CAPTION.format(what=what), elem_classes="caption")
        with gr.Column(scale=6, min_width=320):
            said = Notice(elem_id=f"{prefix}-off", keep_height=True)
            answers = Bars(elem_id=f"{prefix}-answers")
            with gr.Row(elem_classes="controls"):
                reset = gr.Button("Switch all heads on", size="sm", elem_id=f"{prefix}-reset")
            check = Notice(elem_classes="check")

    def steps(view: View, word: str) -> Generator[float, None, np.ndarray]:
        from explorer.techniques.ablation import head_effects_in_steps

        return head_effects_in_steps(view.trace, target_of(view, word))

    def draw(view: View, effects: np.ndarray, word: str, switches: Any = None) -> Updates:
        before = _probability(view, target_of(view, word), view.trace.states[-1])
        told = _told(effects, before, target_of(view, word).token)
        return {board: _packed(view, fitting(view, switches), effects, before), strongest: told}

    def without(view: View, word: str, switches: Any) -> Updates:
        """The answer before and after; the board has its switches already as they should be."""
        from explorer.techniques.ablation import without_heads
        from explorer.techniques.targets import own_reading, read

        target, hidden = target_of(view, word), fitting(view, switches)
        states = view.trace.states[-1]
        groups = [("With all heads", answer(view, target, states))]
        if hidden:
            after = without_heads(view.trace, hidden)
            groups.append((f"Without {_named(hidden)}", answer(view, target, after)))
        error = abs(float(own_reading(view.trace, target).logit) - float(read(view.model, target, states[None]).logit))
        return {
            answers: Bars.pack_groups(groups),
            said: f"{len(hidden)} of {_count(view)} heads are off."
            if hidden
            else "All heads are on; click some to switch them off.",
            check: check_line(error, "with all heads, the logit is that of the model's own forward pass"),
        }

    slow = Slow(
        f"effects-{prefix}",
        start,
        stop,
        status,
        lambda view: view.model.capabilities.layers * view.model.capabilities.heads / 3,
        steps,
        draw,
        lambda: {strongest: ""},
    )

    def show(view: View, word: str, switches: Any) -> Updates:
        hidden = fitting(view, switches)
        bare = {board: _packed(view, hidden, None, 0.0)}
        shown = slow.show(view, word)
        effects = slow.known(view, word)
        drawn = {} if effects is None else draw(view, effects, word, switches)
        return {**bare, **shown, **without(view, word, switches), **drawn}

    outputs = [*slow.outputs, board, strongest, answers, said, check]
    slow.wire(page, [board, strongest], [word])
    page.on([board.select], without, [answers, said, check], [word, board], trigger_mode="always_last")
    page.on([reset.click], lambda view, word: show(view, word, None), outputs, [word])
    return Part(label, column, show, outputs, [word, board], unless)


def fitting(view: View, switches: Any) -> Off:
    """The heads that are off on a board, of those that this model has: its value comes from the browser."""
    can = view.model.capabilities
    pairs = switches.get("off") if isinstance(switches, dict) else None
    if not isinstance(pairs, list):
        return ()
    known = {(layer, head) for layer in range(can.layers) for head in range(can.heads)}
    return tuple(sorted(known & {tuple(pair) for pair in pairs if isinstance(pair, list) and _are_numbers(pair)}))


def _are_numbers(pair: list[Any]) -> bool:
    return all(isinstance(number, int) for number in pair)


def _probability(view: View, target: "Target", states: "torch.Tensor") -> float:
    from explorer.techniques.targets import read

    return float(read(view.model, target, states[None]).probability)


def _count(view: View) -> int:
    return view.model.capabilities.layers * view.model.capabilities.heads


def _packed(view: View, hidden: Off, effects: np.ndarray | None, before: float) -> dict[str, Any]:
    can = view.model.capabilities
    if effects is None:
        return SwitchBoard.pack(can.layers, can.heads, hidden)
    change = effects - before
    notes = [[f"{percent(before)} → {percent(min(after, 1.0))}" for after in row] for row in effects.tolist()]
    return SwitchBoard.pack(can.layers, can.heads, hidden, change / max(float(np.abs(change).max()), 1e-9), notes)


def _told(effects: np.ndarray, before: float, token: str) -> str:
    """The head that does most for the target, and the one that does most against it."""

    def place(index: int) -> str:
        layer, head = np.unravel_index(index, effects.shape)
        return f"layer {layer + 1}, head {head + 1} ({percent(before)} → {percent(float(effects[layer, head]))})"

    low, high = int(effects.argmin()), int(effects.argmax())
    return f"Most of all for {token}: {place(low)}. Most of all against it: {place(high)}."


def _named(hidden: Off) -> str:
    names = [f"{layer + 1}.{head + 1}" for layer, head in hidden]
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"head {listed} (layer.head)" if len(names) == 1 else f"heads {listed} (layer.head)"
