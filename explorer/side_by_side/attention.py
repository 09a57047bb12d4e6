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
from explorer.ui.telling import quote, two_places
from explorer.ui.view import Content, Finding, chart, heading, sentence


class SideAttention(SideView):
    """Two heatmaps of attention, and their difference if the inputs have the same number of tokens.

    Both are of the selected layer and head; a smaller model shows its last ones.
    """

    name, question = "side-by-side/attention", "Who looks at whom on each side?"
    layout = (*SideView.layout, row(col("here_title", "here"), col("there_title", "there")))
    here_title = heading("**Here**")
    here = chart("Attention here", height=480)
    there_title = heading("**There**")
    there = chart("Attention there", height=480)
    about = sentence()
    difference = chart("Difference (there − here)", height=480, optional=True)

    first, prepare_rest = staticmethod(most_telling_first), staticmethod(prepare_effects)

    def compute(self, subject: Subject) -> Content:
        sides = subject, self.other(subject)
        weights = [_weights(side) for side in sides]
        scale = WeightScale(True, top=float(max(scale_end(matrix.max(), len(matrix)) for matrix in weights)))
        pictures, places = [], []
        for side, one in zip(sides, weights, strict=True):
            layer, head, tokens = side.selection.attention_layer + 1, side.selection.head, side.trace.tokens
            pictures.append(beside(attention_heatmap(one, tokens, tokens, scale), layer=layer, head=head))
            places.append(f"layer {layer}, head {head}")
        shown = {"here": pictures[0], "there": pictures[1]}
        about = "Here {}, there {}.".format(*places)
        if (paired := paired_tokens(*(side.trace.encoding for side in sides))) is None:
            return {**shown, "about": f"{about} The inputs have different numbers of tokens, so no difference is shown."}
        change = weights[1] - weights[0]
        query, key = _most_moved(change)
        share = percent(_moved(change) / len(change))
        about += f" On average {share} of a token's attention lies elsewhere (0% is the same, 100% nothing in common)."
        cell = (query, key) if _moved(change[query]) >= SEEN else None
        return {**shown, "about": about, "difference": difference_heatmap(change, paired, cell)}

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
        where = f"most of all {'to' if shift > 0 else 'away from'} {quote(tokens, key)} ({two_places(abs(shift))})"
        share = whole_percent(min(moved, 1.0))
        return Finding(f"{quote(tokens, query)} changes its attention most: {share} of its weight moves, {where}.")


def _weights(subject: Subject) -> np.ndarray:
    return subject.trace.attention(subject.selection.attention_layer)[subject.selection.head_index]


def _moved(change: np.ndarray) -> float:
    """The attention that lies elsewhere, in shares of one query's, from its change."""
    return float(np.abs(change).sum() / 2)


def _most_moved(change: np.ndarray) -> tuple[int, int]:
    """In a change of attention [query, key], the query with the largest change, and the key where it is largest."""
    query = int(np.abs(change).sum(-1).argmax())
    return query, int(np.abs(change[query]).argmax())
