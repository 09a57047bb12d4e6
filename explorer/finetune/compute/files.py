"""A file of examples, read by what is in it: a table of labelled texts, tagged words, or questions on texts."""

from itertools import islice
from pathlib import Path

from explorer.finetune.compute.questions import QuestionFile, read_questions
from explorer.text.tables import FILE_TYPES as TABLE_TYPES
from explorer.text.tables import Table, read_table
from explorer.text.tagged import TAGGED_FILE_TYPES, TaggedFile, read_tagged

FILE_TYPES = tuple(dict.fromkeys((*TABLE_TYPES, *TAGGED_FILE_TYPES)))
LOOKED_AT = 2**16  # bytes at the beginning of a file
MOST_LINES, MOST_FIELDS = 200, 12
OF_QUESTIONS = (b'"question"', b'"answers"')

ExampleFile = Table | TaggedFile | QuestionFile


def read_file(path: Path) -> ExampleFile:
    """The examples in a file, whose kind is found by its ending and its first lines. Raises InputError."""
    with path.open("rb") as file:
        head = file.read(LOOKED_AT)
    ending = path.suffix.lower()
    if ending in (".json", ".jsonl"):
        return read_questions(path) if all(name in head for name in OF_QUESTIONS) else read_table(path)
    if ending not in TABLE_TYPES or (ending != ".csv" and _is_tagged(head)):
        return read_tagged(path)
    return read_table(path)


def _is_tagged(head: bytes) -> bool:
    """Whether each line is a word with its columns, and blank lines are between the sentences."""
    lines = [line.strip() for line in islice(head.decode("utf-8", "replace").splitlines(), MOST_LINES)]
    rows = [line.split() for line in lines if line and not line.startswith(("#", "-DOCSTART-"))]
    blank = "" in lines[: len(lines) - 1]
    return blank and bool(rows) and {len(row) for row in rows} <= {len(rows[0])} and 2 <= len(rows[0]) <= MOST_FIELDS
