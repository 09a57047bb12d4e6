"""A map of sentences, of the tokens of the input, or of the vocabulary, at any layer."""

import re
from collections import Counter
from collections.abc import Generator, Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from explorer.analysis.projection import NAMES, LayerMaps, MapSettings, clusters, digest, maps_of, warm_umap
from explorer.analysis.similarity import directions, nearest_place
from explorer.core.cache import OnceCache
from explorer.core.errors import ExplorerError
from explorer.core.lazy import sklearn
from explorer.core.limits import RESULTS_MEGABYTES
from explorer.core.steps import finished, relay
from explorer.projection.picture import LayerMap, Nearby, draw_flat, nearby
from explorer.projection.points import NONE_CHOSEN, VOCABULARY, WORDS, Points, PointsView, check_chosen, is_typed, rows_of
from explorer.text import limits
from explorer.text.lines import read_lines
from explorer.ui.layout import col, row
from explorer.ui.pictures.maps import Marks, space_map
from explorer.ui.settings import choice, memory, number
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, Why, button, chart, part, props, prose, sentence, settle

MAP_HEIGHT = 440
HINT = "Click a point for its neighbours, then turn the wheel to zoom. *Select* draws a line around points."
LABELS, CLUSTERS = "Labels", "Clusters"
ALL_LAYERS = {"pca": 2_000, "umap": 300, "tsne": 300}  # points up to which a map is made of every layer
NEIGHBORS = 8  # of a clicked point that are listed
MOST_HITS = 100  # of a search that are listed
MOST_NEW = 0.25  # of the points: the share that is added to a fitted map
MOST_CLUSTERS = 8
NAMING = 3  # words in a cluster's name
LIFT = 1.3  # times the cluster's share of all texts: the least share of a word's texts in it
WORD = re.compile(r"[^\W\d_]{3,}")

_told: OnceCache[Hashable, Nearby] = OnceCache(32)
_fits: OnceCache[Hashable, tuple[list[str], LayerMaps]] = OnceCache(RESULTS_MEGABYTES.bytes, lambda fit: fit[1].states.nbytes)
_clusters: OnceCache[tuple[bytes, int], np.ndarray] = OnceCache(20)


def _is_in_space(view: "Map") -> bool:
    """Whether one layer is shown and chosen in a box: a flat map has them all, and the vocabulary has none."""
    return view.dimensions == 3 and view.source != VOCABULARY


class Map(PointsView):
    name, question = "projection/map", "What lies close to what?"
    names = ("source", "method", "layer", *PointsView.names)
    layout = (
        row(
            col("map", "chart", "summary", width=7),
            col(
                row("example", "table"),
                *("sentences", "progress", "send", "search", "nearest", "hint", "naming", "label", "forget", "refit"),
                *("test", "compare", "colours", "dimensions", "pooling", "neighbors", "seed", "picked", "drawn", "fitted"),
                width=3,
            ),
        ),
    )
    method: str = choice([(name, key) for key, name in NAMES.items()], "Map", menu=True, elem_classes="inline")
    colours: str = choice((LABELS, CLUSTERS), "Colours", more=True, line=True)
    layer: int = number(6, "Hidden state (0: embeddings)", low=0, high=lambda model: model.layers, when=_is_in_space)
    stop = button("Stop", visible=False, min_width=70)
    map = part("text_map", height=MAP_HEIGHT, tall=True, selects=True)
    chart = chart("Map of words or sentences", height=MAP_HEIGHT, hides_empty=True)
    progress = part("meter")
    summary = sentence(classes="caption")
    nearest = part("ranking")
    hint = prose(value=HINT, classes="caption")
    forget = button("Show all again", visible=False)
    refit = button("Fit the map again", visible=False)
    dimensions: int = choice([("2-D", 2), ("3-D", 3)], "Space", more=True, line=True)
    neighbors: int = number(
        15, "Neighbours (n_neighbors, perplexity × 3)", low=2, high=100, heard="release", more=True, line=True
    )
    fitted: str = memory("", kept=str, linked=False, with_files=True)  # the key of those to which the map was fitted

    def key(self, subject: Subject) -> Hashable:
        texts = (subject.text_a, subject.text_b, subject.token) if self.source == WORDS else ()
        own = (getattr(self, name) for name in self.settings if name not in ("drawn", "fitted", "table"))
        return (subject.model_name, *texts, *own, self.fitted if self._fit(subject) else "")

    def waiting(self, subject: Subject) -> Content:
        """Keep the map, but for other points that are read quickly, which PCA places meanwhile."""
        if self.method == "pca" or not self.is_read_quickly(subject) or self._fit(subject):
            return {}
        with suppress(ExplorerError):  # the work will report it
            first = finished(replace(self, method="pca").work(subject))
            if first.points.key != self.drawn:
                return self.draw(subject, first)
        return {}

    def work(self, subject: Subject) -> Generator[tuple[str, float | None], None, LayerMap]:
        """Read the points and make the map, unless they are cached."""
        points = yield from self.read_points(subject)
        maps, at = self._maps_of(subject, points), points.at(self.layer)
        glides = self.dimensions == 2 and len(points.texts) <= ALL_LAYERS[self.method]
        first, name = 0 if glides else at, NAMES[self.method]
        if maps.has(first) or self.method == "pca":
            maps.at(first)
        else:
            for share in relay(partial(maps.at, first)):
                yield (f"{name} is under way; the first map takes a while" if share is None else f"{name}: {share:.0%}", share)
        if near := self._nearby(subject, points):
            _told.put(self.key(subject), near)
        return LayerMap(points, maps, at)

    def at_once(self, subject: Subject) -> LayerMap | None:
        """A map that is known, or by PCA, of texts that are read quickly: the finding reads them anyway."""
        if self.source == VOCABULARY or not self.is_read_quickly(subject):
            return None
        points = finished(self.read_points(subject))
        is_known = self._maps_of(subject, points).has(points.at(self.layer))
        return finished(self.work(subject)) if is_known or self.method == "pca" else None

    def draw(self, subject: Subject, found: LayerMap) -> Content:
        points, wanted, searched = found.points, self.search.strip(), subject.model.as_searched
        summary, bright, near = found.summary(), None, []
        chosen = listed = rows_of(self.picked, points.texts)
        if wanted:
            bright = np.array([searched(wanted) in searched(text) for text in points.texts])
            summary += f" {bright.sum():,} of {len(bright):,} contain ‘{wanted[:40]}’."
            listed = chosen or (tuple(np.flatnonzero(bright).tolist()) if bright.sum() <= MOST_HITS else ())
        if len(listed) == 1:
            near = nearest_place(found.vectors, listed[0], NEIGHBORS)
        elif chosen:
            bright = np.isin(np.arange(len(points.texts)), chosen)
        told, stands_out, made = self._nearby(subject, points), bool(wanted or chosen), found.projection
        marks = Marks(bright, self.row_in(subject, points), [row for row, _ in near], told.rows if told else ())
        labels = points.labels if self.colours == LABELS else name_clusters(found.vectors, points.texts)
        flat, axes = self.dimensions == 2, [f"{NAMES[made.method]} {axis}" for axis in (1, 2, 3)]
        return {
            "map": draw_flat(found, marks, labels, fits=bool(wanted)) if flat else None,
            "chart": None if flat else space_map(made.points, points.texts, labels, axes, points.key + self.method, marks),
            "summary": summary,
            "nearest": found.list_near(listed, near, "selected" if chosen else f"contain ‘{wanted[:40]}’") if listed else None,
            "hint": props(visible=not stands_out),
            "label": props(visible=is_typed(self) and len(chosen) > 1),
            **dict.fromkeys(("send", "test", "compare"), props(visible=is_typed(self))),
            "forget": props(visible=stands_out),
            "refit": props(visible=made.added > 0),
            "drawn": points.key,
            "fitted": self.fitted if self._fit(subject) else points.key,
        }

    def finding(self, subject: Subject) -> Finding | None:
        near = _told.peek(self.key(subject))
        if near is None and self.is_read_quickly(subject):
            near = self._nearby(subject, finished(self.read_points(subject)))
        if near is None:
            return None
        seen = {"layer": self.layer, "token": near.rows[0]} if self.source == WORDS and near.rows else {}
        return Finding(near.text, Why("hidden", "Layer by layer", seen) if seen else None)

    def prepare(self) -> None:
        warm_umap()

    def on_map(self, subject: Subject, index: object) -> Change:
        return settle(picked=((limits.check_place(index),), self.drawn))

    on_nearest = on_map

    def on_chart(self, subject: Subject, customdata: object) -> Change:
        return settle(picked=((limits.check_place(customdata),), self.drawn))

    def on_map_frame(self, subject: Subject, index: object) -> Change:
        return settle(layer=limits.check_place(index))

    def on_map_lasso(self, subject: Subject, index: object) -> Change:
        return settle(picked=check_chosen([index, self.drawn]))

    def on_forget(self, subject: Subject, index: None) -> Change:
        return settle(picked=NONE_CHOSEN, search="")

    def on_refit(self, subject: Subject, index: None) -> Change:
        return settle(fitted="")

    def _nearby(self, subject: Subject, points: Points) -> Nearby | None:
        return nearby(points, points.at(self.layer), self.row_in(subject, points))

    def _fit_key(self, subject: Subject, drawn: str) -> Hashable:
        return subject.model_name, self.pooling, self.dimensions, self.neighbors, self.seed, drawn

    def _fit(self, subject: Subject) -> LayerMaps | None:
        """The fitted UMAP to which the sentences are added; None if they are fitted themselves."""
        if self.method != "umap" or not is_typed(self) or not self.fitted or not self.sentences.strip():
            return None
        before, maps = _fits.peek(self._fit_key(subject, self.fitted)) or ([], None)
        if maps is None or not maps.adds:
            return None
        texts = read_lines(self.sentences)[0]
        new = len(texts) - sum(map({*before}.__contains__, texts))
        return maps if texts != before and new <= MOST_NEW * len(texts) and 2 * len(texts) > len(before) else None

    def _maps_of(self, subject: Subject, points: Points) -> LayerMaps:
        fitted = self._fit(subject)
        maps = maps_of(points.states, MapSettings(self.method, self.dimensions, self.neighbors, seed=self.seed), fitted)
        if fitted is None and self.method == "umap" and is_typed(self):
            _fits.put(self._fit_key(subject, points.key), (points.texts, maps))
        return maps


def name_clusters(vectors: np.ndarray, texts: Sequence[str]) -> list[str]:
    """The name of the cluster of each text: k-means in the space of vectors [n, hidden], with k = √(n / 2), 2 to MOST_CLUSTERS.

    A name has the words that are most frequent in the cluster compared with all texts, by count × the share of their texts that
    are in it (c-TF-IDF with a share for the logarithm). Where texts are single words, it has those nearest to the middle of the
    cluster, signs and parts of words last.
    """
    number = int(np.clip(round((len(texts) / 2) ** 0.5), 2, MOST_CLUSTERS))
    found = _clusters.get((digest(vectors), number), lambda: clusters(vectors, number))
    single, common = all(" " not in text for text in texts), sklearn.feature_extraction.text.ENGLISH_STOP_WORDS
    words = [] if single else [set(map(str.casefold, WORD.findall(text))) - common for text in texts]
    everywhere, names = Counter(word for own in words for word in own), list[str]()
    for cluster in range(int(found.max()) + 1):
        rows = np.flatnonzero(found == cluster)
        if single:
            unit = directions(vectors[rows])
            order = np.argsort(-(unit @ unit.mean(axis=0)), kind="stable")
            ranked = [texts[row] for row in rows[order].tolist()]
            best = [text for text in ranked if WORD.fullmatch(text)] or ranked
        else:
            inside = Counter(word for row in rows.tolist() for word in words[row])
            least = LIFT * len(rows) / len(texts)
            scores = {word: count**2 / everywhere[word] for word, count in inside.items() if count / everywhere[word] > least}
            ranked = sorted(scores, key=lambda word: (-scores[word], word))
            best = [word for word in ranked if inside[word] > 1] or ranked
        name = ", ".join(best[:NAMING]) or f"cluster {cluster + 1}"
        names.append(name if name not in names else f"{name} ({cluster + 1})")
    return [names[cluster] for cluster in found.tolist()]
