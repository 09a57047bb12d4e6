"""Several heads of a layer together."""

import numpy as np

from explorer.analysis.attention import rows_error, scale_end
from explorer.attention.heads import HEIGHT
from explorer.ui.attention_data import attention_check
from explorer.ui.layout import col, row
from explorer.ui.pictures.attention import WeightScale, attention_heatmap
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.numbers import beside
from explorer.ui.settings import number, several
from explorer.ui.subject import Subject
from explorer.ui.telling import quote, stands_out
from explorer.ui.view import Content, Finding, View, caption, chart, check, matches, prose


class SeveralHeads(View):
    """The weights of any set of heads of one layer, summed, as exBERT shows them (Hoover et al. 2020)."""

    name, question = "attention/several", "What do several heads look at together?"
    layout = (row(col("title", "heatmap", "rows", "check", width=7), col("layer", "heads", "help", width=4)),)
    layer: int = number(1, "Layer", low=1, high=lambda model: model.layers)
    heads: tuple[int, ...] = several(label="Heads (all if none is chosen)", options=lambda model: range(1, model.heads + 1))
    help = caption(
        "The weights of the chosen heads are added up, so each row sums to the number of heads. A dark cell is one that many "
        "heads agree on. Many heads attend to [CLS] or [SEP]; leave these two out to see the others. In BERT-base the weight "
        "on [SEP] hardly changes the output (Clark et al. 2019, section 3.2)."
    )
    title = prose(classes="detail-title")
    heatmap = chart("Attention of several heads, summed", height=HEIGHT)
    rows = check()
    check = check()

    def compute(self, subject: Subject) -> Content:
        weights, number = self._weights(subject)
        trace, row = subject.trace, subject.selection.token
        named = f"head{'s' * (number > 1)} {', '.join(map(str, self.heads))}" if self.heads else f"all {number} heads"
        whose = {"layer": self.layer, "heads": " ".join(map(str, self.heads)) or "all"}
        scale = WeightScale(True, f"weight, sum of {number}", float(scale_end(weights.max(), trace.kept, number)))
        picture = attention_heatmap(weights, trace.tokens, trace.tokens, scale, row)
        return {
            "title": f"**Layer {self.layer}, {named}**: row → column; each row sums to {number}.",
            "heatmap": beside(picture, **whose),
            "rows": matches(rows_error(weights / number), f"rows sum to {number}{', the number of heads' * (number > 1)}", 1e-5),
            "check": attention_check(subject.select(layer=self.layer)),
        }

    def finding(self, subject: Subject) -> Finding:
        weights, number = self._weights(subject)
        shares = weights.mean(axis=0) / number  # [key]
        key, share = int(shares.argmax()), whole_percent(float(shares.max()))
        heads = f"{number} heads together" if number > 1 else f"head {self.heads[0] if self.heads else 1}"
        weight = f"of the weight of {heads} in layer {self.layer}"
        if not stands_out(float(shares[key]), 1 / len(shares)):
            return Finding(f"None of the {len(shares)} tokens stands out: no more than {share} {weight} goes to any.")
        return Finding(f"{quote(subject.trace.tokens, key)} receives {share} {weight}, the most of {len(shares)} tokens.")

    def _weights(self, subject: Subject) -> tuple[np.ndarray, int]:
        """[query, key] the sum over the chosen heads, and their number."""
        attention = subject.trace.attention(self.layer - 1)
        chosen = [head - 1 for head in self.heads] or list(range(len(attention)))
        return attention[chosen].sum(axis=0), len(chosen)
