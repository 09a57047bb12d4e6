from explorer.page.components.base import Drawn


class WordGrid(Drawn):
    """A table of words, each with a colour between the page's background (0) and the ramp's end (1).

    A click triggers `.select`: `event.index` is [row, column]. Wider than the page, it scrolls by itself.
    """

    skeleton = "<div class='bx bx-words' tabindex='0'></div>"
