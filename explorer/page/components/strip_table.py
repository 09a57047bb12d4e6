from typing import Any

from explorer.page.components.base import Drawn


class StripTable(Drawn):
    """Rows of names, numbers, bars and vectors drawn as strips: one small rectangle a number, blue above 0, orange below.

    A click on the name of a row that stands for something triggers `.select`: `event.index` is its `token`. With
    `sortable` a click on a column's title sorts by it, numbers from the largest, and again the other way round.
    """

    skeleton = "<div class='bx bx-strips'></div>"

    def __init__(self, value: Any = None, *, height: int = 640, sortable: bool = False, **kw: Any) -> None:
        super().__init__(value, settings={"height": int(height), "sortable": bool(sortable)}, **kw)
