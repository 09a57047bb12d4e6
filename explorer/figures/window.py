"""Long inputs: which of a picture's places are tokens, so that the page shows a window of them and an overview of all."""

from collections.abc import Sequence

MOST_AT_ONCE = 40  # tokens that a picture shows as a whole


def token_places(tokens: Sequence[int]) -> list[int] | None:
    """The zero-based token that each row or column begins with, in rising order; None where all are shown at once."""
    return [int(token) for token in tokens] if len(tokens) > MOST_AT_ONCE else None


def window_over(*, x: Sequence[int] | None = None, y: Sequence[int] | None = None) -> dict[str, object]:
    """For a figure's `meta`: the tokens along its axes. Empty where no axis is long, and the figure is drawn as it is."""
    long = {name: places for name, tokens in (("x", x), ("y", y)) if tokens is not None and (places := token_places(tokens))}
    return {"window": long} if long else {}
