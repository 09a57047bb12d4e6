"""How far long work is."""

from typing import Any


def meter(text: str, share: float | None = None) -> dict[str, Any]:
    """The value for a sentence and the share that is done."""
    return {"text": text, "share": None if share is None else min(max(float(share), 0.0), 1.0)}
