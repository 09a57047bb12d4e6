"""Tagged words: how a text is split into words, and uploaded files of tagged sentences.

CoNLL-U (universaldependencies.org/format.html) and CoNLL (one word per line, its tag in the last column, a blank line between
sentences, as in Tjong Kim Sang & De Meulder 2003).
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, LABEL, LINES, MEGABYTE, TABLE_MEGABYTES
from explorer.core.paths import ASSETS
from explorer.text import limits
from explorer.text.characters import decode, visible

TAGGED_FILE_TYPES = (".conllu", ".conll", ".txt", ".tsv", ".bio", ".iob")
ID, FORM, UPOS, HEAD, RELATION, CONLLU_COLUMNS = 0, 1, 3, 6, 7, 10
NONE = "_"  # an empty cell in CoNLL-U
LINE_END = re.compile(r"\r\n|\r|\n")  # other characters that Python counts as line ends may be part of a word
DOCUMENT = "-DOCSTART-"  # begins a document in CoNLL-2003, and is not a word

Cells = list[str]
Rows = list[tuple[int, Cells]]
"""The words of a sentence: the line of each, counted from 1, and its cells."""

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
    return "".join(map(_cut_letter, text)).split()


@lru_cache(4_096)
def _cut_letter(letter: str) -> str:
    """A letter, between spaces if it is a word on its own; '' if it is invisible."""
    symbol = letter.isascii() and letter.isprintable() and not (letter.isalnum() or letter.isspace())
    chinese = unicodedata.name(letter, "").startswith(("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH"))
    return f" {letter} " if symbol or chinese or unicodedata.category(letter).startswith("P") else visible(letter)


@apart
def read_tagged(path: Path) -> TaggedFile:
    """The tagged sentences of a file, whose format is detected. Raises InputError naming the first invalid line."""
    TABLE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    text, encoding = decode(path.read_bytes())
    lines = LINE_END.split(text)
    LINES.check(len(lines))
    how, form, tag = ("CoNLL-U (universal parts of speech)", FORM, UPOS) if is_conllu(lines) else ("CoNLL", 0, -1)
    if tag == UPOS:
        found = conllu_sentences(lines)
    else:  # the word is in the first column, or in the second if the first is a count, and the tag in the last
        words = [line for line in lines if line.strip() and not line.startswith(("#", DOCUMENT))] or ["# O"]
        delimiter = "\t" if "\t" in words[0] else None
        width = len(words[0].rstrip().split(delimiter))
        form = int(width > 2 and [line.split(delimiter)[0] for line in words[:3]] == ["1", "2", "3"])
        found = _sentences(lines, delimiter, width)
    if not (sentences := tuple(_tag(rows, form, tag) for _, rows in found)):
        raise InputError("The file is empty. Write one word and its tag per line, and a blank line between sentences.")
    count = sum(len(sentence.words) for sentence in sentences)
    return TaggedFile(sentences, f"{len(sentences):,} sentences with {count:,} words, {how}, {encoding}.")


def check_tagged(words: object, tags: object, where: str) -> TaggedSentence:
    """A sentence from lists of words and tags of the same length; `where` names it in errors. Raises InputError."""
    refusal = f"{where} must have its words and its tags in lists."
    words, tags = limits.check_list(words, refusal), limits.check_list(tags, refusal)
    if not words:
        raise InputError(f"{where} has no words. Leave it out.")
    if len(words) != len(tags):
        raise InputError(f"{where} has {len(words):,} words and {len(tags):,} tags. Give every word one tag.")
    if sum(len(word) + 1 if isinstance(word, str) else 1 for word in words) > CHARACTERS.most:
        raise InputError(f"{where} has more than {CHARACTERS.most:,} characters. End the sentence earlier.")
    place = where[0].lower() + where[1:]
    checked = tuple(limits.check_text(word, f"word {number} of {place}") for number, word in enumerate(words, start=1))
    for number, tag in enumerate(tags, start=1):
        if isinstance(tag, bool) or not isinstance(tag, str | int) or not str(tag).strip():
            raise InputError(f"Word {number} of {place} has no tag. Give every word one.")
        limits.check_text(str(tag).strip(), f"the tag of word {number} of {place}", LABEL)
    return TaggedSentence(checked, tuple(str(tag).strip() for tag in tags))


def is_conllu(lines: Sequence[str]) -> bool:
    """Whether the first line with a word is numbered and has the columns of CoNLL-U."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "").split("\t")
    return len(first) == CONLLU_COLUMNS and _NUMBERED.fullmatch(first[ID]) is not None


def conllu_sentences(lines: Sequence[str]) -> Iterator[tuple[list[str], Rows]]:
    """The comments and the words of each sentence in CoNLL-U, without ranges and empty nodes. Raises InputError."""
    return _sentences(lines, "\t", CONLLU_COLUMNS, numbered=True)


def _sentences(
    lines: Sequence[str], delimiter: str | None, width: int, numbered: bool = False
) -> Iterator[tuple[list[str], Rows]]:
    """The comments and the rows of each sentence. Raises InputError.

    Where lines are `numbered`, those without a whole number, as ranges in CoNLL-U, are left out.
    """
    comments: list[str] = []
    rows: Rows = []
    for number, line in enumerate([*lines, ""], start=1):
        cells = [cell.strip() for cell in (line if numbered else line.rstrip()).split(delimiter)]
        if not line.strip():
            if rows:
                yield comments, rows
            comments, rows = [], []
        elif line.startswith(DOCUMENT) or (line.startswith("#") and (numbered or len(cells) != width)):
            comments.append(line)
        elif len(cells) != width or width == 1:
            said = f"Line {number:,} has {len(cells)} of {max(2, width)} columns"
            raise InputError(f"{said}. Write a word and its tag on each line, and the same number of columns.")
        elif not numbered or cells[ID].isdecimal():
            rows.append((number, cells))


def _tag(rows: Rows, form: int, tag: int) -> TaggedSentence:
    """A sentence from the columns of its words and tags. Raises InputError."""
    for number, cells in rows:
        if cells[tag] == "" or (tag == UPOS and cells[tag] == NONE):
            raise InputError(f"Line {number:,} has a word without a tag. Give every word one.")
    where = f"The sentence from line {rows[0][0]}"
    return check_tagged([cells[form] for _, cells in rows], [cells[tag] for _, cells in rows], where)


@cache
def _meanings() -> dict[str, str]:
    lines = (ASSETS / "corpus" / "dependencies.tsv").read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def plain(name: str) -> str:
    """The description of a tag or a relation, 'passive subject' for nsubj:pass, or of its main type; else the name."""
    return _meanings().get(name) or _meanings().get(name.partition(":")[0]) or name


def spell_out(name: str) -> str:
    """A tag or a relation with its description, 'passive subject (nsubj:pass)'; the name alone if unknown."""
    told = plain(name)
    return f"{told} ({name})" if told != name else name
