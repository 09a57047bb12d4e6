"""Endpoints of the Tokens tab: the input as the model reads it, and the vocabulary."""

from typing import Any

from explorer.bert.explorer import load
from explorer.core.limits import QUERY
from explorer.text import limits
from explorer.tokens.vocabulary import search


def tokens(text_a: str, text_b: str = "", model: str = "") -> dict[str, Any]:
    """The input as the model reads it; offsets are characters [start, end) of the text each token came from.

    Returns:
        `tokens`, `ids`, `segments`, `positions`, `attention_mask`, `offsets`, `kept`, `total`.
    """
    encoding = load(model).encode(text_a, text_b)
    lists = {name: list(getattr(encoding, name)) for name in ("tokens", "ids", "segments", "positions", "attention_mask")}
    return lists | {"offsets": [list(span) for span in encoding.offsets], "kept": encoding.kept, "total": encoding.total}


def vocabulary(query: str, limit: int = 50, model: str = "") -> dict[str, Any]:
    """The pieces of the vocabulary that match, best first: equal, beginning with, or containing the query.

    A number also finds the piece with that id. "##" at the start finds pieces that continue a word; "*" stands for
    any letters ("un*", "*ing"). `total` counts all matches.

    Returns:
        `pieces` with `token` and `id`, `total`.
    """
    query = limits.check_text(query, "the query", QUERY)
    limit = limits.check_integer(limit, "the limit", 1, 1_000)
    pieces = load(model).vocabulary
    found = search(pieces, query)
    return {"pieces": [{"token": pieces[id], "id": id} for id in found[:limit]], "total": len(found)}


ENDPOINTS = (tokens, vocabulary)
