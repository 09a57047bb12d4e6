"""What the views inside the Hidden states tab have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gradio as gr

from explorer.page.wiring import Updates


@dataclass(frozen=True)
class Piece:
    """One view of the tab: `show(view, *controls)` draws it all, `slide` what depends on the layer."""

    column: gr.Column
    controls: Sequence[gr.components.Component]
    outputs: Sequence[gr.components.Component]
    show: Callable[..., Updates]
    slide: Callable[..., Updates]


def layer_name(layer: int) -> str:
    """A hidden state in words."""
    return "the embedding output" if layer == 0 else f"the output of layer {layer}"
