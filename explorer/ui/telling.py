"""What is worth a sentence: whether a number stands out, and the sentences of those that do."""

import math
from collections.abc import Sequence

import numpy as np

from explorer.analysis.resampling import wilson
from explorer.techniques.routes import Route
from explorer.ui.pictures.bars import percent

LEAST = 0.1  # of a whole: on the √ scale of the pictures, a third of the ramp; a smaller share looks like the background
TIMES = 1.5  # of an even spread: among a few tokens even random weights differ by less
TURNED = "(cosine distance; 0 is the same direction)"  # the scale of a change of direction, in a finding
HALF = 0.5  # more than all others together, however few they are


def stands_out(share: float, even: float = 0.0) -> bool:
    """Whether a share of a whole, 0 to 1, is worth naming, where an even spread would give `even`."""
    return share >= min(HALF, max(LEAST, TIMES * even))


def two_places(number: float) -> str:
    """A number with two decimals, for sentences: never 0.00 unless it is exact."""
    if 0 < abs(number) < 0.005:
        return "less than 0.01" if number > 0 else "about 0"
    return f"{number:.2f}".replace("-", "−")


def interval(low: float, high: float) -> str:
    """The ends of a share's interval, '74% to 99%', with a decimal where whole percents are the same, or 0 or 100% inexactly."""
    ends = f"{low:.0%}", f"{high:.0%}"
    exact = ends[0] != ends[1] and (low == 0 or ends[0] != "0%") and (high == 1 or ends[1] != "100%")
    return " to ".join(ends if exact else map(percent, (low, high)))


def share_with_interval(right: int, number: int) -> str:
    """A share in percent with its interval (Wilson 1927), for sentences."""
    ends = interval(*wilson(right, number))
    return f"{percent(right / number) if '.' in ends else f'{right / number:.0%}'}, 95% interval {ends}"


def quote(tokens: Sequence[str], place: int) -> str:
    """A token in quotes, with its position if another one looks the same."""
    return f"“{tokens[place]}”" + (f" (token {place})" if tokens.count(tokens[place]) > 1 else "")


def link_name(tokens: Sequence[str], link: Route, end: int) -> str:
    """A link by its key, and by both ends unless it ends at the token `end`: '“feed” → “on” in layer 2'."""
    to = "" if link.query == end else f" → {quote(tokens, link.query)}"
    return f"{quote(tokens, link.key)}{to} in layer {link.layer + 1}"


def times(ratio: float) -> str:
    """A ratio of two estimates in two digits, for sentences: '1.3 times', 'about 100 times'."""
    if ratio < 9.95:
        return f"{ratio:.1f} times"
    step = 10 ** max(math.floor(math.log10(ratio)) - 1, 0)
    return f"about {round(ratio / step) * step:,} times"


def telling_key(weights: np.ndarray) -> int | None:
    """The key to which a query gives most of its weights [key], if it stands out."""
    most = int(weights.argmax())
    return most if stands_out(float(weights[most]), 1 / len(weights)) else None


def row_sentence(tokens: Sequence[str], query: int, weights: np.ndarray) -> str:
    if (most := telling_key(weights)) is None:
        return f"{quote(tokens, query)} spreads its weight over the {len(tokens)} keys; none stands out."
    to = "itself" if most == query else quote(tokens, most)
    return f"Of {len(tokens)} keys, {quote(tokens, query)} gives {to} the largest weight: {weights[most]:.2f}."
