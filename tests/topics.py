"""Ten topics as users may type them: three classes of six training sentences each, and four clear test sentences of each."""

import csv
from dataclasses import dataclass
from pathlib import Path

from explorer.training.examples import Examples

TYPED = 6  # training sentences of a class; the rest are for testing


@dataclass(frozen=True)
class Topic:
    """The training sentences, and the test sentences, each clearly of one class."""

    typed: Examples
    tried: Examples


def _topic(rows: list[dict[str, str]]) -> Topic:
    classes = {label: [row for row in rows if row["label"] == label] for label in dict.fromkeys(row["label"] for row in rows)}
    parts = ([row for of in classes.values() for row in of[which]] for which in (slice(None, TYPED), slice(TYPED, None)))
    return Topic(*(Examples(tuple(row["text"] for row in part), tuple(row["label"] for row in part)) for part in parts))


def _read() -> dict[str, Topic]:
    rows = list(csv.DictReader(Path(__file__).with_suffix(".csv").read_text("utf-8").splitlines()))
    return {name: _topic([row for row in rows if row["topic"] == name]) for name in dict.fromkeys(row["topic"] for row in rows)}


TOPICS = _read()
