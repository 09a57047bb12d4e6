"""The query of one token with every key, and every step from one hidden state to the next."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.analysis.attention import scale_end
from explorer.analysis.similarity import cosines
from explorer.techniques.ablation import Run
from explorer.techniques.inside import HeadStep, Step, head_step, layer_steps
from explorer.text import limits
from explorer.ui.attention_data import head_sentence, most_telling_first, prepare_effects, show_switched_off, tell_quickly
from explorer.ui.pictures.numbers import beside
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.subject import Subject, head_name
from explorer.ui.telling import TURNED, quote, row_sentence, telling_key, two_places
from explorer.ui.view import Change, Content, Finding, View, Why, caption, check, matches, part, select, sentence

MOST_KEYS = 32
COLUMNS = [
    Column("step", "name"),
    Column("formula", "text"),
    Column("shape", "text"),
    Column("its numbers", "strip", name="value"),
    Column("length", "number", form=".2f", name="norm"),
]


class DotProducts(View):
    """From one query and all keys to the weights, and to the head's output."""

    name, question = "inside-head/dots", "How does one word come to attend to another?"
    table = part("strips")
    about = sentence()
    help = caption(
        "Each small rectangle is one number of a vector: blue above 0, orange below. The query **q** is multiplied with each "
        "key **k**, number by number (**q times k**), and the products are added up (**q·k**). Dividing by √d keeps scores "
        "from growing with d, the length of a key. The softmax over all keys (e to the power of each score, divided by their "
        "sum) gives the **weights**. The head outputs the sum of the values **v**, each times its weight (Vaswani et al. 2017, "
        "section 3.2.1)."
    )
    check = check()

    first, prepare_rest = staticmethod(most_telling_first), staticmethod(prepare_effects)

    def compute(self, subject: Subject) -> Content:
        trace, selection = subject.trace, subject.selection
        token, key = asking(subject)
        layer, head = selection.attention_layer, selection.head_index
        step = head_step(Run(trace), layer, head, token)
        keys = strongest(step.weights, MOST_KEYS)
        error = float(np.abs(trace.attention(layer)[head, token] - step.weights).max())
        table = _table(step, trace.tokens, (token, key), keys)
        few = f" The {len(keys)} strongest of {trace.kept} keys are shown." if len(keys) < trace.kept else ""
        return {
            "about": (
                f"'{trace.tokens[token]}' (token {token}) is the query, every token a key: layer {layer + 1}, "
                f"head {selection.head}, vectors of {len(step.query)} numbers.{few} "
                "Click a key, or a token above, to make it the query."
            ),
            "table": beside(table, layer=layer + 1, head=head + 1, query_position=token),
            "check": matches(error, "the softmax is the row of the head's attention", 1e-5),
        }

    def finding(self, subject: Subject) -> Finding | None:
        found = tell_quickly(subject)
        if found is None:
            return None
        if found.query is None:
            return Finding(head_sentence(subject, found))
        token, key = asking(subject)
        seen = Why("attention", "One head", {"layer": found.layer + 1, "head": found.head + 1, "token": token})
        if key is not None and found.names_a_key and token == found.query:
            return Finding(_score(subject, token, key), show_switched_off(found) if found.word else seen)
        weights = subject.trace.attention(found.layer)[found.head, token]
        return Finding(row_sentence(subject.trace.tokens, token, weights), seen)

    def on_table(self, subject: Subject, index: int) -> Change:
        """Select the token of a key (zero-based) as the query."""
        return select(token=limits.check_place(index))


class WholeLayer(View):
    """One token followed through one layer."""

    name, question = "inside-head/layer", "What happens to a token in a layer?"
    table = part("strips")
    about = sentence()
    check = check()
    help = caption(
        "One token followed through one layer (Devlin et al. 2019; Vaswani et al. 2017, section 3.1). Each strip is on "
        "its own scale, blue above 0, orange below; the length is Euclidean. The outline marks what the "
        "chosen head contributes. The feed-forward part works on each token separately; only attention mixes tokens. "
        "Vaswani et al. also call that part two convolutions of kernel size 1, there from 512 numbers to 2,048 and back."
    )

    def finding(self, subject: Subject) -> Finding:
        token, turned, mean = _measure_turn(subject)
        layer = subject.selection.attention_layer + 1
        turns = f"turns the vector of {quote(subject.trace.tokens, token)} by {two_places(turned)}"
        text = f"Layer {layer} {turns}; the mean over all tokens is {two_places(mean)} {TURNED}."
        return Finding(text, Why("hidden", "Layer by layer", {"layer": layer, "token": token}))

    first, prepare_rest = staticmethod(most_telling_first), staticmethod(prepare_effects)

    def compute(self, subject: Subject) -> Content:
        trace, token, model = subject.trace, subject.token, subject.model.capabilities
        layer, head = subject.selection.attention_layer, subject.selection.head_index
        found, error = layer_steps(trace, layer, token, head)
        rows = [_row(step, head, model.hidden_size // model.heads) for step in found]
        where = {"layer": layer + 1, "position": token, "token": trace.tokens[token]}
        return {
            "about": (
                f"'{trace.tokens[token]}' (token {token}) on its way through layer {layer + 1}, from hidden state {layer} "
                f"to hidden state {layer + 1}; shapes are for all {trace.kept} tokens. Click a token above for another."
            ),
            "table": beside(strip_table(COLUMNS, rows, "every step inside the layer"), **where),
            "check": matches(error, f"the last step is the model's own hidden state {layer + 1} for all tokens", 1e-4),
        }


def asking(subject: Subject) -> tuple[int, int | None]:
    """The token that asks, and the key that it most tellingly looks at, None if none stands out; both zero-based."""
    found = tell_quickly(subject)
    query, key = (None, None) if found is None else (found.query, found.key)
    token = query if subject.selection.token is None and query is not None else subject.token
    if found is not None and found.names_a_key and token == query:
        return token, key
    return token, telling_key(subject.trace.attention(subject.selection.attention_layer)[subject.selection.head_index, token])


def _score(subject: Subject, query: int, key: int) -> str:
    """The score of a query with a key in the selected head, beside its mean over all keys, and the weight that it becomes."""
    place = (subject.selection.attention_layer, subject.selection.head_index)
    step, tokens = head_step(Run(subject.trace), *place, query), subject.trace.tokens
    scores = f"{quote(tokens, query)} scores {two_places(step.dots[key])} with {quote(tokens, key)}"
    mean = f"(mean over {len(step.dots)} keys: {two_places(step.dots.mean())})"
    return f"In {head_name(place)}, {scores} {mean}, and the softmax makes that a weight of {step.weights[key]:.2f}."


def _measure_turn(subject: Subject) -> tuple[int, float, float]:
    """The selected token, how far its vector moves in the layer (1 − cosine), and the mean over all tokens."""
    layer, states = subject.selection.attention_layer, subject.trace.hidden_states
    turned = 1 - cosines(states[layer], states[layer + 1])
    return subject.token, float(turned[subject.token]), float(turned.mean())


def _table(step: HeadStep, tokens: Sequence[str], pair: tuple[int, int | None], keys: np.ndarray) -> dict[str, Any]:
    """The query on top, a row for each of `keys`, and the sum over all keys; the key of `pair` is outlined, if it has one."""
    token, telling = pair
    added = step.weights[:, None] * step.values
    columns = [
        Column("", "name", name="token"),
        Column("vectors: q, then each k", "strip", float(np.abs(step.keys).max()), name="key"),
        Column("q times k", "strip", float(np.abs(step.keys * step.query).max()), name="key_times_query"),
        Column("q·k", "number", form=".2f"),
        Column(f"÷ √{len(step.query)}", "number", form=".2f", name="scaled"),
        Column("softmax", "number", form=".4f"),
        Column("", "bar", float(scale_end(step.weights.max(), len(tokens)))),
        Column("weight · v", "strip", float(np.abs(added).max()), name="weighted_value"),
    ]

    def key_row(key: int) -> Row:
        numbers = [step.dots[key], step.scaled[key], step.weights[key]]
        strips = [step.keys[key], step.keys[key] * step.query]
        marked = (0, len(step.query)) if key == telling else None
        return Row([tokens[key], *strips, *numbers, step.weights[key], added[key]], token=int(key), marked=marked)

    query = Row([f"query {tokens[token]}", step.query, *[None] * 6], strong=True)
    total = Row(["sum over all keys", *[None] * 4, step.weights.sum(), None, step.output], strong=True)
    return strip_table(columns, [query, *map(key_row, keys), total], "one query and every key", "key_position")


def strongest(weights: np.ndarray, count: int) -> np.ndarray:
    """The indices of the `count` largest weights, in ascending order."""
    return np.sort(np.argsort(-weights, kind="stable")[:count])


def _row(step: Step, head: int, size: int) -> Row:
    """One step; in the step where all heads are concatenated, the part of the zero-based `head` (`size` numbers) is outlined."""
    name = f"{step.name} (head {head + 1})" if step.of_head else step.name
    shape, norm = " × ".join(map(str, step.shape)), np.linalg.norm(step.vector)
    marked = (head * size, (head + 1) * size) if step.name == "heads side by side" else None
    strong = step.name.startswith("hidden state")
    return Row([name, step.formula, shape, step.vector, norm], strong=strong, marked=marked)
