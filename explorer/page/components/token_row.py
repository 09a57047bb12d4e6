from typing import Any

from explorer.page.components.base import Drawn


class TokenRow(Drawn):
    """Tokens as chips, or with `detail` as cards with their numbers.

    A click triggers `.select`; a double click, the M key or the small button on the chosen chip triggers `.mask`.
    With `mask_on_click` a single click triggers `.mask`, and nothing triggers `.select`. Tokens of the kind "special"
    cannot be masked. Handlers take `event: gr.SelectData`: `event.index` is the token's index, `event.value` its text.
    """

    skeleton = "<div class='bx bx-tokens' role='group' aria-label='tokens'></div>"
    custom_events = ("mask",)

    def __init__(self, value: Any = None, *, detail: bool = False, mask_on_click: bool = False, **kw: Any) -> None:
        super().__init__(value, settings={"detail": bool(detail), "mask_on_click": bool(mask_on_click)}, **kw)
