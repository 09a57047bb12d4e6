"""The levels of the zoom: a layer by its heads and neurons for one token, a head by its weights, a weight by its vectors.

The numbers of a head are those of *Inside a head*, of the same functions; in a changed run, of that run.
"""

from itertools import takewhile
from typing import Any

from explorer.bert.trace import Trace
from explorer.core.errors import CapabilityError
from explorer.overview.compute import Run, head_names, head_rows
from explorer.overview.pictures import Rows
from explorer.overview.run import turned_in
from explorer.techniques.inside import head_step
from explorer.techniques.neurons import TRIED, find_promoted, neuron_effects
from explorer.techniques.routes import Route
from explorer.techniques.targets import word_target
from explorer.ui.edits import WAYS
from explorer.ui.long_view import seconds
from explorer.ui.subject import Subject

NEURONS = 5
WORDS = 4  # promoted by a neuron
SLOPES = 3  # passes that take as long as the gradient for all neurons
MOST_SECONDS = 5  # for the neurons of all layers
TOO_LONG = "The app shows the neurons of a layer when you open it; all layers take long here."
Zoom = tuple[int, ...]
"""Nothing, or (layer, head, key), of which the last ones may be missing; layers and heads count from 1, tokens from 0."""


def zoom_of(run: Run, rows: Rows, position: int, zoom: Zoom) -> dict[str, Any] | None:
    """What the picture shows of a token at this level of the zoom, or the last one that exists; None for the whole sentence."""
    has = run.trace.model.capabilities
    levels = zip(zoom, (has.layers, has.heads, run.trace.kept - 1), strict=False)
    if not (zoom := tuple(at for at, _ in takewhile(lambda level: level[0] <= level[1], levels))):
        return None
    at = [zoom[0], *zoom[1:2], *(rows.of(key) for key in zoom[2:])]
    weight = _weight(run, rows, position, *zoom) if len(zoom) == 3 else None
    return {"at": at, "layer": _layer(run, rows, zoom[0], position), "weight": weight}


def layers_inside(subject: Subject, run: Run, rows: Rows, position: int) -> list[dict[str, Any]]:
    """Every layer for a token, with neurons unless those of all layers would take longer than MOST_SECONDS."""
    layers = subject.model.capabilities.layers
    passes = (TRIED * NEURONS + SLOPES) * layers / 2  # on average half of the layers, since each pass starts at its layer
    long = {"why": TOO_LONG, "list": [], "guess": "", "tried": 0} if seconds(subject, passes) > MOST_SECONDS else None
    found = [_layer(run, rows, layer, position) for layer in range(1, layers + 1)]
    return [{**one, "neurons": long or neurons_inside(run.trace, one["layer"], position)} for one in found]


def strongest_head(run: Run, link: Route) -> int:
    """The head, from 1, with the largest share of a link."""
    return int(head_rows(run, link.layer, link.query).shares[:-1, link.key].argmax()) + 1


def _layer(run: Run, rows: Rows, layer: int, position: int) -> dict[str, Any]:
    """What layer `layer` (from 1) does to a token: each head's weights and share, and the neurons if they are known."""
    trace, taken = run.trace, run.mixed.shares[layer - 1, position]
    return {
        "layer": layer,
        "row": rows.of(position),
        "kept": float(taken[position]),
        "heads": _heads(run, rows, layer - 1, position),
        "neurons": neurons_inside(trace, layer, position) if trace.knows(("neurons", layer, position)) else None,
        "moved": float(turned_in(run, rows)[layer, rows.of(position)]),
        "ways": WAYS,
    }


def _weight(run: Run, rows: Rows, position: int, layer: int, head: int, key: int) -> dict[str, Any]:
    """One weight, from two vectors to the value that is moved: layer and head from 1, key a token from 0.

    `weight` is 0 where the run has cut it, and `softmax` what it would be.
    """
    step = head_step(run, layer - 1, head - 1, position)
    vectors = {"query": step.query, "key": step.keys[key], "value": step.values[key], "output": step.output}
    return {
        **{name: vector.astype(float).round(4).tolist() for name, vector in vectors.items()},
        "dot": float(step.dots[key]),
        "scaled": float(step.scaled[key]),
        "softmax": float(step.weights[key]),
        "weight": float(head_rows(run, layer - 1, position).weights[head - 1, key]),
        "scores": step.scaled[list(rows.places)].astype(float).round(3).tolist(),
        "tokens": run.trace.kept,
    }


def neurons_inside(trace: Trace, layer: int, position: int) -> dict[str, Any]:
    """The neurons of a layer (from 1) that move the final guess at a token of the unchanged run most; `why` if none."""

    def make() -> dict[str, Any]:
        try:
            target = word_target(trace, "", position)
            found = neuron_effects(trace, layer - 1, position, target, NEURONS)
            words = [[word for word, _ in find_promoted(trace.model, layer - 1, one.neuron, WORDS).promotes] for one in found]
        except CapabilityError as why:
            return {"why": str(why), "list": [], "guess": "", "tried": 0}
        listed = [{"neuron": at.neuron, "effect": at.probability, "words": some} for at, some in zip(found, words, strict=True)]
        return {"why": "", "list": listed, "guess": target.token, "tried": min(TRIED * NEURONS, trace.model.capabilities.neurons)}

    return trace.once(("neurons", layer, position), make)


def _heads(run: Run, rows: Rows, layer: int, position: int) -> list[dict[str, Any]]:
    """Each head: its share of what the token takes, its weights by row, and a name with how sure it is (0 to 1)."""
    found = head_rows(run, layer, position)
    shown = rows.merge(found.weights)
    parts, keys = found.shares[:-1].sum(-1).tolist(), shown[:, : len(rows.places)].argmax(-1).tolist()
    columns = zip(parts, shown.astype(float).round(6).tolist(), keys, head_names(run, layer), strict=True)
    return [
        {"head": head, "share": part, "weights": row, "key": key, "name": name, "sure": sure}
        for head, (part, row, key, (name, sure)) in enumerate(columns, 1)
    ]
