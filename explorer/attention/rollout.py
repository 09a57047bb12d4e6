"""Attention rollout: the flow of information through all layers."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import accumulate

import numpy as np

from explorer.analysis.attention import rows_error
from explorer.attention.pictures import sources_heatmap
from explorer.core.errors import CapabilityError
from explorer.techniques.ablation import Run
from explorer.techniques.routes import mixing, place_shares
from explorer.ui.layout import col, row
from explorer.ui.long_view import is_quick
from explorer.ui.pictures.attention import WeightScale, attention_heatmap
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.numbers import beside
from explorer.ui.settings import number
from explorer.ui.subject import Subject
from explorer.ui.telling import quote, stands_out
from explorer.ui.view import Content, Finding, View, Why, caption, chart, check, heading, matches, prose, sentence

SUMMED = "Both are shares of the input tokens over several layers; the Overview's headline names a link of one layer."
ROUTES_PASSES = 4  # what the mixing of all layers takes, in forward passes


class Rollout(View):
    """Attention rollout up to a layer, and the origin of one token."""

    name, question = "attention/rollout", "Where does each token come from, through all layers?"
    layout = (row(col("matrix_title", "matrix", "help"), col("title", "sources", "token", "check")),)
    matrix_title = heading("**Every token**: row → column; rows sum to 1.")
    matrix = chart("Attention rollout", height=430)
    help = caption(
        "Attention rollout (Abnar & Zuidema 2020): row i shows how much each input token contributed to token i after this "
        "layer, if information flowed only by attention. Formula: the product of 0.5 · (mean over heads) "
        "+ 0.5 · I, newer layers from the left; I is the residual connection. Rollout assumes that every layer and token keeps "
        "half of each position. The routes of the overview measure that share: ALTI (Ferrando et al. 2022) "
        "compares each token's part of the attention block's output with the whole. Colours follow the square root."
    )
    title = prose(classes="detail-title")
    sources = chart("Where one token comes from", height=430)
    token = sentence()
    up_to: int = number(6, "From layer 1 up to layer", low=1, high=lambda model: model.layers)
    check = check()

    def finding(self, subject: Subject) -> Finding | None:
        trace, token = subject.trace, subject.token
        if not any(place != token for place in trace.encoding.text_positions):
            return None
        after = trace.once(("rollout", token), lambda: self._rows(subject))[self.up_to - 1]
        lead = f"By attention weights alone (rollout), {quote(trace.tokens, token)} after layer {self.up_to}"
        told = f"{lead} takes {_taken(subject, after)}."
        return Finding(told, None if _mixed(subject) is None else Why("overview", "Routes", {"token": token}))

    def _rows(self, subject: Subject) -> np.ndarray:
        """[layers, tokens]: the rollout of the selected token after each layer."""
        layers = range(subject.model.capabilities.layers)
        return np.stack([flow[subject.token] for flow in rollout(map(subject.trace.attention, layers))])

    def compute(self, subject: Subject) -> Content:
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
            "title": f"**“{name}” (token {token})**, after each layer",
            "token": f"{_assumed(subject)} Click a token above for another.",
            "check": matches(error, "rows sum to 1, from the same weights as in 'One head'", 1e-5),
        }


def _taken(subject: Subject, shares: np.ndarray) -> str:
    """What the shares [tokens] of the selected token say: from itself, from special tokens, and from which other word most."""
    trace, token = subject.trace, subject.token
    others = [place for place in trace.encoding.text_positions if place != token]
    special = [place for place, kind in enumerate(trace.encoding.kinds) if kind == "special" and place != token]
    best = others[int(shares[others].argmax())]
    parked, own, most = (whole_percent(float(share)) for share in (shares[special].sum(), shares[token], shares[best]))
    names = " and ".join(dict.fromkeys(trace.tokens[place] for place in special))
    lead = f"{own} from itself, {parked} from {names}" if special else f"{own} from itself"
    if stands_out(float(shares[best]), 1 / len(shares)):
        return f"{lead} and, of the others, most from {quote(trace.tokens, best)}, {most}"
    return f"{lead} and at most {whole_percent(max(float(shares[best]), 0.01))} from any other"


def _assumed(subject: Subject) -> str:
    """What rollout assumes of every layer, beside what the routes measure for the selected token, if they are quick."""
    token, told = subject.token, "Rollout assumes that every layer keeps half of each vector"
    if (mixed := _mixed(subject)) is None or not any(place != token for place in subject.trace.encoding.text_positions):
        return f"{told}."
    kept, taken = whole_percent(float(mixed[:, token, token].mean())), _taken(subject, place_shares(mixed, token)[0])
    return f"{told}. The Overview measures that share ({kept} per layer): there, this token takes {taken} (ALTI). {SUMMED}"


def _mixed(subject: Subject) -> np.ndarray | None:
    """The mixing [layers, query, key] that the routes follow; None where it takes long or the layers cannot be taken apart."""
    if not is_quick(subject, ROUTES_PASSES):
        return None
    with suppress(CapabilityError):
        return mixing(Run(subject.trace)).shares
    return None


def rollout(layers: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Attention rollout after each layer: [n, n] each, from attention [heads, n, n] of layers 1, 2, ...

    Abnar & Zuidema 2020, section 3: Ã = 0.5 · (mean over heads) + 0.5 · I, where the identity stands for the residual
    connection, and R_l = Ã_l R_{l-1}. Row i says how much each input token contributed to token i; rows sum to 1.
    """
    mixed = (0.5 * weights.mean(axis=0, dtype=np.float64) + 0.5 * np.eye(weights.shape[-1]) for weights in layers)
    return accumulate(mixed, lambda flow, layer: layer @ flow)
