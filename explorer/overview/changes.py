"""The changes of a run, as the picture lists them: each with the click that undoes it."""

from typing import Any

from explorer.ui.subject import Subject


def changes_of(subject: Subject) -> list[dict[str, Any]]:
    """What is off, cut, swapped and patched: `label`, and `undo`, the index of the click. Layers and heads count from 1."""
    selection, tokens = subject.selection, subject.trace.tokens
    found = [{"label": f"head {layer}.{head} off", "undo": {"off": [layer, head]}} for layer, head in selection.off_from_one]
    for layer, query, key, head in selection.cut_from_one:
        where = f"head {layer}.{head}" if head else f"layer {layer}"
        found.append({"label": f"{tokens[key]} → {tokens[query]}, {where}", "undo": {"cut": [layer, query, key, head]}})
    if selection.swap:
        found.append({"label": "{1} for {0}".format(*selection.swap), "undo": {"back": "swap"}})
    if selection.patch:
        state, token = selection.patch
        found.append({"label": f"{tokens[token]} patched at state {state}", "undo": {"back": "patch"}})
    return found
