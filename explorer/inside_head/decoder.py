"""A head under the causal mask of a decoder."""

import numpy as np

from explorer.analysis.attention import renormalize, scale_end
from explorer.analysis.head_metrics import strongest_pairs
from explorer.techniques.inside import causal_attention
from explorer.ui.attention_data import overview_of
from explorer.ui.layout import col, row
from explorer.ui.pictures.attention import WeightScale, attention_heatmap, with_cell
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.numbers import beside
from explorer.ui.subject import Subject, head_name
from explorer.ui.telling import quote, stands_out
from explorer.ui.view import Content, Finding, View, Why, caption, chart, check, heading, matches


class Decoder(View):
    """The selected head as it is, and with a causal mask."""

    name, question = "inside-head/decoder", "What if no token could look ahead?"
    layout = (row(col("both_ways_title", "both_ways"), col("causal_title", "causal")),)
    both_ways_title = heading("**As BERT has it**: every token looks both ways.")
    both_ways = chart("Attention, both ways", height=440)
    causal_title = heading("**With a causal mask**: no token looks ahead.")
    causal = chart("Attention, causal", height=440)
    help = caption(
        "GPT is a decoder, trained to write the next token. Each token may attend to itself and to earlier tokens, never "
        "ahead. The scores above the diagonal are set to −∞ before the softmax, and each row shares its weight of 1 among the "
        "remaining tokens. The first token can only attend to itself. BERT is trained to fill blanks, where the words after "
        "the blank help too. Same scores; rows sum to 1."
    )
    check = check()

    def first(self, subject: Subject) -> Subject:
        """Select the head with the most weight on later words: a decoder would change the others little."""
        if subject.chosen.picked:
            return subject
        ahead = overview_of(subject).metrics["ahead"]
        layer, head = np.unravel_index(int(ahead.argmax()), ahead.shape)
        return subject.select(layer=int(layer) + 1, head=int(head) + 1, picked=False)

    def finding(self, subject: Subject) -> Finding:
        layer, head = subject.selection.attention_layer, subject.selection.head_index
        share, where = float(overview_of(subject).metrics["ahead"][layer, head]), head_name((layer, head))
        tokens, words = subject.trace.tokens, list(subject.trace.encoding.text_positions)
        if len(words) < 2:
            return Finding("No word comes after another one here, so no word could look ahead.")
        if not stands_out(share):
            lost = float(np.triu(subject.trace.attention(layer)[head], 1)[words].sum(axis=1).mean())
            told = f"In {where}, words hardly look at later words ({whole_percent(share)} of their weight)"
            return Finding(f"{told}. A decoder's mask takes away {whole_percent(lost)} in all, with that on {tokens[-1]}.")
        told, chosen = "", {"layer": layer + 1, "head": head + 1}
        if (cell := _ahead(subject)) is not None:
            query, key = (quote(tokens, place) for place in cell)
            told, chosen = f", most of all from {query} to {key}", {**chosen, "token": cell[0]}
        return Finding(
            f"In {where}, {whole_percent(share)} of the weight goes to later words{told}. A decoder could not look there.",
            Why("inside-head", "One head", chosen),
        )

    def compute(self, subject: Subject) -> Content:
        trace, layer, head = subject.trace, subject.selection.attention_layer, subject.selection.head_index
        before = trace.attention(layer)[head]
        after = causal_attention(trace, layer, head)
        error = float(np.abs(after - renormalize(np.tril(before))).max())
        names, row = trace.tokens, subject.selection.token
        top = float(scale_end(max(before.max(), after.max()), len(names)))

        def figure(weights: np.ndarray) -> object:
            picture = attention_heatmap(weights, names, names, WeightScale(True, top=top), row)
            return beside(with_cell(picture, _ahead(subject)), layer=layer + 1, head=head + 1)

        what = "masked weights are the model's own, renormalised over the tokens before"
        return {"both_ways": figure(before), "causal": figure(after), "check": matches(error, what, 1e-5)}


def _ahead(subject: Subject) -> tuple[int, int] | None:
    """The word and the later word with the selected head's largest weight; None if none stands out."""
    words = np.array(subject.trace.encoding.sequences) >= 0
    later = np.triu(words[:, None] & words[None, :], 1)
    weights = subject.trace.attention(subject.selection.attention_layer)[[subject.selection.head_index]]
    weight, query, key = (values[0] for values in strongest_pairs(weights, later))
    return (int(query), int(key)) if stands_out(float(weight), 1 / len(words)) else None
