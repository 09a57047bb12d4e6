"""Tagged words: how a text is split into words, and uploaded files of tagged sentences.

CoNLL-U (universaldependencies.org/format.html), CoNLL (one word a line, its tag in the last column, a blank line between
sentences, as in Tjong Kim Sang & De Meulder 2003) and JSON lines.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasChoices, Field

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.formats import Every, Foreign, Misfit, numbered
from explorer.core.limits import CHARACTERS, JSON_VALUES, LABEL, LINES, MEGABYTE, TABLE_MEGABYTES
from explorer.text import limits
from explorer.text.characters import EachCharacter, has_visible_characters, visible
from explorer.text.decoding import decode

TAGGED_FILE_TYPES = (".conllu", ".conll", ".txt", ".tsv", ".bio", ".iob", ".jsonl", ".json")
WORD_KEYS, TAG_KEYS = ("words", "tokens"), ("tags", "ner_tags", "pos_tags", "labels")
ID, FORM, UPOS, CONLLU_COLUMNS = 0, 1, 3, 10
LINE_END = re.compile(r"\r\n|\r|\n")  # other characters that Python counts as line ends may be part of a word
DOCUMENT = "-DOCSTART-"  # begins a document in CoNLL-2003, and is not a word

Row = Callable[[int, str], tuple[str, str] | None]
"""Parses a line, given with its number: a word and its tag, or None."""

_JSON = re.compile(r'\s*(\[\s*)?\{\s*"')  # a bracket alone may well be a word
_NUMBERED = re.compile(r"\d+([-.]\d+)?")  # numbers of words in CoNLL-U; a range is a word written as one, a decimal an empty node


@dataclass(frozen=True)
class TaggedSentence:
    """Words with one tag each."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class TaggedFile:
    """The sentences of a file; `about` says how it was read."""

    sentences: tuple[TaggedSentence, ...]
    about: str


def split_words(text: str) -> list[str]:
    """The words of a text as BERT's tokenizer first splits it: at whitespace, and around punctuation and Chinese characters.

    Devlin et al. 2019, BasicTokenizer; invisible characters are left out.
    """
    return text.translate(_CUT).split()


def _stands_alone(character: str) -> bool:
    code = ord(character)
    symbol = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    chinese = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF
    chinese = chinese or 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F
    return symbol or chinese or unicodedata.category(character).startswith("P")


_CUT = EachCharacter(lambda one: f" {one} " if _stands_alone(one) else visible(one))


@apart
def read_tagged(path: Path) -> TaggedFile:
    """The tagged sentences of a file, whose format is detected. Raises InputError naming the first invalid line."""
    TABLE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    text, encoding = decode(path.read_bytes())
    if not has_visible_characters(text):
        raise InputError("The file is empty; it needs a word and its tag a line, and a blank line between sentences.")
    lines = LINE_END.split(text)
    LINES.check(len(lines))
    if _JSON.match(text):
        how, found = "JSON", list(_read_json(text))
    elif is_conllu(lines):
        how, found = "CoNLL-U (universal parts of speech)", list(_read_rows(lines, _conllu_row))
    else:
        how, found = "CoNLL", list(_read_rows(lines, _ConllRows(lines).read))
    if not found:
        raise InputError("The file has no sentence; it needs a word and its tag a line, and a blank line between sentences.")
    words = sum(len(one.words) for one in found)
    return TaggedFile(tuple(found), f"{len(found):,} sentences with {words:,} words, {how}, {encoding}.")


def check_tagged(words: object, tags: object, where: str) -> TaggedSentence:
    """A sentence from lists of words and tags of the same length; `where` names it in errors. Raises InputError."""
    words, tags = _check_list(words, "words", where), _check_list(tags, "tags", where)
    if not words:
        raise InputError(f"{where} has no words; leave it out.")
    if len(words) != len(tags):
        raise InputError(f"{where} has {len(words):,} words and {len(tags):,} tags; give every word one tag.")
    if len(words) > CHARACTERS.most or sum(len(word) + 1 for word in words if isinstance(word, str)) > CHARACTERS.most:
        raise InputError(f"{where} has more than {CHARACTERS.most:,} characters; end the sentence earlier.")
    place = where[0].lower() + where[1:]
    checked = [limits.check_text(word, f"word {number} of {place}") for number, word in enumerate(words, start=1)]
    return TaggedSentence(tuple(checked), tuple(_check_tag(tag, number, place) for number, tag in enumerate(tags, start=1)))


def _check_list(given: object, what: str, where: str) -> Sequence[object]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"{where} must have its {what} in a list.")
    return given


def _check_tag(tag: object, number: int, place: str) -> str:
    if isinstance(tag, bool) or not isinstance(tag, str | int) or not str(tag).strip():
        raise InputError(f"Word {number} of {place} has no tag; give every word one.")
    return limits.check_text(str(tag).strip(), f"the tag of word {number} of {place}", LABEL)


class _Tagged(Foreign):
    """A sentence as JSON, in the words of any of the usual files."""

    words: Every[str] = Field(validation_alias=AliasChoices(*WORD_KEYS))
    tags: Every[str | int] = Field(validation_alias=AliasChoices(*TAG_KEYS))


def _read_json(text: str) -> Iterator[TaggedSentence]:
    """Objects with words and tags, one per line or in one list."""
    try:
        for number, one in numbered(_Tagged, text.encode(), JSON_VALUES):
            yield check_tagged(one.words, one.tags, f"Line {number}")
    except Misfit as misfit:
        raise InputError(_flaw(misfit)) from misfit


def _flaw(misfit: Misfit) -> str:
    """A sentence about the first object that is none of a sentence with its tags."""
    line, *place = misfit.place
    if not misfit.is_json:
        return f"Line {line} looks like JSON but cannot be read; send one object a line."
    if misfit.kind == "list_type":
        return f"Line {line} must have its {'words' if place[0] in WORD_KEYS else 'tags'} in a list."
    if len(place) < 2:
        return f'Line {line} must be an object such as {{"words": ["a", "dog"], "tags": ["DET", "NOUN"]}}.'
    word = f"ord {int(place[1]) + 1} of line {line}"
    return f"W{word} must be a text; send a sentence." if place[0] in WORD_KEYS else f"W{word} has no tag; give every word one."


def is_conllu(lines: Sequence[str]) -> bool:
    """Whether the first line with a word looks like CoNLL-U, or there are comments that only CoNLL-U has."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "").split("\t")
    commented = any(line.startswith(("# sent_id", "# text =")) for line in lines[:50])
    numbered = len(first) == CONLLU_COLUMNS and _NUMBERED.fullmatch(first[ID]) is not None
    return numbered or (commented and first[ID] == "1")


def _conllu_row(number: int, line: str) -> tuple[str, str] | None:
    """The word and its universal part of speech, or None for a comment, a range or an empty node."""
    if line.startswith("#"):
        return None
    cells = line.split("\t")
    if len(cells) != CONLLU_COLUMNS:
        raise InputError(f"Line {number} has {len(cells)} columns; a line of CoNLL-U has {CONLLU_COLUMNS}, with tabs between.")
    if not cells[ID].isdecimal():
        return None
    return cells[FORM], "" if cells[UPOS] == "_" else cells[UPOS]


class _ConllRows:
    """Parses lines of CoNLL: the word is in the first column, or in the second if the first is a count; the tag in the last."""

    def __init__(self, lines: Sequence[str]) -> None:
        rows = [line for line in lines if line.strip() and not line.startswith(("#", DOCUMENT))] or ["# O"]
        self.tabs = "\t" in rows[0]
        self.width = len(self._cells(rows[0]))
        counts = self.width > 2 and [self._cells(row)[0] for row in rows[:3]] == ["1", "2", "3"]
        self.word = 1 if counts else 0

    def _cells(self, line: str) -> list[str]:
        return line.rstrip().split("\t") if self.tabs else line.split()

    def read(self, number: int, line: str) -> tuple[str, str] | None:
        """The word and the tag, or None for a comment or the beginning of a document."""
        cells = self._cells(line)
        if line.startswith(DOCUMENT) or (line.startswith("#") and len(cells) != self.width):
            return None
        if len(cells) == 1:
            raise InputError(f"Line {number} has a word without a tag; write the tag behind the word, after a tab.")
        if len(cells) != self.width:
            raise InputError(f"Line {number} has {len(cells)} columns where the first has {self.width}; give all lines as many.")
        return cells[self.word], cells[-1]


def _read_rows(lines: Sequence[str], read: Row) -> Iterator[TaggedSentence]:
    """The sentences between blank lines. Raises InputError naming the first invalid line."""
    words: list[str] = []
    tags: list[str] = []
    begun = characters = 0
    for number, line in enumerate([*lines, ""], start=1):
        if not line.strip():
            if words:
                yield check_tagged(words, tags, f"The sentence from line {begun}")
            words, tags, characters = [], [], 0
            continue
        if (found := read(number, line)) is None:
            continue
        word, tag = (one.strip() for one in found)
        if not has_visible_characters(word):
            raise InputError(f"Line {number} has no word; write one before its tag, or leave the line out.")
        if not tag:
            raise InputError(f"Line {number} has a word without a tag; give every word one.")
        begun = begun if words else number
        characters += len(word) + 1
        if characters > CHARACTERS.most:
            what = f"The sentence from line {begun} has more than {CHARACTERS.most:,} characters"
            raise InputError(f"{what}; put a blank line after each sentence.")
        words.append(word)
        tags.append(tag)
