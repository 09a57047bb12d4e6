"""The same head under the mask of a decoder."""

import numpy as np

from explorer.analysis.attention import renormalised
from explorer.figures.attention import WeightScale, attention_heatmap
from explorer.views.subject import Subject
from explorer.views.view import Content, View, caption, chart, check, heading, matches


class Decoder(View):
    """The chosen head as it is, and if no token could look ahead."""

    name, question = "inside-head/decoder", "What if no token could look ahead?"
    columns = (("both_ways_title", "both_ways"), ("causal_title", "causal"))
    both_ways_title = heading("**As BERT has it**: every token looks both ways.")
    both_ways = chart("Attention, both ways", height=440)
    causal_title = heading("**With a causal mask**: no token looks ahead.")
    causal = chart("Attention, causal", height=440)
    help = caption(
        "GPT is a decoder: it is trained to write the next token, so each token may look at itself and at what came "
        "before, and never ahead. The scores above the diagonal are set to −∞ before the softmax, and each row shares "
        "its weight of 1 among what is left; the first token can only look at itself. BERT is trained to fill blanks, "
        "where the words after the blank matter as much as those before it. Same scores, √ scale, rows sum to 1."
    )
    check = check()

    def compute(self, subject: Subject) -> Content:
        """Both heatmaps on one scale."""
        from explorer.techniques.inside import causal_attention  # loads torch

        trace, layer, head = subject.trace, subject.selection.attention_layer, subject.selection.head_index
        before = trace.attention(layer)[head]
        after = causal_attention(trace, layer, head)
        error = float(np.abs(after - renormalised(np.tril(before))).max())
        names, row = trace.tokens, subject.selection.token
        top = float(max(before.max(), after.max()))

        def figure(weights: np.ndarray) -> object:
            return attention_heatmap(weights, names, names, WeightScale(True, top=top), row)

        what = "masked weights are the model's own, renormalised over the tokens before"
        return {"both_ways": figure(before), "causal": figure(after), "check": matches(error, what, 1e-5)}
