"""Numbers that several pages state come from one source, and every ± says what it is."""

import ast
import re
from pathlib import Path

import pytest

from explorer.fill_mask import guesses
from explorer.tabs import TABS, VIEWS
from explorer.teaching.lessons.reading import lessons

ROOT = Path(__file__).resolve().parents[2]
CARD = ROOT / "assets" / "models" / "bert-l6-h384-uncased" / "README.md"
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", CARD, *sorted((ROOT / "assets" / "guide").rglob("*.md")))
TAKEN_TOGETHER = "\n".join(page.read_text("utf-8") for page in PAGES)
WORDS = {"eighteen": 18, "nineteen": 19, "fourteen": 14, "thirteen": 13}
NAMED = re.compile(r"standard (?:error|deviation)|interval")


@pytest.mark.parametrize(("what", "number"), [("lessons", len(lessons())), ("tabs", len(TABS)), ("views", len(VIEWS))])
def test_pages_count_what_there_is(what, number):
    stated = re.findall(rf"\b(\d+|{'|'.join(WORDS)}) {what}\b|\| {what} \| (\d+)\b", TAKEN_TOGETHER)
    numbers = {WORDS.get(one) or int(one) for pair in stated for one in pair if one}
    assert numbers <= {number}
    assert numbers or what != "lessons", "the pages count the lessons, so that this test sees something"


def test_the_pieces_that_were_read_are_those_of_the_card():
    section = CARD.read_text("utf-8").partition("## The text")[2].partition("\n## ")[0]
    parts = [int(one) for one in re.findall(r"sentences,\s(\d+) million\s+pieces", section)]
    told = re.search(r"on (\d+) million pieces of free English text \((\d+) \+ (\d+) million\)", TAKEN_TOGETHER)
    assert [int(one) for one in told.groups()] == [sum(parts), *parts]


def test_the_score_on_the_page_is_that_of_hidden_content_words():
    share, of = re.search(r"Hidden words of content.*?right for ([\d.]+)% of (\d+)", CARD.read_text("utf-8"), re.DOTALL).groups()
    assert f"of {of} hidden content words" in guesses.SMALL
    assert f"{share}%" in guesses.SMALL
    assert re.findall(r"[\d.]+%", guesses.SMALL) == [f"{share}%"]


def strings_of_code():
    """Every string of the package that is no docstring, f-strings as one."""
    for path in sorted((ROOT / "explorer").rglob("*.py")):
        if "±" not in (text := path.read_text("utf-8")):  # to go through all trees takes seconds
            continue
        tree = ast.parse(text)
        inside = {
            id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in ast.walk(one) if part is not one
        }
        skipped = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)} | inside
        for one in ast.walk(tree):
            if isinstance(one, ast.JoinedStr | ast.Constant) and id(one) not in skipped and "±" in ast.unparse(one):
                yield f"{path.relative_to(ROOT)}: {ast.unparse(one)}"


def test_every_plus_minus_says_what_it_is():
    pages = "\n".join([TAKEN_TOGETHER, *(path.read_text("utf-8") for path in (ROOT / "assets" / "lessons").rglob("*.md"))])
    sentences = [one for one in re.split(r"(?<=[.:|])\s+(?=[A-Z|])", pages) if "±" in one]
    scripts = [path.read_text("utf-8") for path in (ROOT / "assets").rglob("*.js") if "±" in path.read_text("utf-8")]
    assert [one for one in (*strings_of_code(), *sentences, *scripts) if not NAMED.search(one)] == []
