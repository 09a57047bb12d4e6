"""Text for pre-training: files of sentences → one array of piece ids; and the sentences that training must never see.

A text is a folder or a file of .txt or .txt.xz in UTF-8: one sentence per line, a blank line between documents. Or it is a file
of pieces that `pack.py` made of one: PACKED.
"""

import csv
import io
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from random import Random

import numpy as np

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[2] / "examples"
RUN = 5  # words: a line of the text that shares so many in a row with a test sentence is left out
WORD = re.compile(r"\[mask\]|[^\W_]+")
AT_ONCE = 20_000  # lines per call of the tokenizer
PACKED = ".pieces.xz"
TWO_BYTES = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2**26, "lc": 3, "lp": 1, "pb": 1}]  # 2% smaller than the default


@dataclass(frozen=True)
class Text:
    """Tokenized text without special tokens. Document d holds the sentences documents[d] … documents[d + 1]."""

    pieces: np.ndarray  # [pieces] uint16
    sentences: np.ndarray  # [sentences + 1] int64; sentence s is pieces[sentences[s] : sentences[s + 1]]
    documents: np.ndarray  # [documents + 1] int64

    def between(self, first: int, last: int) -> np.ndarray:
        """The pieces of the sentences first … last, `last` excluded."""
        return self.pieces[self.sentences[first] : self.sentences[last]]

    def document_of(self, sentence: int) -> tuple[int, int]:
        """The first sentence of the document with this sentence, and the first one after it."""
        number = int(np.searchsorted(self.documents, sentence, side="right")) - 1
        return int(self.documents[number]), int(self.documents[number + 1])


def read_documents(path: Path) -> Iterator[list[str]]:
    """The documents of a file, each a list of sentences."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as lines:
        for filled, document in groupby(map(str.strip, lines), key=bool):
            if filled:
                yield list(document)


def load(path: Path, tokenizer) -> Text:
    """A file, or all files of a folder without "heldout" in their names, tokenized; a packed file as it is.

    The tables beside this file are written out. Raises ValueError if there is no text.
    """
    if path.name.endswith(PACKED):
        return unpack(path)
    files = [path] if path.is_file() else sorted(one for one in path.glob("*.txt*") if "heldout" not in one.name)
    documents = [one for file in files for one in (written_out(file) if file.parent == HERE else read_documents(file))]
    return tokenize(documents, tokenizer)


def pack(text: Text, path: Path) -> None:
    """Write a text as pieces, in about one byte per piece (its letters, compressed the same way, take a quarter more)."""
    lengths, sizes = (np.diff(borders).astype(np.uint16) for borders in (text.sentences, text.documents))
    memory = io.BytesIO()
    np.savez(memory, pieces=text.pieces, lengths=lengths, sizes=sizes)
    path.write_bytes(lzma.compress(memory.getvalue(), filters=TWO_BYTES))


def unpack(path: Path) -> Text:
    """A text that `pack` wrote."""
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as arrays:
        borders = [np.concatenate([[0], np.cumsum(arrays[name], dtype=np.int64)]) for name in ("lengths", "sizes")]
        return Text(arrays["pieces"], *borders)


def tokenize(documents: list[list[str]], tokenizer) -> Text:
    """Tokenize documents but for lines that give a test sentence away: there a document ends. ValueError if nothing is left."""
    leaks, lines, starts = Leaks(), [], [0]
    for document in documents:
        for line in document:
            if leaks.in_line(line):
                starts.append(len(lines))
            else:
                lines.append(line)
        starts.append(len(lines))
    lengths, parts = [], []
    for start in range(0, len(lines), AT_ONCE):
        ids = tokenizer(lines[start : start + AT_ONCE], add_special_tokens=False, verbose=False)["input_ids"]
        lengths += map(len, ids)
        parts += [np.concatenate([np.array(row, np.uint16) for row in ids])]
    if not sum(lengths):
        raise ValueError("There is no text to read.")
    keep = np.array(lengths) > 0  # a line may have no piece
    before = np.concatenate([[0], np.cumsum(keep)])
    sentences = np.concatenate([[0], np.cumsum(np.array(lengths)[keep])])
    return Text(np.concatenate(parts), sentences, np.unique(before[np.array(starts)]))


def own_tests(name: str) -> list[dict[str, str]]:
    """Our test sentences: "blanks" (kind, sentence, sensible words) or "following" (text, text_b, label, topic)."""
    with (EXAMPLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Leaks:
    """Finds lines with RUN words in a row of a test sentence, where a blank counts as any word."""

    def __init__(self) -> None:
        tests = [row["sentence"] for row in own_tests("blanks")]
        tests += [row[name] for row in own_tests("following") for name in ("text", "text_b")]
        self.runs: dict[tuple[str, str], set[tuple[str, ...]]] = {}
        for words in (WORD.findall(test.lower()) for test in tests):
            size = min(RUN, len(words))
            for start in range(len(words) - size + 1):
                run = tuple(words[start : start + size])
                key = run[:2] if "[mask]" not in run[:2] else run[-2:]  # two words to look a run up by
                self.runs.setdefault(key, set()).add(run)

    def in_line(self, line: str) -> bool:
        """Whether the line contains such a run; case and punctuation do not count."""
        words = WORD.findall(line.lower())
        for place, pair in enumerate(pairwise(words)):
            for run in self.runs.get(pair, ()):
                start = place if run[:2] == pair else place + 2 - len(run)
                there = words[start : start + len(run)] if start >= 0 else []
                if len(there) == len(run) and all(own in ("[mask]", one) for own, one in zip(run, there, strict=True)):
                    return True
        return False


HEAD = re.compile(r"\[(\w+)(?:: ([\w, ]+))?\]( both ways)?")
BEFORE_VOWEL = re.compile(r"\b([Aa])(?= [aeiou])")


def written_out(path: Path, seed: int = 1) -> list[list[str]]:
    """The documents that the tables of facts.txt or stories.txt describe: every template filled with every row, once.

    `[name: column, column] both ways` heads a table; a line `- …{column}…{Column}` is a template, any other line a row. A table
    without columns is a list, of which `{name}` draws one entry. " / " sets two sentences of one document apart.
    """
    tables: dict[str, tuple[list[str], bool, list[list[str]], list[str]]] = {}
    for line in path.read_text("utf-8").splitlines():
        if head := HEAD.fullmatch(line):
            columns, both, rows, templates = (head[2].split(", ") if head[2] else []), bool(head[3]), [], []
            tables[head[1]] = columns, both, rows, templates
        elif line.startswith("- "):
            templates.append(line[2:])
        elif line and not line.startswith("#"):
            rows.append(line.split(", ") if len(columns) > 1 else [line])
    dice, found = Random(seed), {}
    lists = {name: [row[0] for row in rows] for name, (columns, _, rows, _) in tables.items() if not columns}
    for columns, both, rows, templates in tables.values():
        for row in rows + [row[::-1] for row in rows if both]:
            for template in templates if columns else ():
                drawn = {name: dice.choice(entries) for name, entries in lists.items()}
                filled = _fill(_fill(template, dict(zip(columns, row, strict=True))), drawn)
                found[BEFORE_VOWEL.sub(r"\1n", filled)] = None
    return [text.split(" / ") for text in found]


def _fill(template: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value).replace(f"{{{name.capitalize()}}}", value[:1].upper() + value[1:])
    return template
