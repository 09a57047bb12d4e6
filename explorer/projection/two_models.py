"""The same sentences by two models, or by two layers of one, with the points that changed their neighbours."""

from collections.abc import Generator, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from explorer.analysis.projection import align, of_one_size, principal_components
from explorer.analysis.similarity import nearest_rows
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS
from explorer.projection.points import EXAMPLE_SETS, LETTERS, PER_LINE, example_lines, read_texts
from explorer.text import limits
from explorer.text.lines import read_lines
from explorer.ui.layout import col, row
from explorer.ui.long_view import LongView
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.maps import number_classes
from explorer.ui.pictures.text_map import Link, TextMap, draw_map
from explorer.ui.settings import choice, memory, number, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, caption, part, props, prose, settle

FEWEST = 4  # different sentences
NEIGHBORS = 5
RINGED = 8  # points, and at most a quarter
QUOTED = 20  # characters of a sentence


@dataclass(frozen=True)
class Sides:
    """Different sentences in the spaces on the left and on the right, which have `names`.

    `near` [2, n, k] are neighbours by cosine, nearest first. `places` [2, n, 2] are on maps, of which the right one is turned.
    """

    texts: list[str]
    labels: list[str]
    names: list[str]
    near: np.ndarray
    places: np.ndarray

    @cached_property
    def kept(self) -> np.ndarray:
        """[n] how many neighbours of each sentence are the same."""
        return (self.near[0][:, :, None] == self.near[1][:, None]).sum(axis=(1, 2))

    @cached_property
    def changed(self) -> list[int]:
        """The sentences that keep fewest neighbours, fewest first."""
        order = np.argsort(self.kept, kind="stable")[: min(RINGED, max(1, len(self.kept) // 4))]
        return order[self.kept[order] < self.near.shape[2]].tolist()

    def finding(self) -> str:
        _, count, near = self.near.shape
        share, chance, first = self.kept.mean(), near * near / (count - 1), shorten(self.texts[self.kept.argmin()], QUOTED)
        text = f"{self.names[0]} and h{self.names[1][1:]} share {share:.1f} of each sentence's {near} nearest neighbours"
        text += f" on average ({chance:.1f} by chance)"
        return f"{text}. “{first}” keeps {self.kept.min()}." if self.changed else f"{text}. No neighbour changed."

    def draw(self, side: int, picked: int | None) -> dict[str, Any]:
        """The map on one side, with lines from the picked sentence to its nearest there."""
        (labels, classes), near = number_classes(self.labels), self.near[side]
        keeps = [f"keeps {kept} of {near.shape[1]} neighbours; nearest here: " for kept in self.kept]
        drawn = TextMap(
            texts=self.texts,
            places=self.places[side],
            labels=labels,
            classes=classes,
            notes=[said + self.texts[other] for said, other in zip(keeps, near[:, 0], strict=True)],
            rings=[row in self.changed for row in range(len(self.texts))],
            ringed="fewest neighbours kept",
            picked=picked,
            links=[] if picked is None else [Link(picked, int(other)) for other in near[picked]],
            even=True,
        )
        return draw_map(drawn, f"A map of {len(self.texts):,} sentences in {self.names[side]}.")


class TwoModels(LongView):
    name, question = "projection/two-models", "Which sentences change neighbours?"
    layout = (
        row("compared", "state", "other_state"),
        row(col("here_title", "here"), col("there_title", "there")),
        row(col("texts"), col("help")),
    )
    start = "Compare"
    compared: str = choice(
        [("this model", "")], "Beside (name or folder)", menu=True, free=True, default="", elem_classes="inline"
    )
    state: int = number(6, "Hidden state, left", low=0, high=lambda model: model.layers, box=True, elem_classes="inline")
    other_state: int = number(2, "Hidden state, right", low=0, high=100, box=True, elem_classes="inline")
    here_title = prose(classes="detail-title")
    here = part("text_map", height=400)
    there_title = prose(classes="detail-title")
    there = part("text_map", height=400)
    texts: str = text(example_lines(EXAMPLE_SETS[0]), PER_LINE, lines=6, max_lines=6, limit=BOX_CHARACTERS)
    help = caption(
        "Click a point: lines lead to its nearest neighbours on each side, by cosine in all dimensions. Rings mark the sentences "
        "that keep the fewest of them. How far a point moves says less. Both maps show the first two principal components. The "
        "right one is rotated and mirrored to fit the left one (Procrustes, Schönemann 1966)."
    )
    followed: int | None = memory(None, kept=lambda row: row if type(row) is int and row >= 0 else None)

    def passes(self, subject: Subject) -> float:
        return 2 * len(self.texts) / LETTERS / subject.trace.kept

    def key(self, subject: Subject) -> Hashable:
        return self.name, subject.model_name, self.compared, self.state, self.other_state, self.texts

    def work(self, subject: Subject) -> Generator[Any, None, Sides]:
        """Read the sentences on both sides. Raises InputError for fewer than FEWEST, and ModelError."""
        label_of = dict(zip(*read_lines(self.texts), strict=True))
        if len(label_of) < FEWEST:
            raise InputError(f"Type at least {FEWEST} different sentences, one per line.")
        texts, labels, other = list(label_of), list(label_of.values()), subject.read_by(self.compared or "")
        names, near, places = [], [], []
        for side, state in ((subject, self.state), (other, self.other_state)):
            points = yield from read_texts(side.model, texts, labels, "mean")
            at = points.at(state)
            model = "" if other is subject else f" of {side.model_name.rstrip('/').rpartition('/')[2]}"
            names.append(f"Hidden state {at}{model}")
            near.append(nearest_rows(points.states[at], min(NEIGHBORS, (len(texts) - 1) // 2))[0])
            places.append(of_one_size(principal_components(points.states[at], 2)[0]))
        return Sides(texts, labels, names, np.stack(near), np.stack([places[0], align(places[1], places[0])]))

    def waiting(self, subject: Subject) -> Content:
        models = [("this model", ""), *((name, name) for name in subject.other_models)]
        return {"here": None, "there": None, "here_title": "", "there_title": "", "compared": props(choices=models)}

    def draw(self, subject: Subject, found: Sides) -> Content:
        picked = self.followed if self.followed in range(len(found.texts)) else None
        shown = self.waiting(subject)
        for side, name in enumerate(("here", "there")):
            shown |= {f"{name}_title": f"**{found.names[side]}**", name: found.draw(side, picked)}
        return shown

    def finding(self, subject: Subject) -> Finding | None:
        found = self.known(subject)
        return found and Finding(found.finding())

    def on_compared(self, subject: Subject, compared: str | None) -> Change:
        """Another model is compared at its last hidden state. Raises ModelError for one that is not on this machine."""
        other = subject.read_by(compared or "")
        return settle(other_state=2 if other is subject else other.model.capabilities.layers)

    def on_here(self, subject: Subject, index: object) -> Change:
        return settle(followed=limits.check_place(index))

    on_there = on_here
