"""Inside a head: from two vectors to one weight, from there to the layer's output, and what positions look like."""

import gradio as gr

from explorer.page.wiring import Page, Updates, View
from explorer.tabs import inside_decoder, inside_dots, inside_layer, inside_positions
from explorer.tabs.attention_data import one_visible, settled

DOTS, LAYER, DECODER, POSITIONS = "One head", "The whole layer", "If it were a decoder", "Positions"


def build(page: Page) -> None:
    """Make the tab."""
    with page.tab("inside-head", "Inside a head", "How does one word come to look at another?") as tab:
        with gr.Row(elem_classes="controls"):
            which = gr.Radio(
                [DOTS, LAYER, DECODER, POSITIONS], value=DOTS, show_label=False, container=False, elem_id="inside-view"
            )
        with gr.Row():
            layer = gr.Slider(1, 6, value=1, step=1, label="Layer", elem_id="inside-layer")
            head = gr.Slider(1, 12, value=1, step=1, label="Head", elem_id="inside-head-number")
        parts = {
            DOTS: inside_dots.build(page),
            LAYER: inside_layer.build(page),
            DECODER: inside_decoder.build(page),
            POSITIONS: inside_positions.build(page),
        }

    outputs = [
        page.selection,
        layer,
        head,
        *(output for part in parts.values() for output in (part.body, *part.outputs)),
    ]

    def show(view: View, chosen: str) -> Updates:
        view = settled(page, view)
        can, selection = view.model.capabilities, view.selection
        needed = chosen != POSITIONS  # the table of positions belongs to no layer
        return {
            page.selection: selection,
            layer: gr.Slider(maximum=can.layers, value=selection.attention_layer + 1, visible=needed),
            head: gr.Slider(maximum=can.heads, value=selection.head, visible=needed),
            **one_visible(parts, chosen),
            **parts[chosen].show(view),
        }

    def slide(view: View, chosen: str, layer_number: int, head_number: int) -> Updates:
        view = page.reselect(view, layer=int(layer_number), head=int(head_number))
        return {page.selection: view.selection, **parts[chosen].show(view)}

    tab.shows(show, outputs, [which])
    page.on_switch([which.input], show, outputs, [which])
    page.on([layer.input, head.input], slide, outputs, [which, layer, head])
