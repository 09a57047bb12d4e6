"""What the model reads in a step: inputs cut from the texts, and masked (Devlin et al. 2019, section 3.1).

A batch is a pure function of (seed, step). Every kind has one shape, since a model is compiled once per shape.
"""

from dataclasses import dataclass

import numpy as np
from text import Text

IS_NEXT, NOT_NEXT, NO_LABEL = 0, 1, -100
"""BERT's labels: index 0 of the next-sentence head is 'B follows A'. Losses ignore NO_LABEL."""

KINDS = {  # tokens of an input, share of the batches
    "pairs": (128, 0.45),  # A and B fill the length
    "short pairs": (64, 0.2),  # one sentence each
    "singles": (64, 0.2),  # one sentence, no B
    "long pairs": (512, 0.05),
    "running text": (512, 0.1),  # no B, across the borders of documents
}
NEAR = 0.1  # of the NotNext pairs: B comes from the same document, so that the topic alone does not decide
UNFINISHED = 0.3  # of the short inputs: without their final mark, as people type
ONE_BLANK = 0.5  # of the batches of singles: one word of content is hidden in each, as people do
TREATMENT = (0.8, 0.1)  # of the chosen pieces: become [MASK], become a random piece; the rest stays


@dataclass(frozen=True)
class Vocabulary:
    """The ids that batches are built with; the arrays [vocabulary] say what each piece is."""

    cls: int
    sep: int
    pad: int
    mask: int
    ordinary: np.ndarray  # ids that may replace a piece: no special or unused ones
    continues: np.ndarray  # bool: '##ing'
    content: np.ndarray  # bool: whole words of four letters or more
    ends: np.ndarray  # bool: marks at the end of a sentence

    @classmethod
    def of(cls, tokenizer) -> "Vocabulary":
        """The vocabulary of a WordPiece tokenizer with BERT's special tokens."""
        special = [getattr(tokenizer, f"{name}_token_id") for name in ("cls", "sep", "pad", "mask")]
        tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        banned = set(tokenizer.all_special_ids)
        ordinary = [id for id, token in enumerate(tokens) if id not in banned and not token.startswith("[unused")]
        continues = np.array([token.startswith("##") for token in tokens])
        content = np.array([token.isalpha() and len(token) > 3 for token in tokens])
        return cls(*special, np.array(ordinary), continues, content, np.isin(tokens, [".", "!", "?"]))


@dataclass(frozen=True)
class Batch:
    """One step's input, int64. `places` [batch, chosen] are the positions to predict, `targets` their ids or NO_LABEL."""

    input_ids: np.ndarray  # [batch, tokens]
    segments: np.ndarray  # [batch, tokens]
    real: np.ndarray  # [batch, tokens] bool, False at padding
    places: np.ndarray
    targets: np.ndarray
    next_labels: np.ndarray  # [batch] IS_NEXT, NOT_NEXT or NO_LABEL


class Stream:
    """`stream[step]` is a Batch of about `pieces` pieces, of one text drawn by its share and of one kind drawn by KINDS."""

    def __init__(self, texts: list[tuple[float, Text]], vocabulary: Vocabulary, pieces: int, rate: float, seed: int) -> None:
        shares = np.array([share for share, _ in texts])
        self.shares, self.texts = shares / shares.sum(), [text for _, text in texts]
        self.vocabulary, self.pieces, self.rate, self.seed = vocabulary, pieces, rate, seed
        self.pairing = [pair_starts(text) for text in self.texts]

    def __getitem__(self, step: int) -> Batch:
        """The batch of a step."""
        dice = np.random.default_rng([self.seed, step])
        number = int(dice.choice(len(self.texts), p=self.shares))
        shares = np.array([KINDS[kind][1] for kind in self.kinds(number)])
        kind = self.kinds(number)[dice.choice(len(shares), p=shares / shares.sum())]
        return self.of_kind(number, kind, dice, ONE_BLANK if kind == "singles" else 0.0)

    def kinds(self, number: int) -> list[str]:
        """The kinds of batch that a text gives; without documents of two sentences or more there are no pairs."""
        return [kind for kind in KINDS if len(self.pairing[number]) or "pairs" not in kind]

    def of_kind(self, number: int, kind: str, dice: np.random.Generator, one_blank: float = 0.0) -> Batch:
        """A batch of one kind from the text `number`; a share `one_blank` of them hides one word of content per input."""
        rows = [self.example(number, kind, dice) for _ in range(max(1, self.pieces // KINDS[kind][0]))]
        ids, segments, next_labels = lay_out(rows, KINDS[kind][0], self.vocabulary)
        return mask(ids, segments, next_labels, self.vocabulary, self.rate, dice, bool(dice.random() < one_blank))

    def example(self, number: int, kind: str, dice: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
        """A, B and the next-sentence label of one input; B is empty where there is none."""
        text, tokens = self.texts[number], KINDS[kind][0]
        if kind == "running text":
            start = int(dice.integers(max(1, len(text.pieces) - tokens)))
            return text.pieces[start : start + tokens - 2], text.pieces[:0], NO_LABEL
        if kind == "singles":
            sentence = int(dice.integers(len(text.sentences) - 1))
            a, b, label = text.between(sentence, sentence + 1)[: tokens - 2], text.pieces[:0], NO_LABEL
        else:
            start = int(dice.choice(self.pairing[number]))
            a, b, label = pair(text, start, tokens - 3, dice, kind == "short pairs")
        if tokens == 64 and dice.random() < UNFINISHED:
            a, b = (part[:-1] if len(part) > 1 and self.vocabulary.ends[part[-1]] else part for part in (a, b))
        return a, b, label


def pair_starts(text: Text) -> np.ndarray:
    """The sentences from documents of two or more; none unless there are two such documents."""
    counts = np.diff(text.documents)
    return np.flatnonzero(np.repeat((counts > 1) & ((counts > 1).sum() > 1), counts))


def window(text: Text, sentence: int, pieces: int, least: int) -> tuple[int, int]:
    """The sentences first … last of one document around `sentence`, at least so many and with so many pieces, if it has them."""
    start, end = text.document_of(sentence)
    first, last = sentence, sentence + 1
    while last - first < least or text.sentences[last] - text.sentences[first] < pieces:
        if last < end:
            last += 1
        elif first > start:
            first -= 1
        else:
            break
    return first, last


def pair(text: Text, start: int, room: int, dice: np.random.Generator, short: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """A and B with at most `room` pieces: B follows A, or is from elsewhere and about as long, each half of the time."""
    first, last = window(text, start, 0 if short else room, 2)
    split = first + 1 if short else int(dice.integers(first + 1, last))
    a, b = text.between(first, split), text.between(split, split + 1 if short else last)
    label = IS_NEXT
    if dice.random() < 0.5:
        label, wanted = NOT_NEXT, min(len(b), room - min(len(a), room))
        own_start, own_end = text.document_of(first)
        apart = [*range(own_start, first - 1), *range(last + 1, own_end)]
        if apart and dice.random() < NEAR:
            other = int(dice.choice(apart))
            b = text.between(other, other + 1)
        else:
            other = int(dice.integers(len(text.sentences) - 1 - (own_end - own_start)))
            other += (own_end - own_start) * (other >= own_start)
            b = text.between(*((other, other + 1) if short else window(text, other, wanted, 1)))
    keep_a = min(len(a), max(room - len(b), (room + 1) // 2))  # A loses its beginning and B its end, so that they still meet
    keep_b = min(len(b), room - keep_a)
    return a[len(a) - keep_a :], b[:keep_b], label


def lay_out(rows, tokens: int, vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[CLS] A [SEP] or [CLS] A [SEP] B [SEP] per row, padded: ids and segments [batch, tokens], next labels [batch]."""
    ids, segments = np.full((len(rows), tokens), vocabulary.pad), np.zeros((len(rows), tokens), np.int64)
    for row, (a, b, _) in enumerate(rows):
        whole = [vocabulary.cls, *a, vocabulary.sep, *([*b, vocabulary.sep] if len(b) else [])]
        ids[row, : len(whole)] = whole
        segments[row, len(a) + 2 : len(whole)] = 1
    return ids, segments, np.array([label for _, _, label in rows])


def mask(ids, segments, next_labels, vocabulary: Vocabulary, rate: float, dice, one_blank: bool = False) -> Batch:
    """Choose whole words with about `rate` of the pieces, at least one, and treat them as TREATMENT says.

    `one_blank` hides one word of content per input instead, always by [MASK].
    """
    eligible = ~np.isin(ids, [vocabulary.cls, vocabulary.sep, vocabulary.pad])
    starts = np.where(vocabulary.continues[ids], 0, np.arange(ids.shape[1]))
    lots = np.take_along_axis(dice.random(ids.shape), np.maximum.accumulate(starts, axis=1), axis=1)  # one lot per word
    if one_blank:
        lots = lots + ~vocabulary.content[ids]  # words of content first
    lots = np.where(eligible, lots, 9.0)
    wanted = np.ones(len(ids)) if one_blank else np.maximum(1, np.rint(rate * eligible.sum(1)))
    places = lots.argsort(axis=1, kind="stable")[:, : max(1, round(rate * ids.shape[1]))]  # the last word may be cut
    targets = np.take_along_axis(ids, places, 1)
    fits = (np.arange(places.shape[1]) < wanted[:, None]) & np.take_along_axis(eligible, places, 1)
    chance = dice.random(places.shape)
    to_mask, to_random = (1.0, 0.0) if one_blank else TREATMENT
    random = dice.choice(vocabulary.ordinary, places.shape)
    treated = np.select([chance < to_mask, chance < to_mask + to_random], [vocabulary.mask, random], targets)
    shown = ids.copy()
    np.put_along_axis(shown, places, np.where(fits, treated, targets), 1)
    return Batch(shown, segments, ids != vocabulary.pad, places, np.where(fits, targets, NO_LABEL), next_labels)
