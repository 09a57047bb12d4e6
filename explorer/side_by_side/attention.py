"""The same head of both sides, and the difference."""

import numpy as np

from explorer.analysis.attention import scale_end
from explorer.side_by_side.other import SideView, paired_tokens
from explorer.ui.attention_data import most_telling_first, prepare_effects
from explorer.ui.layout import col, row
from explorer.ui.pictures.attention import WeightScale, attention_heatmap, difference_heatmap
from explorer.ui.pictures.bars import SEEN, percent, whole_percent
from explorer.ui.pictures.numbers import beside
from explorer.ui.subject import Subject
from explorer.ui.telling import quoted, two_places
from explorer.ui.view import Content, Finding, chart, heading, sentence


class SideAttention(SideView):
    """Two heatmaps of attention, and their difference if the inputs have equally many tokens."""

    name, question = "side-by-side/attention", "Who looks at whom, here and there?"
    layout = (*SideView.layout, row(col("here_title", "here"), col("there_title", "there")))
    here_title = heading("**Here**")
    here = chart("Attention here", height=480)
    there_title = heading("**There**")
    there = chart("Attention there", height=480)
    about = sentence()
    difference = chart("There less here", height=480, optional=True)

    first, prepare_rest = staticmethod(most_telling_first), staticmethod(prepare_effects)

    def compute(self, subject: Subject) -> Content:
        """The same layer and head on both sides, or the last one if the other model is smaller."""
        other = self.other(subject)
        weights = [_weights(one) for one in (subject, other)]
        scale = WeightScale(True, top=float(max(scale_end(one.max(), len(one)) for one in weights)))
        pictures = [
            attention_heatmap(one, side.trace.tokens, side.trace.tokens, scale)
            for one, side in zip(weights, (subject, other), strict=True)
        ]
        here, there = whose = subject.selection, other.selection
        pictures = [
            beside(picture, layer=one.attention_layer + 1, head=one.head) for picture, one in zip(pictures, whose, strict=True)
        ]
        places = [f"layer {one.attention_layer + 1}, head {one.head}" for one in (here, there)]
        about = f"Here {places[0]}, there {places[1]}."
        shown = {"here": pictures[0], "there": pictures[1]}
        if (tokens := paired_tokens(subject.trace.encoding, other.trace.encoding)) is None:
            return {**shown, "about": f"{about} The inputs have different numbers of tokens, so there is no difference to show."}
        change = weights[1] - weights[0]
        query, key = _most_moved(change)
        moved = float(np.abs(change).sum(-1).mean() / 2)
        about += f" On average {percent(moved)} of a token's attention lies elsewhere (0 % is the same, 100 % nothing in common)."
        cell = (query, key) if _moved(change[query]) >= SEEN else None
        return {**shown, "about": about, "difference": difference_heatmap(change, tokens, cell)}

    def finding(self, subject: Subject) -> Finding | None:
        """The token whose attention differs most, and the key that gains or loses most."""
        other = self.other(subject)
        if (tokens := paired_tokens(subject.trace.encoding, other.trace.encoding)) is None:
            return None
        change = _weights(other) - _weights(subject)
        query, key = _most_moved(change)
        if (moved := _moved(change[query])) < SEEN:
            return None
        shift = float(change[query, key])
        gets = f"{quoted(tokens, key)} gets {two_places(abs(shift))} {'more' if shift > 0 else 'less'} than here"
        lies = f"{whole_percent(min(moved, 1.0))} of it lies elsewhere there"
        return Finding(f"The attention of {quoted(tokens, query)} moves most: {lies}; {gets}.")


def _weights(subject: Subject) -> np.ndarray:
    return subject.trace.attention(subject.selection.attention_layer)[subject.selection.head_index]


def _moved(change: np.ndarray) -> float:
    """The share of a query's attention that lies elsewhere, from its change by key."""
    return float(np.abs(change).sum() / 2)


def _most_moved(change: np.ndarray) -> tuple[int, int]:
    """In a change of attention [query, key], the query with the largest change, and the key where it is largest."""
    query = int(np.abs(change).sum(-1).argmax())
    return query, int(np.abs(change[query]).argmax())
