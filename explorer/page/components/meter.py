from explorer.page.components.base import Drawn


class Meter(Drawn):
    """How far long work is: {"text": ..., "share": 0 to 1, or None where nobody can tell}. Its place stays when empty."""

    skeleton = "<div class='bx bx-meter' role='status'></div>"
