"""One input as the model reads it, and what can be derived from it without the model."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from explorer.text.sentences import sentence_starts

MASK, UNKNOWN = "[MASK]", "[UNK]"


@dataclass(frozen=True)
class Encoding:
    """One input as the model reads it; all tuples have one entry per token.

    `offsets` are characters [start, end) in the text the token came from; `sequences` says which text, 0 for A, 1 for B and -1
    for the tokens that the tokenizer added. `words` are indices of the words of each text, -1 for added tokens. `total` is the
    number of tokens before the input was cut to the `kept` ones that fit. `mask` and `unknown` are the model's own tokens for a
    blank and for what it cannot spell; `hashes` says that its tokenizer writes ## before a piece that continues a word.
    """

    text_a: str
    text_b: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    positions: tuple[int, ...]
    attention_mask: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    sequences: tuple[int, ...]
    words: tuple[int, ...]
    kept: int
    total: int
    mask: str = MASK
    unknown: str = UNKNOWN
    hashes: bool = True

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each token: "special" (added by the tokenizer), "mask", "unk", "continuation" (of a word) or "piece"."""
        return tuple(map(self._kind, range(len(self.tokens))))

    @cached_property
    def text_positions(self) -> tuple[int, ...]:
        """The zero-based tokens that come from the texts, without those that the tokenizer added."""
        return tuple(token for token, sequence in enumerate(self.sequences) if sequence >= 0)

    @cached_property
    def word_groups(self) -> list[list[int]]:
        """The zero-based tokens of each word, in order; a token that the tokenizer added is its own group."""
        return self._groups(self.words)

    @cached_property
    def text_words(self) -> list[list[int]]:
        """The `word_groups` of the texts, without the tokens that the tokenizer added."""
        return [group for group in self.word_groups if self.sequences[group[0]] >= 0]

    @cached_property
    def sentence_groups(self) -> list[list[int]]:
        """The zero-based tokens of each sentence, in order; a token that the tokenizer added is its own group."""
        starts = [sentence_starts(text) for text in (self.text_a, self.text_b)]
        # By the last character: a piece of SentencePiece may begin with the space before it.
        ends = (end - 1 for _, end in self.offsets)
        return self._groups([bisect_right(starts[text], end) for text, end in zip(self.sequences, ends, strict=True)])

    def _groups(self, units: Sequence[int]) -> list[list[int]]:
        """The zero-based tokens of each run in one text with the same number in `units`."""
        groups: list[list[int]] = []
        for token, (text, unit) in enumerate(zip(self.sequences, units, strict=True)):
            if token and text >= 0 and (text, unit) == (self.sequences[token - 1], units[token - 1]):
                groups[-1].append(token)
            else:
                groups.append([token])
        return groups

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """How each of the "tokens", "words" and "sentences" is written."""
        return {
            "tokens": [self.word([token]) for token in range(len(self.tokens))],
            "words": [self.word(group) for group in self.word_groups],
            "sentences": [" ".join(self._typed(group).split()) or self.tokens[group[0]] for group in self.sentence_groups],
        }

    @cached_property
    def hints(self) -> tuple[str, ...]:
        """The hint shown for each token: its characters, counted from 1, and the word it is a piece of."""
        return tuple(self._hint(token, group) for group in self.word_groups for token in group)

    def _hint(self, token: int, group: Sequence[int]) -> str:
        if self.sequences[token] < 0:
            return "added by the tokenizer"
        start, end = self.offsets[token]
        characters = f"character {end}" if end - start == 1 else f"characters {start + 1}–{end}"
        whole = f"; {self.spelling(group)}" if len(group) > 1 else ""
        return f"{characters} of {'AB'[self.sequences[token]]}{whole}"

    def _kind(self, token: int) -> str:
        piece, sequence = self.tokens[token], self.sequences[token]
        if sequence < 0:
            return "special"
        if piece in (self.mask, self.unknown):
            return "mask" if piece == self.mask else "unk"
        if self.hashes:
            return "continuation" if piece.startswith("##") else "piece"
        before = (self.sequences[token - 1], self.words[token - 1]) if token else None
        return "continuation" if before == (sequence, self.words[token]) else "piece"

    def _typed(self, group: Sequence[int]) -> str:
        """The characters of a run of tokens in its text; '' for a token that the tokenizer added."""
        text = (self.text_a, self.text_b, "")[self.sequences[group[0]]]
        return text[self.offsets[group[0]][0] : self.offsets[group[-1]][1]]

    def word(self, group: Sequence[int]) -> str:
        """The pieces of a word joined: 'un', '##able' becomes 'unable'."""
        if not self.hashes and (spelled := self._typed(group).strip()):
            return spelled
        return self.tokens[group[0]] + "".join(self.tokens[token].removeprefix("##") for token in group[1:])

    def spelling(self, group: Sequence[int]) -> str:
        """A word and its pieces: 'walking = walk + ##ing'."""
        return f"{self.word(group)} = {' + '.join(self.tokens[token] for token in group)}"
