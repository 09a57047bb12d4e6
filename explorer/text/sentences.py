"""Running text as sentences, by line ends and final marks."""

from collections.abc import Iterator
from itertools import groupby

from explorer.core.limits import CHARACTERS
from explorer.text.characters import has_visible_characters
from explorer.text.tagged import LINE_END

FINAL, WIDE, CLOSING = ".!?…", "。！？", "\"'”’»)]"
SHORT = {"mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "no", "fig", "cf", "jr", "sr", "inc", "ltd", "e.g", "i.e"}
LONGEST = 8  # characters of an abbreviation, with the blank before it
WRAPPED = 45  # characters from which the lines of a paragraph may be wrapped


def split_sentences(text: str) -> list[str]:
    """The sentences of a text: each line, or paragraph of wrapped lines, cut after final marks that no small letter follows.

    Raises InputError for a line that is too long.
    """
    lines = LINE_END.split(text)
    for number, line in enumerate(lines, start=1):
        CHARACTERS.check(len(line.strip()), f"line {number:,}")
    return [sentence for paragraph in _paragraphs(lines) for sentence in _cut(paragraph)]


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """The lines, or the paragraphs of wrapped ones."""
    for filled, group in groupby(lines, has_visible_characters):
        block = [" ".join(line.split()) for line in group] if filled else []
        rest = max(1, len(block) - 1)
        small = sum(line[:1].islower() for line in block[1:])
        ended = sum(line.rstrip(CLOSING)[-1:] in FINAL for line in block[:-1] if line)
        if len(block) > 1 and small > rest / 2 > ended and sorted(map(len, block[:-1]))[rest // 2] >= WRAPPED:
            yield " ".join(block)
        else:
            yield from block


def _cut(line: str) -> Iterator[str]:
    start = 0
    for at, sign in enumerate(line):
        if sign not in FINAL + WIDE:
            continue
        end = at + 1
        while line[end : end + 1] and line[end] in CLOSING:
            end += 1
        word = line[max(start, at - LONGEST) : at].rpartition(" ")[2].lstrip("(\"'“").lower()
        abbreviated = sign == "." and (word in SHORT or (len(word) == 1 and word.isalpha()))
        if sign in WIDE or (line[end : end + 1] == " " and not line[end + 1 : end + 2].islower() and not abbreviated):
            yield line[start:end].strip()
            start = end
    if rest := line[start:].strip():
        yield rest
