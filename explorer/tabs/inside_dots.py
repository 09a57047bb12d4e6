"""Inside a head, first view: the query of one token beside every key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np

from explorer.page.components import Column, Notice, Row, StripTable
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.attention_data import Part, default_token, told, verdict

if TYPE_CHECKING:
    from explorer.techniques.inside import HeadStep

MOST_KEYS = 32


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(elem_classes="part") as body:
        said = Notice(elem_id="dots-said")
        table = StripTable(elem_id="dots")
        gr.Markdown(
            "Each small rectangle is one number of a vector: blue above 0, orange below. The query **q** is multiplied with "
            "each key **k**, number by number (**q∘k**), and the products are added up (**q·k**). Divided by √d, so that "
            "long vectors do not shout, and put through the softmax over all keys, they are the **weights**; these times "
            "the values **v**, added up, are what the head hands on (Vaswani et al. 2017, section 3.2.1).",
            elem_classes="caption",
        )
        check = Notice(elem_classes="check", elem_id="dots-check")

    def show(view: View) -> Updates:
        from explorer.techniques.inside import head_step  # loads torch

        trace, selection = view.trace, view.selection
        token = default_token(view)
        step = head_step(trace, selection.attention_layer, selection.head - 1, token)
        shown = strongest(step.weights, MOST_KEYS)
        own = trace.attention(selection.attention_layer)[selection.head - 1, token]
        error = float(np.abs(own - step.weights).max())
        size = len(step.query)
        few = f" The {len(shown)} strongest of {trace.kept} keys are shown." if len(shown) < trace.kept else ""
        return {
            said: (
                f"'{trace.tokens[token]}' (token {token}) asks, every token answers: layer {selection.attention_layer + 1}, "
                f"head {selection.head}, vectors of {size} numbers.{few} Click a key, or a token above, to let it ask."
            ),
            table: _table(step, trace.tokens, token, shown),
            check: verdict(error < 1e-5, f"the softmax is the row of the head's attention ({told(error)})"),
        }

    def ask(view: View, token: int) -> Updates:
        view = page.reselect(view, token=int(token))
        return {page.selection: view.selection, **show(view)}

    outputs = [said, table, check]
    page.on_pick([table.select], ask, [page.selection, *outputs])
    return Part(body, show, outputs, [])


def _table(step: "HeadStep", tokens: Sequence[str], token: int, shown: np.ndarray) -> dict[str, Any]:
    """The query on top, a row for each of the keys in `shown`, and the sum over all keys."""
    added = step.weights[:, None] * step.values
    columns = [
        Column("", "name"),
        Column("q above, k below", "strip", float(np.abs(step.keys).max())),
        Column("q∘k", "strip", float(np.abs(step.keys * step.query).max())),
        Column("q·k", "number"),
        Column(f"÷ √{len(step.query)}", "number"),
        Column("softmax", "number"),
        Column("", "bar", float(step.weights.max())),
        Column("weight · v", "strip", float(np.abs(added).max())),
    ]

    def key_row(key: int) -> Row:
        numbers = [f"{step.dots[key]:.2f}", f"{step.scaled[key]:.2f}", f"{step.weights[key]:.4f}"]
        strips = [step.keys[key], step.keys[key] * step.query]
        return Row([tokens[key], *strips, *numbers, step.weights[key], added[key]], token=int(key))

    query = Row([f"query {tokens[token]}", step.query, *[None] * 6], strong=True)
    total = Row(["sum over all keys", *[None] * 4, f"{step.weights.sum():.4f}", None, step.output], strong=True)
    return StripTable.pack(columns, [query, *map(key_row, shown), total], "one query and every key")


def strongest(weights: np.ndarray, count: int) -> np.ndarray:
    """The places of the `count` largest weights, in the order of the input."""
    return np.sort(np.argsort(-weights, kind="stable")[:count])
