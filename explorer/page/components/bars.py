from explorer.page.components.base import Drawn


class Bars(Drawn):
    """Shares as horizontal bars. A click triggers `.select`: `event.index` is the row, or [group, row] in groups."""

    skeleton = "<div class='bx bx-bars'></div>"
