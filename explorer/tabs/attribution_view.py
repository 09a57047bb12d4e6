"""Which tokens a prediction rests on: one view for a word in a blank and for IsNext."""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

import gradio as gr

from explorer.figures.masked_lm import attribution_bars
from explorer.page.components import Notice, PlotlyChart
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.parts import Part, Slow, slow_buttons
from explorer.text import limits

if TYPE_CHECKING:
    from explorer.techniques.attribution import Attribution
    from explorer.techniques.targets import Target

METHODS = {"Integrated gradients": "integrated_gradients", "Gradient × input": "gradient_x_input"}


def build(
    page: Page,
    label: str,
    target_of: "Callable[[View, str], Target]",
    *,
    word: gr.Textbox | gr.State,
    column: gr.Column,
    prefix: str,
    unless: Callable[[View], str],
) -> Part:
    """Make the view inside `column`; `target_of(view, word)` is what is asked, `prefix` begins the ids of elements."""
    with gr.Row(elem_classes="controls"):
        method = gr.Radio(
            list(METHODS), value=next(iter(METHODS)), show_label=False, container=False, elem_id=f"{prefix}-method"
        )
        steps_count = gr.Slider(5, 300, value=50, step=5, label="Steps", elem_id=f"{prefix}-steps")
    start, stop, status = slow_buttons("Attribute")
    chart = PlotlyChart(height=380, label="Attribution by token", elem_id=f"{prefix}-attribution")
    check = Notice(elem_classes="check", keep_height=True)
    gr.Markdown(
        "A score above 0 speaks for the answer, below 0 against it; the unit is that of the logit (no bounds). Integrated "
        "gradients (Sundararajan et al. 2017) sum to the change of the logit from the baseline, where [PAD] stands at "
        "every piece that is not a special token, to the input; so special tokens score 0. Gradient × input "
        "(Shrikumar et al. 2016) is its first-order relative and promises no sum. Occlusion is the simple reading: how "
        "far the logit falls when [MASK] stands in the token's place.",
        elem_classes="caption",
    )

    def steps(view: View, word: str, method: str, count: int) -> "Generator[float, None, tuple]":
        from explorer.techniques.attribution import MOST_STEPS, attribute, integrated_gradients_in_steps

        target, kind = target_of(view, word), METHODS.get(method, method)
        count = limits.check_integer(count, "the number of steps", 1, MOST_STEPS)
        if kind == "integrated_gradients":
            scores = yield from integrated_gradients_in_steps(view.trace, target, count)
        else:
            scores = attribute(view.trace, target, kind, count)
        return target, scores, attribute(view.trace, target, "occlusion")

    def draw(
        view: View, found: "tuple[Target, Attribution, Attribution]", word: str, method: str, count: int
    ) -> Updates:
        target, scores, occluded = found
        named = f"{method}, {scores.path.steps} steps, baseline [PAD]" if scores.path else method
        unit = f"logit of {target.token}"
        picture = attribution_bars(view.trace.tokens, scores.scores, named, occluded.scores, unit)
        return {chart: picture, check: _check(scores, target.token)}

    def passes(view: View) -> float:
        return view.trace.kept + 150

    slow = Slow(f"attribution-{prefix}", start, stop, status, passes, steps, draw, lambda: {chart: None, check: ""})

    def show(view: View, word: str, method: str, count: int) -> Updates:
        return {**slow.show(view, word, method, count), steps_count: gr.Slider(visible=method == next(iter(METHODS)))}

    controls = [word, method, steps_count]
    outputs = [*slow.outputs, chart, check]
    slow.wire(page, [chart, check], controls)
    page.on([method.input, steps_count.release], show, [*outputs, steps_count], controls)
    return Part(label, column, show, [*outputs, steps_count], controls, unless)


def _check(found: "Attribution", token: str) -> dict[str, str] | str:
    path = found.path
    if path is None:
        return "This method promises no sum, so there is nothing to check it against but occlusion."
    mark = "✓ the sum matches the model" if path.sums_up else "✗ the sum does not match the model yet; take more steps"
    text = (
        f"{mark}: the scores sum to {found.scores.sum():.3f}, the logit of {token} changes by {path.change:.3f} from the "
        f"baseline to the input (convergence delta {path.delta:.1e})."
    )
    return {"text": text, "kind": "info" if path.sums_up else "error"}
