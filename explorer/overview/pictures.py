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
        return {
            "tokens": [token for token, _, _ in every],
            "kinds": [kind for _, kind, _ in every],
            "segments": [segment for _, _, segment in every],
            "places": list(self.places),
            "elsewhere": self.elsewhere,
        }


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
class Picture:
    """The contents of the picture. Positions are zero-based tokens; hidden states count from 0, the embedding output."""

    rows: Rows
    mixing: np.ndarray  # [layers, query, key] how much each query takes from each key in a layer; rows sum to 1
    shares: np.ndarray  # [state + 1, tokens] how much of the chosen place comes from each token at each state; rows sum to 1
    routes: Sequence[Any]  # with `layer` from 0, `query`, `key` and their `share` of the chosen place, in falling order
    state: int
    position: int
    answers: Sequence[Answer]
    said: str  # what one can do with it
    alt: str  # the text alternative
    stops: Sequence[Stop]
    words: Sequence[Sequence[Sequence[tuple[str, float]]]] | None = None  # [states][rows] most probable words, with probabilities
    moved: np.ndarray | None = None  # [states, rows] 1 − cosine to the previous hidden state, for models without a masked-LM head
    before: Sequence[Sequence[str | None]] | None = None  # [states][rows] the word before a change, where it differs
    zoom: Mapping[str, Any] | None = None  # what is open of it, of `zoom.py`
    changes: Sequence[Mapping[str, Any]] = ()  # of the run: what each is called, and the click that undoes it


def flow(picture: Picture) -> dict[str, Any]:
    """The component's value for a picture; if every token has a row, the browser can trace other places on its own."""
    rows, layers = picture.rows, len(picture.mixing)
    value: dict[str, Any] = {
        **rows.described(),
        "states": layers + 1,
        "target": {"state": picture.state, "row": rows.of(picture.position)},
        "mixing": None,
        "shares": None,
        "routes": None,
        "words": picture.words,
        "moved": None if picture.moved is None else picture.moved.round(3).tolist(),
        "before": picture.before,
        "answers": shown_answers(rows, picture.answers),
        "zoom": picture.zoom,
        "changes": picture.changes,
        "stops": [{"title": title, "text": text, "zoom": [[*level] for level in zoom]} for title, text, zoom in picture.stops],
        "said": picture.said,
        "alt": picture.alt,
    }
    if rows.elsewhere:
        value |= {"shares": rows.merge(picture.shares).round(4).tolist(), "routes": _merged(picture)}
    else:
        value["mixing"] = to_base64(np.rint(picture.mixing * LEVELS).astype(np.uint16))
    return keep(value, lambda: _table(picture))


def shown_answers(rows: Rows, answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """The groups of bars, from the top."""
    return [
        {"row": rows.of(one.position), "title": one.title, "pair": one.pair, "bars": [[*bar] for bar in one.bars]}
        for one in answers
    ]


def _merged(picture: Picture) -> list[list[float]]:
    """[layer, query, key, share] between rows, those of tokens without a row summed; shares up to LEAST are left out."""
    rows, found = picture.rows, []
    for layer in range(picture.state):
        steps = picture.shares[layer + 1][:, None] * picture.mixing[layer]  # [query, key]
        by_row = rows.merge(rows.merge(steps).T).T
        for query, key in zip(*np.nonzero(by_row > LEAST), strict=True):
            found.append([layer, int(query), int(key), round(float(by_row[query, key]), 4)])
    return found


def _table(picture: Picture) -> Table:
    """A row for each route: layer from 1, query, key, and the share of the chosen place that came this way."""
    tokens, taken = picture.rows.encoding.tokens, picture.mixing
    rows = []
    for route in picture.routes:
        sides = (route.query, tokens[route.query], route.key, tokens[route.key])
        rows.append([route.layer + 1, *sides, float(taken[route.layer, route.query, route.key]), route.share])
    names = ("layer", "query_position", "query", "key_position", "key", "taken", "share_of_chosen_place")
    return Table.of(names, rows)
