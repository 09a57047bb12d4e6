"""What the model reads in a step: inputs cut from the texts, packed into rows, and masked (Devlin et al. 2019, section 3.1).

A row has 128 or 512 pieces and holds as many inputs as fit, each with positions from 0 and a number of its own: it attends to the
pieces with its number only. So hardly any row has padding, and an input is read as if it were alone. A batch is a pure function
of (seed, step). All rows of a batch are of one length, since a model is compiled once per shape.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from text import Text

IS_NEXT, NOT_NEXT, NO_LABEL = 0, 1, -100
"""BERT's labels: index 0 of the next-sentence head is 'B follows A'. Losses ignore NO_LABEL."""

KINDS = {  # pieces of a row, share of all pieces; a row has inputs of one text and one kind
    "pairs": (128, 0.45),  # A and B fill the row, if their document is long enough
    "short pairs": (128, 0.2),  # one sentence each
    "singles": (128, 0.2),  # one sentence, no B
    "long pairs": (512, 0.05),
    "running text": (512, 0.1),  # no B, across the borders of documents
}
ROOM = 16  # pieces that a row must have left for another input, which is cut to them
FEWEST = 8  # pieces per input in a row, on average
NEAR = 0.1  # of the NotNext pairs: B comes from the same document, so that the topic alone does not decide
UNFINISHED = 0.3  # of the short inputs: without their final mark, as people type
ONE_BLANK = 0.5  # of the rows of singles: one word of content is hidden in each, as people do
CHOSEN = 0.23  # of the pieces of a batch are predicted at most
TREATMENT = (0.8, 0.1)  # of the chosen pieces: become [MASK], become a random piece; the rest stays

Input = tuple[np.ndarray, np.ndarray, int]
"""A, B and the next-sentence label; B is empty where there is none."""


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


class Batch(NamedTuple):
    """One step's rows, int64. Where a row has fewer inputs than another, `starts` is 0 and `next_labels` NO_LABEL."""

    input_ids: torch.Tensor  # [rows, pieces]
    originals: torch.Tensor  # [rows, pieces] the ids before masking
    segments: torch.Tensor  # [rows, pieces]
    positions: torch.Tensor  # [rows, pieces] within the input
    owners: torch.Tensor  # [rows, pieces] number of the input in its row, from 1; 0 is padding
    starts: torch.Tensor  # [rows, inputs] place of [CLS]
    next_labels: torch.Tensor  # [rows, inputs] IS_NEXT, NOT_NEXT or NO_LABEL
    places: torch.Tensor  # [chosen] places to predict, as if the rows were one
    targets: torch.Tensor  # [chosen] their pieces, or NO_LABEL

    def to(self, device: str | torch.device) -> "Batch":
        """The same on a device."""
        return Batch(*(values.to(device, non_blocking=True) for values in self))


class Stream:
    """`stream[step]` is a Batch of about `pieces` pieces: one row length, and a text and a kind drawn by their shares per row."""

    def __init__(self, texts: list[tuple[float, Text]], vocabulary: Vocabulary, pieces: int, rates, seed: int) -> None:
        """`rates`: the least and the greatest share of an input's pieces that is chosen."""
        shares = np.array([share for share, _ in texts])
        self.shares, self.texts = shares / shares.sum(), [text for _, text in texts]
        self.vocabulary, self.pieces, self.rates, self.seed = vocabulary, pieces, rates, seed
        self.pairing = [pair_starts(text) for text in self.texts]
        self.lengths = sorted({length for length, _ in KINDS.values()})

    def __getitem__(self, step: int) -> Batch:
        """The batch of a step."""
        dice = np.random.default_rng([self.seed, step])
        shares = [sum(share for own, share in KINDS.values() if own == length) for length in self.lengths]
        return self.of_length(int(dice.choice(self.lengths, p=shares)), dice)

    def of_length(self, length: int, dice: np.random.Generator) -> Batch:
        """A batch of rows with `length` pieces."""
        picks = []
        for number in dice.choice(len(self.texts), max(1, self.pieces // length), p=self.shares):
            kinds = [kind for kind in self.kinds(number) if KINDS[kind][0] == length]
            shares = np.cumsum([KINDS[kind][1] for kind in kinds])
            picks.append((number, kinds[int(np.searchsorted(shares, dice.random() * shares[-1], side="right"))]))
        return self.of(picks, dice, length // FEWEST, ONE_BLANK)

    def of_kind(self, number: int, kind: str, dice: np.random.Generator) -> Batch:
        """A batch of one kind from the text `number`, one input per row: to score on."""
        return self.of([(number, kind)] * max(1, self.pieces // KINDS[kind][0]), dice, 1, 0.0)

    def of(self, picks: list[tuple[int, str]], dice: np.random.Generator, most: int, one_blank: float) -> Batch:
        """A batch with a row per pick, a text's number and a kind; at most `most` inputs in each."""
        rows = [self.row(number, kind, dice, most) for number, kind in picks]
        blanks = np.array([kind == "singles" and dice.random() < one_blank for _, kind in picks])
        return mask(lay_out(rows, KINDS[picks[0][1]][0], self.vocabulary), self.vocabulary, self.rates, dice, blanks)

    def kinds(self, number: int) -> list[str]:
        """The kinds of input that a text gives; without documents of two sentences or more there are no pairs."""
        return [kind for kind in KINDS if len(self.pairing[number]) or "pairs" not in kind]

    def row(self, number: int, kind: str, dice: np.random.Generator, most: int) -> list[Input]:
        """At most `most` inputs that fill a row."""
        inputs, room = [], KINDS[kind][0]
        while room >= ROOM and len(inputs) < most:
            inputs.append(self.example(number, kind, room, dice))
            room -= size_of(*inputs[-1][:2])
        return inputs

    def example(self, number: int, kind: str, room: int, dice: np.random.Generator) -> Input:
        """An input of one kind, of at most `room` pieces with its special tokens."""
        text = self.texts[number]
        if kind == "running text":
            start = int(dice.integers(max(1, len(text.pieces) - room)))
            return text.pieces[start : start + room - 2], text.pieces[:0], NO_LABEL
        if kind == "singles":
            sentence = int(dice.integers(len(text.sentences) - 1))
            a, b, label = text.between(sentence, sentence + 1)[: room - 2], text.pieces[:0], NO_LABEL
        else:
            start = int(self.pairing[number][dice.integers(len(self.pairing[number]))])
            a, b, label = pair(text, start, room - 3, dice, kind == "short pairs")
        if kind in ("singles", "short pairs") and dice.random() < UNFINISHED:
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


def size_of(a: np.ndarray, b: np.ndarray) -> int:
    """Pieces of an input with its special tokens: [CLS] A [SEP] or [CLS] A [SEP] B [SEP]."""
    return len(a) + 2 + (len(b) + 1 if len(b) else 0)


def lay_out(rows: list[list[Input]], length: int, vocabulary: Vocabulary) -> list[np.ndarray]:
    """Originals, segments, positions, owners, starts and next labels of a Batch."""
    ids, starts = np.full((len(rows), length), vocabulary.pad), np.zeros((len(rows), length // FEWEST), np.int64)
    segments, positions, owners, next_labels = *(np.zeros_like(ids) for _ in range(3)), np.full_like(starts, NO_LABEL)
    for row, inputs in enumerate(rows):
        start = 0
        for number, (a, b, label) in enumerate(inputs):
            middle, end = start + len(a) + 2, start + size_of(a, b)
            ids[row, start], ids[row, start + 1 : middle - 1], ids[row, middle - 1] = vocabulary.cls, a, vocabulary.sep
            if len(b):
                ids[row, middle : end - 1], ids[row, end - 1] = b, vocabulary.sep
            segments[row, middle:end] = 1
            positions[row, start:end] = np.arange(end - start)
            owners[row, start:end] = number + 1
            starts[row, number], next_labels[row, number] = start, label
            start = end
    return [ids, segments, positions, owners, starts, next_labels]


def mask(rows: list[np.ndarray], vocabulary: Vocabulary, rates, dice: np.random.Generator, one_blank: np.ndarray) -> Batch:
    """Choose whole words of every input, at least one, and treat them as TREATMENT says.

    Their share of the input's pieces is drawn between the two `rates`. In rows of `one_blank` [MASK] hides one word of content
    per input instead.
    """
    ids, owners = rows[0], rows[3]
    inputs = (owners + np.arange(len(ids))[:, None] * (owners.max() + 1)).ravel()  # one number per input of the batch
    eligible = ~np.isin(ids, [vocabulary.cls, vocabulary.sep, vocabulary.pad])
    words = np.maximum.accumulate(np.where(vocabulary.continues[ids], 0, np.arange(ids.shape[1])), axis=1)
    lots = np.take_along_axis(dice.random(ids.shape), words, axis=1)  # one lot per word
    lots = np.where(eligible, lots + (one_blank[:, None] & ~vocabulary.content[ids]), 9.0)  # words of content first
    order = np.lexsort((lots.ravel(), inputs))  # stable: the last word may be cut
    counts = np.bincount(inputs[eligible.ravel()], minlength=inputs.max() + 1)
    wanted = np.maximum(1, np.rint(dice.uniform(*rates, len(counts)) * counts))[inputs]
    blank = np.repeat(one_blank, ids.shape[1])
    ranks = np.arange(len(order)) - np.searchsorted(inputs[order], inputs[order])
    chosen = order[(ranks < np.where(blank, 1, wanted)[order]) & eligible.ravel()[order]]
    chosen = np.sort(chosen)[: int(CHOSEN * ids.size)]

    targets = ids.ravel()[chosen]
    chance, random = dice.random(len(chosen)), dice.choice(vocabulary.ordinary, len(chosen))
    to_mask, to_random = np.where(blank[chosen], [[1.0], [0.0]], np.array(TREATMENT)[:, None])
    shown = ids.copy()
    np.put(shown, chosen, np.select([chance < to_mask, chance < to_mask + to_random], [vocabulary.mask, random], targets))
    missing = (0, int(CHOSEN * ids.size) - len(chosen))
    padded = np.pad(chosen, missing), np.pad(targets, missing, constant_values=NO_LABEL)
    return Batch(*map(torch.from_numpy, (shown, *rows, *padded)))
