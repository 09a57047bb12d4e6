"""The seams to what Gradio does differently on a Space, and why the app behaves there as elsewhere."""

import gradio as gr
from gradio import http_server


def same_on_a_space(blocks: gr.Blocks) -> None:
    """Make `blocks` behave on a Space as elsewhere; call it before they are launched.

    On a Space Gradio refuses every call that does not use its queue, as in our documentation, and allows a running program to be
    rewritten, for which it needs a package of the Hub and logs a traceback without it.
    """
    blocks.api_open = True  # `blocks.queue(api_open=True)` does the same, but builds the whole server again
    http_server.get_space = lambda: None
