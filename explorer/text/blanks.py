"""Masking words of the texts, and bringing them back."""

import re
from dataclasses import dataclass

from explorer.text.encoding import MASK, Encoding


@dataclass(frozen=True)
class Blanks:
    """Two texts, and the words behind their [MASK]s in order: a word and its number of [MASK]s, or ("", 1) for a typed one."""

    texts: tuple[str, str]
    hidden: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        masks = len(self.spans)
        if sum(count for _, count in self.hidden) != masks:  # the text was edited by hand in the meantime
            object.__setattr__(self, "hidden", (("", 1),) * masks)

    @property
    def spans(self) -> list[tuple[int, int, int]]:
        """(text, start, end) of every [MASK], those of text A first."""
        return [(side, *match.span()) for side, text in enumerate(self.texts) for match in re.finditer(re.escape(MASK), text)]

    def toggle(self, encoding: Encoding, token: int) -> "Blanks":
        """Replace the word at the zero-based `token` by one [MASK] per piece, or bring it back if it is masked.

        `encoding` is that of `texts`. Nothing changes for a token that the tokenizer added, or a [MASK] that was typed.
        """
        side, offsets = encoding.sequences[token], encoding.offsets
        if side < 0:
            return self
        if (here := (side, *offsets[token])) in self.spans:
            return self._bring_back(self.spans.index(here))
        pieces = next(group for group in encoding.word_groups if token in group)
        start, end = offsets[pieces[0]][0], offsets[pieces[-1]][1]
        before = sum((mask_side, mask_start) < (side, start) for mask_side, mask_start, _ in self.spans)
        group = self._group_of(before)
        hidden = (*self.hidden[:group], (self.texts[side][start:end], len(pieces)), *self.hidden[group:])
        return Blanks(self._with(side, start, end, " ".join([MASK] * len(pieces))), hidden)

    def _bring_back(self, mask: int) -> "Blanks":
        group = self._group_of(mask)
        word, count = self.hidden[group]
        if not word:
            return self
        first = sum(length for _, length in self.hidden[:group])
        (side, start, _), (_, _, end) = self.spans[first], self.spans[first + count - 1]
        return Blanks(self._with(side, start, end, word), self.hidden[:group] + self.hidden[group + 1 :])

    def _group_of(self, mask: int) -> int:
        """The index in `hidden` of the entry to which [MASK] number `mask` belongs; the length of `hidden` if there is none."""
        groups = [group for group, (_, count) in enumerate(self.hidden) for _ in range(count)]
        return groups[mask] if mask < len(groups) else len(self.hidden)

    def _with(self, side: int, start: int, end: int, new: str) -> tuple[str, str]:
        changed = self.texts[side][:start] + new + self.texts[side][end:]
        return (changed, self.texts[1]) if side == 0 else (self.texts[0], changed)
