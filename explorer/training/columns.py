"""The guess which columns of a table hold the texts and the labels, and why."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from explorer.core.limits import CLASSES
from explorer.text.delimited import GROUPED, is_number, number_of
from explorer.text.names import LABEL_NAMES, LABEL_WORDS, PAIRS, SHORT_NAMES, TEXT_NAMES, TEXT_WORDS, normal
from explorer.text.tables import Table

SAMPLE = 2_000  # rows that are looked at
MISSING = {"", "nan", "na", "n/a", "null", "<na>", "#n/a"}  # a label in small letters that is none
MISSING_NUMBER = {"none", "-", "?", "."}  # so are these, where all other labels are numbers
MISSING_TEXT = {"nan", "null", "<na>"}


@dataclass(frozen=True)
class Columns:
    """The roles of the columns; `text_b` is '' when the texts are single, `group` when the examples have no groups.

    `kind` is "classes" or "number" where the labels are one whatever they look like.
    """

    text: str
    label: str
    text_b: str = ""
    group: str = ""
    kind: str = ""
    why: str = field(default="", compare=False)  # a sentence on how they were guessed


@dataclass(frozen=True)
class _Column:
    """What the first rows of a column are like."""

    name: str
    cells: Sequence[str]  # without those that are missing
    filled: float  # the share of cells that are not missing

    @property
    def values(self) -> int:
        return len(set(self.cells))

    @property
    def length(self) -> float:
        return sum(map(len, self.cells)) / max(1, len(self.cells))

    @cached_property
    def numbers(self) -> list[float | None]:
        return numbers_of(self.cells)

    @property
    def numeric(self) -> bool:
        return bool(self.cells) and None not in self.numbers

    @property
    def fractions(self) -> bool:
        return self.numeric and self.values > 2 and any((number or 0) % 1 for number in self.numbers)

    @property
    def wordy(self) -> bool:
        """Whether most cells are texts: several words, and mostly letters, as dates and file names are not."""
        words = sum(len(cell.split()) for cell in self.cells)
        letters = sum(letter.isalpha() or letter.isspace() for cell in self.cells for letter in cell[:200])
        return words >= 2.5 * len(self.cells) > 0 and letters >= 0.7 * sum(len(cell[:200]) for cell in self.cells)

    @property
    def labels(self) -> bool:
        """Whether the cells may be labels: a few values, or fractions."""
        few = 2 <= self.values <= min(CLASSES.most, max(2, len(self.cells) // 2))
        return (few or self.fractions) and self.filled > 0.5


@lru_cache(4)
def guess_columns(table: Table) -> Columns:
    """Guess the columns of the text, the label and a second text, by their names or else by their contents."""
    columns = [_look(table, name) for name in table.columns]
    by_name = {normal(column.name): column for column in reversed(columns)}
    (text, second), why_text = _texts(columns, by_name, named=table.headed)
    others = [column for column in columns if column not in (text, second)]
    label, why_label = _label(others, by_name, table.headed)
    if label is None and second is not None:
        label, why_label, second = second, "the only other column", None
    those = f"texts are those of {text.name!r}" if second is None else f"pairs are those of {text.name!r} and {second.name!r}"
    why = f"The {those} ({why_text}){f', the labels those of {label.name!r} ({why_label})' if label else ''}."
    return Columns(text.name, label.name if label else "", second.name if second else "", why=why)


def thousands_in(labels: Sequence[str]) -> str | None:
    """The mark before thousands in a column, "," or "."; None where a comma in it may be before something else.

    A mark that is not before three digits is that of decimals. Whole numbers without a mark, such as 900, show that 1,080 is
    whole; beside small ones, such as 4, a point is that of decimals: 3.125. Beside 27, 3,10 is two labels.
    """
    cells = [label.strip().removesuffix("%") for label in labels]
    marked = [cell for cell in cells if "," in cell or "." in cell]
    whole = [int(cell) for cell in cells if cell.isdecimal()]
    if decimal := next((cell for cell in marked if not GROUPED.fullmatch(cell)), ""):
        listed = whole and any(cell.count(",") > 1 or (cell.endswith("0") and "," in cell) for cell in marked)
        return None if listed else "," if decimal.rfind(".") > decimal.rfind(",") else "."
    marks = {mark for mark in ",." if any(mark in cell for cell in marked)}
    is_shown = any(cell.count(mark) > 1 for mark in marks for cell in marked) or max(whole, default=0) >= 100
    if marks == {"."}:
        return "." if is_shown else ","
    return "," if not marks or (marks == {","} and (is_shown or whole)) else None


def numbers_of(cells: Sequence[str]) -> list[float | None]:
    """The cells of a column as numbers; None for a cell that is none."""
    thousands = thousands_in(cells) or ""
    return [number_of(cell, thousands) for cell in cells]


def missing_labels(labels: Sequence[str]) -> set[str]:
    every = {label.strip() for label in labels}
    missing = {label for label in every if label.lower() in MISSING}
    perhaps = {label for label in every if label.lower() in MISSING_NUMBER}
    rest = every - missing - perhaps
    if rest and all(map(is_number, rest)):
        return missing | perhaps
    return missing | ({"-"} & every if "+" not in every else set())  # SNLI's, where no label has a majority


def is_missing_text(text: str) -> bool:
    return len(text) < 9 and text.strip().lower() in MISSING_TEXT


def _look(table: Table, name: str) -> _Column:
    cells = [cell.strip() for cell in table.column(name)[:SAMPLE]]
    missing = missing_labels(cells)
    kept = [cell for cell in cells if cell not in missing]
    return _Column(name, kept, len(kept) / max(1, len(cells)))


Pair = tuple[_Column, _Column | None]


def _texts(columns: Sequence[_Column], by_name: dict[str, _Column], named: bool) -> tuple[Pair, str]:
    """The column of the texts, and that of the second texts if there is one; and why."""
    for first, second in PAIRS:
        if first in by_name and second in by_name and not (by_name[first].numeric or by_name[second].numeric):
            return (by_name[first], by_name[second]), "by their names"
    if found := _called(TEXT_NAMES, by_name):
        return (found, None), "by its name"
    wordy = [column for column in columns if column.wordy]
    if named and (likely := [column for column in wordy if TEXT_WORDS & {*normal(column.name).split("_")}]):
        return (max(likely, key=lambda column: column.length), None), "by its name"
    if found := _called(SHORT_NAMES, by_name):
        return (found, None), "by its name"
    wordy = [column for column in wordy if column.values > len(column.cells) / 10]  # others are labels of several words
    if not named and len(wordy) > 1:
        return (wordy[0], wordy[1]), "two columns of texts"
    return (max(wordy or columns, key=lambda column: (not column.numeric, column.length)), None), "its cells are the longest"


def _called(names: Sequence[str], by_name: dict[str, _Column]) -> _Column | None:
    """The column with the first of some names that is not empty and has no numbers."""
    columns = (by_name[name] for name in names if name in by_name)
    return next((column for column in columns if column.cells and not column.numeric), None)


def _label(others: Sequence[_Column], by_name: dict[str, _Column], named: bool) -> tuple[_Column | None, str]:
    """The column of the labels among those that are not texts, and why."""
    called = [by_name[name] for name in LABEL_NAMES if name in by_name and by_name[name] in others]
    likely = [column for column in others if named and column.labels and LABEL_WORDS & {*normal(column.name).split("_")}]
    if found := next((column for column in called if column.labels), None) or next(iter([*called, *likely]), None):
        return found, "by its name"
    if not named and (found := next((column for column in others if column.fractions), None)):
        return found, "its cells are numbers with fractions"
    likely = [column for column in others if column.labels and not column.wordy and column.filled > 0.9]
    likely = likely or [column for column in others if column.values > 1] or list(others)
    if not likely:
        return None, ""
    found = min(likely, key=lambda column: (column.values, column.length))
    return found, f"it has {found.values:,} different values" if found.values != 1 else "the only other column"


def rarest(labels: Sequence[str]) -> set[str]:
    """The labels that occur once, if they are few beside those that occur more often; else none."""
    counts = Counter(labels)
    once = {label for label, count in counts.items() if count == 1}
    return once if len(counts) - len(once) > 1 and len(once) <= len(labels) / 10 else set()
