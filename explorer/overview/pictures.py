"""All of a model in one picture: a row per token, a column per hidden state, and the flow of information between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.text.encoding import Encoding
from explorer.ui.pictures.base import to_base64
from explorer.ui.pictures.numbers import Table, keep

LEAST = 0.004  # the smallest share of the chosen place with which a route is drawn
LEVELS = 65535  # shares from 0 to 1 are sent as two-byte integers


@dataclass(frozen=True)
class Rows:
    """The tokens that have their own rows; all others, if any, share the last row."""

    encoding: Encoding
    places: tuple[int, ...]  # zero-based positions, in order

    @property
    def elsewhere(self) -> bool:
        """Whether the last row stands for all other tokens."""
        return len(self.places) < self.encoding.kept

    def of(self, position: int) -> int:
        return self.places.index(position) if position in self.places else len(self.places)

    def merge(self, shares: np.ndarray) -> np.ndarray:
        """Shares [..., tokens], summed by row: [..., rows]."""
        own = shares[..., list(self.places)]
        if not self.elsewhere:
            return own
        rest = np.delete(shares, list(self.places), axis=-1).sum(-1, keepdims=True)
        return np.concatenate([own, rest], -1)

    def described(self) -> dict[str, Any]:
        encoding, others = self.encoding, self.encoding.kept - len(self.places)
        last = [(f"elsewhere ({others})", "special", 0)] if self.elsewhere else []
        every = [(encoding.tokens[place], encoding.kinds[place], encoding.segments[place]) for place in self.places] + last
        columns = map(list, zip(*every, strict=True))
        named = dict(zip(("tokens", "kinds", "segments"), columns, strict=True))
        return {**named, "places": list(self.places), "elsewhere": self.elsewhere}


@dataclass(frozen=True)
class Answer:
    """Bars at the right, the prediction at a token: each (label, probability, probability before a change or None)."""

    position: int
    title: str
    bars: Sequence[tuple[str, float, float | None]]
    pair: bool = False


Stop = tuple[str, str, Sequence[Sequence[int]]]
"""A step of the story: its title, its sentence, and the levels of the zoom that it goes through."""


@dataclass(frozen=True)
class Paths:
    """The routes to the chosen place. Positions are zero-based tokens; hidden states count from 0, the embedding output."""

    rows: Rows
    mixing: np.ndarray  # [layers, query, key] how much each query takes from each key in a layer; rows sum to 1
    shares: np.ndarray  # [state + 1, tokens] how much of the chosen place comes from each token at each state; rows sum to 1
    routes: Sequence[Any]  # with `layer` from 0, `query`, `key` and their `share` of the chosen place, in falling order
    position: int


def flow(paths: Paths, stops: Sequence[Stop], shown: Mapping[str, Any]) -> dict[str, Any]:
    """The component's value: the routes, the story, and what is `shown` of the run.

    If every token has a row, the browser can trace other places on its own.
    """
    rows, state = paths.rows, len(paths.shares) - 1
    value: dict[str, Any] = {
        **rows.described(),
        "states": len(paths.mixing) + 1,
        "target": {"state": state, "row": rows.of(paths.position)},
        "mixing": None if rows.elsewhere else to_base64(np.rint(paths.mixing * LEVELS).astype(np.uint16)),
        "shares": rows.merge(paths.shares).round(4).tolist() if rows.elsewhere else None,
        "routes": _merged(paths) if rows.elsewhere else None,
        "stops": [{"title": title, "text": text, "zoom": [[*level] for level in zoom]} for title, text, zoom in stops],
        **shown,
    }
    return keep(value, lambda: _table(paths))


def shown_answers(rows: Rows, answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """The groups of bars, from the top."""
    return [
        {"row": rows.of(one.position), "title": one.title, "pair": one.pair, "bars": [[*bar] for bar in one.bars]}
        for one in answers
    ]


def _merged(paths: Paths) -> list[list[float]]:
    """[layer, query, key, share] between rows, those of tokens without a row summed; shares up to LEAST are left out."""
    rows, found = paths.rows, []
    for layer in range(len(paths.shares) - 1):
        steps = paths.shares[layer + 1][:, None] * paths.mixing[layer]  # [query, key]
        by_row = rows.merge(rows.merge(steps).T).T
        for query, key in zip(*np.nonzero(by_row > LEAST), strict=True):
            found.append([layer, int(query), int(key), round(float(by_row[query, key]), 4)])
    return found


def _table(paths: Paths) -> Table:
    """A row for each route: layer from 1, query, key, and the share of the chosen place that came this way."""
    tokens, taken = paths.rows.encoding.tokens, paths.mixing
    rows = []
    for route in paths.routes:
        sides = (route.query, tokens[route.query], route.key, tokens[route.key])
        rows.append([route.layer + 1, *sides, float(taken[route.layer, route.query, route.key]), route.share])
    names = ("layer", "query_position", "query", "key_position", "key", "taken", "share_of_chosen_place")
    return Table.of(names, rows)
