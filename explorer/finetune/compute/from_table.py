"""Labelled examples from a table, whose columns are guessed, and the example sets of the app."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, LABEL, TRAINING_EXAMPLES
from explorer.core.paths import EXAMPLES
from explorer.text import limits
from explorer.text.characters import has_visible_characters
from explorer.text.tables import LABEL_NAMES, SECOND_NAMES, TEXT_NAMES, Table, read_table
from explorer.training.examples import Examples, ScoredExamples, check_classes, check_numbers, normalise

BUILT_IN = {
    "sentiment": "Sentiment: positive, negative, neutral",
    "spam": "Spam or not",
    "questions": "Questions: what kind of answer?",
    "same_meaning": "Pairs: do both mean the same?",
    "entailment": "Entailment: does the second text follow from the first?",
    "grammar": "Grammar: is the sentence grammatical?",
    "similarity": "Similarity: how alike are both, from 0 to 5?",
}
GROUP = "group"  # the column of a built-in set with the groups of its examples

MOST_RATINGS = 10  # different whole numbers up to which they are classes, such as stars
LARGEST = 1e6  # absolute value of a number to be learnt


@dataclass(frozen=True)
class Columns:
    """The roles of the columns; `text_b` is '' when the texts are single, `group` when the examples have no groups."""

    text: str
    label: str
    text_b: str = ""
    group: str = ""


@cache
def built_in(name: str) -> Examples:
    """The examples of assets/examples/NAME.csv."""
    table = read_table(EXAMPLES / f"{limits.check_choice(name, 'the example set', list(BUILT_IN))}.csv")
    columns = guess_columns(table)
    group = GROUP if GROUP in table.columns else ""
    return examples_from_table(table, replace(columns, group=group))[0]


def guess_columns(table: Table) -> Columns:
    """Guess the columns of the text, the label and a second text, by their names or else by their contents."""
    lower = {name.lower(): name for name in reversed(table.columns)}

    def first_of(names: Sequence[str]) -> str:
        return next((lower[name] for name in names if name in lower), "")

    lengths = {name: np.mean([len(cell) for cell in table.column(name)]) for name in table.columns}
    text = first_of(TEXT_NAMES) or max(table.columns, key=lambda name: lengths[name])
    others = [name for name in table.columns if name != text]
    label = first_of(LABEL_NAMES) if first_of(LABEL_NAMES) != text else ""
    if not label and others:
        kinds = {name: len(set(table.column(name))) for name in others}
        several = [name for name in others if kinds[name] > 1]
        label = min(several or others, key=lambda name: (kinds[name], lengths[name]))
    second = first_of(SECOND_NAMES)
    return Columns(text, label, second if second not in (text, label) else "")


def examples_from_table(table: Table, columns: Columns, seed: int = 0) -> tuple[Examples, str]:
    """Examples from the chosen columns, and a sentence about what was left out, cut or repeated.

    Rows without a text or a label are left out; too many rows are sampled with the seed. Labels that are numbers, and too many or
    too fine to be classes, become a regression. Raises InputError unless there are two labels with two examples each, or enough
    different numbers.
    """
    if not columns.label or columns.label == columns.text:
        raise InputError("A head needs a column with the labels besides the one with the texts; choose two columns.")
    texts, labels = table.column(columns.text), table.column(columns.label)
    seconds = table.column(columns.text_b) if columns.text_b else [""] * len(texts)
    kept = [row for row, cells in enumerate(zip(texts, labels, strict=True)) if all(map(has_visible_characters, cells))]
    without = "without a text or a label left out"
    notes = [_count(len(texts) - len(kept), f"row {without}", f"rows {without}")]
    if len(kept) > (most := TRAINING_EXAMPLES.most):
        drawn = np.random.default_rng(seed).choice(len(kept), most, replace=False)
        notes.append(f"{most:,} of {len(kept):,} rows drawn with the seed")
        kept = [kept[row] for row in sorted(drawn)]
    long = sum(len(texts[row]) > CHARACTERS.most or len(seconds[row]) > CHARACTERS.most for row in kept)
    cut = f"cut to {CHARACTERS.most:,} characters"
    notes.append(_count(long, f"text {cut}", f"texts {cut}"))
    examples = Examples(
        tuple(_tidy(texts[row]) for row in kept),
        tuple(_tidy(labels[row].strip())[: LABEL.most] for row in kept),
        tuple(_tidy(seconds[row]) for row in kept) if columns.text_b else (),
        tuple(table.column(columns.group)[row] for row in kept) if columns.group else (),
    )
    if not kept:
        raise InputError("No row has both a text and a label; choose other columns.")
    if (numbers := numbers_in(examples.labels)) is not None:
        examples = ScoredExamples(**vars(examples), numbers=numbers)
        check_numbers(numbers)
        notes.append("the labels are numbers, so a number is learnt (regression)")
    else:
        check_classes(Counter(examples.labels))
    return examples, " ".join(f"{note[0].upper()}{note[1:]}." for note in [*notes, *_describe_repeats(examples)] if note)


def numbers_in(labels: Sequence[str]) -> tuple[float, ...] | None:
    """The labels as numbers, if all are finite numbers and some are fractions or there are many different ones; else None."""
    try:
        numbers = tuple(float(label) for label in labels)
    except ValueError:
        return None
    if not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0) > LARGEST:
        return None
    fine = any(number % 1 for number in numbers) or len(set(numbers)) > MOST_RATINGS
    return numbers if fine else None


def _tidy(text: str) -> str:
    """The text, cut to the longest allowed, with unpaired surrogates (valid in JSON, not in tokenizers) replaced."""
    return text[: CHARACTERS.most].encode("utf-8", "replace").decode("utf-8")


def _describe_repeats(examples: Examples) -> list[str]:
    seen: dict[tuple[str, str], set[str]] = {}
    for (text, text_b), label in zip(examples.pairs, examples.labels, strict=True):
        seen.setdefault((normalise(text), normalise(text_b)), set()).add(label)
    repeats = len(examples) - len(seen)
    torn = sum(len(labels) > 1 for labels in seen.values())
    return [
        _count(repeats, "text is there twice; equal texts are never split", "texts are repeats; equal texts are never split"),
        _count(torn, "text has different labels", "texts have different labels"),
    ]


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}" if number else ""
