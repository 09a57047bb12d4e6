from explorer.page.components.base import Drawn


class SwitchBoard(Drawn):
    """Layers × heads as switches, coloured by what switching each off does.

    A click, or Enter, switches a head over, and a layer's number all of its heads; both trigger `.select`, with all
    heads that are off now, zero-based [layer, head], as `event.index`.
    """

    skeleton = "<div class='bx bx-by-head bx-board' role='group' aria-label='heads to switch off'></div>"
