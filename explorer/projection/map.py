"""A map of sentences, of the tokens of the input, of a file's rows, or of the vocabulary, at any layer."""

import time
from collections.abc import Generator, Hashable, Iterator

import numpy as np

from explorer.analysis.projection import NAMES, LayerMaps, MapSettings, maps_of, warm_umap
from explorer.analysis.similarity import nearest_place
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, TEXTS
from explorer.core.paths import EXAMPLES
from explorer.core.steps import finished, map_steps
from explorer.projection.picture import LayerMap, Nearby, make_map, nearby
from explorer.projection.points import (
    NONE_CHOSEN,
    Chosen,
    Points,
    check_chosen,
    read_texts,
    rows_of,
    sample_vocabulary,
    texts_of,
    words_of,
)
from explorer.projection.speaking import can_speak, speaking_map
from explorer.text import limits
from explorer.text.lines import NO_LABEL, read_lines
from explorer.text.tables import Table, find_column, text_column_of
from explorer.ui.layout import col, row
from explorer.ui.long_view import LongView, reads_quickly
from explorer.ui.pictures.bars import meter
from explorer.ui.pictures.maps import Marks
from explorer.ui.settings import choice, memory, number, pooling, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, Why, button, chart, part, props, prose, sentence, settle

SENTENCES, WORDS, FILE, VOCABULARY = "Sentences", "Words of the input", "CSV file", "Vocabulary"
CHOOSE = "CSV file…"
NO_FILE = "Choose a CSV file with a line of column names; its rows become the points."
MAP_HEIGHT = 440
NEIGHBORS = 8  # of a clicked point that are listed
# The choices are only known on the page, and links do not contain the file.
OF_THE_FILE = {"menu": True, "free": True, "allow_custom_value": False, "linked": False}
FRAME = 0.9  # seconds for which each layer is shown while it plays
LETTERS = 4  # per token, about

_told: OnceCache[Hashable, Nearby] = OnceCache(32)


def _with_file(view: "Map") -> bool:
    return view.source == FILE and view.table is not None


def _has_layers(view: "Map") -> bool:
    """Whether there are several layers: the vocabulary has none, and the pooler only the last."""
    return view.source == WORDS or (view.source != VOCABULARY and view.pooling != "pooler")


def _is_drawn_by_chance(view: "Map") -> bool:
    is_sampled = view.source == FILE and view.table is not None and len(view.table.rows) > TEXTS.most
    return view.method != "pca" or view.source == VOCABULARY or is_sampled


class Map(LongView):
    """A map of vectors by PCA, UMAP or t-SNE."""

    name, question = "projection/map", "What lies close to what?"
    layout = (
        row(
            col("missing", "map", "chart", "progress", "summary", width=7),
            col(
                *("sentences", "table", "text_column", "label_column", "search"),
                *("nearest", "hint", "forget", "dimensions", "pooling", "neighbors", "seed", "picked", "drawn"),
                width=4,
            ),
        ),
    )
    source: str = choice((SENTENCES, WORDS, FILE, VOCABULARY), "Points", menu=True, elem_classes="inline")
    method: str = choice([(name, key) for key, name in NAMES.items()], "Map", menu=True, elem_classes="inline")
    layer: int = number(6, "Hidden state (0: embeddings)", low=0, high=lambda model: model.layers, when=_has_layers)
    play = button("▶ Play the layers", min_width=130)
    stop = button("Stop", visible=False, min_width=70)
    missing = sentence(optional=True)
    map = part("text_map", height=MAP_HEIGHT)
    chart = chart("Map of words or sentences", height=MAP_HEIGHT, hides_empty=True)
    progress = part("meter")
    summary = sentence(classes="caption")
    sentences: str = text(
        (EXAMPLES / "topics.txt").read_text("utf-8").strip(),
        "Sentences, one a line; a label may follow after\u00a0|",
        lines=7,
        max_lines=7,
        limit=BOX_CHARACTERS,
        when=lambda view: view.source == SENTENCES,
    )
    table: Table | None = upload(label=CHOOSE, types=(".csv",), as_button=True, when=lambda view: view.source == FILE)
    text_column: str = choice([("", "")], "Text column", when=_with_file, **OF_THE_FILE)
    label_column: str = choice([(NO_LABEL, "")], "Label column", when=_with_file, **OF_THE_FILE)
    search: str = text("", "Search", placeholder="Points that hold this stand out")
    nearest = part("ranking")
    hint = prose(value="Click a point for its neighbours.", classes="caption")
    forget = button("Show all again", visible=False)
    dimensions: int = choice([("2-D", 2), ("3-D", 3)], "Space", more=True, line=True)
    pooling: str = pooling(more=True, line=True, when=lambda view: view.source in (SENTENCES, FILE))
    neighbors: int = number(
        15,
        "Neighbours (UMAP's n_neighbors; t-SNE's perplexity × 3)",
        low=2,
        high=100,
        heard="release",
        more=True,
        line=True,
        when=lambda view: view.method != "pca",
    )
    seed: int = number(0, "Seed", low=0, high=2**31 - 1, box=True, heard="submit", more=True, line=True, when=_is_drawn_by_chance)
    picked: Chosen = memory(NONE_CHOSEN, kept=check_chosen)
    drawn: str = memory("", kept=str, linked=False)  # the key of the points on the map

    def key(self, subject: Subject) -> Hashable:
        """The cache key of the map; None when there is nothing to draw."""
        if self.source == FILE and self.table is None:
            return None
        texts = (subject.text_a, subject.text_b, subject.token) if self.source == WORDS else ()
        return (subject.model_name, *texts, *(getattr(self, name) for name in self.settings if name != "drawn"))

    def waiting(self, subject: Subject) -> Content:
        """Keep the map; without a file, clear it and ask for one."""
        shown = {"play": props(visible=_has_layers(self))}
        if self.key(subject):
            return shown
        nothing = {"map": None, "chart": None, "nearest": None, "summary": "", "play": props(visible=False)}
        return {**shown, **nothing, "missing": NO_FILE}

    def work(self, subject: Subject) -> Generator[tuple[str, float | None], None, LayerMap]:
        """Read the points and make the map, unless they are cached."""
        points = yield from self._read(subject)
        maps = self._maps_of(points)
        at = min(self.layer, len(points.states) - 1)
        yield from make_map(maps, points, at)
        if near := nearby(points, at, self._row(subject, points)):
            _told.put(self.key(subject), near)
        return LayerMap(points, maps.settings, at, maps.at(points.states, at))

    def at_once(self, subject: Subject) -> LayerMap | None:
        """A map by PCA of texts that are read quickly: the finding reads them anyway."""
        quick = self.method == "pca" and self.source in (SENTENCES, WORDS) and self._is_read_quickly(subject)
        return finished(self.work(subject)) if quick else None

    def draw(self, subject: Subject, found: LayerMap) -> Content:
        points, wanted, searched = found.points, self.search.strip(), subject.model.searched
        summary, hits = found.summary(), None
        if wanted:
            hits = np.array([searched(wanted) in searched(text) for text in points.texts])
            summary += f" {hits.sum():,} of {len(hits):,} hold ‘{wanted[:40]}’."
        picked = next(iter(rows_of(self.picked, points)), None)
        near = [] if picked is None else nearest_place(found.vectors, picked, NEIGHBORS)
        row = self._row(subject, points)
        told = nearby(points, found.layer, row)
        marks = Marks(hits, picked, [row for row, _ in near], told.rows if told else ())
        stands_out = bool(wanted) or picked is not None
        speaks = speaking_map(found, Marks(hits, row, others=marks.others)) if can_speak(found) else None
        return {
            "map": speaks,
            "chart": None if speaks else found.figure(marks),
            "summary": summary,
            "nearest": None if picked is None else found.list_near(picked, near),
            "hint": props(visible=not stands_out),
            "forget": props(visible=stands_out),
            "drawn": points.key,
        }

    def finding(self, subject: Subject) -> Finding | None:
        key = self.key(subject)
        found = None if key is None else _told.peek(key)
        if found is None and self._is_read_quickly(subject):
            points = finished(self._read(subject))
            found = nearby(points, min(self.layer, len(points.states) - 1), self._row(subject, points))
        if found is None:
            return None
        seen = {"layer": self.layer, "token": found.rows[0]} if self.source == WORDS else {}
        return Finding(found.text, Why("hidden", "Layer by layer", seen) if seen else None)

    def prepare(self) -> None:
        """Start to compile UMAP early, because its first map takes long."""
        warm_umap()

    def on_play(self, subject: Subject, index: None) -> Iterator[Content]:
        """Show one layer after the other, after all maps have been made."""
        points = yield from map_steps(self._read(subject), _progress)
        maps = self._maps_of(points)
        yield from map_steps(make_map(maps, points, 0), _progress)
        last = len(points.states) - 1
        for at in range(last + 1):
            found = LayerMap(points, maps.settings, at, maps.at(points.states, at))
            progress = meter(f"Hidden state {at} of {last}", at / last if last else 1)
            yield {**self.draw(subject, found), "layer": at, "progress": progress, "stop": props(visible=True)}
            time.sleep(FRAME)
        yield {"progress": None, "stop": props(visible=False)}

    def on_table(self, subject: Subject, table: Table | None) -> Change:
        """A file was uploaded: fill in its columns. Raises InputError when it was removed."""
        if table is None:
            raise InputError(NO_FILE)
        size = f"{len(table.rows):,} row{'s' * (len(table.rows) != 1)}"
        drawn = f", of which a random {TEXTS.most:,} are drawn" if len(table.rows) > TEXTS.most else ""
        return Change(
            settings={"text_column": text_column_of(table), "label_column": find_column("label", table)},
            content={
                "table": props(label=f"{CHOOSE} ({table.name[:40]}: {size}{drawn})"),
                "text_column": props(choices=list(table.columns)),
                "label_column": props(choices=[(NO_LABEL, ""), *table.columns]),
            },
        )

    def on_chart(self, subject: Subject, customdata: object) -> Change:
        return settle(picked=((limits.check_place(customdata),), self.drawn))

    def on_map(self, subject: Subject, index: object) -> Change:
        return settle(picked=((limits.check_place(index),), self.drawn))

    on_nearest = on_map

    def on_forget(self, subject: Subject, index: None) -> Change:
        return settle(picked=NONE_CHOSEN, search="")

    def _read(self, subject: Subject) -> Generator[tuple[str, float], None, Points]:
        """The points of the source; yields a sentence about the work and its share done. Raises InputError."""
        if self.source == WORDS:
            return words_of(subject.trace)
        if self.source == VOCABULARY:
            return sample_vocabulary(subject.model, self.seed)
        texts, labels = read_lines(self.sentences) if self.source == SENTENCES else self._read_table()
        return (yield from read_texts(subject.model, texts, labels, self.pooling))

    def _read_table(self) -> tuple[list[str], list[str]]:
        if self.table is None:
            raise InputError(NO_FILE)
        return texts_of(self.table, self.text_column or text_column_of(self.table), self.label_column, self.seed)

    def _row(self, subject: Subject, points: Points) -> int | None:
        """The row of interest: the clicked one, or the selected token of the input."""
        return next(iter(rows_of(self.picked, points)), subject.token if self.source == WORDS else None)

    def _is_read_quickly(self, subject: Subject) -> bool:
        """Whether the points can be read in about a second."""
        if self.source == SENTENCES:
            return reads_quickly(subject.model.capabilities, len(self.sentences) / LETTERS)
        return self.source in (WORDS, VOCABULARY)

    def _maps_of(self, points: Points) -> LayerMaps:
        settings = MapSettings(self.method, self.dimensions, self.neighbors, seed=self.seed)
        return maps_of(points.states, settings)


def _progress(step: tuple[str, float | None]) -> Content:
    return {"progress": meter(*step)}
