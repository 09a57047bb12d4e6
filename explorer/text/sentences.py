"""Running text as sentences, by line ends and final marks."""

import re
from collections.abc import Iterator
from itertools import groupby, pairwise

from explorer.core.limits import CHARACTERS
from explorer.text.characters import has_visible_characters
from explorer.text.tagged import LINE_END

WRAPPED = 45  # characters from which the lines of a paragraph may be wrapped

_MARKS, _WIDE, _CLOSING = ".!?…؟۔।", "。！？｡", "\"'”’»)\\]」』）"
_END = re.compile(rf"(?<![{_MARKS}])[{_MARKS}]++[{_CLOSING}]*+\s++|(?<![{_WIDE}])[{_WIDE}]++[{_CLOSING}]*+\s*+|\n[^\S\n]*+\n\s*+")
_ABBREVIATION = re.compile(r"\b(?:[^\W\d_]|mr|mrs|ms|dr|prof|st|jr|sr|vs|cf|fig|vol|approx|inc|ltd)\.$", re.IGNORECASE)


def split_sentences(text: str) -> list[str]:
    """The lines, or paragraphs of wrapped lines, cut after final marks if no small letter follows. Raises InputError."""
    lines = LINE_END.split(text)
    for number, line in enumerate(lines, start=1):
        CHARACTERS.check(len(line.strip()), f"line {number:,}")
    found = []
    for paragraph in _paragraphs(lines):
        starts = [start for start in sentence_starts(paragraph) if not start or not paragraph[start].islower()]
        found += [paragraph[start:end].strip() for start, end in pairwise([*starts, len(paragraph)])]
    return list(filter(None, found))


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """The lines, or the paragraphs of wrapped ones."""
    for filled, group in groupby(lines, has_visible_characters):
        block = [" ".join(line.split()) for line in group] if filled else []
        rest = max(1, len(block) - 1)
        small = sum(line[:1].islower() for line in block[1:])
        ended = sum(line.rstrip(_CLOSING)[-1:] in _MARKS for line in block[:-1] if line)
        if len(block) > 1 and small > rest / 2 > ended and sorted(map(len, block[:-1]))[rest // 2] >= WRAPPED:
            yield " ".join(block)
        else:
            yield from block


def sentence_starts(text: str) -> list[int]:
    """The characters at which the sentences of a text begin, by a rule short enough to be explained; the first is always 0.

    A sentence ends at . ! ? … ؟ ۔ or । before whitespace, at 。！？ or ｡ anywhere, and at an empty line; closing quotes and
    brackets belong to it. A full stop after a single letter ('J. Smith', 'e.g.') or a common abbreviation ('Dr.') ends none.
    """
    starts = [0]
    for end in _END.finditer(text):
        stop = end.start() + 1
        if end[0].rstrip() == "." and _ABBREVIATION.search(text, max(0, stop - 8), stop):
            continue
        if end.end() < len(text) and text[starts[-1] : end.start()].strip():
            starts.append(end.end())
    return starts
