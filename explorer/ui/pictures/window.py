"""Windows over long inputs: which places of a picture are tokens, so that the page shows a part of them and an overview."""

from collections.abc import Sequence

MOST_AT_ONCE = 40  # tokens that a picture shows as a whole


def token_places(tokens: Sequence[int]) -> list[int] | None:
    """The zero-based first token of each row or column, in rising order; None when all are shown."""
    return [int(token) for token in tokens] if len(tokens) > MOST_AT_ONCE else None


def window_over(*, x: Sequence[int] | None = None, y: Sequence[int] | None = None) -> dict[str, object]:
    """For a figure's `meta`: the tokens along its axes; empty for a figure that is drawn as a whole."""
    long = {name: places for name, tokens in (("x", x), ("y", y)) if tokens is not None and (places := token_places(tokens))}
    return {"window": long} if long else {}
