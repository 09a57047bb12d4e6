"""Windows of question answering: a question with as much of its text as the model reads at once, overlapping."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.finetune.compute.prefix import CUTS
from explorer.text.encoding import Encoding
from explorer.text.pairs import Pair

SHARED = 128  # maximum overlap of neighboring windows, in tokens


@dataclass(frozen=True)
class Window:
    """A question and a part of its text, read together as text A and text B."""

    row: int  # index of the question
    begin: int  # character of the text at which the part begins
    encoding: Encoding

    @property
    def pair(self) -> Pair:
        """The question and the part of the text."""
        return self.encoding.text_a, self.encoding.text_b

    @property
    def text_tokens(self) -> range:
        """The positions of the tokens of the text, zero-based."""
        first = self.encoding.sequences.index(1)
        return range(first, first + self.encoding.sequences.count(1))

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """Characters [start, end) of the whole text for the tokens from `start` to `end`, both included."""
        offsets = self.encoding.offsets
        return self.begin + offsets[start][0], self.begin + offsets[end][1]

    def tokens(self, span: tuple[int, int] | None) -> tuple[int, int]:
        """The first and the last token, both included, of characters [start, end) of the text.

        (0, 0), which is [CLS], when there is no answer or not all of it is in this window: Devlin et al. 2019, section 4.3.
        """
        if span is None:
            return 0, 0
        start, end = span[0] - self.begin, span[1] - self.begin
        offsets = self.encoding.offsets
        inside = [token for token in self.text_tokens if offsets[token][0] < end and offsets[token][1] > start]
        whole = inside and offsets[inside[0]][0] <= start and offsets[inside[-1]][1] >= end
        return (inside[0], inside[-1]) if whole else (0, 0)


def windows_of(model: Explorer, pairs: Sequence[Pair], first: int = 0) -> list[Window]:
    """The windows of questions and their texts, in order; `first` is the index of the first question.

    Raises InputError when a text or a question cannot be read.
    """
    return [window for row, pair in enumerate(pairs, start=first) for window in _windows(model, row, *pair)]


def _windows(model: Explorer, row: int, question: str, text: str) -> Iterator[Window]:
    most, begin = min(CUTS[0], model.capabilities.max_tokens), 0
    while True:
        encoding = model.encode(question, text[begin:])
        if encoding.total <= most:
            yield Window(row, begin, encoding)
            return
        if 2 * encoding.sequences.count(0) > most:
            raise InputError(f"The question {question[:40]!r} is too long to be read with its text; shorten it.")
        places = [token for token, sequence in enumerate(encoding.sequences) if sequence == 1]
        places = places[: most - (encoding.kept - len(places))]
        end = encoding.offsets[places[-1]][1]
        yield Window(row, begin, model.encode(question, text[begin : begin + end]))
        begin += encoding.offsets[places[-max(1, min(SHARED, len(places) // 2))]][0]
