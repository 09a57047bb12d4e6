"""What everybody knows, said in many ways: `python -m explorer.pretraining.facts > facts.txt` writes a text for `--alone`.

A fact that stands once in a text is hardly learned, and one that always stands in the same words is learned as these words. So
assets/pretraining/facts.txt holds tables and, below each, templates: every template is filled with every row. `... facts stories`
does the same with stories.txt: of what leads to what, pairs of sentences for `--also`. A table is

    [name: column, column] both ways    the last two words only where each row of two holds the other way round too
    value, value
    - A template with {column}, and with {Column} where a sentence begins.

A table without columns is a list, and a template gets one of its values where it stands, as {boy} does. A stroke between two
sentences makes two lines of one document.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from explorer.core.errors import InputError
from explorer.core.paths import ASSETS

FOLDER = ASSETS / "pretraining"
BEFORE_VOWEL = re.compile(r"\b([Aa])(?= [aeiou])")
HEAD = re.compile(r"\[(\w+)(?:: ([\w, ]+))?\]( both ways)?")


@dataclass
class Table:
    """Rows of values, and the templates of sentences about each row."""

    columns: tuple[str, ...]
    both_ways: bool
    rows: list[tuple[str, ...]] = field(default_factory=list)
    templates: list[str] = field(default_factory=list)


def read(path: Path) -> dict[str, Table]:
    """The tables of a file by name. Raises InputError where a row does not have a value for each column."""
    tables: dict[str, Table] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if head := HEAD.fullmatch(line):
            columns = tuple(head[2].split(", ")) if head[2] else ()
            table = tables[head[1]] = Table(columns, head[3] is not None)
        elif line.startswith("- "):
            table.templates.append(line[2:])
        elif line and not line.startswith("#"):
            row = tuple(line.split(", ")) if len(table.columns) > 1 else (line,)  # a single value may contain commas
            if len(row) != max(1, len(table.columns)):
                raise InputError(f"{path.name}, line {number}: a row here has {len(table.columns)} values.")
            table.rows.append(row)
    return tables


def sentences(tables: dict[str, Table], seed: int = 1) -> Iterator[str]:
    """Every template filled with every row, in the order of the file."""
    rng = Random(seed)
    lists = {name: [value for (value,) in table.rows] for name, table in tables.items() if not table.columns}
    for table in tables.values():
        rows = table.rows + [row[::-1] for row in table.rows if table.both_ways]
        for row in rows:
            for template in table.templates:
                drawn = {name: rng.choice(values) for name, values in lists.items()}
                # A value may itself contain {slots}, hence twice.
                sentence = _filled(_filled(template, dict(zip(table.columns, row, strict=True))), drawn)
                yield BEFORE_VOWEL.sub(r"\1n", sentence)


def _filled(template: str, values: dict[str, str]) -> str:
    """The template with the {slots} of these values filled."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value).replace(f"{{{name.capitalize()}}}", value[:1].upper() + value[1:])
    return template


def documents(path: Path) -> list[list[str]]:
    """The documents that the tables of a file generate, without repeats, each as a list of sentences."""
    return [text.split(" / ") for text in dict.fromkeys(sentences(read(path)))]


def main() -> int:
    """Print all documents of a file of assets/pretraining, with an empty line between them."""
    parser = argparse.ArgumentParser("python -m explorer.pretraining.facts", description=__doc__)
    parser.add_argument("name", nargs="?", default="facts", choices=sorted(path.stem for path in FOLDER.glob("*.txt")))
    for document in documents(FOLDER / f"{parser.parse_args().name}.txt"):
        print(*document, sep="\n", end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
