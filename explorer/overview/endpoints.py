"""The endpoint for the whole model: the contents of every place, and the routes by which they came there."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.bert.explorer import load
from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.techniques import routes as tracing
from explorer.techniques.ablation import Cut, Run
from explorer.techniques.lens import first_guesses
from explorer.text import limits

MOST = 200  # routes
MOST_WORDS = 1_000  # places whose words are all computed: those of 512 tokens cost five times as much as the routes
NO_CUTS: list[list[int]] = []  # the default: changes nothing


def routes(
    text_a: str,
    text_b: str = "",
    position: int = -1,
    state: int = -1,
    model: str = "",
    cut: list[list[int]] = NO_CUTS,
    mixing: bool = False,
    packed: bool = False,
) -> dict[str, Any]:
    """Where one position of a hidden state gets its content from: position -1 is the first blank, or [CLS]; state -1 the last.

    Mixing is ALTI (Ferrando et al. 2022), routes and shares multiply it backwards (Ferrando & Voita 2024). `cut` is a list of
    [layer, query, key, head], tokens from 0 and head 0 for all: these weights are set to zero, the rest of their row stays.
    `mixing` asks for the matrices of all layers, which are large for a long text; `packed` for them as base64 of float16.

    Returns:
        `tokens`, `words` (by state and token `token` and `probability`, or null without a masked-LM head; above 1,000 places
        only those on the routes, the others null), `shares` (by state and token: how much of the asked position comes from
        there). `routes`: `layer`, `query`, `key`, `share`, `head` (the head that contributes most, 0 where the token keeps
        most), the strongest first, at most 200. `max_error`, and on request `mixing` (by layer, query and key, rows sum to 1;
        packed: `float16` and `shape`).
    """
    explorer = load(model)
    has = explorer.capabilities
    trace = explorer.trace(text_a, text_b)
    blanks = trace.mask_positions
    position = limits.check_integer(position, "the position", -1, trace.kept - 1)
    position = position if position >= 0 else blanks[0] if blanks else 0
    state = limits.hidden_state_index(state, has.layers)
    cuts = limits.cut_weights(cut, has.layers, has.heads, trace.kept)
    found, mixed = answer(trace, position, state, cuts)
    if packed:
        halves = base64.b64encode(mixed.shares.astype("<f2").tobytes()).decode("ascii")
        return found | {"mixing": {"float16": halves, "shape": list(mixed.shares.shape)}}
    return found | ({"mixing": mixed.shares.tolist()} if mixing else {})


def answer(trace: Trace, position: int, state: int, cuts: Sequence[Cut] = ()) -> tuple[dict[str, Any], tracing.Mixing]:
    """All of the answer but the matrices; the state, like the layers of `cuts`, is zero-based."""
    run = Run(trace, cuts=cuts)
    mixed, states = tracing.mixing(run), run.states
    shares = tracing.place_shares(mixed.shares, position, state)
    steps = tracing.routes(mixed.shares, shares, MOST)
    heads = tracing.strongest_heads(run, steps)
    seen = _seen(steps, (state, position), states.shape[:2])
    found = {
        "tokens": list(trace.tokens),
        "words": _words(trace.model, states, seen) if trace.model.capabilities.fill_mask else None,
        "shares": shares.tolist(),
        "routes": [
            {"layer": at.layer + 1, "query": at.query, "key": at.key, "share": at.share, "head": 0 if head is None else head + 1}
            for at, head in zip(steps, heads, strict=True)
        ],
        "max_error": mixed.max_error,
    }
    return found, mixed


def _seen(steps: Sequence[tracing.Route], asked: tuple[int, int], shape: Sequence[int]) -> np.ndarray:
    """The places whose words are answered, bool [states, tokens]: all of a short text, else those on the routes."""
    states, tokens = shape
    seen = np.full((states, tokens), states * tokens <= MOST_WORDS)
    seen[asked] = True
    for step in steps:
        seen[step.layer + 1, step.query] = seen[step.layer, step.key] = True
    return seen


def _words(model: Network, states: Any, seen: np.ndarray) -> list[list[dict[str, Any] | None]]:
    """By state and token the first guess with its probability; None where it is not seen."""
    ids, shares = (row[0].tolist() for row in first_guesses(model, states[seen][None]))
    words = iter([{"token": piece, "probability": share} for piece, share in zip(model.pieces(ids), shares, strict=True)])
    return [[next(words) if place else None for place in row] for row in seen]


ENDPOINTS = (routes,)
