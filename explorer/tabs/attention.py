"""Attention: all heads at a glance, one head in full, every head by numbers, and the flow through all layers."""

import gradio as gr

from explorer.page.wiring import Page, Updates, View
from explorer.tabs import attention_head, attention_metrics, attention_rollout
from explorer.tabs.attention_data import one_visible, settled

HEADS, METRICS, ROLLOUT = "One head", "All heads by numbers", "Through all layers"


def build(page: Page) -> None:
    """Make the tab."""
    with page.tab("attention", "Attention", "Who looks at whom?") as tab:
        which = gr.Radio(
            [HEADS, METRICS, ROLLOUT], value=HEADS, show_label=False, container=False, elem_id="attention-view"
        )
        parts = {
            HEADS: attention_head.build(page),
            METRICS: attention_metrics.build(page),
            ROLLOUT: attention_rollout.build(page),
        }

    controls = [control for part in parts.values() for control in part.controls]
    outputs = [page.selection, *(output for part in parts.values() for output in (part.body, *part.outputs))]

    def show(view: View, chosen: str, *values: object) -> Updates:
        view = settled(page, view)
        first = 0
        for name, part in parts.items():
            if name == chosen:
                break
            first += len(part.controls)
        own = values[first : first + len(parts[chosen].controls)]
        return {page.selection: view.selection, **one_visible(parts, chosen), **parts[chosen].show(view, *own)}

    tab.shows(show, outputs, [which, *controls])
    page.on_switch([which.input], show, outputs, [which, *controls])
