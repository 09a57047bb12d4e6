"""All occurrences of a word: a point for each on a map, and those nearest to the picked one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from explorer.analysis.layer_maps import LayerMaps, maps_of
from explorer.analysis.projection import MapSettings
from explorer.analysis.similarity import count_told_apart
from explorer.core.steps import relay
from explorer.corpus.compute.occurrences import Occurrences, vector_alone
from explorer.corpus.compute.search import Found
from explorer.corpus.hits import Hits, hit_lines
from explorer.text.corpora import Corpus
from explorer.text.tagged import spell_out
from explorer.ui.pictures.maps import number_classes
from explorer.ui.pictures.text_map import Link, TextMap, draw_map
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, matches

NAMES = {"pca": "PCA", "umap": "UMAP"}
NEIGHBORS = 5  # of the picked occurrence, with lines on the map
FEW = 60  # points with their text
QUOTED = 40  # characters of a sentence on the map, on each side of the word
UNKNOWN = "not known"


@dataclass(frozen=True)
class Uses(Hits):
    """A word's occurrences at hidden state `layer`, the nearest to the picked one first."""

    of: Occurrences
    layer: int
    method: str
    maps: LayerMaps = field(repr=False)
    place: int  # index of the picked occurrence
    order: np.ndarray = field(repr=False)  # indices of the occurrences, the nearest first

    @property
    def tags(self) -> list[str]:
        """The part of speech of each occurrence."""
        return [spell_out(hit.tag) if hit.tag else UNKNOWN for hit in self.of.hits]

    def alike(self, layer: int) -> int:
        """The number of occurrences whose nearest other one has the same part of speech."""
        return count_told_apart(self.of.at(layer), self.tags)

    def show(self, subject: Subject) -> Content:
        word, number, total = self.of.word[:40], len(self.of.hits), self.of.total
        mapped = self.maps.at(self.of.read.layers.index(self.layer))
        lead = f"“{word}” occurs {total:,} time{'s' * (total != 1)} in {self.found.corpus.counted}."
        about = [lead, "" if number == total else f"The first {number:,} are shown.", mapped.note, self.found.corpus.about]
        return {
            **super().show(subject),
            "hits": hit_lines(self, strong=0),
            "map": self._map(mapped.points),
            "about": " ".join(filter(None, about)),
        }

    def finding(self, subject: Subject) -> Finding | None:
        """Whether occurrences of one part of speech are close together, before any layer and at this one."""
        number, word, counted = len(self.of.hits), self.of.word, Counter(self.tags)
        if number < 4 or 0 not in self.of.read.layers:
            return None
        if len(counted) < 2:
            pairs = np.concatenate([self.of.cosines(self.layer, place)[place + 1 :] for place in range(number)])
            told = f"Two uses of “{word}” have a cosine of {pairs.min():.2f} to {pairs.max():.2f} in hidden state {self.layer}"
            return Finding(f"{told}; the word table has one vector for all {number}.")
        chance = sum(count * (count - 1) for count in counted.values()) / (number - 1)
        told = f"{self.alike(self.layer)} of {number} uses of “{word}” have a nearest neighbour with the same part of speech"
        beside = f"({self.alike(0)} before any layer, {chance:.0f} by chance)"
        return Finding(f"{told} in hidden state {self.layer} {beside}.")

    def check(self, subject: Subject) -> dict[str, str]:
        """The direction of the picked vector, with its sentence run alone in full precision."""
        kept = self.of.at(self.layer)[self.place]
        alone = vector_alone(subject.model, self.of, self.place, self.layer)
        error = 1 - float(kept @ alone / max(float(np.linalg.norm(kept) * np.linalg.norm(alone)), 1e-12))
        return matches(max(error, 0.0), "the picked use, read alone in full precision, has the same vector: cosine 1", 0.01)

    def _map(self, points: np.ndarray) -> dict[str, object]:
        """A point per occurrence, with its sentence if there are few, and lines from the picked one to the nearest."""
        hits, (labels, classes) = self.of.hits, number_classes(self.tags)
        few = len(hits) <= FEW
        around = [(hit.before[-QUOTED:], hit.after[:QUOTED]) for hit in hits]
        near = self.order[1 : NEIGHBORS + 1].tolist()
        what = TextMap(
            texts=[hit.word if few else hit.word.join(beside) for hit, beside in zip(hits, around, strict=True)],
            places=points,
            labels=labels,
            classes=classes,
            contexts=around if few else (),
            picked=self.place,
            links=[Link(self.place, row, f"{self.found.hits[at].score:.2f}") for at, row in enumerate(near, start=1)],
            even=True,
            hulls=len(classes) if few and 1 < len(classes) < len(hits) else 0,
        )
        return draw_map(what, f"A map of the {len(hits):,} occurrences of “{self.of.word}”, with lines to the nearest.")


def uses_in_steps(
    of: Occurrences, corpus: Corpus, layer: int, method: str, place: int, limit: int
) -> Generator[tuple[str, float], None, Uses]:
    """Map the occurrences, and order them by their cosine to the one at `place`; yields a sentence and the share done."""
    maps, at = maps_of(of.states, MapSettings(method)), of.read.layers.index(layer)
    if not maps.has(at):
        for share in relay(partial(maps.at, at)):
            yield f"{NAMES[maps.settings.method]}: {share or 0:.0%}", share or 0.0
    cosines = of.cosines(layer, place)
    cosines[place] = np.inf
    order = np.argsort(-cosines, kind="stable")
    cosines[place] = 1
    hits = tuple(replace(of.hits[row], score=float(cosines[row])) for row in order.tolist())
    found = Found(corpus, hits, len(hits))
    return Uses(found, limit, "cosine", of, layer, method, maps, place, order, form=".2f")
