"""Attention: weights, parts of them, numbers of every head, rollout."""

from typing import Any

from explorer.ui.statements import Source
from explorer.ui.subject import Subject
from explorer.ui.writing import Script


def one_head(view: Any, subject: Subject) -> Script | None:
    """One head or a mean of several, and the part of the matrix that is shown."""
    encoding = subject.trace.encoding
    groups = {"words": encoding.word_groups, "sentences": encoding.sentence_groups}.get(view.group, [])
    return Script("head.py", starts=[group[0] for group in groups])


def metric(view: Any, subject: Subject) -> Script | None:
    """One number of every head."""
    return Script("metric.py", metric=Source(view.metric))


def rollout(view: Any, subject: Subject) -> Script | None:
    """Attention rollout up to a layer, and the sources of the chosen token after each layer."""
    return Script("rollout.py", up_to=min(view.up_to, subject.model.capabilities.layers))


def several(view: Any, subject: Subject) -> Script | None:
    """The sum over some heads of a layer."""
    has = subject.model.capabilities
    heads = list(view.heads) or list(range(1, has.heads + 1))
    return Script("several.py", layer=min(view.layer, has.layers), heads=heads)


CODE = {
    "attention/heads": Script("heads.py"),
    "attention/head": one_head,
    "attention/metric": metric,
    "attention/metrics": Script("metrics.py"),
    "attention/rollout": rollout,
    "attention/several": several,
}
WITHOUT: dict[str, str] = {}
