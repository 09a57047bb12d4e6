"""One head, step by step: a query and its keys, the softmax over their scores, and the mixture of the values."""

from typing import Any

import numpy as np

from explorer.inside_head.pictures import head_steps
from explorer.inside_head.steps import asking, strongest
from explorer.techniques.inside import head_step
from explorer.text import limits
from explorer.ui.attention_data import most_telling_first, prepare_effects
from explorer.ui.subject import Subject
from explorer.ui.telling import row_sentence
from explorer.ui.view import Change, Content, Finding, View, Why, caption, check, matches, part, select, sentence

MOST_KEYS = 24


class StepByStep(View):
    """One query past its keys: each score, the softmax, and the values added up, one step at a time."""

    name, question = "inside-head/walk", "How do scores become a mixture?"
    about = sentence()
    steps = part("head_steps")
    check = check()
    help = caption(
        "**Play**, or walk by hand with ‹ and › or the arrow keys. Each key gets a score, q·k ÷ √d; the softmax, "
        "e to the power of each score divided by the sum of all, makes weights of them; and the output is the sum of all "
        "values, each times its weight (Vaswani et al. 2017, section 3.2.1). *e^…* is shown as a share of the largest, which "
        "changes nothing: the division by the sum cancels it. All numbers are the model's own."
    )

    first, prepare_rest = staticmethod(most_telling_first), staticmethod(prepare_effects)

    def compute(self, subject: Subject) -> Content:
        trace, selection = subject.trace, subject.selection
        token, _ = asking(subject)
        layer, head = selection.attention_layer, selection.head_index
        step = head_step(trace, layer, head, token)
        keys = strongest(step.weights, MOST_KEYS)
        few = f" The {len(keys)} strongest of {trace.kept} keys are walked one by one." if len(keys) < trace.kept else ""
        where = f"'{trace.tokens[token]}' (token {token}) in layer {layer + 1}, head {selection.head}"
        errors = (trace.attention(layer)[head, token] - step.weights, (step.weights[:, None] * step.values).sum(0) - step.output)
        error = max(float(np.abs(one).max()) for one in errors)
        return {
            "about": f"{where}, one key after the other.{few} Click a key, or a token above, to let it ask.",
            "steps": head_steps(step, trace.tokens, token, keys),
            "check": matches(error, "the weights are the head's attention, and their mixture is the head's output", 1e-5),
        }

    def finding(self, subject: Subject) -> Finding | None:
        token, _ = asking(subject)
        layer, head = subject.selection.attention_layer, subject.selection.head_index
        weights = subject.trace.attention(layer)[head, token]
        seen = Why("attention", "One head", {"layer": layer + 1, "head": head + 1, "token": token})
        return Finding(row_sentence(subject.trace.tokens, token, weights), seen)

    def on_steps(self, subject: Subject, index: Any) -> Change:
        """Select the token of a key (zero-based) as the query."""
        return select(token=limits.check_place(index))
