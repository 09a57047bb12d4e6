from collections.abc import Sequence
from typing import Any

from explorer.page.components.base import Drawn

KINDS = ("special", "mask", "unk", "piece", "continuation")


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

    @staticmethod
    def pack(
        tokens: Sequence[str],
        *,
        kinds: Sequence[str],
        segments: Sequence[int],
        ids: Sequence[int] | None = None,
        positions: Sequence[int] | None = None,
        attention_mask: Sequence[int] | None = None,
        words: Sequence[int | None] | None = None,
        offsets: Sequence[tuple[int, int]] | None = None,
        hints: Sequence[str] | None = None,
        selected: int | None = None,
    ) -> dict[str, Any]:
        """The value for `tokens`. All sequences have one entry a token, `kinds` one of KINDS; `selected` is zero-based.

        Cards show what they are given: ids, segments, positions, mask and, from `offsets`, the characters (first to
        last, counted from 1) that a token came from. `hints` are told when a token is pointed at. `words` is not drawn.
        """
        columns = {"kinds": kinds, "segments": segments, "ids": ids, "positions": positions}
        columns |= {"attention_mask": attention_mask, "words": words, "offsets": offsets, "hints": hints}
        for name, column in columns.items():
            if column is not None and len(column) != len(tokens):
                raise ValueError(f"{name} has {len(column)} entries for {len(tokens)} tokens")
        if unknown := set(kinds) - set(KINDS):
            raise ValueError(f"unknown kinds of tokens: {sorted(unknown)}")
        if selected is not None and not 0 <= selected < len(tokens):
            raise ValueError(f"there is no token {selected} among {len(tokens)}")
        return {
            "tokens": [str(token) for token in tokens],
            "kinds": list(kinds),
            "segments": _integers(segments),
            "letters": len(set(segments)) > 1,
            "ids": _integers(ids),
            "positions": _integers(positions),
            "mask": _integers(attention_mask),
            "chars": None if offsets is None else [_characters(*span) for span in offsets],
            "hints": None if hints is None else [str(hint) for hint in hints],
            "selected": None if selected is None else int(selected),
        }


def _integers(column: Sequence[int] | None) -> list[int] | None:
    return None if column is None else [int(entry) for entry in column]


def _characters(start: int, end: int) -> str:
    if end <= start:
        return "–"
    return str(start + 1) if end == start + 1 else f"{start + 1}–{end}"
