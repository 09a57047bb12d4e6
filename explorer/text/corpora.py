"""A corpus: many sentences, with parts of speech and syntax if the source has them. Plain data, without a model.

CoNLL-U (universaldependencies.org/format.html) has tags and syntax; from a text or a table only the words are known.
"""

import functools
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, CORPUS_SENTENCES, LARGE, MEGABYTE, Limit
from explorer.core.paths import ASSETS
from explorer.text import limits
from explorer.text.characters import decode, has_visible_characters, visible
from explorer.text.sentences import split_sentences
from explorer.text.tables import Table, read_table, text_column_of
from explorer.text.tagged import FORM, HEAD, LINE_END, NONE, RELATION, UPOS, Rows, conllu_sentences, is_conllu, split_words

FILE_MEGABYTES = Limit(40, LARGE)  # 20,000 sentences in CoNLL-U
CORPUS_FILE_TYPES = (".txt", ".csv", ".tsv", ".jsonl", ".json", ".conllu", ".conll")
TABLE_TYPES = (".csv", ".tsv", ".jsonl", ".json")
TREEBANK_TYPE = ".conllu"
TEXT_COLUMNS = ("text", "file")  # of a text
ROOT = -1
BUILT_IN = "the English Web Treebank and plain ones of our own"
LICENCE = "CC BY-SA 4.0"

_FILE = ASSETS / "corpus" / "sentences.conllu"
_TEXT = re.compile(r"#\s*text\s*=\s*(.*)")


@dataclass(frozen=True)
class CorpusSentence:
    """A sentence and its words; what the source does not contain is an empty tuple.

    `starts` are the characters at which the words begin, `heads` the zero-based words on which each depends, ROOT for none. Tags
    are universal parts of speech, relations those of Universal Dependencies if the source is a treebank.
    """

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    tags: tuple[str, ...] = ()
    heads: tuple[int, ...] = ()
    relations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Corpus:
    """Sentences without repeats. `licence` is '' except for the built-in corpus; `about` says how a file was read."""

    name: str
    sentences: tuple[CorpusSentence, ...]
    licence: str = ""
    about: str = ""

    @functools.cached_property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.sentences]

    @functools.cached_property
    def words(self) -> int:
        return sum(len(sentence.words) for sentence in self.sentences)

    @functools.cached_property
    def nbytes(self) -> int:
        """The bytes that it takes in memory, about, for caches: adding up its million of strings would take a second."""
        return sum(500 + 2 * len(sentence.text) + 200 * len(sentence.words) for sentence in self.sentences)

    @functools.cached_property
    def tags(self) -> list[str]:
        return sorted({tag for sentence in self.sentences for tag in sentence.tags})

    @functools.cached_property
    def relations(self) -> list[str]:
        return sorted({relation for sentence in self.sentences for relation in sentence.relations})

    def share(self, what: str, value: str) -> float:
        """The share of all words, 0 to 1, with this "tag" or "relation"; for any other `what`, the share of the word itself."""
        return self._counts[what if what in ("tag", "relation") else "word"][value] / max(1, self.words)

    @functools.cached_property
    def _counts(self) -> dict[str, Counter[str]]:
        return {
            "tag": Counter(chain.from_iterable(sentence.tags for sentence in self.sentences)),
            "relation": Counter(chain.from_iterable(sentence.relations for sentence in self.sentences)),
            "word": Counter(word.lower() for sentence in self.sentences for word in sentence.words),
        }

    @property
    def counted(self) -> str:
        """The number of sentences, the name and the licence if there is one: '800 sentences of ... (CC BY-SA 4.0)'."""
        licence = f" ({self.licence})" if self.licence else ""
        return f"{_count(len(self.sentences), 'sentence')} of {self.name}{licence}"

    @functools.cached_property
    def key(self) -> str:
        digest = hashlib.sha256()
        for sentence in self.sentences:
            digest.update(repr(sentence).encode())
        return digest.hexdigest()[:32]

    def places(self, word: str, searched: Callable[[str], str] = str.casefold) -> list[tuple[int, int]]:
        """The occurrences of a word, ignoring case: (sentence, word), zero-based; `searched` returns the form to compare.

        Raises InputError when there are none.
        """
        wanted = searched(word.strip())
        words = ((row, at, own) for row, sentence in enumerate(self.sentences) for at, own in enumerate(sentence.words))
        found = [(row, at) for row, at, own in words if searched(own) == wanted]
        if not found:
            raise InputError(f"The word {word.strip()[:40]!r} does not occur in this corpus. Choose another word.")
        return found

    def __hash__(self) -> int:
        return hash(self.key)


Source = Table | Corpus
"""What a reader returns: a table with columns of texts, or a treebank. `corpus_of` makes a corpus of both."""


@functools.cache
def built_in() -> Corpus:
    """The corpus that ships with the app, with parts of speech and syntax: plain sentences, and English from the web.

    See assets/corpus/README.md.
    """
    return Corpus(BUILT_IN, tuple(_read_conllu(_FILE.read_text("utf-8").split("\n"))), LICENCE)


@apart
def read_source(path: Path) -> Source:
    """A file as a table, from CSV, TSV, JSON or a text (see `table_of_text`), or as a treebank in CoNLL-U.

    Raises InputError when there is nothing in it or too much, or naming the first line that is wrong.
    """
    if path.suffix.lower() in TABLE_TYPES:
        return read_table(path)
    FILE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    text = decode(path.read_bytes())[0]
    lines = LINE_END.split(text)
    if path.suffix.lower() == TREEBANK_TYPE or is_conllu(lines):
        return _corpus(path.name, list(_read_conllu(lines)), "CoNLL-U")
    return table_of_text(text, path.name)


def read_sources(paths: Sequence[Path]) -> Source:
    """Several files as one source: texts, tables with the same columns, or treebanks. Raises InputError."""
    found = [read_source(path) for path in paths]
    tables = [source for source in found if isinstance(source, Table)]
    treebanks = [source for source in found if isinstance(source, Corpus)]
    if len(found) == 1:
        return found[0]
    if not tables:
        return _corpus(f"{len(found):,} files", [sentence for corpus in treebanks for sentence in corpus.sentences], "CoNLL-U")
    if treebanks or len({table.columns for table in tables}) > 1:
        raise InputError("These files do not go together. Choose texts only, tables with the same columns, or treebanks only.")
    rows = tuple(chain.from_iterable(table.rows for table in tables))
    return replace(tables[0], rows=rows, name=f"{len(found):,} files")


def table_of_text(text: str, name: str) -> Table:
    """The sentences of a text, one per row, with the name of its file. Raises InputError."""
    rows = tuple((sentence, name) for sentence in split_sentences(text))
    return Table(TEXT_COLUMNS, rows, f"{len(rows):,} sentences.", name)


@functools.lru_cache(maxsize=4)
def corpus_of(source: Source, column: str = "") -> Corpus:
    """The sentences of a source without repeats, of a table those of a column: by default the one that has the texts.

    Raises InputError when there are none or too many, or naming the first row that is wrong.
    """
    if isinstance(source, Corpus):
        return source
    column = column if column in source.columns else text_column_of(source)
    how = "split at line ends and final marks" if source.columns == TEXT_COLUMNS else f"column {column!r}"
    return _corpus(source.name, _from_texts(source.column(column), "row"), how)


def _corpus(name: str, found: Sequence[CorpusSentence], how: str) -> Corpus:
    """The sentences without repeats. Raises InputError when there are none or too many."""
    CORPUS_SENTENCES.check(len(found))
    first: dict[str, CorpusSentence] = {}
    for sentence in found:
        first.setdefault(sentence.text, sentence)
    kept = tuple(first.values())
    if not kept:
        raise InputError("The file has no sentences. Choose a text, a table with a column of texts, or a treebank in CoNLL-U.")
    words = sum(len(sentence.words) for sentence in kept)
    about = f"{_count(len(kept), 'sentence')} with {_count(words, 'word')}, {how}."
    if repeated := len(found) - len(kept):
        about += f" {_count(repeated, 'sentence')} came again and {'was' if repeated == 1 else 'were'} left out."
    return Corpus(name[:60], kept, about=about)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _from_texts(texts: Sequence[str], what: str) -> list[CorpusSentence]:
    """The sentences in some lines or cells, which errors count as `what` from 1; those without a word or a sign are skipped."""
    CORPUS_SENTENCES.check(sum(map(has_visible_characters, texts)))
    found = []
    for number, line in enumerate(texts, start=1):
        CHARACTERS.check(len(line.strip()), f"{what} {number:,}")
        text = " ".join(visible(line).split())
        if words := split_words(text) if any(map(_is_read, text)) else []:
            limits.check_text(text, f"{what} {number:,}")
            found.append(CorpusSentence(text, tuple(words), _starts(text, words)))
    return found


def _is_read(character: str) -> bool:
    """Whether BERT's tokenizer keeps a character that stands alone: it drops combining accents, for instance."""
    return character != "\ufffd" and unicodedata.category(character)[0] not in "MCZ"


def _starts(text: str, words: Sequence[str]) -> tuple[int, ...]:
    """The start of each word if the text consists of these words and whitespace; else nothing."""
    starts, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            return ()
        starts.append(start)
        end = start + len(word)
    return tuple(starts) if not text[end:].strip() else ()


def _read_conllu(lines: Sequence[str]) -> Iterator[CorpusSentence]:
    """The sentences of a treebank. Raises InputError naming the first line that is wrong."""
    for comments, rows in conllu_sentences(lines):
        words = tuple(cells[FORM] for _, cells in rows)
        tags, heads, relations = (_column(rows, column) for column in (UPOS, HEAD, RELATION))
        for number, cells in rows:
            if not has_visible_characters(cells[FORM]):
                raise InputError(f"Line {number:,} has no word. Write one, or leave the line out.")
            if heads and not (cells[HEAD].isdecimal() and len(cells[HEAD]) < 6 and int(cells[HEAD]) <= len(rows)):
                raise InputError(
                    f"Line {number:,} has no head. Write the number of a word from 1 to {len(rows)}, or 0 for the root."
                )
        joined = limits.check_text(" ".join(words), f"the sentence from line {rows[0][0]:,}")
        comment = next((found[1] for found in map(_TEXT.match, reversed(comments)) if found), "")
        text = " ".join(comment.split())[: CHARACTERS.most]
        if not (starts := _starts(text, words)):
            text, starts = joined, _starts(joined, words)
        yield CorpusSentence(text, words, starts, tags, tuple(int(head) - 1 for head in heads), relations)


def _column(rows: Rows, column: int) -> tuple[str, ...]:
    """The cells of a column, or nothing if all are empty."""
    cells = tuple(cells[column] for _, cells in rows)
    return cells if any(cell not in ("", NONE) for cell in cells) else ()
