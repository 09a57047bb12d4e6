"""Words: all occurrences of a word of the corpus on a map, and its neighbors with and without context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.analysis.projection import LayerMaps, MapSettings, clusters, maps_of, warm_umap
from explorer.analysis.similarity import nearest, told_apart
from explorer.core.errors import InputError
from explorer.core.limits import QUERY
from explorer.core.steps import relay
from explorer.corpus.compute.occurrences import (
    Occurrence,
    Occurrences,
    contextual_neighbors,
    occurrences_in_steps,
    static_neighbors,
    telling_word,
    vector_alone,
)
from explorer.corpus.source import LookUp, clicked_sense, cut, senses_to_click, words_of_several_senses
from explorer.text import limits
from explorer.text.dependencies import spell_out
from explorer.text.pieces import bare
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import ranking
from explorer.ui.pictures.maps import Marks, point_map
from explorer.ui.pictures.strip_table import Column, Row, in_context, strip_table
from explorer.ui.settings import choice, memory, number, text
from explorer.ui.subject import Subject
from explorer.ui.view import (
    Change,
    Content,
    Finding,
    NewInput,
    button,
    caption,
    chart,
    check,
    matches,
    part,
    read,
    sentence,
    settle,
)

TAG, CLUSTER = "Part of speech", "Cluster"
NAMES = {"pca": "PCA", "umap": "UMAP"}
NEIGHBORS, LINES = 8, 12
QUOTED = 40  # characters of a sentence shown on hover, on each side of the word
UNKNOWN = "not known"


@dataclass(frozen=True)
class Shown:
    """A word's occurrences with their points at hidden state `layer`, and the neighbors of the picked one and of the word."""

    found: Occurrences
    layer: int
    points: np.ndarray  # [occurrences, 2]
    shares: np.ndarray | None  # of the variance along each axis, for PCA only
    note: str  # why PCA draws them instead of the method that was chosen, '' otherwise
    place: int  # index of the picked occurrence
    contextual: list[tuple[str, float]]
    static: list[tuple[str, float]] | None  # without context; None for a word of several pieces

    @property
    def tags(self) -> list[str]:
        """The part of speech of each occurrence."""
        return [spell_out(occurrence.tag) if occurrence.tag else UNKNOWN for occurrence in self.found.occurrences]

    def alike(self, layer: int) -> int:
        """The number of occurrences whose nearest other one has the same part of speech."""
        return told_apart(self.found.at(layer), self.tags)

    def spread(self, layer: int) -> tuple[float, float]:
        """The smallest and the largest cosine between two occurrences."""
        vectors = self.found.at(layer)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
        pairs = (unit @ unit.T)[np.triu_indices(len(unit), k=1)]
        return float(pairs.min()), float(pairs.max())


Picked = tuple[tuple[int, ...], str]
"""The index of the picked occurrence, if any, and its word: for another word it is ignored."""

NONE_PICKED: Picked = ((), "")


def check_picked(picked: object) -> Picked:
    """A valid occurrence and its word; none for any other value."""
    match picked:
        case [[place, *_], str(word)] if type(place) is int and place >= 0:
            return (place,), word
    return NONE_PICKED


class Words(LookUp):
    """One point per occurrence, by its vector at a hidden state; the sentences of those nearest to the picked one."""

    name, question = "corpus/words", "Is it the same word every time?"
    layout = (
        row(
            col("senses", "map", "stop", "progress", "about", "help", "check", width=6),
            col("uses", row("contextual", "static"), "several", width=5),
        ),
    )
    word: str = text(
        "", "Word", limit=QUERY, heard="submit", placeholder="the most telling one", max_lines=1, elem_classes="inline"
    )
    senses = part("chips", optional=True)
    map = chart("Map of the occurrences of a word", height=440)
    stop = button("Stop", visible=False)
    progress = part("meter")
    about = sentence(classes="caption")
    help = caption(
        "One point an occurrence: its vector at the chosen hidden state (the mean of its pieces). Click a point for the uses "
        "nearest to it by cosine in all dimensions; click a use and its sentence becomes the input. A word table has one vector "
        "a word, whatever it means; a hidden state has one a use."
    )
    check = check()
    uses = part("strips", height=350)
    contextual = part("ranking")
    static = part("ranking")
    several = sentence(classes="caption")
    map_by: str = choice([(name, key) for key, name in NAMES.items()], "Map", more=True)
    coloured_by: str = choice((TAG, CLUSTER), "Colour by", more=True)
    groups: int = number(
        3, "Clusters (k-means)", low=2, high=8, box=True, heard="submit", more=True, when=lambda view: view.coloured_by == CLUSTER
    )
    picked: Picked = memory(NONE_PICKED, kept=check_picked)

    def first(self, subject: Subject) -> Subject:
        """Select the last layer, unless one was picked."""
        return subject if subject.chosen.picked else subject.select(layer=subject.model.capabilities.layers, picked=False)

    def key(self, subject: Subject) -> Hashable:
        """The cache key; None without a corpus."""
        if self.corpus is None:
            return None
        look = self.map_by, self.coloured_by, self.groups, self.picked
        return self.name, str(subject.model.checkpoint), subject.selection.layer, self._named(subject), *look, self.corpus.key

    def work(self, subject: Subject) -> Generator[tuple[str, float | None], None, Shown]:
        """Read the corpus, unless it was read before, and map the word's occurrences. Raises InputError."""
        corpus, layer = self.chosen, subject.selection.layer
        found = yield from self.reading(occurrences_in_steps(subject.model, corpus, self._named(subject), layer))
        at = found.read.layers.index(layer)
        maps = self._maps(found)
        if not maps.has(at):
            for share in relay(partial(maps.at, found.states, at)):
                yield f"{NAMES[maps.settings.method]}: {share or 0:.0%}", share
        mapped = maps.at(found.states, at)
        picked, word = self.picked
        place = picked[0] if picked and word == found.word and picked[0] < len(found.occurrences) else 0
        near = contextual_neighbors(corpus, found, layer, place, NEIGHBORS)
        try:
            static = static_neighbors(subject.model, found.word, NEIGHBORS)
        except InputError:
            static = None
        return self.remember(
            subject, Shown(found, layer, mapped.points, mapped.explained_variance, mapped.note, place, near, static)
        )

    def draw(self, subject: Subject, found: Shown) -> Content:
        word = found.found.word
        several = f"“{word[:40]}” is several pieces of this vocabulary, so that the word table has no one vector for it."
        return {
            **senses_to_click(self.corpus),
            "map": self._map(found),
            "uses": _lines(found),
            "contextual": ranking(f"Nearest words in hidden state {found.layer}, here", _ranked(found.contextual), form=".2f"),
            "static": found.static and ranking("Nearest in the word table, anywhere", _ranked(found.static), form=".2f"),
            "several": "" if found.static else several,
            "about": self._about(found),
            "check": _check(subject, found),
        }

    def finding(self, subject: Subject) -> Finding | None:
        """Whether occurrences of one part of speech are close together, before any layer and here."""
        if (shown := self.looked_up(subject)) is None:
            return None
        number, word, counted = len(shown.tags), shown.found.word, Counter(shown.tags)
        if number < 4 or 0 not in shown.found.read.layers:
            return None
        if len(counted) < 2:
            least, most = shown.spread(shown.layer)
            told = f"Two uses of “{word}” have a cosine of {least:.2f} to {most:.2f} in hidden state {shown.layer}"
            return Finding(f"{told}; the word table has one vector for all {number}.")
        here, before = shown.alike(shown.layer), shown.alike(0)
        chance = sum(count * (count - 1) for count in counted.values()) / (number - 1)
        text = (
            f"For {here} of {number} “{word}” the nearest other one in hidden state {shown.layer} is of the same part of speech"
        )
        return Finding(f"{text}; before any layer for {before}, by chance {chance:.0f}.")

    def on_senses(self, subject: Subject, index: object) -> Change:
        """Show the occurrences of a word of several senses. Raises InputError."""
        return settle(word=clicked_sense(self.chosen, index))

    def on_map(self, subject: Subject, customdata: object) -> Change:
        return settle(picked=((limits.check_place(customdata),), self._named(subject)))

    def on_uses(self, subject: Subject, index: object) -> NewInput:
        every = self.result(subject).found.occurrences
        use = every[limits.check_integer(index, "the use", 0, len(every) - 1)]
        return read(use.sentence.text, token=use.position)

    def prepare(self) -> None:
        """Start to compile UMAP early, because its first map takes long."""
        warm_umap()

    def _named(self, subject: Subject) -> str:
        """The word typed, else the selected one if it has several senses, else the first that does."""
        if word := self.word.strip().lower():
            return word
        several = words_of_several_senses(self.chosen)
        chosen = bare(subject.trace.tokens[subject.token]).lower()
        return chosen if chosen in several else next(iter(several), "") or telling_word(self.chosen)

    def _maps(self, found: Occurrences) -> LayerMaps:
        return maps_of(found.states, MapSettings(self.map_by, 2, 15, 0.1, "cosine", 0))

    def _map(self, shown: Shown) -> object:
        texts = [
            f"{occurrence.before[-QUOTED:]}{occurrence.written}{occurrence.after[:QUOTED]}"
            for occurrence in shown.found.occurrences
        ]
        labels = shown.tags
        if self.coloured_by == CLUSTER:
            vectors = shown.found.at(shown.layer)
            labels = [f"cluster {number + 1}" for number in clusters(vectors, min(self.groups, len(vectors)))]
        axes = [f"{NAMES[self.map_by]} 1", f"{NAMES[self.map_by]} 2"]
        if shown.shares is not None:
            axes = [f"direction {axis} ({share:.0%} of the variance)" for axis, share in enumerate(shown.shares, start=1)]
        near = [row for row, _ in _nearest(shown)][:LINES]
        return point_map(
            shown.points, texts, labels, axes, f"words-{shown.found.word}-{self.map_by}", Marks(None, shown.place, near)
        )

    def _about(self, shown: Shown) -> str:
        corpus, number = self.chosen, len(shown.found.occurrences)
        lead = f"“{shown.found.word[:40]}” stands {shown.found.total:,} time{'s' * (shown.found.total != 1)}"
        part_of_it = "" if number == shown.found.total else f" The first {number:,} are shown."
        return f"{lead} in {corpus.counted}.{part_of_it} {shown.note} {corpus.about}".replace("  ", " ").rstrip()


def _nearest(shown: Shown) -> list[tuple[int, float]]:
    vectors = shown.found.at(shown.layer)
    return nearest(vectors, shown.place, LINES - 1) if len(vectors) > 1 else []


def _lines(shown: Shown) -> dict[str, Any]:
    """The picked occurrence and those nearest to it, with the word in the middle."""
    columns = in_context("use")
    columns += [Column("which is", "text", name="tag")] if set(shown.tags) != {UNKNOWN} else []
    columns += [Column("cosine", "number", form=".2f")]
    every = [(shown.place, 1.0), *_nearest(shown)]
    rows = [(row, shown.found.occurrences[row], cosine) for row, cosine in every]
    listed = [Row(_cells(one, cosine, len(columns) > 4), row, row == shown.place) for row, one, cosine in rows]
    return strip_table(columns, listed, "The uses nearest to the picked one", "occurrence")


def _cells(one: Occurrence, cosine: float, tagged: bool) -> list[Any]:
    before, after = cut(one)
    return [before, one.written, after, *([spell_out(one.tag)] if tagged else []), cosine]


def _check(subject: Subject, shown: Shown) -> dict[str, str]:
    """Check the direction of the picked vector, with its sentence run alone in full precision."""
    kept = shown.found.at(shown.layer)[shown.place]
    alone = vector_alone(subject.model, shown.found, shown.place, shown.layer)
    error = 1 - float(kept @ alone / max(float(np.linalg.norm(kept) * np.linalg.norm(alone)), 1e-12))
    return matches(max(error, 0.0), "the picked use, read alone in full precision, has the same vector: cosine 1", 0.01)


def _ranked(words: list[tuple[str, float]]) -> list[tuple[int, str, float]]:
    return [(row, word, cosine) for row, (word, cosine) in enumerate(words)]
