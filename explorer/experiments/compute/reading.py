"""Items as a model reads them, and the loop of all questions: items of one length are measured together, the shortest first."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import encode
from explorer.core.engine import inference_mode
from explorer.core.errors import InputError
from explorer.experiments.compute.items import FEWEST, Item, Mark
from explorer.experiments.compute.question import Batch, Question, ReadItem, Unusable
from explorer.text.encoding import Encoding

TOKENS_READ = 1024
"""Tokens of a batch with all copies of its items: enough to keep two cores busy, few enough for the caches."""


@inference_mode
def measure_all(question: Question, items: Sequence[ReadItem]) -> Generator[float, None, list[np.ndarray]]:
    """Measure items, the shortest first; yields the share done, 0 to 1. Returns `Measured.arrays` in the order of the items."""
    order = sorted(range(len(items)), key=lambda number: len(items[number].ids))
    ordered = [items[number] for number in order]
    before, count = question.preparing, sum(1 for _ in batch_items(question, ordered))
    for step, _ in enumerate(question.prepare(ordered), 1):
        yield before * min(1, step / count)
    rows, done, tokens = [], 0, sum(len(item.ids) for item in items)
    for batch in batch_items(question, ordered):
        rows.append(question.measure(batch).arrays(batch))
        done += sum(len(item.ids) for item in batch.items)
        yield before + (1 - before) * done / tokens
    return [np.concatenate(parts)[np.argsort(order)] for parts in zip(*rows, strict=True)]


def batch_items(question: Question, items: Sequence[ReadItem], copies: int = 0) -> Iterator[Batch]:
    """Batches of equal lengths, none with more than TOKENS_READ tokens in `copies`, or those of the question's cost."""
    start = 0
    while start < len(items):
        length = len(items[start].ids)
        stop, most = start + 1, max(1, TOKENS_READ // ((copies or question.cost[0]) * length))
        while stop < min(len(items), start + most) and len(items[stop].ids) == length:
            stop += 1
        yield Batch(question, items[start:stop])
        start = stop


def read_items_as(
    question: Question, items: Sequence[Item], numbers: Sequence[int] = ()
) -> tuple[list[ReadItem], dict[int, str]]:
    """The items that the question can be asked about, and why not about the others, by their number from 1; repeats count once.

    `numbers` are those of the items, which seed what is drawn for each; from 1 on if none are given.

    Raises InputError naming an item that is wrong in itself, and where fewer than two items are left.
    """
    encoded = encode(question.model, [(item.text_a, item.text_b) if item.text_b else item.text_a for item in items])
    found, left_out = [], {}
    first: dict[Item, int] = {}
    for number, item, (ids, segments) in zip(numbers or range(1, len(items) + 1), items, encoded, strict=True):
        if first.setdefault(item, number) != number:
            left_out[number] = f"it repeats item {first[item]}; a repeated item counts once."
            continue
        try:
            place, word, foil = question.read(item, ids)
            read = ReadItem(item, ids, segments, place, word, foil, number)
            read = _with_marks(question.model, read) if question.needs_marks else read
            question.usable(read)
        except Unusable as error:
            left_out[number] = str(error)
        except InputError as error:
            raise InputError(f"{str(error).rstrip('.')} (item {number}).") from error
        else:
            found.append(read)
    if len(found) < FEWEST:
        number, why = next(iter(left_out.items()))
        raise InputError(f"At least two items must fit the question. Item {number} does not: {why}")
    return found, left_out


def _with_marks(model: Explorer, read: ReadItem) -> ReadItem:
    """The item with the tokens of its marks, of its other words (no punctuation), and the ids of its changed text."""
    item, encoding = read.item, model.encode(read.item.text_a, read.item.text_b)
    texts = encoding.text_a, encoding.text_b
    marks = tuple(_tokens(encoding, mark) for mark in item.marks)
    taken = {token for mark in marks for token in mark} | set(model.mask_positions(encoding))

    def is_word(tokens: Sequence[int]) -> bool:  # a full stop is looked at unlike any word, and would make a poor comparison
        written = "".join(texts[encoding.sequences[at]][slice(*encoding.offsets[at])] for at in tokens)
        return any(map(str.isalnum, written))

    others = tuple(tuple(word) for word in encoding.text_words if taken.isdisjoint(word) and is_word(word))
    changed = model.encode(*item.changed).ids if item.changed else ()
    return replace(read, marks=tuple(filter(None, marks)), others=others, changed=changed)


def _tokens(encoding: Encoding, mark: Mark) -> tuple[int, ...]:
    """The tokens of a marked stretch of text; none where it was cut off."""
    spans = enumerate(zip(encoding.sequences, encoding.offsets, strict=True))
    return tuple(
        at
        for at, (sequence, (start, end)) in spans
        if sequence == mark.text and start < mark.end and end > mark.start and start < end
    )
