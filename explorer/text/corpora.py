"""A corpus: many sentences, with parts of speech and syntax if the source has them. Plain data, without a model."""

import functools
import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, CORPUS_SENTENCES, LARGE, LINES, MEGABYTE, TABLE_MEGABYTES, Limit
from explorer.core.paths import ASSETS
from explorer.text import limits
from explorer.text.characters import decode, has_visible_characters, visible
from explorer.text.sentences import split_sentences
from explorer.text.tables import Table, read_table
from explorer.text.tagged import LINE_END, Sentence, find_starts, is_conllu, layout_of, read_sentences, split_words

FILE_MEGABYTES = Limit(40, LARGE)  # 20,000 sentences in CoNLL-U
TABLE_TYPES = (".csv", ".tsv", ".jsonl", ".json")
TAGGED_TYPES = (".conllu", ".conll", ".bio", ".iob")
CORPUS_FILE_TYPES = (".txt", *TABLE_TYPES, *TAGGED_TYPES)
TEXT_COLUMNS = ("text", "file")  # of a text
BUILT_IN = "the English Web Treebank and plain ones of our own"
LICENCE = "CC BY-SA 4.0"
NOTHING = "The file has no sentences. Choose a text, a table with a column of texts, or a treebank in CoNLL-U."


@dataclass(frozen=True)
class Corpus:
    """Sentences, of a corpus without repeats. `licence` is '' except for the built-in one; `about` says how a file was read."""

    name: str
    sentences: tuple[Sentence, ...]
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
        return sorted(self._counts["tag"])

    @functools.cached_property
    def relations(self) -> list[str]:
        return sorted(self._counts["relation"])

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
        """The occurrences of a word, as `searched` writes it: (sentence, word), zero-based. Raises InputError for none."""
        wanted = searched(word.strip())
        words = ((row, at, own) for row, sentence in enumerate(self.sentences) for at, own in enumerate(sentence.words))
        found = [(row, at) for row, at, own in words if searched(own) == wanted]
        if not found:
            raise InputError(f"The word {word.strip()[:40]!r} does not occur in this corpus. Choose another word.")
        return found

    def __hash__(self) -> int:
        return hash(self.key)


Source = Table | Corpus
"""What a reader returns: a table with columns of texts, or tagged sentences. The tab makes a corpus of both."""


@functools.cache
def built_in() -> Corpus:
    """The corpus that ships with the app, with parts of speech and syntax: see assets/corpus/README.md."""
    lines = (ASSETS / "corpus" / "sentences.conllu").read_text("utf-8").split("\n")
    return Corpus(BUILT_IN, tuple(read_sentences(lines)), LICENCE)


@apart
def read_source(path: Path) -> Source:
    """A table from CSV, TSV, JSON or a text, or a corpus from CoNLL-U or CoNLL. Raises InputError naming the first wrong line."""
    if path.suffix.lower() in TABLE_TYPES:
        return read_table(path)
    FILE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    text = decode(path.read_bytes())[0]
    lines = LINE_END.split(text)
    if path.suffix.lower() in TAGGED_TYPES or is_conllu(lines):
        return corpus_from(path.name, list(read_sentences(lines)), "CoNLL-U" if is_conllu(lines) else "CoNLL")
    return table_of_text(text, path.name)


@apart
def read_tagged(path: Path) -> Corpus:
    """The sentences of a file in CoNLL-U or CoNLL, each word with a tag. Raises InputError naming the first invalid line."""
    TABLE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    text, encoding = decode(path.read_bytes())
    lines = LINE_END.split(text)
    LINES.check(len(lines))
    if not (found := Corpus(path.name, tuple(read_sentences(lines, tagged=True)))).sentences:
        raise InputError("The file is empty. Write one word and its tag per line, and a blank line between sentences.")
    how = "CoNLL-U (universal parts of speech)" if is_conllu(lines) else f"CoNLL (tags: column {layout_of(lines).tag + 1})"
    return replace(found, about=f"{len(found.sentences):,} sentences with {found.words:,} words, {how}, {encoding}.")


def read_sources(paths: Sequence[Path]) -> Source:
    """Several files as one source: texts, tables with the same columns, or tagged sentences. Raises InputError."""
    first, *others = found = [read_source(path) for path in paths]
    name = f"{len(found):,} files"
    if not others:
        return first
    if len({getattr(source, "columns", None) for source in found}) > 1:
        raise InputError("These files do not go together. Choose texts only, tables with the same columns, or treebanks only.")
    if isinstance(first, Table):
        return replace(first, rows=tuple(row for table in found if isinstance(table, Table) for row in table.rows), name=name)
    return corpus_from(name, [sentence for one in found if isinstance(one, Corpus) for sentence in one.sentences], "CoNLL-U")


def table_of_text(text: str, name: str) -> Table:
    """The sentences of a text, one per row, with the name of its file. Raises InputError."""
    rows = tuple((sentence, name) for sentence in split_sentences(text))
    return Table(TEXT_COLUMNS, rows, f"{len(rows):,} sentences.", name)


def corpus_from(name: str, found: Sequence[Sentence], how: str) -> Corpus:
    """The sentences without repeats. Raises InputError when there are none or too many."""
    CORPUS_SENTENCES.check(len(found))
    first: dict[str, Sentence] = {}
    for sentence in found:
        first.setdefault(sentence.text, sentence)
    if not (kept := tuple(first.values())):
        raise InputError(NOTHING)
    made = Corpus(name[:60], kept)
    about = f"{_count(len(kept), 'sentence')} with {_count(made.words, 'word')}, {how}."
    if repeated := len(found) - len(kept):
        about += f" {_count(repeated, 'sentence')} came again and {'was' if repeated == 1 else 'were'} left out."
    return replace(made, about=about)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def sentences_of(texts: Sequence[str]) -> list[Sentence]:
    """The sentences in some rows, which errors count from 1; those without a word or a sign are skipped. Raises InputError."""
    CORPUS_SENTENCES.check(sum(map(has_visible_characters, texts)))
    found = []
    for number, line in enumerate(texts, start=1):
        CHARACTERS.check(len(line.strip()), f"row {number:,}")
        text = " ".join(visible(line).split())
        if words := split_words(text) if any(map(_is_read, text)) else []:
            limits.check_text(text, f"row {number:,}")
            found.append(Sentence(tuple(words), (), text, find_starts(text, words)))
    return found


def _is_read(character: str) -> bool:
    """Whether BERT's tokenizer keeps a character that stands alone: it drops combining accents, for instance."""
    return character != "\ufffd" and unicodedata.category(character)[0] not in "MCZ"
