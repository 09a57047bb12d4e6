"""Attention rollout: the flow of information through all layers."""

import numpy as np

from explorer.analysis.attention import rows_error
from explorer.analysis.rollout import rollout
from explorer.figures.attention import WeightScale, attention_heatmap, sources_heatmap
from explorer.figures.bars import whole_percent
from explorer.figures.numbers import beside
from explorer.views.settings import number
from explorer.views.subject import Subject
from explorer.views.view import Content, Finding, View, caption, chart, check, matches, sentence


class Rollout(View):
    """Attention rollout up to a layer, and the origin of one token."""

    name, question = "attention/rollout", "Where does each token come from, through all layers?"
    columns = (("matrix", "help"), ("sources", "token", "check"))
    matrix = chart("Attention rollout", height=430)
    help = caption(
        "Attention rollout (Abnar & Zuidema 2020): row i says how much each input token contributed to token i "
        "after this layer, if information only flowed as attention says. The product of 0.5 · (mean over heads) "
        "+ 0.5 · I, newer layers from the left; I stands for the residual connection. √ scale; rows sum to 1."
    )
    sources = chart("Where one token comes from", height=430)
    token = sentence()
    up_to: int = number(6, "From layer 1 up to layer", low=1, high=lambda model: model.layers)
    check = check()

    def finding(self, subject: Subject) -> Finding | None:
        """How much of a token comes from special tokens after all layers, and from which other word most."""
        trace, token = subject.trace, subject.token
        others = [place for place in trace.encoding.text_positions if place != token]
        if not others:
            return None
        after = trace.once(("rollout", token), lambda: self._rows(subject))[-1]
        best = others[int(after[others].argmax())]
        special = [place for place, kind in enumerate(trace.encoding.kinds) if kind == "special" and place != token]
        shares = [float(after[special].sum()), float(after[token]), float(after[best])]
        parked, own, most = (whole_percent(share) for share in shares)
        names = " and ".join(dict.fromkeys(trace.tokens[place] for place in special))
        told = f"{parked} of it come from {names}, {own} from itself" if special else f"{own} of it come from itself"
        other = f"of the other words, most from “{trace.tokens[best]}”: {most}"
        return Finding(f"“{trace.tokens[token]}” after all layers: {told} and, {other}.")

    def _rows(self, subject: Subject) -> np.ndarray:
        """[layers, tokens]: the rollout of the selected token after each layer."""
        layers = range(subject.model.capabilities.layers)
        return np.stack([flow[subject.token] for flow in rollout(map(subject.trace.attention, layers))])

    def compute(self, subject: Subject) -> Content:
        """Both pictures, from one pass over the layers."""
        trace, token = subject.trace, subject.token
        error, rows = 0.0, []
        layers = (trace.attention(index) for index in range(subject.model.capabilities.layers))
        for layer, flow in enumerate(rollout(layers), start=1):
            error = max(error, rows_error(flow))
            rows.append(flow[token])
            if layer == self.up_to:
                wanted = flow
        trace.once(("rollout", token), lambda: np.stack(rows))
        name, up_to = trace.tokens[token], {"up_to_layer": self.up_to}
        return {
            "matrix": beside(attention_heatmap(wanted, trace.tokens, trace.tokens, WeightScale(True, "share"), token), **up_to),
            "sources": beside(sources_heatmap(np.stack(rows), trace.tokens), query_position=token, query=name),
            "token": f"Where '{name}' (token {token}) comes from, layer by layer; click a token above for another.",
            "check": matches(error, "rows sum to 1, from the same weights as in 'One head'", 1e-5),
        }
