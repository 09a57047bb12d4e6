"""The seams to what Gradio does otherwise on a Space, with the reason why the app is there what it is everywhere."""

import gradio as gr
from gradio import http_server


def same_on_a_space(blocks: gr.Blocks) -> None:
    """Call this before `blocks` is launched.

    On a Space Gradio refuses every call that does not go by its queue, which is the way that our documentation shows, and
    lets a running program be written anew, for which it wants a package of the hub's and logs a traceback without.
    """
    blocks.api_open = True  # `blocks.queue(api_open=True)` does the same, but makes the whole server once more
    http_server.get_space = lambda: None
