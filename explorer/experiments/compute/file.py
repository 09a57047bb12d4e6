"""An experiment as one JSON file: its items, every number, and how it was made."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.bert.explorer import Explorer
from explorer.bert.provenance import weights_hash
from explorer.core.errors import InputError
from explorer.core.limits import EXPERIMENT_MEGABYTES
from explorer.core.paths import EXPERIMENTS
from explorer.experiments.compute.heads import HEADS_OFF, MOST_SEED, Experiment
from explorer.experiments.compute.heads_off import ZERO
from explorer.experiments.compute.items import check_items, suite_items
from explorer.text import limits

FORMAT = "bert-explorer experiment 1"
NO_EXPERIMENT = "This file holds no experiment that can be read; save it once more, and send it as it is."
DIGITS = 6  # behind the point: a logit is not computed more exactly


def written(experiment: Experiment) -> str:
    """The file's text."""
    return json.dumps(
        {
            "format": FORMAT,
            "provenance": experiment.provenance,
            "items": [item.row for item in experiment.items],
            "pieces": [list(pair) for pair in experiment.pieces],
            "before": _rounded(experiment.before),
            "changes": _rounded(experiment.changes),
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def opened(text: str) -> Experiment:
    """The experiment of a file's text, whose summary is computed again. Raises InputError for a text that holds none."""
    EXPERIMENT_MEGABYTES.check(len(text) / 2**20)
    try:
        given = json.loads(text)
        if given["format"] != FORMAT:
            raise InputError(NO_EXPERIMENT)
        items = check_items(given["items"])
        before, changes = (np.array(given[name], dtype=np.float32) for name in ("before", "changes"))
        pieces = tuple((str(word), str(foil)) for word, foil in given["pieces"])
        provenance = _provenance(given["provenance"])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise InputError(NO_EXPERIMENT) from error
    count = len(items)
    fits = before.shape == (count,) and changes.ndim == 3 and len(changes) == count and changes.size and len(pieces) == count
    if not (fits and np.isfinite(before).all() and np.isfinite(changes).all()):
        raise InputError(NO_EXPERIMENT)
    return Experiment(items, pieces, before, changes, provenance)


@functools.cache
def _shipped(suite: str) -> Experiment:
    return opened((EXPERIMENTS / f"{suite}.json").read_text("utf-8"))


def shipped(model: Explorer, suite: str, how: str = ZERO, seed: int = 0) -> Experiment | None:
    """What comes with the app for the items of a suite, with the weights of the bundled model and zeros; else None."""
    if model.checkpoint.folder != BUNDLED_FOLDER or how != ZERO:
        return None
    found = _shipped(suite)
    same = found.provenance["weights"] == weights_hash(model.checkpoint) and found.items == suite_items(suite)
    return replace(found, provenance={**found.provenance, "seed": seed}) if same else None


def _provenance(given: Any) -> dict[str, Any]:
    """The checked provenance of a saved experiment; its seed draws the same halves again."""
    limits.check_integer(given["seed"], "the seed", 0, MOST_SEED)
    limits.check_choice(given["question"], "the question", (HEADS_OFF,))
    return {str(name): value for name, value in given.items() if isinstance(value, str | int | float)}


def _rounded(values: np.ndarray) -> Any:
    return np.round(values.astype(np.float64), DIGITS).tolist()
