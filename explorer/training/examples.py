"""Labelled texts, single or in pairs: the training data of classifiers and regressors."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from explorer.core.errors import InputError
from explorer.core.limits import CLASSES, LABEL, TRAINING_EXAMPLES, Limit
from explorer.text import limits
from explorer.text.lines import Pair

HELD_OUT_SHARE = 0.2

Row = TypeVar("Row")


@dataclass(frozen=True)
class Examples:
    """Texts with one label each; `texts_b` are the second texts of pairs, one per example, or empty.

    Examples with the same entry in `groups`, such as a sentence and its variant with one mistake, end up on the same side of a
    split.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    texts_b: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()  # one per example, or empty
    order: tuple[str, ...] = ()  # of the labels, where a person has given them one

    @cached_property
    def classes(self) -> list[str]:
        """The different labels, in their `order` and, without one, in alphabetical order."""
        there = set(self.labels)
        return [label for label in self.order if label in there] or sorted(there)

    @cached_property
    def targets(self) -> np.ndarray:
        """[examples] int64: the index of each example's label among the classes."""
        places = {label: place for place, label in enumerate(self.classes)}
        return np.array([places[label] for label in self.labels], dtype=np.int64)

    @property
    def strata(self) -> Sequence[str]:
        """The stratum of each example: a share of every stratum is held out."""
        return self.labels

    @cached_property
    def pairs(self) -> list[Pair]:
        return list(zip(self.texts, self.texts_b or ("",) * len(self.texts), strict=True))

    @property
    def counts(self) -> dict[str, int]:
        """The number of examples of each class, in the order of the classes."""
        counted = Counter(self.labels)
        return {label: counted[label] for label in self.classes}

    def draw(self, most: int) -> "Examples":
        """These examples, or a random sample of `most` if there are more."""
        rows, _ = sample_rows(range(len(self)), most, "examples")
        columns = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "order"}
        return replace(self, **{name: tuple(column[row] for row in rows) for name, column in columns.items() if column})

    def split(self, seed: int, share: float = HELD_OUT_SHARE) -> "Split":
        """Indices to train on and to hold out: about `share` of each stratum, at least one example, by the seed.

        Equal texts (ignoring case and whitespace) stay on one side, so that nothing held out was trained on, even with another
        label; so do examples of one group, which counts for the class of its first. Raises InputError when nothing of a class can
        be held out.
        """
        strata = self.strata
        by_class: dict[str, list[list[int]]] = {label: [] for label in sorted(set(strata))}
        for rows in _same_texts(self):
            by_class[strata[rows[0]]].append(rows)

        rng = np.random.default_rng(seed)
        held_out: list[int] = []
        for label, mine in by_class.items():
            if len(mine) < 2 and strata is self.labels and not self.groups:  # fifths of the numbers need none held out
                raise InputError(f"All examples of the label {label[:40]!r} are identical. Add different ones.")
            held_out += draw_groups(mine, share, rng)
        return Split.of(held_out, len(self))

    def __len__(self) -> int:
        return len(self.texts)


FIFTHS = ("lowest", "low", "middle", "high", "highest")


@dataclass(frozen=True)
class ScoredExamples(Examples):
    """Texts with a number each; `labels` keep the numbers as they were written."""

    numbers: tuple[float, ...] = ()

    @cached_property
    def strata(self) -> Sequence[str]:
        """The fifth of the sorted numbers to which each example belongs."""
        ranks = np.argsort(np.argsort(self.numbers, kind="stable"), kind="stable")
        return [FIFTHS[len(FIFTHS) * rank // len(ranks)] for rank in ranks]


class Split(NamedTuple):
    """Indices of the examples to train on and of those held out, both in ascending order."""

    train: np.ndarray
    held_out: np.ndarray

    @classmethod
    def of(cls, held_out: Sequence[int], examples: int) -> "Split":
        """A split that holds out these of so many examples, and trains on all others."""
        held = np.sort(np.array(held_out, dtype=np.int64))
        return cls(np.setdiff1d(np.arange(examples), held), held)


def sample_rows(rows: Sequence[Row], most: int, what: str) -> tuple[list[Row], str]:
    """The rows and '', or a random sample of `most` of them, always the same, and a phrase about it with `what` they are."""
    if len(rows) <= most:
        return list(rows), ""
    drawn = np.random.default_rng(0).choice(len(rows), most, replace=False)
    return [rows[place] for place in sorted(drawn)], f"{most:,} of {len(rows):,} {what} drawn at random"


def sent_examples(given: object, form: str, each: str, most: Limit, *lengths: int) -> Iterator[tuple[str, Sequence[Any]]]:
    """The name and the row of each example in a list that was sent, at most `most`, with rows of one of these lengths.

    `form` is that of a row, and `each` what an example is, in words. Raises InputError.
    """
    given = limits.check_list(given, f"Send the examples as a list of {form}.")
    most.check(len(given), "examples")
    for number, row in enumerate(given, start=1):
        yield f"example {number}", limits.check_list(row, f"Example {number} is not {each}.", *lengths)


def check_examples(given: object) -> Examples:
    """Examples from [[text, label], ...] or, for pairs, [[text, second text, label], ...].

    Raises InputError unless there are at least 2 classes with 2 examples each.
    """
    texts, texts_b, labels = [], [], []
    for name, row in sent_examples(given, "[text, label]", "a pair of a text and a label", TRAINING_EXAMPLES, 2, 3):
        first, second, label = row if len(row) == 3 else (row[0], "", row[1])
        texts.append(limits.check_text(first, f"the text of {name}"))
        texts_b.append(limits.check_optional_text(second, f"the second text of {name}"))
        if isinstance(label, bool) or not isinstance(label, str | int | float) or not str(label).strip():
            raise InputError(f"{name.capitalize()} has no label. Give it a word or a number.")
        labels.append(limits.check_text(str(label).strip(), f"the label of {name}", LABEL))
    check_classes(Counter(labels))
    return Examples(tuple(texts), tuple(labels), tuple(texts_b) if any(texts_b) else ())


def check_texts_or_pairs(texts: object) -> list[Pair]:
    """Texts to classify, from a list of texts or of [text, second text]. Raises InputError naming the first invalid one."""
    texts = limits.check_list(texts, "Send the texts as a list of sentences.")
    pairs = [text if limits.is_list(text, 2) else (text, "") for text in texts]
    firsts = limits.check_texts([first for first, _ in pairs])
    return [
        (first, limits.check_optional_text(second, f"the second text of text {number}"))
        for number, (first, (_, second)) in enumerate(zip(firsts, pairs, strict=True), start=1)
    ]


def check_classes(counts: Counter[str]) -> None:
    """Raise InputError unless there are 2 labels or more with 2 examples each: one to train on, one to hold out."""
    if len(counts) < 2:
        only = f"All examples have the label {next(iter(counts))[:40]!r}" if counts else "The list has no examples"
        raise InputError(f"{only}, so there is nothing to learn. Add examples with another label.")
    CLASSES.check(len(counts))
    rarest, count = min(counts.items(), key=lambda item: item[1])
    if count < 2:
        raise InputError(f"The label {rarest[:40]!r} has only one example. Add another one, to hold out.")


def check_numbers(numbers: Sequence[float]) -> None:
    """Raise InputError unless there are enough numbers to learn from and to hold out, and not all are equal."""
    if len(numbers) < 2 * len(FIFTHS):
        raise InputError(f"A head for numbers needs {2 * len(FIFTHS)} examples or more. Your list has {len(numbers)}.")
    if len(set(numbers)) < 2:
        raise InputError("All the numbers are the same, so there is nothing to learn. Add others.")


def leave_one_out(examples: Examples) -> np.ndarray:
    """[texts, examples] bool: the examples to train on, for each text that is left out; equal texts, or a group, go together."""
    return np.stack([~np.isin(np.arange(len(examples)), rows) for rows in _same_texts(examples)])


def _same_texts(examples: Examples) -> list[list[int]]:
    """The indices of the examples, grouped by equal texts, or by `groups`."""
    return group_rows(examples.groups or [(normalise(text), normalise(text_b)) for text, text_b in examples.pairs])


def group_rows(names: Iterable[Hashable]) -> list[list[int]]:
    """The indices of equal names together."""
    groups: dict[Hashable, list[int]] = {}
    for row, name in enumerate(names):
        groups.setdefault(name, []).append(row)
    return list(groups.values())


def draw_groups(groups: Sequence[list[int]], share: float, rng: np.random.Generator, stays: list[int] | None = None) -> list[int]:
    """The rows of random groups that are held out, about a `share` of all rows; one group, `stays` if given, is never drawn.

    The first group drawn is taken, and each later one that does not bring the total above the share.
    """
    drawn, wanted = [groups[place] for place in rng.permutation(len(groups))], round(share * sum(map(len, groups)))
    taken: list[int] = []
    for rows in drawn[:-1] if stays is None else (rows for rows in drawn if rows is not stays):
        if not taken or len(taken) + len(rows) <= wanted:
            taken.extend(rows)
    return taken


def normalise(text: str) -> str:
    """The text in lower case with single spaces: duplicates are equal in this form."""
    return " ".join(text.casefold().split())
