from typing import Any

from explorer.page.components.base import Drawn


class Meter(Drawn):
    """How far long work is: {"text": ..., "share": 0 to 1, or None where nobody can tell}. Its place stays when empty."""

    skeleton = "<div class='bx bx-meter' role='status'></div>"

    @staticmethod
    def pack(text: str, share: float | None = None) -> dict[str, Any]:
        """The value for a sentence and the share that is done."""
        return {"text": str(text), "share": None if share is None else min(max(float(share), 0.0), 1.0)}
