"""The endpoint for the whole model at once: the contents of every place, and the routes by which they came there."""

from typing import Any

from explorer.bert.explorer import Explorer, load
from explorer.techniques import routes as tracing
from explorer.techniques.lens import first_guesses
from explorer.techniques.run_mixing import mixing_and_states
from explorer.text import limits

MOST = 200  # routes
NO_CUTS: list[list[int]] = []  # the default: changes nothing


def routes(
    text_a: str, text_b: str = "", position: int = -1, state: int = -1, model: str = "", cut: list[list[int]] = NO_CUTS
) -> dict[str, Any]:
    """Where one position of a hidden state gets its content from: position -1 is the first blank, or [CLS]; state -1 the last.

    mixing is ALTI (Ferrando et al. 2022), routes and shares multiply it backwards (Ferrando & Voita 2024). `cut` is a list of
    [layer, query, key, head], tokens from 0 and head 0 for all: these weights are set to zero, the rest of their row stays.

    Returns:
        `tokens`, `words` (by state and token `token` and `probability`, or null without a masked-LM head), `mixing` (by layer,
        query and key, rows sum to 1), `shares` (by state and token: how much of the asked position comes from there), `routes`:
        `layer`, `query`, `key`, `share`, `head` (the head that contributes most, 0 where the token keeps most), the strongest
        first, at most 200; `max_error`.
    """
    explorer = load(model)
    has = explorer.capabilities
    trace = explorer.trace(text_a, text_b)
    blanks = trace.mask_positions
    position = limits.check_integer(position, "the position", -1, trace.kept - 1)
    position = position if position >= 0 else blanks[0] if blanks else 0
    state = limits.hidden_state_index(state, has.layers)
    cuts = limits.cut_weights(cut, has.layers, has.heads, trace.kept)
    mixing, states = mixing_and_states(trace, cuts=cuts)
    shares = tracing.place_shares(mixing.shares, position, state)
    steps = tracing.routes(mixing.shares, shares, MOST)
    heads = tracing.strongest_heads(trace, steps, cuts=cuts)
    return {
        "tokens": list(trace.tokens),
        "words": _words(explorer, *first_guesses(explorer, states)) if has.fill_mask else None,
        "mixing": mixing.shares.tolist(),
        "shares": shares.tolist(),
        "routes": [
            {"layer": at.layer + 1, "query": at.query, "key": at.key, "share": at.share, "head": 0 if head is None else head + 1}
            for at, head in zip(steps, heads, strict=True)
        ],
        "max_error": mixing.max_error,
    }


def _words(explorer: Explorer, ids: Any, shares: Any) -> list[list[dict[str, Any]]]:
    return [
        [{"token": token, "probability": share} for token, share in zip(explorer.pieces(row), probabilities, strict=True)]
        for row, probabilities in zip(ids.tolist(), shares.tolist(), strict=True)
    ]


ENDPOINTS = (routes,)
