"""A map of sentences, of the tokens of the input, or of the vocabulary, at any layer."""

from collections.abc import Generator, Hashable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from explorer.analysis.projection import NAMES, LayerMaps, MapSettings, maps_of, warm_umap
from explorer.analysis.similarity import nearest_place
from explorer.core.cache import OnceCache
from explorer.core.errors import ExplorerError
from explorer.core.limits import RESULTS_MEGABYTES
from explorer.core.steps import finished
from explorer.projection.picture import LayerMap, Nearby, make_map, nearby
from explorer.projection.points import NONE_CHOSEN, Points, check_chosen, clusters_of, rows_of
from explorer.projection.sources import SENTENCES, VOCABULARY, WORDS, PointsView, can_label
from explorer.projection.speaking import draw_speaking_map
from explorer.text import limits
from explorer.text.lines import read_lines
from explorer.ui.layout import col, row
from explorer.ui.pictures.maps import Marks, space_map
from explorer.ui.settings import choice, memory, number
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, Why, button, chart, part, props, prose, sentence, settle

MAP_HEIGHT = 440
SENDS = ("send", "test", "compare")  # the buttons that take the sentences elsewhere
LABELS, CLUSTERS = "Labels", "Clusters"
ALL_LAYERS = {"pca": 2_000, "umap": 300, "tsne": 300}  # points up to which a map is made of every layer
NEIGHBORS = 8  # of a clicked point that are listed
MOST_NEW = 0.25  # of the points: the share that is added to a fitted map

_told: OnceCache[Hashable, Nearby] = OnceCache(32)
_fits: OnceCache[Hashable, tuple[list[str], LayerMaps]] = OnceCache(RESULTS_MEGABYTES.bytes, lambda fit: fit[1].states.nbytes)


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
                *("sentences", "progress", "send", "search"),
                *("nearest", "hint", "naming", "label", "forget", "refit"),
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
    hint = prose(
        value="Click a point for its neighbours, then turn the wheel to zoom. *Select* draws a line around points.",
        classes="caption",
    )
    forget = button("Show all again", visible=False)
    refit = button("Fit the map again", visible=False)
    dimensions: int = choice([("2-D", 2), ("3-D", 3)], "Space", more=True, line=True)
    neighbors: int = number(
        15,
        "Neighbours (n_neighbors, perplexity × 3)",
        low=2,
        high=100,
        heard="release",
        more=True,
        line=True,
        when=lambda view: view.method != "pca",
    )
    fitted: str = memory("", kept=str, linked=False)  # the key of those to which the map was fitted

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
        maps = self._maps_of(subject, points)
        at = min(self.layer, len(points.states) - 1)
        glides = self.dimensions == 2 and len(points.texts) <= ALL_LAYERS[self.method]
        yield from make_map(maps, 0 if glides else at)
        if near := nearby(points, at, self.row_in(subject, points)):
            _told.put(self.key(subject), near)
        return LayerMap(points, maps, at)

    def at_once(self, subject: Subject) -> LayerMap | None:
        """A map that is known, or by PCA, of texts that are read quickly: the finding reads them anyway."""
        if self.source == VOCABULARY or not self.is_read_quickly(subject):
            return None
        points = finished(self.read_points(subject))
        is_known = self._maps_of(subject, points).has(min(self.layer, len(points.states) - 1))
        return finished(self.work(subject)) if is_known or self.method == "pca" else None

    def draw(self, subject: Subject, found: LayerMap) -> Content:
        points, wanted, searched = found.points, self.search.strip(), subject.model.as_searched
        summary, hits = found.summary(), None
        if wanted:
            hits = np.array([searched(wanted) in searched(text) for text in points.texts])
            summary += f" {hits.sum():,} of {len(hits):,} contain ‘{wanted[:40]}’."
        chosen = rows_of(self.picked, points)
        picked = chosen[0] if len(chosen) == 1 else None
        listed, near = None, []
        if picked is not None:
            near = nearest_place(found.vectors, picked, NEIGHBORS)
            listed = found.list_near(chosen, near)
        elif chosen:
            hits = np.isin(np.arange(len(points.texts)), chosen)
            listed = found.list_near(chosen)
        row = self.row_in(subject, points)
        told = nearby(points, found.layer, row)
        marks = Marks(hits, picked, [row for row, _ in near], told.rows if told else ())
        stands_out = bool(wanted or chosen)
        labels = points.labels if self.colours == LABELS else clusters_of(found.vectors, points.texts)
        flat = self.dimensions == 2
        return {
            "map": draw_speaking_map(found, replace(marks, picked=row), labels, fits=bool(wanted)) if flat else None,
            "chart": None
            if flat
            else space_map(found.projection.points, points.texts, labels, found.axes, points.key + self.method, marks),
            "summary": summary,
            "nearest": listed,
            "hint": props(visible=not stands_out),
            "label": props(visible=can_label(self) and len(chosen) > 1),
            **dict.fromkeys(SENDS, props(visible=self.source == SENTENCES)),
            "forget": props(visible=stands_out),
            "refit": props(visible=found.projection.added > 0),
            "drawn": points.key,
            "fitted": self.fitted if self._fit(subject) else points.key,
        }

    def finding(self, subject: Subject) -> Finding | None:
        found = _told.peek(self.key(subject))
        if found is None and self.is_read_quickly(subject):
            points = finished(self.read_points(subject))
            found = nearby(points, min(self.layer, len(points.states) - 1), self.row_in(subject, points))
        if found is None:
            return None
        seen = {"layer": self.layer, "token": found.rows[0]} if self.source == WORDS else {}
        return Finding(found.text, Why("hidden", "Layer by layer", seen) if seen else None)

    def prepare(self) -> None:
        warm_umap()

    def on_chart(self, subject: Subject, customdata: object) -> Change:
        return settle(picked=((limits.check_place(customdata),), self.drawn))

    def on_map(self, subject: Subject, index: object) -> Change:
        return settle(picked=((limits.check_place(index),), self.drawn))

    on_nearest = on_map

    def on_map_frame(self, subject: Subject, index: object) -> Change:
        return settle(layer=limits.check_place(index))

    def on_map_lasso(self, subject: Subject, index: object) -> Change:
        return settle(picked=check_chosen([index, self.drawn]))

    def on_forget(self, subject: Subject, index: None) -> Change:
        return settle(picked=NONE_CHOSEN, search="")

    def on_refit(self, subject: Subject, index: None) -> Change:
        return settle(fitted="")

    @property
    def _how(self) -> MapSettings:
        return MapSettings(self.method, self.dimensions, self.neighbors, seed=self.seed)

    def _fit_key(self, subject: Subject, drawn: str) -> Hashable:
        return subject.model_name, self.pooling, self._how, drawn

    def _fit(self, subject: Subject) -> LayerMaps | None:
        """The fitted UMAP to which the sentences are added; None if they are fitted themselves."""
        if self.method != "umap" or self.source != SENTENCES or not self.fitted or not self.sentences.strip():
            return None
        before, maps = _fits.peek(self._fit_key(subject, self.fitted)) or ([], None)
        if maps is None or not maps.adds:
            return None
        texts = read_lines(self.sentences)[0]
        new = len(texts) - sum(map({*before}.__contains__, texts))
        return maps if texts != before and new <= MOST_NEW * len(texts) and 2 * len(texts) > len(before) else None

    def _maps_of(self, subject: Subject, points: Points) -> LayerMaps:
        fitted = self._fit(subject)
        maps = maps_of(points.states, self._how, fitted)
        if fitted is None and self.method == "umap" and self.source == SENTENCES:
            _fits.put(self._fit_key(subject, points.key), (points.texts, maps))
        return maps
