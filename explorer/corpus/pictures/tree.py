"""A parse tree as arcs beside the words, and on their other side the links of an attention head."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

import numpy as np
import plotly.graph_objects as go

from explorer.corpus.compute.tree import Links
from explorer.text.tagged import ROOT, Sentence, spell_out
from explorer.ui.pictures.base import ACCENT, FAINT, esc, figure, plain_axis
from explorer.ui.pictures.numbers import columns_of, keep

POINTS = 25  # of an arc
WORDS = 0.3  # half the width of the words, of the tree's width


def draw_tree(one: Sentence, found: Links, head: str) -> go.Figure:
    """The arcs of the tree at the left of the words, those of the head at the right; coloured if the other side has them."""
    words, count = one.words, len(one.words)
    by = "looks most at" if found.forward else "is looked at most by"
    tree = {word: head for word, head in enumerate(one.heads) if head != ROOT}
    links = {word: other for word, other in enumerate(found.linked) if other >= 0}
    depends = {
        word: f"“{words[word]}” depends on “{words[head]}”: {spell_out(one.relations[word])}" for word, head in tree.items()
    }
    looks = {word: f"“{words[word]}” {by} “{words[other]}”" for word, other in links.items()}
    sides = [(-1, tree, depends), (1, links, looks)]
    arcs = [
        _arc(word, other, count, side, esc(told[word]), word in found.right)
        for side, pairs, told in sides
        for word, other in pairs.items()
    ]
    text = go.Scatter(x=np.zeros(count), y=np.arange(count), text=[esc(word) for word in words], mode="text", hoverinfo="skip")
    titles = [
        {"x": side * 0.75, "y": 1, "yref": "paper", "yanchor": "bottom", "text": title, "showarrow": False}
        for side, title in ((-1, "parse tree"), (1, head))
    ]
    drawn = figure(
        [*arcs, text],
        key=f"tree-{count}",
        meta={"alt": f"Parse tree of {count} words. {head} has {len(found.right)} of its {len(tree)} links."},
        hovermode="closest",
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
        annotations=titles,
        xaxis=plain_axis("", visible=False, range=[-1.4, 1.4], fixedrange=True),
        yaxis=plain_axis("", visible=False, range=[count - 0.4, -0.6], fixedrange=True),
    )
    listed = {
        "word": words,
        "relation": one.relations,
        "depends_on": [words[tree[word]] if word in tree else None for word in range(count)],
        "linked_to": [words[links[word]] if word in links else None for word in range(count)],
        "in_both": [word in found.right for word in range(count)],
    }
    return keep(drawn, lambda: columns_of(**listed))


def _arc(word: int, other: int, count: int, side: int, told: str, is_right: bool) -> go.Scatter:
    """An arc between two words, at the left of them (`side` −1) or at the right (1): the farther, the wider; a dot at `word`."""
    turn = np.linspace(0, np.pi, POINTS)
    reach = 0.12 + 0.85 * abs(other - word) / max(count - 1, 1)
    x = side * (WORDS + reach * np.sin(turn))
    y = (word + other) / 2 + (word - other) / 2 * np.cos(turn)
    look = {"color": ACCENT, "width": 2.5} if is_right else {"color": FAINT, "width": 1.2}
    sizes = [7, *[0] * (POINTS - 1)]
    return go.Scatter(
        x=x.astype(np.float32),
        y=y.astype(np.float32),
        mode="lines+markers",
        line=look,
        marker={"color": look["color"], "size": sizes},
        hovertemplate=f"{told}<extra></extra>",
    )
