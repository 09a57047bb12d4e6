"""One question asked of one input, for programs: heads off, patching, attribution, routes.

The word and the foil are each one piece of the vocabulary, at the first [MASK]: a word of "" is the model's first guess there.
With a foil the answer is the difference of the two logits, word minus foil; None is the most probable other piece, and "" asks
for the word's probability alone. A text may be a pair (text A, text B). Heads and layers that are given count from 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.bert.explorer import Explorer, Text
from explorer.bert.results import DIFFERENCE, PROBABILITY, Ablation, Attributed, Head, Patching, Routes
from explorer.bert.trace import Trace
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.techniques import attribution
from explorer.techniques import routes as tracing
from explorer.techniques.ablation import Run, head_readings, patching_in_steps
from explorer.techniques.targets import Target, against_second_guess, read, word_target
from explorer.text import limits

MOST_ROUTES = 10_000


def ablate(model: Explorer, text: Text, heads: Sequence[Head] = (), word: str = "", foil: str | None = None) -> Ablation:
    """The prediction without each head separately, or without the given `heads` together.

    Their output before W_O is zero, as in Michel et al. 2019. Raises InputError for a text without a blank, for words that are
    not one piece and heads that the model does not have, and CapabilityError without a masked-LM head.
    """
    trace, target, unit = _asked(model, text, word, foil)
    off = limits.head_indices(list(heads), model.capabilities.layers, model.capabilities.heads)
    after = np.array(_measured(trace, target, off)) if off else target.measure(head_readings(trace, target)).numpy()
    return Ablation(target.name, unit, _measured(trace, target), after)


def patch(model: Explorer, text: Text, corrupted: Text, word: str = "", foil: str | None = None) -> Patching:
    """The prediction in the corrupted run with one hidden state at a time copied from the run of `text`.

    Word and foil are for the first blank of `text`. Interchange patching of the residual stream: Meng et al. 2022, section 2.1,
    with another text in place of noise. Raises InputError as `ablate` does, and for texts of different numbers of pieces.
    """
    (clean, target, unit), other = _asked(model, text, word, foil), _read(model, corrupted)
    patched = target.measure(finished(patching_in_steps(clean, other, target))).numpy()
    whole = _measured(clean, target)
    return Patching(target.name, unit, clean.tokens, whole, _measured(other, target), patched)


def attribute(
    model: Explorer,
    text: Text,
    word: str = "",
    foil: str | None = None,
    method: str = "integrated_gradients",
    steps: int = 50,
    baseline: str = "pad",
) -> Attributed:
    """A score for each token: method "integrated_gradients", "gradient_x_input" or "occlusion".

    Integrated gradients take so many `steps` from a `baseline`: "pad", "mask" or "mean", the mean of the word table, at every
    piece that is not special. Raises InputError as `ablate` does, and for an unknown method or baseline.
    """
    trace, target, _ = _asked(model, text, word, foil)
    found = attribution.attribute(trace, target, method, steps, baseline)
    return Attributed(target.name, method, trace.tokens, found.scores, found.path.delta if found.path else None)


def routes(model: Explorer, text: Text, position: int | None = None, limit: int = 50) -> Routes:
    """From which tokens the last hidden state at `position` (from 0; None is the first blank) comes, and on which routes.

    The mixing is ALTI's (Ferrando et al. 2022), multiplied backwards (Ferrando & Voita 2024). Raises InputError for a position
    that is not there, CapabilityError for a family whose layers cannot be decomposed.
    """
    trace = _read(model, text)
    at = trace.blanks()[0] if position is None else limits.check_integer(position, "the position", 0, trace.kept - 1)
    shares = tracing.mixing(Run(trace)).shares
    places = tracing.place_shares(shares, at)
    found = tracing.routes(shares, places, limits.check_integer(limit, "the limit", 1, MOST_ROUTES))
    strongest = tuple((route.layer + 1, route.query, route.key, route.share) for route in found)
    return Routes(at, trace.tokens, shares, places[0], strongest)


def _read(model: Explorer, text: Text) -> Trace:
    if isinstance(text, str):
        return model.trace(text)
    if not isinstance(text, Sequence) or len(text) != 2:
        raise InputError("Give a text, or a pair of texts (text A, text B).")
    return model.trace(*text)


def _asked(model: Explorer, text: Text, word: str, foil: str | None) -> tuple[Trace, Target, str]:
    """The text's trace, the target, and the unit in which it is measured."""
    trace = _read(model, text)
    target = word_target(trace, word, foil=foil or "")
    target = against_second_guess(trace, target) if foil is None else target
    return trace, target, PROBABILITY if target.foil is None else DIFFERENCE


def _measured(trace: Trace, target: Target, off: Sequence[tuple[int, int]] = ()) -> float:
    return float(target.measure(read(trace.model, target, Run(trace, off).states[-1:])))
