"""The corpus that a visitor chooses: texts, tables with a column of texts, or treebanks."""

import functools
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, CORPUS_SENTENCES, LARGE, MEGABYTE, Limit
from explorer.text import limits
from explorer.text.characters import decode, has_visible_characters, visible
from explorer.text.corpora import TAGGED_TYPES, Corpus, plural
from explorer.text.sentences import split_sentences
from explorer.text.tables import Table, read_table
from explorer.text.tagged import LINE_END, Sentence, find_starts, is_conllu, read_sentences, split_words
from explorer.training.columns import guess_columns

FILE_MEGABYTES = Limit(40, LARGE)  # 20,000 sentences in CoNLL-U
TABLE_TYPES = (".csv", ".tsv", ".jsonl", ".json")
CORPUS_FILE_TYPES = (".txt", *TABLE_TYPES, *TAGGED_TYPES)
TEXT_COLUMNS = ("text", "file")  # of a text
NOTHING = "The file has no sentences. Choose a text, a table with a column of texts, or a treebank in CoNLL-U."

Source = Table | Corpus
"""What a reader returns: a table with columns of texts, or tagged sentences. `corpus_of` makes a corpus of both."""


@apart
def read_source(path: Path) -> Source:
    """A table from CSV, TSV, JSON or a text, or a corpus from CoNLL-U or CoNLL. Raises InputError naming the first wrong line."""
    if path.suffix.lower() in TABLE_TYPES:
        return read_table(path)
    FILE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    text = decode(path.read_bytes())[0]
    lines = LINE_END.split(text)
    if path.suffix.lower() in TAGGED_TYPES or is_conllu(lines):
        return _corpus(path.name, list(read_sentences(lines)), "CoNLL-U" if is_conllu(lines) else "CoNLL")
    return table_of_text(text, path.name)


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
    return _corpus(name, [sentence for one in found if isinstance(one, Corpus) for sentence in one.sentences], "CoNLL-U")


def table_of_text(text: str, name: str) -> Table:
    """The sentences of a text, one per row, with the name of its file. Raises InputError."""
    rows = tuple((sentence, name) for sentence in split_sentences(text))
    return Table(TEXT_COLUMNS, rows, f"{len(rows):,} sentences.", name)


def text_column_of(table: Table) -> str:
    """The column of the texts, guessed as for examples to learn from."""
    return TEXT_COLUMNS[0] if table.columns == TEXT_COLUMNS else guess_columns(table).text


@functools.lru_cache(maxsize=4)
def corpus_of(source: Source, column: str = "") -> Corpus:
    """The sentences of a source; of a table, of `column` or its column of texts. Raises InputError naming the first wrong row."""
    if isinstance(source, Corpus):
        return source
    column = column if column in source.columns else text_column_of(source)
    how = "split at line ends and final marks" if source.columns == TEXT_COLUMNS else f"column {column!r}"
    return _corpus(source.name, _from_texts(source.column(column)), how)


def _corpus(name: str, found: Sequence[Sentence], how: str) -> Corpus:
    """The sentences without repeats. Raises InputError when there are none or too many."""
    CORPUS_SENTENCES.check(len(found))
    first: dict[str, Sentence] = {}
    for sentence in found:
        first.setdefault(sentence.text, sentence)
    if not (kept := tuple(first.values())):
        raise InputError(NOTHING)
    made = Corpus(name[:60], kept)
    about = f"{plural(len(kept), 'sentence')} with {plural(made.words, 'word')}, {how}."
    if repeated := len(found) - len(kept):
        about += f" {plural(repeated, 'sentence')} came again and {'was' if repeated == 1 else 'were'} left out."
    return replace(made, about=about)


def _from_texts(texts: Sequence[str]) -> list[Sentence]:
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
