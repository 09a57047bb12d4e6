"""Examples of any kind from a file: a table, whose columns are guessed, tagged words, or questions; and the sets of the app."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path

from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, LABEL, TRAINING_EXAMPLES
from explorer.core.paths import EXAMPLES
from explorer.finetune.compute.questions import STRANGE, Questions, read_questions
from explorer.text import limits
from explorer.text.characters import decode, has_visible_characters
from explorer.text.corpora import TAGGED_TYPES, Corpus, read_tagged
from explorer.text.delimited import GROUPED
from explorer.text.names import normal
from explorer.text.tables import FILE_TYPES as TABLE_TYPES
from explorer.text.tables import Table, read_table
from explorer.training.columns import Columns, guess_columns, is_missing_text, missing_labels, numbers_of, rarest, thousands_in
from explorer.training.examples import Examples, ScoredExamples, check_classes, check_numbers, normalise, sample_rows
from explorer.training.tagging import TaggedExamples, tagged_examples

BUILT_IN = {path.stem: path for path in EXAMPLES.iterdir()}
FILE_TYPES = tuple(dict.fromkeys((*TABLE_TYPES, *TAGGED_TYPES)))
LOOKED_AT = 2**16  # bytes at the beginning of a file
MOST_LINES, MOST_FIELDS = 200, 12

GROUP = "group"  # the column of a built-in set with the groups of its examples

MOST_RATINGS = 10  # different whole numbers up to which they are classes, such as stars
LARGEST = 1e6  # absolute value of a number to be learnt
UNEVEN = 0.9  # share of one label from which a note says what always answering it scores
NAMED = 5  # labels named in a note

ExampleFile = Table | Corpus | Questions
AnyExamples = Examples | TaggedExamples | Questions


@dataclass(frozen=True)
class ReadExamples:
    """The examples of a file. `rows` of it are used; absent columns are "". `kind` is "classes" or "number"."""

    rows: int
    text: str
    text_b: str
    label: str
    kind: str
    labels: list[str]  # the different ones; none for numbers
    notes: list[str]  # sentences on what was guessed and what was left out
    examples: Examples = field(repr=False)


def read_examples(
    path: str | Path, *, text: str = "", text_b: str | None = None, label: str = "", kind: str = "", names: bool | None = None
) -> ReadExamples:
    """The labelled texts of a CSV, TSV or JSON file. What is not named is guessed, and `notes` say how.

    Name the columns to change the guess (text_b="" for single texts); kind="classes" or "number" says what the labels are, and
    `names` whether the first row names the columns.
    Raises InputError when there is no such file, or nothing in it to learn from.
    """
    if not (path := Path(path)).is_file():
        raise InputError(f"The folder has no file {path.name[:60]!r}. Check its path.")
    if not isinstance(table := read_file(path), Table):
        found = "words with tags" if isinstance(table, Corpus) else "questions on texts"
        raise InputError(f"The file has {found}, and not texts with labels. Choose it in the Train tab, which reads both.")
    table = table if names is None else table.with_names(names)
    guessed = guess_columns(table)
    columns = Columns(text or guessed.text, label or guessed.label, guessed.text_b if text_b is None else text_b, kind=kind)
    examples, note = examples_from_table(table, columns)
    notes = [*how_read(table, columns), *note]
    labels, found = ([], "number") if isinstance(examples, ScoredExamples) else (examples.classes, "classes")
    return ReadExamples(len(examples), columns.text, columns.text_b, columns.label, found, labels, notes, examples)


def how_read(table: Table, columns: Columns) -> list[str]:
    """Sentences on how a table was read, and on how its columns were guessed while they are those."""
    first = ["The first row names the columns." if table.headed else "The first row is data."] if table.first else []
    guessed = guess_columns(table)
    return [table.about, *table.notes, *first, *([guessed.why] if replace(columns, kind="") == guessed else [])]


@cache
def built_in(name: str) -> AnyExamples:
    """The examples of a file in assets/examples, by its name without the ending."""
    file = read_file(BUILT_IN[limits.check_choice(name, "the example set", list(BUILT_IN))])
    if not isinstance(file, Table):
        return examples_of(file)[0]
    group = GROUP if GROUP in file.columns else ""
    return examples_of(file, replace(guess_columns(file), group=group))[0]


@lru_cache(4)  # 50,000 rows take seconds
def examples_of(file: ExampleFile, columns: Columns | None = None) -> tuple[AnyExamples, str]:
    """The examples in a file, of a table in these columns, and a note about them. Raises InputError."""
    if isinstance(file, Questions):
        return file, file.about
    if isinstance(file, Corpus):
        tagged, note = tagged_examples(file.sentences)
        return tagged, f"{file.about} {note}".strip()
    examples, notes = examples_from_table(file, columns or guess_columns(file))
    return examples, " ".join(notes)


def examples_from_table(table: Table, columns: Columns) -> tuple[Examples, list[str]]:
    """Examples from the chosen columns, and sentences about what was left out, cut or repeated.

    Rows without a text or a label are left out, and so are labels that occur once; too many rows are sampled, always the same.
    Labels that are numbers, and too many or too fine to be classes, become a regression. Raises InputError unless there are two
    labels with two examples each, or enough different numbers.
    """
    if len(table.columns) == 1:
        raise InputError("The file has only one column. Add the label of each text, after a comma, semicolon, tab or bar.")
    if not columns.label or columns.label == columns.text:
        raise InputError("A head needs one column with texts and one with labels. Choose two different columns.")
    texts, labels = table.column(columns.text), [label.strip() for label in table.column(columns.label)]
    if any(all(cell.startswith('{"') for cell in cells) for cells in (texts, labels)):
        raise InputError("A column has JSON objects. Choose others, or save the texts and their labels as a table.")
    seconds = table.column(columns.text_b) if columns.text_b else [""] * len(texts)
    kept, notes = _usable(texts, labels, columns.kind)
    kept, sampled = sample_rows(kept, TRAINING_EXAMPLES.most, "rows")
    long = sum(len(texts[row]) > CHARACTERS.most or len(seconds[row]) > CHARACTERS.most for row in kept)
    cut = f"cut to {CHARACTERS.most:,} characters"
    notes += [sampled, _count(long, f"text {cut}", f"texts {cut}")]
    examples = Examples(
        tuple(_tidy(texts[row]) for row in kept),
        tuple(_tidy(labels[row])[: LABEL.most] for row in kept),
        tuple(_tidy(seconds[row]) for row in kept) if columns.text_b else (),
        tuple(table.column(columns.group)[row] for row in kept) if columns.group else (),
    )
    if (numbers := numbers_in(examples.labels, columns.kind)) is not None:
        examples = ScoredExamples(**vars(examples), numbers=numbers)
        check_numbers(numbers)
        notes.append("the labels are numbers, so a number is learned (regression)")
        grouped = next((label for label in examples.labels if GROUPED.fullmatch(label)), "")
        notes += [f"{grouped} is read as {numbers[examples.labels.index(grouped)]:g}"] if grouped else []
    else:
        check_classes(Counter(examples.labels))
    return examples, [f"{note[0].upper()}{note[1:]}." for note in [*notes, *_describe(examples)] if note]


def _usable(texts: Sequence[str], labels: Sequence[str], kind: str) -> tuple[list[int], list[str]]:
    """The rows with a text and a label that occurs twice, and phrases on the others. Raises InputError when there are none."""
    missing = missing_labels(labels)
    kept = [
        row
        for row, (text, label) in enumerate(zip(texts, labels, strict=True))
        if label not in missing and has_visible_characters(label) and has_visible_characters(text) and not is_missing_text(text)
    ]
    if not kept:
        raise InputError("No row has both a text and a label. Choose other columns.")
    written = _named([label for label in sorted(missing) if label])
    without = f"without a text or a label left out{f' ({written} marks a missing label)' if written else ''}"
    notes = [_count(len(texts) - len(kept), f"row {without}", f"rows {without}")]
    found = [labels[row] for row in kept]
    if notes[0] and len(set(found)) == 1:
        raise InputError(f"All other examples have the label {found[0][:40]!r}: {notes[0]}. Add examples with another label.")
    if numbers_in(found, kind) is None and (once := rarest(found)):
        kept = [row for row in kept if labels[row] not in once]
        rare = f"whose label occurs once left out ({_named(sorted(once))})"
        notes.append(_count(len(once), f"row {rare}", f"rows {rare}"))
    return kept, notes


def numbers_in(labels: Sequence[str], kind: str = "") -> tuple[float, ...] | None:
    """The labels as numbers, if all are, and they look like a measure: some are fractions, or there are many different ones.

    A decimal comma is read as a point. `kind` says what the labels are whatever they look like: "classes", which gives None, or
    "number". Raises InputError where they cannot be numbers, or may be different ones.
    """
    if kind == "classes":
        return None
    found, open_comma = numbers_of(labels), thousands_in(labels) is None
    numbers = tuple(number for number in found if number is not None and abs(number) <= LARGEST)
    different = len(set(numbers))
    fine = any(number % 1 for number in numbers) or different > MOST_RATINGS or different == len(labels) == MOST_RATINGS
    if open_comma and (kind or fine):
        raise InputError(
            "A comma in the labels is before thousands, decimals or another label. Write one label per row, and 1080 or 1.08."
        )
    if kind and len(numbers) < len(labels):
        raise InputError(f"Some labels aren't numbers up to {LARGEST:,.0f}. Take them as classes, or choose another column.")
    return numbers if len(numbers) == len(labels) and (kind or fine) else None


def _named(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - NAMED:,} others" if len(labels) > NAMED else ""
    return ", ".join(repr(label[:40]) for label in labels[:NAMED]) + more


def _tidy(text: str) -> str:
    """The text, cut to the longest allowed, with unpaired surrogates (valid in JSON, not in tokenizers) replaced."""
    return text[: CHARACTERS.most].encode("utf-8", "replace").decode("utf-8")


def _describe(examples: Examples) -> list[str]:
    """Phrases on texts that come again, and on what the most frequent label alone scores, where nearly all examples have it."""
    seen: dict[tuple[str, str], set[str]] = {}
    for (text, text_b), label in zip(examples.pairs, examples.labels, strict=True):
        seen.setdefault((normalise(text), normalise(text_b)), set()).add(label)
    repeats, torn = len(examples) - len(seen), sum(len(labels) > 1 for labels in seen.values())
    label, count = max(examples.counts.items(), key=lambda item: item[1])
    of, share = f"{count:,} of {len(examples):,} examples have the label {label[:40]!r}", count / len(examples)
    uneven = share >= UNEVEN and not isinstance(examples, ScoredExamples)
    return [
        f"{of}; compare an accuracy with that of always answering it, {share:.1%}" if uneven else "",
        _count(repeats, "text is there twice; equal texts are never split", "texts are repeats; equal texts are never split"),
        _count(torn, "text has different labels", "texts have different labels"),
    ]


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}" if number else ""


def read_file(path: Path) -> ExampleFile:
    """The examples in a file, whose kind is found by its ending and its first lines. Raises InputError."""
    ending, beginning = path.suffix.lower(), ""
    with path.open("rb") as file, suppress(InputError):  # of its reader, if it is no text
        beginning = decode(file.read(LOOKED_AT))[0]
    if ending in TAGGED_TYPES or (ending not in (".csv", ".json", ".jsonl") and _is_tagged(beginning)):
        return read_tagged(path)
    if (
        '"question"' in beginning
        and ('"answers"' in beginning or '"paragraphs"' in beginning)
        and beginning.lstrip()[:1] in ("{", "[")
    ):
        return read_questions(path)
    table = read_table(path)
    columns = {normal(name).removesuffix("s"): name for name in table.columns}
    if columns.keys() >= {"question", "context", "answer"} and len({*table.column(columns["answer"])}) > len(table.rows) / 2:
        raise InputError(STRANGE)  # answers such as yes and no are labels
    return table


def _is_tagged(beginning: str) -> bool:
    """Whether each line is a word with its columns, and blank lines are between the sentences."""
    lines = [line.strip() for line in beginning.splitlines()[:MOST_LINES]]
    widths = {len(line.split()) for line in lines if line and not line.startswith(("#", "-DOCSTART-"))}
    return "" in lines[:-1] and len(widths) == 1 and 2 <= widths.pop() <= MOST_FIELDS
