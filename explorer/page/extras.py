"""What the page does beside its views."""

import gradio as gr

from explorer.page.events import Triggers
from explorer.page.tab import TabPage


def build(tabs: dict[str, TabPage]) -> list[tuple[Triggers, gr.State]]:
    """Events after which the model that the state names is to be shown."""
    return []
