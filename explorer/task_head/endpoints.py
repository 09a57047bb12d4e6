"""The endpoint of the Task head tab."""

from typing import Any

from explorer.bert.explorer import load
from explorer.bert.families import ANSWER, LABELS, TAGS
from explorer.techniques import own_head as head

MOST_ANSWERS = 5


def own_head(text_a: str, text_b: str = "", model: str = "") -> dict[str, Any]:
    """The output of a fine-tuned checkpoint's own head: the share of each label, the tag of each token, or the best answers in B.

    For a discriminator, how likely each piece was replaced. Shares are from 0 to 1; a regression gives its number.

    Returns:
        `task`, `tokens`, `labels` and `shares`: of every label, of every token's tag, of the best answers in B, or of every piece
        having been replaced.
    """
    explorer = load(model)
    explorer.require("own_head")
    trace, task = explorer.trace(text_a, text_b), explorer.capabilities.own_head
    said: dict[str, Any] = {"task": task, "tokens": list(trace.tokens)}
    if task == LABELS:
        found = head.labels(trace)
        return said | {"labels": list(found.labels), "shares": found.shares.tolist()}
    if task == TAGS:
        tags, _, shares = head.labels(trace, TAGS)
        return said | {"labels": [tags[place] for place in shares.argmax(-1)], "shares": shares.max(-1).tolist()}
    if task == ANSWER:
        spans = head.answers(trace, MOST_ANSWERS)
        return said | {"labels": [span.text for span in spans], "shares": [span.share for span in spans]}
    return said | {"labels": [], "shares": head.replacement_shares(trace).tolist()}


ENDPOINTS = (own_head,)
