"""How the Projection tab draws: read what is not read yet, map what is not map_steps yet, show it."""

import time
from collections.abc import Generator, Iterator
from typing import Any

import gradio as gr

from explorer.analysis.layer_maps import LayerMaps, maps_of
from explorer.analysis.projection import FEWEST_FOR_A_FIT, METRICS, MapSettings, warm_umap
from explorer.base.steps import relay
from explorer.page.components import Meter
from explorer.page.wiring import View
from explorer.tabs.projection_data import FILE, Points, read_points
from explorer.tabs.projection_picture import NAMES, Look, picture, rows_of
from explorer.text.limits import check_choice, check_integer, check_number

METHODS = {"PCA": "pca", "UMAP": "umap", "t-SNE": "tsne"}
CHOOSE_A_FILE = "Choose a CSV file with a line of column names; its rows become the points."
FRAME = 0.9  # seconds a layer is shown while it plays


def draw_in_steps(view: View, c: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Read what is not read yet, map what is not map_steps yet, and show it; tells how far it is."""
    if c["source"] == FILE and not c["rows"]:
        yield {"said": CHOOSE_A_FILE, "meter": None}
        return
    points = yield from _points(view, c)
    settings = _settings(c, points)
    at = points.index(min(int(c["layer"]), view.model.capabilities.layers))
    maps = maps_of(points.states, settings)
    yield from _map_in_steps(maps, points, at, settings)
    yield {**_shown(points, maps, at, settings, c), "meter": None}
    warm_umap()  # only now: nobody should wait for it


def play_in_steps(view: View, c: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Show one layer after the other, all maps being there before the first is shown."""
    points = yield from _points(view, c)
    settings = _settings(c, points)
    maps = maps_of(points.states, settings)
    yield from _map_in_steps(maps, points, 0, settings)
    last = len(points.states) - 1
    for at in range(last + 1):
        meter = Meter.pack(f"Hidden state {at} of {last}", at / last if last else 1)
        yield {**_shown(points, maps, at, settings, c), "layer": at, "meter": meter}
        time.sleep(FRAME)
    yield {"meter": None}


def _points(view: View, c: dict[str, Any]) -> Generator[dict[str, Any], None, Points]:
    columns = (c["text_column"], c["label_column"])
    seed = check_integer(c["seed"], "the seed", 0, 2**31 - 1)
    steps = read_points(view, c["source"], c["pooling"], c["sentences"], c["rows"], columns, c["sampled"], seed)
    while True:
        try:
            what, share = next(steps)
            if share < 1:
                yield {"meter": Meter.pack(f"{what}: {share:.0%}", share)}
        except StopIteration as done:
            return done.value


def _settings(c: dict[str, Any], points: Points) -> MapSettings:
    method = METHODS.get(c["method"], "pca")
    if method != "pca" and len(points.texts) < FEWEST_FOR_A_FIT:
        method = "pca"  # said in the axes and the caption; neighbourhoods of three points are none
    return MapSettings(
        method=method,
        dimensions=3 if c["dimensions"] == "3-D" else 2,
        neighbors=check_integer(c["neighbors"], "the number of neighbours", 2, 200),
        min_dist=check_number(c["min_dist"], "the least distance", 0, 0.99),
        metric=check_choice(c["metric"], "the distance", METRICS),
        seed=check_integer(c["seed"], "the seed", 0, 2**31 - 1),
    )


def _map_in_steps(
    maps: LayerMaps, points: Points, at: int, settings: MapSettings
) -> Generator[dict[str, Any], None, None]:
    """Make the map of a layer, and those of the layers above it, unless they are there."""
    if maps.has(at):
        return
    if settings.method == "pca":
        maps.at(points.states, at)
        return
    name = NAMES[settings.method]
    for share in relay(lambda report: maps.at(points.states, at, report)):
        told = f"{name}: {share:.0%}" if share is not None else f"{name} is under way; the first map takes a while"
        yield {"meter": Meter.pack(told, share)}


def _shown(points: Points, maps: LayerMaps, at: int, settings: MapSettings, c: dict[str, Any]) -> dict[str, Any]:
    """The map of a layer that is there, with its caption and list."""
    look = Look(str(c["colour"]), int(c["clusters"]), c["search"] or "", c["picked"], c["kept"])
    key = f"{points.key}-{settings.method}-{settings.dimensions}"
    figure, said, listed = picture(points, maps.at(points.states, at), settings, at, look, key)
    chosen = bool(rows_of(look.picked, points) or rows_of(look.kept, points) or look.search.strip())
    return {
        "chart": figure,
        "said": said,
        "listed": listed,
        "hint": gr.update(visible=not chosen),
        "forget": gr.update(visible=chosen),
        "key": points.key,
    }
