"""Masking words of the texts, and bringing them back."""

import re
from dataclasses import dataclass

from explorer.text.encoding import MASK, Encoding

TYPED = ("", 0, 1)


@dataclass(frozen=True)
class Blanks:
    """Two texts, and what is behind each [MASK]: a word, which of the word's [MASK]s this is, and their number; or TYPED."""

    texts: tuple[str, str]
    hidden: tuple[tuple[str, int, int], ...] = ()

    def __post_init__(self) -> None:
        if len(self.hidden) != len(self.spans):  # the text was edited by hand in the meantime
            object.__setattr__(self, "hidden", (TYPED,) * len(self.spans))

    @property
    def spans(self) -> list[tuple[int, int, int]]:
        """(text, start, end) of every [MASK], those of text A first."""
        return [(side, *match.span()) for side, text in enumerate(self.texts) for match in re.finditer(re.escape(MASK), text)]

    def toggle(self, encoding: Encoding, token: int) -> "Blanks":
        """Replace the word at the zero-based `token` by one [MASK] per piece, or bring it back if it is masked.

        `encoding` is that of `texts`. Nothing changes for a token that the tokenizer added, or a [MASK] that was typed.
        """
        side, spans, new = encoding.sequences[token], self.spans, ""
        behind: list[tuple[str, int, int]] = []
        if (here := (side, *encoding.offsets[token])) in spans:
            mask = spans.index(here)
            new, place, count = self.hidden[mask]
            first, last = mask - place, mask - place + count
            start, end = spans[first][1], spans[last - 1][2]
        elif side >= 0:
            pieces = next(group for group in encoding.word_groups if token in group)
            start, end = encoding.offsets[pieces[0]][0], encoding.offsets[pieces[-1]][1]
            first = last = sum(span < (side, start) for span in spans)
            new = " ".join([MASK] * len(pieces))
            behind = [(self.texts[side][start:end], place, len(pieces)) for place in range(len(pieces))]
        if not new:
            return self
        texts = list(self.texts)
        texts[side] = texts[side][:start] + new + texts[side][end:]
        return Blanks((texts[0], texts[1]), (*self.hidden[:first], *behind, *self.hidden[last:]))
