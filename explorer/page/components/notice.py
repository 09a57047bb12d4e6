from typing import Any, Literal

from explorer.page.components.base import Drawn


class Notice(Drawn):
    """One plain sentence: a string, or {"text": ..., "kind": "info" or "error"}. Empty, it takes no space."""

    skeleton = "<div class='bx bx-notice' role='status'></div>"

    def __init__(self, value: Any = "", *, kind: Literal["info", "error"] = "info", keep_height: bool = False, **kw: Any) -> None:
        super().__init__(value, settings={"kind": kind, "keep_height": keep_height}, **kw)

    def api_info(self) -> dict[str, Any]:
        """The sentence."""
        return {"type": "string"}
