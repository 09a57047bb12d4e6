from explorer.page.components.base import Drawn


class Ranking(Drawn):
    """Texts with a number each, under a heading. A click triggers `.select`: `event.index` is the row's own index."""

    skeleton = "<div class='bx bx-ranking' role='group'></div>"
