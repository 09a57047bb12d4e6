"""Docstrings and comments in plain English: no phrase of RIDDLES, in the folders that were read for it."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, SCRIPTS = ROOT / "explorer", ROOT / "assets"
NOT_READ: set[str] = set()
"""Folders whose docstrings nobody has read for this yet. Read one, and take it away here."""
RIDDLES = {  # a phrase as a regular expression: (an example, what to write instead)
    r"how-manieth": ("the how-manieth it is", "its position"),
    r"\b[Ww]hat is (told|said|asked) of\b": ("what is told of", "the message about"),
    r"\b(drawn|told|heard|kept) by who\b": ("drawn by who is told of it", "name the caller"),
    r"\b[Ww]ho(ever)? asks\b": ("who asks waits", "the client, or the caller"),
    r"\bof those who\b": ("nothing of those who ask", "the clients'"),
    r"\b[Oo]f what is (not )?there\b": ("of what is not there", "name the thing that is missing"),
    r"\bby lot\b": ("drawn by lot", "at random"),
    r"\bwhat is falsy\b": ("what is falsy counts as not there", "an empty value"),
    r"\b[Ss]omething that (is|was)\b": ("Something that is seen.", "name the thing"),
    r"^(Of|In|For|By) \w+\.$": ("Of task.", "a noun, or what the function does"),
    r"^(The|All of) (same|them|these|it)\.": ("All of them.", "name them"),
    r"^The same (of|for|in|as)\b": ("The same of what was computed already.", "say what is the same"),
    r"\bits being (wanted|opened|asked|there)\b": ("the events of its being opened", "a verb: 'when it opens'"),
    r"\bto be had\b": ("not even the model is to be had", "cannot be loaded"),
    r"\b(is|are) the house's\b": ("is the house's", "has no owner"),
    r"\b(that|which|who) starts? by itself is wanted\b": ("No work that starts by itself is wanted", "reset the key"),
    r"\bhands? on\b": ("the length of what a head hands on", "the head's output"),
    r"\bas far as (there (is|are)|it is|they are)\b": ("as far as there are any", "if there are any"),
    r"\b(what|that) there (is|are)\b": ("a theme that there is", "an existing"),
    r"\b[Ww]hat stands\b": ("what stands around the tabs", "name it, or 'the contents'"),
    r"\b[Ww]hat goes (in|out|on)\b": ("what goes on before it ends", "name it"),
    r"\banew\b": ("is drawn anew", "again"),
    r"\bone of one's own\b|\bof one's own\b": ("a component of one's own", "your own, or new"),
}


def english(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a file of Python or JavaScript, with their lines."""
    text = path.read_text("utf-8")
    if path.suffix == ".js":
        for number, line in enumerate(text.splitlines(), start=1):
            if found := re.search(r"(?:^|\s)// (.*)", line) or re.search(r"^\s*/?\*+ (.*)", line):
                yield number, found[1]
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, " ".join(node.value.value.split())
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def read() -> Iterator[Path]:
    """The files that were read: of the package, and the page's scripts."""
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] not in NOT_READ:
            yield path
    for folder in ("", "arithmetic", "classroom", "components", "components/flow", "file", "guide", "page", "shared"):
        yield from (SCRIPTS / folder).glob("*.js")


@pytest.mark.parametrize("riddle", RIDDLES)
def test_an_example_of_each_riddle_is_found(riddle):
    example, instead = RIDDLES[riddle]
    assert re.search(riddle, example)
    assert instead


def test_no_folder_is_left_out_that_does_not_exist():
    assert {folder for folder in NOT_READ if (PACKAGE / folder).is_dir()} == NOT_READ


def test_docstrings_and_comments_can_be_understood_at_the_first_reading():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:80]!r}: instead of {match[0]!r}, {RIDDLES[riddle][1]}"
        for path in read()
        for line, text in english(path)
        for riddle in RIDDLES
        if (match := re.search(riddle, text))
    ]
    assert not found, "\n".join(found)
