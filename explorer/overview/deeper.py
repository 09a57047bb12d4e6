"""Details of the picture: one layer's effect on the selected token, and one route by its heads."""

from typing import Any

import numpy as np

from explorer.core.errors import CapabilityError
from explorer.overview.compute import TRIED, Run, neuron_effects
from explorer.overview.pictures import Rows
from explorer.overview.run import turned_in
from explorer.techniques.neurons import promoted
from explorer.techniques.routes import Route, all_head_shares, head_shares
from explorer.techniques.targets import word_target
from explorer.ui.long_view import seconds
from explorer.ui.subject import Subject

SOURCES = 4  # tokens named as sources
SHORT = 24  # tokens: the heads of so many take about a second
NEURONS = 5
WORDS = 4  # promoted by a neuron
SLOPES = 3  # passes that take as long as the gradient for all neurons
MOST_SECONDS = 5  # for the neurons of all layers
TOO_LONG = "Which neurons move the guess is told in the app, where a layer is unfolded by itself; all layers take long here."


def layers_inside(subject: Subject, run: Run, rows: Rows, position: int) -> list[dict[str, Any]]:
    """The details of every layer for a token; without neurons if all layers would take longer than MOST_SECONDS."""
    layers = subject.model.capabilities.layers
    passes = (TRIED * NEURONS + SLOPES) * layers / 2  # on average half of the layers, since each pass starts at its layer
    why = TOO_LONG if seconds(subject, passes) > MOST_SECONDS else ""
    return [layer_inside(subject, run, rows, layer, position, why) for layer in range(1, layers + 1)]


def layer_inside(subject: Subject, run: Run, rows: Rows, layer: int, position: int, no_neurons: str = "") -> dict[str, Any]:
    """The effect of layer `layer` (from 1) on a token: each head's share, and the neurons that change the final guess most.

    `no_neurons` is the reason to leave these out, '' for none.
    """
    parts = _head_shares(subject, run, layer - 1, position)  # [heads + 1, key]
    taken = run.mixed.shares[layer - 1, position]
    sources = [key for key in np.argsort(-taken).tolist() if key != position and taken[key] > 0][:SOURCES]
    return {
        "layer": layer,
        "row": rows.of(position),
        "kept": float(taken[position]),
        "takes": [[rows.of(key), float(taken[key])] for key in sources if key in rows.places],
        "heads": [
            {"head": head + 1, "share": float(part.sum()), "key": _most_of(part, rows)} for head, part in enumerate(parts[:-1])
        ],
        **({"why": no_neurons, "neurons": []} if no_neurons else _neurons(run, layer - 1, position)),
        "moved": float(turned_in(run, rows)[layer, rows.of(position)]),
    }


def route_inside(subject: Subject, run: Run, rows: Rows, route: tuple[int, int, int]) -> dict[str, Any]:
    """The details of a route (layer from 1, query, key) by head; their shares sum to that of the route."""
    layer, query, key = route
    parts = _head_shares(subject, run, layer - 1, query)[:, key]  # [heads + 1]
    return {
        "layer": layer,
        "query": rows.of(query),
        "key": rows.of(key),
        "share": float(run.mixed.shares[layer - 1, query, key]),
        "heads": [{"head": head + 1, "share": float(part), "key": None} for head, part in enumerate(parts[:-1])],
        "cut": (layer - 1, query, key, None) in subject.selection.cut,
    }


def heads_inside(subject: Subject, run: Run) -> list[np.ndarray]:
    """Each head's part of what each token takes, by layer: [query, heads, key]; none for more than SHORT tokens."""
    short = run.trace.kept <= SHORT
    return [parts[:, :-1] for parts in all_head_shares(run.trace, *_changes(subject))] if short else []


def strongest_head(subject: Subject, run: Run, route: Route) -> int:
    """The head, from 1, with the largest share of a route."""
    return int(_head_shares(subject, run, route.layer, route.query)[:-1, route.key].argmax()) + 1


def _head_shares(subject: Subject, run: Run, layer: int, query: int) -> np.ndarray:
    return head_shares(run.trace, layer, query, *_changes(subject))


def _changes(subject: Subject) -> tuple[Any, Any, Any]:
    """The heads that are off, the cuts and the patch, as arguments of the functions of routes."""
    chosen = subject.selection
    return chosen.off, chosen.cut, (*chosen.patch, subject.trace) if chosen.patch else None


def _most_of(part: np.ndarray, rows: Rows) -> int | None:
    """The row from which a head brings most; None if it brings nothing, or that token has no row of its own."""
    key = int(part.argmax())
    return rows.of(key) if part[key] > 0 and key in rows.places else None


def _neurons(run: Run, layer: int, position: int) -> dict[str, Any]:
    """The neurons with the largest effect on the guess at the token, in the unchanged run; or why there are none."""
    model = run.trace.model
    try:
        target = word_target(run.trace, "", position)
        found = neuron_effects(run.trace, layer, position, target, NEURONS)
        words = [[word for word, _ in promoted(model, layer, neuron.neuron, WORDS).promotes] for neuron in found]
    except CapabilityError as why:
        return {"why": str(why), "neurons": []}
    told = [{"neuron": one.neuron, "effect": one.probability, "words": some} for one, some in zip(found, words, strict=True)]
    return {"why": "", "neurons": told, "guess": target.token}
