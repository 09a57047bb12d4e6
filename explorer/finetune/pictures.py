"""Pictures of a training and of its result: curves, how good it is, and the map of its sentences on the plane of the logits."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.core.lazy import scipy
from explorer.finetune.compute.in_turn import Moment
from explorer.finetune.compute.predictor import HeldOut, Run, as_kind, name_measure
from explorer.finetune.compute.texts import Decision, HeldOutTexts
from explorer.text.lines import Pair
from explorer.training.examples import Examples, Split
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.base import CATEGORIES, FAINT, GRID, LEGEND, esc, figure, plain_axis, shorten, token_axis, token_labels
from explorer.ui.pictures.heatmaps import Axes, heatmap
from explorer.ui.pictures.numbers import Places, Table, keep, matrix
from explorer.ui.pictures.text_map import Frame, Pull, Regions, Star, TextMap, draw_map

TRAINED, HELD_OUT, OTHER = CATEGORIES[4], CATEGORIES[0], CATEGORIES[1]
BETWEEN = " ‖ "  # the texts of a pair
DOTTED = {"color": FAINT, "width": 1, "dash": "dot"}


def learning_curves(history: Sequence[dict[str, float]], epochs: int, best: int | None = None) -> go.Figure:
    """Loss (left) and the deciding measure (right) after every epoch; `best` is the index of the epoch kept.

    The rows are those of `Epoch.as_row`: of three measures the first is the loss, the second the one that decides.
    """
    _, judged, beside = [name.removeprefix("held_out_") for name in history[0] if name.startswith("held_out_")]
    trained, held_out = {"color": TRAINED, "dash": "dot"}, {"color": HELD_OUT, "dash": "solid"}
    curves = {  # name, axes (left: '', right: '2'), line
        "train_loss": ("trained on", "", trained),
        "held_out_loss": ("held out", "", held_out),
        f"train_{judged}": ("trained on", "2", trained),
        f"held_out_{judged}": ("held out", "2", held_out),
        f"held_out_{beside}": (f"held out, {name_measure(beside)}", "2", {"color": OTHER, "dash": "dash"}),
    }
    traces = [_curve(history, key, *curve) for key, curve in curves.items()]
    lowest, unit = (-1, "squared error (variances)") if judged == "spearman" else (0, "loss (nats)")
    few = max(1, -(-epochs // 5))  # a phone has room for five labels
    epoch = plain_axis("epoch", range=[0.5, max(epochs, 2) + 0.5], dtick=few, tickangle=0)
    chart = figure(
        traces,
        key=f"curves-{epochs}",
        showlegend=True,
        legend={**LEGEND, "y": 1.16},
        margin={"l": 32, "r": 12, "t": 62, "b": 44},
        hovermode="x unified",
        xaxis={**epoch, "domain": [0, 0.44]},
        xaxis2={**epoch, "domain": [0.56, 1], "anchor": "y2"},
        yaxis={"rangemode": "tozero", **GRID},
        yaxis2={"range": [lowest, 1.02], "anchor": "x2", **GRID},
        annotations=[_above(unit, 0), _above(f"{name_measure(judged)} ({lowest} to 1)", 0.56)],
    )
    if best is not None and len(history) > 1:
        kept = history[best]["epoch"]
        for axis in ("x", "x2"):
            chart.add_vline(kept, xref=axis, line=DOTTED)
    names = ("epoch", *curves)
    return keep(chart, lambda: Table.of(names, [[row[name] for name in names] for row in history]))


def _curve(history: Sequence[dict[str, float]], key: str, name: str, axis: str, line: dict[str, str]) -> go.Scatter:
    """One number of the history by epoch, on the left axes ("") or the right ones ("2"), which have the legend entry."""
    return go.Scatter(
        x=[row["epoch"] for row in history],
        y=[row[key] for row in history],
        name=esc(name),
        mode="lines+markers",
        line=line,
        marker={"size": 5},
        hovertemplate=f"%{{y:.3f}}<extra>{esc(name)}</extra>",
        xaxis=f"x{axis}",
        yaxis=f"y{axis}",
        legendgroup=name,
        showlegend=axis == "2",
    )


def _above(text: str, x: float) -> dict[str, object]:
    """The title of an axis, written above it: beside it, it would take width that a phone does not have."""
    place = {"x": x, "y": 1.02, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, **place}


def confusion_matrix(counts: np.ndarray, labels: Sequence[str], what: str = "sentences") -> go.Figure:
    """Counts [true label, predicted label] of `what`; the colour is the share of the row, so that rare labels show too."""
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    few = len(labels) <= 25  # labels are written out
    names = token_labels([shorten(label, 18) for label in labels])
    dots = [f'<span style="color:{colour}">●</span> {name}' for colour, name in zip(CATEGORIES, names, strict=False)]
    marked = {"tickmode": "array", "tickvals": names, "ticktext": dots} if len(labels) < len(CATEGORIES) else {}
    predicted = token_axis("column: predicted", showticklabels=few, **marked)
    right = token_axis("row: right", autorange="reversed", showticklabels=few, **marked)
    written = {"text": counts, "texttemplate": "%{text}", "xgap": 2, "ygap": 2} if few else {}
    drawn = heatmap(
        shares,
        Axes(names, names, predicted, right),
        hover=f"right: %{{y}}<br>said: %{{x}}<br>%{{customdata}} {what}, %{{z:.0%}} of the row",
        scale={"colorscale": "Viridis", "cmin": 0, "cmax": 1, "showscale": False},
        key=f"confusion-{len(labels)}",
        customdata=counts,
        **written,
    ).update_layout(margin={"l": 90, "r": 12, "t": 12, "b": 60})
    return keep(drawn, lambda: matrix(counts, Places.of("right", labels), Places.of("said", labels), what))


LEAST_PROBABILITY = 1e-7  # of float32: below it, a logarithm says nothing
GOLDEN = (5**0.5 - 1) / 2
MOST_PULLS = 3


@dataclass(frozen=True)
class Plane:
    """Two directions among the logits of a head; scores at (x, y) are `origin` + x · directions[0] + y · directions[1].

    `share` is the part of the points' variance that the two directions show. With two classes only x means something.
    """

    origin: np.ndarray  # [classes]
    directions: np.ndarray  # [2, classes], of unit length and orthogonal; zeros for a direction without a meaning
    share: float

    @classmethod
    def of(cls, probabilities: np.ndarray) -> Plane:
        """The plane for probabilities [texts, classes]: exact for two and three classes, otherwise their two main directions."""
        classes = probabilities.shape[1]
        if classes == 2:
            return cls(np.zeros(2), np.array([[-1.0, 1.0], [0.0, 0.0]]) / 2**0.5, 1.0)
        if classes == 3:
            return cls(np.zeros(3), np.array([[-1.0, 1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]]), 1.0)
        logits = centred_logits(probabilities)
        origin = logits.mean(0)
        _, sizes, directions = np.linalg.svd(logits - origin, full_matrices=False)
        if len(directions) < 2:  # of a single text
            directions = np.vstack([directions, np.zeros_like(directions)])
        total = float((sizes**2).sum())
        return cls(origin, directions[:2], float((sizes[:2] ** 2).sum()) / total if total else 1.0)

    def places(self, probabilities: np.ndarray) -> np.ndarray:
        """[texts, 2]: the places of texts by their probabilities [texts, classes].

        With two classes, the height has no meaning and only keeps the texts apart.
        """
        found = (centred_logits(probabilities) - self.origin) @ self.directions.T
        if len(self.origin) == 2:
            found[:, 1] = (np.arange(1, len(found) + 1) * GOLDEN) % 1 - 0.5
        return found


def centred_logits(probabilities: np.ndarray) -> np.ndarray:
    """[texts, classes]: logarithms of probabilities minus their mean: the head's logits, up to a number that changes nothing."""
    logs = np.log(np.maximum(probabilities, LEAST_PROBABILITY))
    return logs - logs.mean(1, keepdims=True)


def in_one_line(pair: Pair) -> str:
    return BETWEEN.join(filter(None, pair))


def read_pair(line: str) -> Pair:
    """A text or a pair as `in_one_line` writes it."""
    first, _, second = line.partition(BETWEEN)
    return first, second


def can_map(run: Run) -> bool:
    return isinstance(run.held_out, HeldOutTexts) and len(run.held_out.targets) > 1


def is_in_turn(run: Run) -> bool:
    """Whether the run was judged by leave-one-out: the head was trained on all examples, other heads judged it."""
    return run.settings.get("held_out") == 0 and run.held_out is not None


def map_of(run: Run, tried: str = "", found: Decision | None = None, moments: Sequence[Moment] = ()) -> dict[str, Any]:
    """The component's value; with `moments`, a film of gradient descent that ends in the run's own places."""
    held, labels = as_kind(run.held_out, HeldOutTexts), run.predictor.labels
    plane = Plane.of(held.probabilities)
    every = _beside(held, run.learned)
    drawn = _draw(every, labels, plane, "left out, it is called" if is_in_turn(run) else "it is called", len(held.texts))
    star = None if found is None else _star(plane, tried, found)
    said = f"; the sentence that is tried is {labels[found.best]}." if found else "."
    what = replace(drawn, star=star, frames=_frames(plane, held, every, moments))
    return draw_map(what, f"{_alt(every, labels, len(held.texts))}{said}", plays=bool(moments))


def _beside(held: HeldOutTexts, learned: HeldOut | None) -> HeldOutTexts:
    """The held-out texts, then those that the layers were trained on."""
    if not isinstance(learned, HeldOutTexts):
        return held
    joined = {name: getattr(held, name) + getattr(learned, name) for name in ("texts", "texts_b")}
    for name, axis in (("targets", 0), ("probabilities", 0), ("epochs", 1)):
        joined[name] = np.concatenate([getattr(held, name), getattr(learned, name)], axis)
    return HeldOutTexts(**joined)


def map_in_training(examples: Examples, parts: Split, scores: np.ndarray) -> dict[str, Any]:
    """The map by an epoch's scores [held out, labels] while layers are trained; few texts that are trained on may follow."""
    rows, count = np.concatenate([parts.held_out, parts.train])[: len(scores)], len(parts.held_out)
    texts, texts_b = zip(*(examples.pairs[row] for row in rows), strict=True)
    every = HeldOutTexts(texts, texts_b, examples.targets[rows], scipy.special.softmax(scores, axis=-1))
    plane = Plane.of(every.probabilities[:count])
    drawn = _draw(every, examples.classes, plane, "it is called", count)
    return draw_map(drawn, f"{_alt(every, examples.classes, count)}.")


def _alt(every: HeldOutTexts, labels: Sequence[str], judged: int) -> str:
    """What the picture shows, in words; the first `judged` texts are held out."""
    right, count = int(every.hits[:judged].sum()), len(every.texts)
    of = "" if judged == count else f" of {judged} held out"
    return f"{count} sentences of {len(labels)} classes on the plane of the head's logits; {right}{of} are right"


def _draw(held: HeldOutTexts, labels: Sequence[str], plane: Plane, how: str, judged: int) -> TextMap:
    """The map without its film; the first `judged` texts are held out, the others pale."""
    shares, learned = held.probabilities.max(1), np.arange(len(held.texts)) >= judged
    return TextMap(
        texts=list(map(in_one_line, held.pairs)),
        places=plane.places(held.probabilities),
        labels=held.targets.tolist(),
        classes=labels,
        notes=[f"{how} {labels[said]} ({whole_percent(float(share))})" for said, share in zip(held.said, shares, strict=True)],
        rings=(~held.hits & ~learned).tolist(),
        faint=learned.tolist() if learned.any() else (),
        regions=Regions(plane.origin, plane.directions),
    )


def explain_map(run: Run) -> str:
    placed = "Each point is a held-out sentence, placed by the head."
    if is_in_turn(run):
        placed = "Each point is a sentence, placed by a head that was trained without it."
    elif run.learned is not None:
        placed = "Bright points are held-out sentences, pale ones those that the layers and the head learned from."
    read = f"{placed} The colour behind a point is the answer there, paler where the head is less sure."
    labels = len(run.predictor.labels)
    if labels == 2:
        return f"{read} From left to right: the difference of the two logits; the height has no meaning."
    if labels == 3:
        return f"{read} The plane is that of the three logits."
    share = whole_percent(Plane.of(as_kind(run.held_out, HeldOutTexts).probabilities).share)
    return f"{read} The plane has the two main directions of the {labels} logits, with {share} of their variance."


def _star(plane: Plane, tried: str, found: Decision) -> Star:
    """The sentence that is tried, with the words that move it most."""
    spots = plane.places(found.probabilities[None])
    pulls: list[Pull] = []
    height = 0.0 if len(plane.origin) == 2 else float(spots[0, 1])
    if len(found.without):
        moved = plane.places(found.without)
        moved[:, 1] = height if len(plane.origin) == 2 else moved[:, 1]
        far = np.linalg.norm(moved - [spots[0, 0], height], axis=1)
        pulls = [Pull(found.words[word], *map(float, moved[word])) for word in np.argsort(-far)[:MOST_PULLS] if far[word] > 0.2]
    return Star(tried, float(spots[0, 0]), height, pulls)


def _frames(plane: Plane, held: HeldOutTexts, every: HeldOutTexts, moments: Sequence[Moment]) -> list[Frame]:
    """The film of gradient descent, or of the epochs of a training of layers; it ends at the places that `every` text has."""
    right, count = int(held.hits.sum()), len(held.targets)
    frames = [
        Frame(
            f"Step {one.step}: loss {one.loss:.2f}, {one.right} of {count} right when left out.", plane.places(one.probabilities)
        )
        for one in moments
    ]
    if moments:
        end = Frame(f"The end, solved directly: {right} of {count} right when left out.", plane.places(held.probabilities))
        return [*frames, end]
    if not len(held.epochs):
        return []
    rows, total = np.arange(count), len(held.epochs)
    for done, shares in enumerate(held.epochs, start=1):
        loss = float(-np.log(np.maximum(shares[rows, held.targets], LEAST_PROBABILITY)).mean())
        said = int((shares.argmax(1) == held.targets).sum())
        text = f"Moment {done} of {total}: held-out loss {loss:.2f}, {said} of {count} right."
        frames.append(Frame(text, plane.places(every.epochs[done - 1])))
    return [*frames, Frame(f"The weights that are kept: {right} of {count} right.", plane.places(every.probabilities))]
