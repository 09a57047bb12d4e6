"""Tagged words: how a text is split into words, and files with one word per line.

CoNLL-U (universaldependencies.org/format.html) has tags and syntax. CoNLL has the tag of a word in the last column, or in the
first of two, and a blank line between sentences, as in Tjong Kim Sang & De Meulder 2003.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, LABEL
from explorer.core.paths import ASSETS
from explorer.text import limits
from explorer.text.characters import has_visible_characters, visible

ID, FORM, UPOS, HEAD, RELATION, CONLLU_COLUMNS = 0, 1, 3, 6, 7, 10
NAMES_OF_TAGS = {"tag", "tags", "label", "labels", "ner", "ner_tag", "ner_tags", "pos"}  # in small letters, above their column
COMPARED = 50_000  # lines in which the columns are looked for
NONE = "_"  # an empty cell in CoNLL-U
ROOT = -1
LINE_END = re.compile(r"\r\n|\r|\n")  # other characters that Python counts as line ends may be part of a word
DOCUMENT = "-DOCSTART-"  # begins a document in CoNLL-2003, and is not a word

Rows = list[tuple[int, list[str]]]
"""The words of a sentence: the line of each, counted from 1, and its cells."""

_NUMBERED = re.compile(r"\d+([-.]\d+)?")  # numbers of words in CoNLL-U; a range is a word written as one, a decimal an empty node
_IOB = re.compile(r"O|[BIESLU]-.+").fullmatch
_TEXT = re.compile(r"#\s*text\s*=\s*(.*)")


class Layout(NamedTuple):
    """The zero-based columns of the words and of their tags, and the cells of the line that names the columns, if any."""

    delimiter: str | None
    width: int
    form: int
    tag: int
    names: Sequence[str] = ()


CONLLU = Layout("\t", CONLLU_COLUMNS, FORM, UPOS)


@dataclass(frozen=True)
class Sentence:
    """A sentence by its words; what the source does not contain is an empty tuple, and the text is ''.

    `starts` are the characters at which the words begin, `heads` the zero-based words on which each depends, ROOT for none. Tags
    are universal parts of speech, relations those of Universal Dependencies if the source is a treebank.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] = ()
    text: str = ""
    starts: tuple[int, ...] = ()
    heads: tuple[int, ...] = ()
    relations: tuple[str, ...] = ()


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


def find_starts(text: str, words: Sequence[str]) -> tuple[int, ...]:
    """The start of each word if the text consists of these words and whitespace; else nothing."""
    starts, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            return ()
        starts.append(start)
        end = start + len(word)
    return tuple(starts) if not text[end:].strip() else ()


def check_tagged(words: object, tags: object, where: str) -> Sentence:
    """A sentence from lists of words and tags of the same length; `where` names it in errors. Raises InputError."""
    refusal = f"{where} must have its words and its tags in lists."
    words, tags = limits.check_list(words, refusal), limits.check_list(tags, refusal)
    if not words:
        raise InputError(f"{where} has no words. Leave it out.")
    if len(words) != len(tags):
        raise InputError(f"{where} has {len(words):,} words and {len(tags):,} tags. Give every word one tag.")
    CHARACTERS.check(sum(len(word) + 1 if isinstance(word, str) else 1 for word in words) - 1, where)
    place = where[0].lower() + where[1:]
    checked = tuple(limits.check_text(word, f"word {number} of {place}") for number, word in enumerate(words, start=1))
    for number, tag in enumerate(tags, start=1):
        if isinstance(tag, bool) or not isinstance(tag, str | int) or not str(tag).strip():
            raise InputError(f"Word {number} of {place} has no tag. Give every word one.")
        limits.check_text(str(tag).strip(), f"the tag of word {number} of {place}", LABEL)
    return Sentence(checked, tuple(str(tag).strip() for tag in tags))


def is_conllu(lines: Sequence[str]) -> bool:
    """Whether the first line with a word is numbered and has the columns of CoNLL-U."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "").split("\t")
    return len(first) == CONLLU_COLUMNS and _NUMBERED.fullmatch(first[ID]) is not None


def read_sentences(lines: Sequence[str], tagged: bool = False) -> Iterator[Sentence]:
    """The sentences of CoNLL-U or CoNLL; if `tagged`, a word must have a tag. Raises InputError naming the first wrong line."""
    numbered = is_conllu(lines)
    layout = CONLLU if numbered else layout_of(lines)
    comments: list[str] = []
    rows: Rows = []
    for number, line in enumerate([*lines, ""], start=1):
        cells = [cell.strip() for cell in (line if numbered else line.rstrip()).split(layout.delimiter)]
        if not line.strip():
            if rows:
                yield _sentence(comments, rows, layout, tagged)
            comments, rows = [], []
        elif cells == layout.names or line.startswith(DOCUMENT) or (line[0] == "#" and (numbered or len(cells) != layout.width)):
            comments.append(line)
        elif len(cells) != layout.width or layout.width == 1:
            said = f"Line {number:,} has {len(cells)} of {max(2, layout.width)} columns"
            raise InputError(f"{said}. Write a word and its tag on each line, and the same number of columns.")
        elif not numbered or cells[ID].isdecimal():  # neither a range nor an empty node
            rows.append((number, cells))


def layout_of(lines: Sequence[str]) -> Layout:
    """The columns of CoNLL: tags are in the last one with different values, or in the first of two if it looks like tags."""
    words = (line.rstrip() for line in lines if line.strip() and not line.startswith(("#", DOCUMENT)))
    first, *more = [*islice(words, COMPARED)] or ["# O"]
    delimiter = "\t" if "\t" in first else None
    names, *rows = cells = [line.split(delimiter) for line in (first, *more)]
    width = len(names)
    headed = not NAMES_OF_TAGS.isdisjoint(map(str.lower, names)) and names not in rows
    columns = [[row[place] for row in cells[headed:] if len(row) == width] for place in range(width)]
    form = int(width > 2 and columns[0][:3] == ["1", "2", "3"])  # the first counts the words
    tag = next((place for place in range(width - 1, form, -1) if len({*columns[place]}) > 1), width - 1)
    tags_first = all(map(_IOB, columns[0])) or 2 * len({*columns[0]}) < len({*columns[-1]})
    if width == 2 and tags_first and not all(map(_IOB, columns[1])):
        form, tag = 1, 0
    return Layout(delimiter, width, form, tag, names if headed else [])


def _sentence(comments: Sequence[str], rows: Rows, layout: Layout, tagged: bool) -> Sentence:
    """A sentence from the columns of its words and tags and, for a corpus, of its syntax. Raises InputError."""
    form, treebank = layout.form, layout is CONLLU
    words = tuple(cells[form] for _, cells in rows)
    tags = tuple(cells[layout.tag] for _, cells in rows) if tagged else ()  # of any kind, while a corpus has parts of speech
    if treebank:
        tags = _column(rows, UPOS)
    heads, relations = (_column(rows, column) if treebank and not tagged else () for column in (HEAD, RELATION))
    for (number, cells), tag in zip(rows, tags or [""] * len(rows), strict=True):
        if not has_visible_characters(cells[form]):
            raise InputError(f"Line {number:,} has no word. Write one, or leave the line out.")
        if tagged and (not has_visible_characters(tag) or (treebank and tag == NONE)):
            raise InputError(f"Line {number:,} has a word without a tag. Give every word one.")
        LABEL.check(len(tag), f"the tag in line {number:,}")
        if heads and not (cells[HEAD].isdecimal() and len(cells[HEAD]) < 6 and int(cells[HEAD]) <= len(rows)):
            raise InputError(f"Line {number:,} has no head. Write the number of a word from 1 to {len(rows)}, or 0 for the root.")
    joined = limits.check_text(" ".join(words), f"the sentence from line {rows[0][0]:,}")
    comment = next((found[1] for found in map(_TEXT.match, reversed(comments)) if found), "")
    text = " ".join(comment.split())[: CHARACTERS.most]
    if not (starts := find_starts(text, words)):
        text, starts = joined, find_starts(joined, words)
    return Sentence(words, tags, text, starts, tuple(int(head) - 1 for head in heads), relations)


def _column(rows: Rows, column: int) -> tuple[str, ...]:
    """The cells of a column, or nothing if all are empty."""
    cells = tuple(cells[column] for _, cells in rows)
    return cells if any(cell not in ("", NONE) for cell in cells) else ()


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
