from explorer.figures.bars import bar_groups, bars, percent
from explorer.page.components.base import Drawn

__all__ = ["Bars", "percent"]


class Bars(Drawn):
    """Shares as horizontal bars. A click triggers `.select`: `event.index` is the row, or [group, row] in groups."""

    skeleton = "<div class='bx bx-bars'></div>"
    pack = staticmethod(bars)
    pack_groups = staticmethod(bar_groups)
