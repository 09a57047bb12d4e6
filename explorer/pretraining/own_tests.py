"""Our own test sentences, such as a class would type: everyday blanks of twelve kinds, and pairs of sentences."""

import csv
from dataclasses import dataclass

from explorer.core.paths import EXAMPLES


@dataclass(frozen=True)
class Blank:
    """A sentence with one [MASK], and the words that count as sensible there."""

    kind: str
    sentence: str
    sensible: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """Two sentences, whether the second follows the first, and whether both have the same topic."""

    first: str
    second: str
    follows: bool
    same_topic: bool


def blanks() -> list[Blank]:
    """All blanks of assets/examples/blanks.csv, kind by kind."""
    return [Blank(row["kind"], row["sentence"], tuple(row["sensible"].split())) for row in _rows("blanks")]


def pairs() -> list[Pair]:
    """All pairs of assets/examples/following.csv; those that follow come first."""
    rows = _rows("following")
    return [Pair(row["text"], row["text_b"], row["label"] == "next", row["topic"] == "same") for row in rows]


def _rows(name: str) -> list[dict[str, str]]:
    with (EXAMPLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
