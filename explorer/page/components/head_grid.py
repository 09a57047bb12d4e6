from explorer.page.components.base import Drawn


class HeadGrid(Drawn):
    """Layers × heads as small pictures. A click or an arrow key triggers `.select`: `event.index == [layer, head]`."""

    skeleton = "<div class='bx bx-by-head bx-heads' role='group' aria-label='attention heads'></div>"
