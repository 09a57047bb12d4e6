"""Text for pre-training: from files of sentences to one long array of piece ids.

A corpus is a folder (or one file) of .txt or .txt.xz: UTF-8, a sentence a line, a blank line between documents.
Tokenised it is two bytes a piece, so 29 million pieces are 58 MB: small enough to keep in memory, and cached on disk.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.engine import transformers
from explorer.core.errors import InputError
from explorer.pretraining.overlap import Runs

LINES_AT_ONCE = 20_000  # per call of the tokenizer, which spreads them over the cores


@dataclass(frozen=True)
class Corpus:
    """Tokenized text without special tokens, all ids in one array."""

    pieces: NDArray[np.uint16]  # [pieces]
    sentence_starts: NDArray[np.int64]  # [sentences + 1]; s is pieces[sentence_starts[s] : sentence_starts[s + 1]]
    document_starts: NDArray[np.int64]  # [documents + 1]; d is the sentences document_starts[d] .. document_starts[d + 1]

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return len(self.sentence_starts) - 1

    @property
    def has_pairs(self) -> bool:
        """Whether at least two documents have two sentences or more, as pairs need."""
        return int((np.diff(self.document_starts) > 1).sum()) > 1

    def text(self, first: int, last: int) -> NDArray[np.uint16]:
        """The pieces of the sentences first .. last, `last` excluded."""
        return self.pieces[self.sentence_starts[first] : self.sentence_starts[last]]

    def alone(self) -> Corpus:
        """The same sentences, each as a document of its own."""
        return Corpus(self.pieces, self.sentence_starts, np.arange(self.sentences + 1))

    def length(self, first: int, last: int) -> int:
        """The number of pieces of the sentences first .. last, `last` excluded."""
        return int(self.sentence_starts[last] - self.sentence_starts[first])

    def document_of(self, sentence: int) -> tuple[int, int]:
        """The document of a sentence, as (its first sentence, the first sentence after it)."""
        d = int(np.searchsorted(self.document_starts, sentence, side="right")) - 1
        return int(self.document_starts[d]), int(self.document_starts[d + 1])


def corpus_files(folder: Path) -> list[Path]:
    """The text files of a corpus folder by name, without held-out ones; a path to a file gives that file.

    Raises InputError if there is nothing to read.
    """
    if folder.is_file():
        return [folder]
    files = sorted(p for p in folder.glob("*") if p.name.endswith((".txt", ".txt.xz")) and "heldout" not in p.name)
    if not files:
        raise InputError(f"There is no .txt or .txt.xz file in {folder}.")
    return files


def read_documents(path: Path) -> Iterator[list[str]]:
    """The documents of one file, each a list of its sentences."""
    opener = lzma.open if path.suffix == ".xz" else open
    document: list[str] = []
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            sentence = line.strip()
            if sentence:
                document.append(sentence)
            elif document:
                yield document
                document = []
    if document:
        yield document


def tokenize(documents: Sequence[list[str]], tokenizer: transformers.PreTrainedTokenizerBase) -> Corpus:
    """Tokenize documents; sentences without any piece are left out.

    Raises InputError if nothing is left, or if the vocabulary does not fit into 16 bits.
    """
    if len(tokenizer) > np.iinfo(np.uint16).max + 1:
        raise InputError(f"The vocabulary has {len(tokenizer):,} entries; pre-training here stores at most 65,536.")
    lines = [sentence for document in documents for sentence in document]
    lengths, parts = [], []
    for start in range(0, len(lines), LINES_AT_ONCE):
        chunk = lines[start : start + LINES_AT_ONCE]
        ids = tokenizer(chunk, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        lengths += [len(i) for i in ids]
        parts.append(np.concatenate([np.asarray(i, dtype=np.uint16) for i in ids]))
    if not sum(lengths):
        raise InputError("The corpus has no text.")
    sentence_starts = np.concatenate([[0], np.cumsum(lengths)])
    document_starts = np.concatenate([[0], np.cumsum([len(document) for document in documents])])
    return _without_empty(Corpus(np.concatenate(parts), sentence_starts, document_starts))


def _without_empty(corpus: Corpus) -> Corpus:
    """Drop sentences without pieces and documents without sentences, which a sampler cannot use."""
    keep = np.diff(corpus.sentence_starts) > 0  # [sentences]
    kept_before = np.concatenate([[0], np.cumsum(keep)])  # [sentences + 1]
    starts = np.append(corpus.sentence_starts[:-1][keep], corpus.sentence_starts[-1])
    return Corpus(corpus.pieces, starts, np.unique(kept_before[corpus.document_starts]))


def join(corpora: Sequence[Corpus]) -> Corpus:
    """Concatenate corpora."""
    piece_shifts = np.cumsum([0] + [len(c.pieces) for c in corpora])
    sentence_shifts = np.cumsum([0] + [c.sentences for c in corpora])
    sentence_starts = [c.sentence_starts[:-1] + shift for c, shift in zip(corpora, piece_shifts, strict=False)]
    document_starts = [c.document_starts[:-1] + shift for c, shift in zip(corpora, sentence_shifts, strict=False)]
    return Corpus(
        np.concatenate([c.pieces for c in corpora]),
        np.concatenate([*sentence_starts, piece_shifts[-1:]]),
        np.concatenate([*document_starts, sentence_shifts[-1:]]),
    )


def load_file(
    path: Path, tokenizer: transformers.PreTrainedTokenizerBase, cache: Path | None = None, without: Runs | None = None
) -> Corpus:
    """One text file as a Corpus, from `cache` if it was tokenized before; lines that contain one of `without` are left out."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    stored = None if cache is None else cache / f"{path.name}-{_fingerprint(path, tokenizer, without)}.npz"
    if stored is not None and stored.exists():
        with np.load(stored, allow_pickle=False) as arrays:
            return Corpus(**arrays)
    corpus = tokenize(_clean(list(read_documents(path)), without), tokenizer)
    if stored is None:
        return corpus
    stored.parent.mkdir(parents=True, exist_ok=True)
    unfinished = stored.with_name("unfinished-" + stored.name)
    np.savez(unfinished, **vars(corpus))
    unfinished.replace(stored)  # so that an interrupted run never leaves half a file under the final name
    return corpus


def _clean(documents: list[list[str]], without: Runs | None) -> list[list[str]]:
    """The documents without the lines that contain a run; the text before and after such a line becomes two documents."""
    if without is None:
        return documents
    lines = [sentence for document in documents for sentence in document]
    found = {line for line, _ in without.find_all(lines)}
    kept, number = [], 0
    for document in documents:
        part: list[str] = []
        for sentence in document:
            if number in found:
                kept.append(part)
                part = []
            else:
                part.append(sentence)
            number += 1
        kept.append(part)
    return [document for document in kept if document]


def load_corpus(
    folder: Path,
    tokenizer: transformers.PreTrainedTokenizerBase,
    cache: Path | None = None,
    repeats: dict[str, int] | None = None,
    without: Runs | None = None,
) -> Corpus:
    """A folder of text files as one Corpus. Raises InputError if there is no text.

    `repeats` says how often a file is read, by the start of its name: {"facts": 3}. Lines that contain one of `without` are left
    out.
    """
    corpora: list[Corpus] = []
    for path in corpus_files(folder):
        times = next((n for prefix, n in (repeats or {}).items() if path.name.startswith(prefix)), 1)
        corpora += [load_file(path, tokenizer, cache, without)] * times
    if not corpora:
        raise InputError(f"Nothing of {folder} is left to read.")
    return join(corpora)


def _fingerprint(path: Path, tokenizer: transformers.PreTrainedTokenizerBase, without: Runs | None) -> str:
    """A hash of the text, the vocabulary and what is left out, so that a stale cache is never read."""
    digest = hashlib.sha256(path.read_bytes())
    digest.update("\n".join(sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)).encode())
    digest.update("\n".join(without.sentences if without else ()).encode())
    return digest.hexdigest()[:16]
