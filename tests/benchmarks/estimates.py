"""Attribution patching: what an item costs beside a forward pass of its text, the 20 places that are patched included."""

from collections.abc import Iterator
from functools import partial

import explorer
from explorer.bert.trace import Trace
from explorer.experiments.compute.experiment import experiment
from explorer.experiments.compute.items import Item
from tests.benchmarks import Comparison, side_by_side
from tests.benchmarks.base_model import base_model

NOUNS = {"keys": "key", "books": "book", "cups": "cup", "doors": "door"}
TEXT = "The *{}/{}* to the old drawers in the large house of the man [MASK] here."  # 18 tokens
ITEMS = [Item(TEXT.format(*pair), "", *words) for pair in NOUNS.items() for words in (("are", "is"), ("is", "are"))]


def run() -> Iterator[Comparison]:
    """Heads, edges, and edges by a path, of an item."""
    for name, model in (("base", base_model()), ("bundled", explorer.load())):
        encodings = [model.encode(item.text_a) for item in ITEMS]
        forward_passes = partial(lambda model, encodings: [Trace.of(model, one) for one in encodings], model, encodings)
        for how in ("heads", "edges", "edges_integrated"):
            asked = partial(experiment, model, ITEMS, "attribution_patching", how)
            ours, theirs = (seconds / len(ITEMS) for seconds in side_by_side(asked, forward_passes, rounds=3))
            yield Comparison(f"estimates-{name}-{how}", "an item", "one forward pass", ours, theirs, "s", "at most 60")
