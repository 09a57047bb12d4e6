"""Activation patching: where in the model the answer is kept."""

from collections.abc import Generator
from typing import TYPE_CHECKING

import gradio as gr
import numpy as np

from explorer.figures.masked_lm import patching_heatmap
from explorer.page.components import Notice, PlotlyChart
from explorer.page.components.bars import percent
from explorer.page.wiring import Page, Updates, View, typed_in
from explorer.tabs.parts import Part, Slow, asked_blank, no_blank, slow_buttons

if TYPE_CHECKING:
    from explorer.model.trace import Trace
    from explorer.techniques.targets import Target

LONG = 4  # letters: to see where 'the' is kept says little


def build(page: Page, word: gr.Textbox) -> Part:
    """Make the view."""
    with gr.Column(visible=False) as column:
        other = gr.Textbox(
            "",
            label="Corrupted: a text with as many pieces as A",
            placeholder="A itself, with the longer word that matters most hidden",
            elem_id="corrupted",
        )
        start, stop, status = slow_buttons("Patch every state")
        said = Notice(elem_id="patching-said", keep_height=True)
        chart = PlotlyChart(height=380, label="Probability of the word with one state patched", elem_id="patching")
        check = Notice(elem_classes="check", keep_height=True)
        gr.Markdown(
            "A is the clean run. The corrupted run is the same with other words, and one hidden state of it at a time is "
            "replaced by that of the clean run: the stronger the colour, the more of the answer that one state brings back "
            "(causal tracing, Meng et al. 2022). What is to be seen moves from the changed word to the blank. If B is as "
            "long as A and nothing is typed here, B is the corrupted text.",
            elem_classes="caption",
        )

    def inputs(view: View, word: str, other: str) -> "tuple[Trace, Trace, Target]":
        from explorer.techniques.targets import word_target

        clean, corrupted = _pair(view, other)
        return clean, corrupted, word_target(clean, word, min(asked_blank(view), clean.mask_positions[-1]))

    def steps(view: View, word: str, other: str) -> Generator[float, None, tuple]:
        from explorer.techniques.ablation import patching_in_steps
        from explorer.techniques.targets import own_reading

        clean, corrupted, target = inputs(view, word, other)
        found = yield from patching_in_steps(clean, corrupted, target)
        ends = [float(own_reading(trace, target).probability) for trace in (clean, corrupted)]
        return clean.tokens, corrupted.tokens, target, found, ends

    def draw(view: View, result: tuple, word: str, other: str) -> Updates:
        tokens, others, target, found, (clean, corrupted) = result
        changed = [f"{a} → {b}" for a, b in zip(tokens, others, strict=True) if a != b]
        where = ", ".join(changed[:4]) + (", …" if len(changed) > 4 else "") if changed else "nothing was changed"
        told = f"{target.token} at position {target.position}: {percent(clean)} clean, {percent(corrupted)} corrupted ({where})."
        return {
            said: told,
            chart: patching_heatmap(found, tokens, target.token, clean, corrupted),
            check: _check(found, target.position, clean),
        }

    def passes(view: View) -> float:
        return view.trace.kept * (view.model.capabilities.layers + 1) / 2

    slow = Slow("patching", start, stop, status, passes, steps, draw, lambda: {chart: None, said: "", check: ""})
    outputs = [*slow.outputs, said, chart, check]
    slow.wire(page, [said, chart, check], [word, other])
    page.on([other.change], slow.show, outputs, [word, other], **typed_in(other))
    return Part("Patching", column, slow.show, outputs, [word, other], no_blank)


def _pair(view: View, other: str) -> "tuple[Trace, Trace]":
    """The clean and the corrupted input."""
    if other and other.strip():
        return view.trace, view.model.trace(other, view.text_b)
    if view.text_b.strip():
        alone, second = view.model.trace(view.text_a), view.model.trace(view.text_b)
        if alone.kept == second.kept and alone.mask_positions:
            return alone, second
    return view.trace, _hidden(view)


def _hidden(view: View) -> "Trace":
    """The input with a [MASK] in place of the piece, of the longer ones, whose occlusion costs the first guess most."""
    from explorer.techniques.ablation import with_mask
    from explorer.techniques.attribution import occlusion
    from explorer.techniques.targets import word_target

    target = word_target(view.trace, "", asked_blank(view))
    scores = occlusion(view.trace, target).scores
    long = np.array([len(token) >= LONG for token in view.trace.tokens]) & (scores != 0)
    return with_mask(view.trace, int(np.argmax(np.where(long, scores, -np.inf) if long.any() else scores)))


def _check(found: np.ndarray, position: int, clean: float) -> dict[str, str]:
    error = abs(float(found[-1, position]) - clean)
    fine = error < 1e-4
    mark = "✓ matches the model" if fine else "✗ does not match the model"
    text = f"{mark}: the last state of the blank, patched, gives the clean run's probability (error {error:.0e})."
    return {"text": text, "kind": "info" if fine else "error"}
