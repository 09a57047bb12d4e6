"""The points of a map: their sources, and the vector of each at every layer."""

from __future__ import annotations

import csv
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.projection import clusters, digest
from explorer.analysis.similarity import directions
from explorer.bert.explorer import Explorer
from explorer.bert.features import layer_features_in_steps
from explorer.bert.trace import Trace
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.lazy import sklearn
from explorer.core.limits import CARDS, TEXTS
from explorer.core.paths import EXAMPLES
from explorer.core.steps import map_steps
from explorer.text.encoding import MASK
from explorer.text.limits import check_texts
from explorer.text.lines import NO_LABEL, around
from explorer.text.pieces import Writing, bare
from explorer.text.tables import Table, find_column, text_column_of

SAMPLED_PIECES = 10_000
EXAMPLE_SETS = ("Topics", "Bank in two senses", "Questions", "Spam", "Sentiment")

Chosen = tuple[tuple[int, ...], str]
"""Some rows, and the key of their points; for other points they are ignored."""

NONE_CHOSEN: Chosen = ((), "")

ODD = re.compile(r"[*|\[\]]")  # characters that mark words or divide cells where items are typed
UNLABELLED = "unlabelled"  # the class of sentences without a label
FEW_LABELS = "Train needs two labels or more. Write | label after each line, or select points and label them."


@dataclass(frozen=True)
class Points:
    """A text and a label per point; states [layers + 1, n, hidden], or [1, n, hidden] if there is only one layer."""

    texts: list[str]
    labels: list[str]
    states: np.ndarray
    single: str = ""  # why there is only one layer
    contexts: Sequence[tuple[str, str]] = ()  # what comes before and after each word

    @functools.cached_property
    def key(self) -> str:
        return key_of(self.texts)


def key_of(texts: Sequence[str]) -> str:
    """A hash of the texts in order."""
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()


def read_texts(model: Explorer, texts: list[str], labels: list[str], pooling: str) -> Generator[tuple[str, float], None, Points]:
    """A point for each text; yields a sentence about the work and its share done. Raises InputError."""
    reading = layer_features_in_steps(model, check_texts(texts), pooling)
    states = yield from map_steps(reading, lambda share: (f"Reading {len(texts):,} texts: {share:.0%}", share))
    return Points(texts, labels, states, "The pooler reads the last layer only." if pooling == "pooler" else "")


@functools.cache
def example_lines(name: str) -> str:
    """One of EXAMPLE_SETS, as lines with a label after a |: the topics, the uses of a word, or examples that Train has too."""
    if name == EXAMPLE_SETS[0]:
        return (EXAMPLES / "topics.txt").read_text("utf-8").strip()
    word = "bank" if name == EXAMPLE_SETS[1] else None
    with (EXAMPLES / ("senses.csv" if word else f"{name.casefold()}.csv")).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.get("word") == word]
    return lines_of((row["text"] for row in rows), (row["label"] for row in rows))


def words_of(trace: Trace) -> Points:
    encoding = trace.encoding
    parts = [
        "special" if kind == "special" else f"segment {'AB'[part]}"
        for kind, part in zip(encoding.kinds, encoding.sequences, strict=True)
    ]
    texts = (encoding.text_a, encoding.text_b)
    contexts = [
        ("", "") if part < 0 else around(texts[part], start, end)
        for part, (start, end) in zip(encoding.sequences, encoding.offsets, strict=True)
    ]
    return Points(list(encoding.tokens), parts, trace.hidden_states, contexts=contexts)


def sample_vocabulary(model: Explorer, seed: int) -> Points:
    """Points for pieces of the vocabulary, sampled with the seed."""
    tokenizer = model.tokenizer
    ids = np.random.default_rng(seed).permutation(len(tokenizer))[:SAMPLED_PIECES].tolist()
    pieces = model.pieces(ids)
    why = f"{len(ids):,} of {len(tokenizer):,} pieces, as the table of word embeddings has them: before any layer."
    return Points(pieces, [piece_kind(piece, model.writing) for piece in pieces], model.word_table[ids][None], why)


def piece_kind(piece: str, writing: Writing = Writing.WORDPIECE) -> str:
    """The kind of a piece: a word, the rest of one, a number, a sign, or reserved."""
    if re.fullmatch(r"\[.+\]|<.+>|⟨.+⟩", piece):
        return "reserved"
    inside = bare(piece)
    if any(character.isdigit() for character in inside):
        return "number"
    if len(inside) == 1:
        return "single sign"
    marked = piece.startswith(writing.value)
    return "rest of a word" if marked == (writing is Writing.WORDPIECE) else "word"


def lines_of(texts: Iterable[str], labels: Iterable[str]) -> str:
    """Texts as lines that are typed, each with its label, if it has one, after a |."""
    pairs = zip(texts, labels, strict=True)
    rows = ((" ".join(text.replace("|", " ").split()), label) for text, label in pairs)
    return "\n".join(text if label in ("", NO_LABEL) else f"{text} | {label}" for text, label in rows if text)


def lines_of_file(table: Table) -> str:
    """The rows of a file: texts from the column of that name, else the longest; labels from that column, else the other of two.

    Too many are sampled.
    """
    text = text_column_of(table)
    others = [name for name in table.columns if name != text]
    label = find_column("label", table) or (others[0] if len(others) == 1 else "")
    rows = list(zip(table.column(text), table.column(label) if label else [""] * len(table.rows), strict=True))
    if len(rows) > TEXTS.most:
        rows = [rows[row] for row in np.sort(np.random.default_rng(0).choice(len(rows), TEXTS.most, replace=False))]
    return lines_of(*zip(*rows, strict=True))


def check_chosen(chosen: object) -> Chosen:
    """Valid rows with the key of their points; none for any other value."""
    match chosen:
        case [[*rows], str(key)]:
            whole = tuple(row for row in rows if type(row) is int and row >= 0)
            return (whole, key) if len(whole) == len(rows) else NONE_CHOSEN
    return NONE_CHOSEN


def rows_of(chosen: Chosen, points: Points) -> tuple[int, ...]:
    rows, key = chosen
    return tuple(row for row in rows if row < len(points.texts)) if key == points.key else ()


def classes_of(texts: Sequence[str], labels: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The name and the texts of each class, as Train's cards have them. Raises InputError for one label, and for too many."""
    classes: dict[str, list[str]] = {}
    for text, label in zip(texts, labels, strict=True):
        classes.setdefault(UNLABELLED if label == NO_LABEL else label, []).append(text)
    if len(classes) < 2:
        raise InputError(FEW_LABELS)
    CARDS.check(len(classes))
    return tuple((name, tuple(lines)) for name, lines in classes.items())


def items_of(model: Explorer, texts: Sequence[str], word: str = "") -> str:
    """Texts as lines of an experiment's items: text with a blank | its word | no foil, which means the model's best other guess.

    The blank is the word that was searched for, or the last word that is a single piece; a text without one is left out.
    Raises InputError where fewer than two are left.
    """
    lines = []
    for text in texts:
        encoding = model.encode(text)
        words = [(encoding.word(group), encoding.offsets[group[0]]) for group in encoding.text_words if len(group) == 1]
        words = [one for one in words if one[0].isalpha()]
        wanted = [one for one in words if model.as_searched(one[0]) == model.as_searched(word.strip())] or words
        if wanted and not ODD.search(text):
            own, (start, end) = wanted[-1]
            lines.append(f"{text[:start]}{MASK}{text[end:]} | {own} |")
    if len(lines) < 2:
        raise InputError("An experiment needs two sentences or more, each with a word that is a single piece.")
    return "\n".join(lines)


MOST = 8
WORDS = 3  # in a cluster's name
LIFT = 1.3  # times the cluster's share of all texts: the least share of a word's texts in it
WORD = re.compile(r"[^\W\d_]{3,}")
_kept: OnceCache[tuple[bytes, int], np.ndarray] = OnceCache(20)


def clusters_of(vectors: np.ndarray, texts: Sequence[str]) -> list[str]:
    """The name of the cluster of each text: k-means in the space of vectors [n, hidden], with k = √(n / 2), 2 to MOST.

    A name has the words that are most frequent in the cluster compared with all texts; where texts are single words, those
    nearest to its middle, signs and parts of words last.
    """
    number = int(np.clip(round((len(texts) / 2) ** 0.5), 2, MOST))
    found = _kept.get((digest(vectors), number), lambda: clusters(vectors, number))
    single = all(" " not in text for text in texts)
    words = [{text} if single else set(map(str.casefold, WORD.findall(text))) for text in texts]
    everywhere = Counter(word for own in words for word in own)
    names: dict[int, str] = {}
    for cluster in range(int(found.max()) + 1):
        rows = np.flatnonzero(found == cluster).tolist()
        best = _central(vectors[rows], [texts[row] for row in rows]) if single else _distinctive(rows, words, everywhere)
        name = ", ".join(best[:WORDS]) or f"cluster {cluster + 1}"
        names[cluster] = name if name not in names.values() else f"{name} ({cluster + 1})"
    return [names[cluster] for cluster in found.tolist()]


def _distinctive(rows: Sequence[int], words: Sequence[set[str]], everywhere: Counter[str]) -> list[str]:
    """Words by count in the cluster × the share of their texts that are in it: c-TF-IDF with a share for the logarithm."""
    inside = Counter(word for row in rows for word in words[row])
    usual = LIFT * len(rows) / len(words)
    common = sklearn.feature_extraction.text.ENGLISH_STOP_WORDS
    own = [word for word, count in inside.items() if word not in common and count / everywhere[word] > usual]
    often = [word for word in own if inside[word] > 1] or own
    return sorted(often, key=lambda word: (-(inside[word] ** 2) / everywhere[word], word))


def _central(vectors: np.ndarray, texts: Sequence[str]) -> list[str]:
    unit = directions(vectors)
    ordered = [texts[row] for row in np.argsort(-(unit @ unit.mean(axis=0)), kind="stable")]
    return [text for text in ordered if WORD.fullmatch(text)] or ordered
