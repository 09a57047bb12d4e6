"""What a card beside a head that is pointed at shows: its name, and the strongest links of the input's tokens in it."""

from itertools import product
from typing import Any

import numpy as np

from explorer.analysis.head_names import strongest_links
from explorer.ui.attention_data import name_of
from explorer.ui.pictures.base import to_base64
from explorer.ui.subject import Subject


def head_cards(subject: Subject) -> dict[str, Any]:
    """For all heads, layer by layer, `names` (name, how sure, and what the head does across the corpus), and their links.

    `keys` are the token that each of the `tokens` attends to most, uint16 [layers, heads, tokens], and `weights` that weight, in
    255ths.
    """
    trace, has = subject.trace, subject.model.capabilities
    links = [strongest_links(trace.attention(layer)) for layer in range(has.layers)]
    keys, weights = (np.stack(each) for each in zip(*links, strict=True))
    names = (name_of(subject, place) for place in product(range(has.layers), range(has.heads)))
    return {
        "heads": has.heads,
        "tokens": list(trace.tokens),
        "names": [[head.name, head.sure, head.elsewhere] for head in names],
        "keys": to_base64(keys.astype("<u2")),
        "weights": to_base64(np.rint(255 * weights).astype(np.uint8)),
    }
