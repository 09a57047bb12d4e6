"""The inputs of pre-training: two stretches of text, and whether the second follows the first.

Devlin et al. 2019, section 3.1, task 2: half of the time B is what really comes after A (IsNext), else it comes from another
document (NotNext). Two kinds are added, because people type short texts into a fill-mask box and long ones into a document box:
single sentences without B, and packs of contiguous text up to 512 pieces.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import InputError
from explorer.pretraining.corpus import Corpus

IS_NEXT, NOT_NEXT = 0, 1
"""BERT's labels: index 0 of the next-sentence head is 'B follows A'."""

GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Example:
    """One input without special tokens: the ids of A, and of B (None: no B, and no next-sentence label)."""

    a: NDArray[np.uint16]
    b: NDArray[np.uint16] | None = None
    next_label: int | None = None

    def __len__(self) -> int:
        return len(self.a) + (0 if self.b is None else len(self.b))


def evenly(n: int, among: NDArray[np.int64]) -> int:
    """The n-th entry of an endless walk over `among` that covers it evenly from the first step on.

    The fractional parts of n times the golden ratio are spread evenly (a low-discrepancy sequence), so less than one pass over
    the text rarely repeats a place, and a resumed run only needs n.
    """
    return int(among[int(n * GOLDEN % 1.0 * len(among))])


def starting_sentences(corpus: Corpus, pieces: int, sentences: int) -> NDArray[np.int64]:
    """All sentences of the documents with at least so many pieces and sentences.

    If fewer than two documents are long enough, only the number of sentences counts. Raises InputError if there are still fewer
    than two.
    """
    counts = np.diff(corpus.document_starts)  # [documents]
    lengths = np.diff(corpus.sentence_starts[corpus.document_starts])  # [documents]
    good = (counts >= sentences) & (lengths >= pieces)
    if good.sum() < 2:
        good = counts >= sentences
    if good.sum() < 2:
        raise InputError(f"Pairs need two documents of {sentences} sentences or more, with a blank line between them.")
    return np.flatnonzero(np.repeat(good, counts))


def window(corpus: Corpus, sentence: int, pieces: int, at_least: int, at_most: int | None = None) -> tuple[int, int]:
    """The sentences first .. last of one document around `sentence` that have `pieces` pieces or a little more.

    Grows forward to the end of the document, then backward. `at_least` and `at_most` limit the number of sentences; a shorter
    document is taken whole.
    """
    start, end = corpus.document_of(sentence)
    at_most = at_most or end - start
    first, last = sentence, sentence + 1
    while last - first < at_most and (last - first < at_least or corpus.length(first, last) < pieces):
        if last < end:
            last += 1
        elif first > start:
            first -= 1
        else:
            break
    return first, last


def pair(
    corpus: Corpus,
    sentence: int,
    length: int,
    rng: np.random.Generator,
    sentences: int | None = None,
    near: float = 0.0,
    others: Corpus | None = None,
) -> Example:
    """A sentence pair of at most `length` pieces, including three special tokens; IsNext or NotNext with equal probability.

    `sentences` limits the sentences of A and B together: 2 means one each, None no limit. For NotNext a share `near` of B comes
    from the same document, so that the topic alone does not decide; the rest comes from `others` (None: from another document of
    `corpus`).
    """
    room = length - 3
    first, last = window(corpus, sentence, room, 2, sentences)
    split = int(rng.integers(first + 1, last)) if last - first > 1 else last
    a = corpus.text(first, split)
    if rng.random() < 0.5 and split < last:
        return Example(*fit(a, corpus.text(split, last), room), IS_NEXT)
    # B is about as long as the true next text would be, so that its length gives nothing away.
    wanted = min(corpus.length(split, last), room - len(a))
    if near and rng.random() < near and (apart := _apart(corpus, first, last)):
        start, stop = apart[int(rng.integers(len(apart)))]
        b_first, b_last = start, _until(corpus, start, start + 1 if sentences else stop, wanted)
    else:
        strange = _elsewhere(corpus, sentence, rng) if others is None else int(rng.integers(others.sentences))
        corpus = corpus if others is None else others
        b_first, b_last = window(corpus, strange, wanted, 1, sentences and 1)
    return Example(*fit(a, corpus.text(b_first, b_last), room), NOT_NEXT)


def _apart(corpus: Corpus, first: int, last: int) -> list[tuple[int, int]]:
    """The sentences of a document not adjacent to first ..

    last, each with the sentence at which text starting there must stop.
    """
    start, end = corpus.document_of(first)
    return [(s, first) for s in range(start, first - 1)] + [(s, end) for s in range(last + 1, end)]


def _until(corpus: Corpus, first: int, stop: int, pieces: int) -> int:
    """The end (excluded) at which the text from `first` on has `pieces` pieces or a little more; `stop` at the latest."""
    return next((last for last in range(first + 1, stop) if corpus.length(first, last) >= pieces), stop)


def _elsewhere(corpus: Corpus, sentence: int, rng: np.random.Generator) -> int:
    """A random sentence of another document."""
    start, end = corpus.document_of(sentence)
    other = int(rng.integers(corpus.sentences - (end - start)))
    return other if other < start else other + (end - start)


def fit(a: NDArray[np.uint16], b: NDArray[np.uint16], room: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Cut the longer one until both fit. A loses its beginning and B its end, so that they still meet."""
    keep_a = min(len(a), max(room - len(b), (room + 1) // 2))
    keep_b = min(len(b), room - keep_a)
    return a[len(a) - keep_a :], b[:keep_b]


def single(corpus: Corpus, sentence: int, length: int) -> Example:
    """One sentence, cut so that it has at most `length` pieces with [CLS] and [SEP]."""
    return Example(corpus.text(sentence, sentence + 1)[: length - 2])


def unfinished(example: Example, ends: NDArray[np.bool_]) -> Example:
    """The example without the final mark of each text, as people type; `ends` [vocabulary] says which pieces are marks."""

    def without_end(text: NDArray[np.uint16]) -> NDArray[np.uint16]:
        return text[: len(text) - int(len(text) > 1 and ends[text[-1]])]

    b = None if example.b is None else without_end(example.b)
    return Example(without_end(example.a), b, example.next_label)


def pack(corpus: Corpus, sentence: int, length: int) -> Example:
    """Contiguous text of `length` pieces including [CLS] and [SEP], across the borders of documents."""
    start = int(corpus.sentence_starts[sentence])
    start = max(0, min(start, len(corpus.pieces) - (length - 2)))
    return Example(corpus.pieces[start : start + length - 2])
