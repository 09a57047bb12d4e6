from typing import Any

from explorer.page.components.base import Drawn


class AttentionLines(Drawn):
    """One head as lines from the tokens that look (left) to the tokens that are looked at (right).

    Pointing at a token shows only its edges; a click keeps them and triggers `.select`: `event.index` is the row or
    column, `event.side` is "query" or "key".
    """

    skeleton = "<div class='bx bx-lines'></div>"

    def __init__(self, value: Any = None, *, height: int | None = None, **kw: Any) -> None:
        super().__init__(value, settings={"height": None if height is None else int(height)}, **kw)
