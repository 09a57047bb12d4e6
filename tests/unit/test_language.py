"""Plain English: none of PHRASES in docstrings, strings and texts for readers; short sentences, labels and questions."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.tabs import VIEWS
from explorer.ui.view import View

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, SCRIPTS = ROOT / "explorer", ROOT / "assets"
PHRASES = {  # of assets/guide/contributing/style.md, in texts for readers and docstrings
    r"\banew\b": "again",
    r"\b[Ww]hoever\b": "anyone who, or name the actor",
    r"\b(be it|seldom|dear|likelier|commoner|surer|surest)\b": "whether, rarely, expensive, more likely, more certain",
    r"\b(leave|leaves|leaving|left) away\b": "left out",
    r"\bhand(s|ed)? (on|over)\b": "pass on, give",
    r"\blearnt\b": "learned",
    r"\bof (yours|ours|theirs)\b": "your own model",
    r"\b(?:texts?|sentences?|head|box|page|rule|classes|script|model|data|task|row|word|number|"
    r"places) of (?:its|your|our|their|one's) own\b": "its own row",
    r"\b[Ww]hat (is|was|are) (told|asked|said|there|shown|given|kept|compared|to be|wanted|read)\b": "a noun",
    r"\b[Ww]hat stands\b|\b[Ww]hat it is (bad|good) at\b": "a noun",
    r"\b(those |what |that )there (is|are)\b": "existing, available",
    r"\b(stands?|stood) (in|at|there|beside|behind|above|below|side|here|twice|on|with|as|already|"
    r"apart)\b": "is, appears, contains",
    r"\b(is|are|was|were) no (?!longer|more|less|fewer|different|better|doubt|one\b|such)[a-z]+": "is not a",
    r"\b(one|once|vector|point|picture|pass|switch|sentence|question|hit|use|word|tag|row|column|"
    r"entry|piece|bits|bytes|dots) an? (line|row|head|token|layer|call|sentence|word|item|piece|"
    r"machine|minute|second|example|question|step|pass|state|column|query|use|inch|class|occurrence|"
    r"key)\b": "one per line",
    r"\balike\b": "similar, equally, the same",
    r"\bby (itself|themselves)\b": "on its own, separately, automatically",
    r"\bat once\b": "immediately, or at the same time",
    r"\b(tells?|told)\b(?! (you|us|me|them|him|her|the (room|teacher|class)|apart|whether))": "shows, reports",
    r"\bin sight\b": "visible",
    r"\b(the )?other way round\b": "in reverse, swapped",
    r"\bstrangers?\b": "unrelated sentences, people who do not know each other",
    r"\btests? holds?\b|\bhold (it|them) to\b|\bholds? (what|against)\b": "tests check",
    r"\bof as many\b|\bas many (pieces|tokens) as\b|\bso many (words|layers|clients)\b": "the same number of",
    r"\bhere and there\b|\bover there\b": "in both",
    r"(^|[.:] )(Left|Right) (a|the) ": "On the left, the",
    r"[^.!?;|]*;[^.!?;|]*;": "at most one semicolon",
    r"\b[Nn]obody\b|\b[Ss]omebody\b": "no one, someone, or name the actor",
    r"\bfor (certain|sure)\b|\bin truth\b|\bjust so\b|\bthe like\b|\bnone the worse\b": "plain words",
    r"\bby lot\b|\bto be had\b": "at random; available",
    r"\d %": "91%",
}
MOST_WORDS = 30  # of a sentence
MOST_IN_A_LABEL = 6  # words
PRONOUN = re.compile(r"\b(it|its|they|their|them|here|there)\b", re.IGNORECASE)
CLEAN = ("README.md", "CONTRIBUTING.md", "assets/guide/**/*.md", "assets/lessons/**/*.md")


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings of a file of Python, also those of attributes, each on one line, with their lines."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, " ".join(node.value.value.split())


def read() -> Iterator[Path]:
    """The files that were read: of the package, and the page's scripts."""
    yield from PACKAGE.rglob("*.py")
    for folder in ("", "arithmetic", "classroom", "components", "components/flow", "file", "guide", "page", "shared"):
        yield from (SCRIPTS / folder).glob("*.js")


def clean() -> list[Path]:
    """The Markdown that people read."""
    found = [path for pattern in CLEAN for path in sorted(ROOT.glob(pattern))]
    assert len(found) > 40
    return found


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of Markdown that people read: no code, addresses, comments, front matter or generated parts."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    hidden = r"\A---\n.*?^---$|^ *```.*?^ *```$|<!-- generated: .*?<!-- end -->|<!--.*?-->|(?<=\])\([^)\n]*\)"
    hidden += r"|^(?:claim|check|solution|[ab]): .*?$"
    text = re.sub(r"`[^`\n]*`", "X", re.sub(hidden, blank, text, flags=re.DOTALL | re.MULTILINE))
    yield from enumerate(text.splitlines(), start=1)


def sentences(text: str) -> Iterator[str]:
    """The sentences of Markdown that people read, also those that a colon, a semicolon or a bar ends; no tables."""
    lines = "\n".join("" if line.startswith(("|", "![")) else line for _, line in prose(text))
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-#>\d])", lines):
        yield from re.split(r"(?<=[.!?:;·|])[*)”]*\s+", " ".join(paragraph.split()))


def test_no_sentence_for_readers_is_longer_than_thirty_words():
    read = [(path.name, sentence) for path in clean() for sentence in sentences(path.read_text("utf-8"))]
    long = [f"{name}: {sentence}" for name, sentence in read if len(sentence.split()) > MOST_WORDS]
    assert not long, "\n".join(long)


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of three words or more in a file of Python or JavaScript that are not docstrings, markup or policies."""
    text = path.read_text("utf-8")
    if path.suffix == ".js":
        for number, line in enumerate(text.splitlines(), start=1):
            for found in re.finditer(r'"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`', re.sub(r"^\s*//.*", "", line)):
                said = found[1] or found[2] or ""
                if re.search(r"[a-z] [a-z]", said) and "=>" not in said and len(said.split()) < 100:  # or a list of words
                    yield number, said
        return
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            said = " ".join(node.value.split())
            if said.count(" ") > 1 and not re.match(r"[<{]|default-src|[^ ]+/[^ ]+ [^ ]+/", said):
                yield node.lineno, said


READ = {  # the kinds of text
    "docstrings": lambda: ((path, docstrings(path)) for path in read() if path.suffix == ".py"),
    "strings on the page": lambda: ((path, literals(path)) for path in read()),
    "texts for readers": lambda: ((path, prose(path.read_text("utf-8"))) for path in clean()),
}


@pytest.mark.parametrize("kind", READ)
def test_it_can_be_understood_at_the_first_reading(kind):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {text[:80]!r}: instead of {match[0]!r}, {instead}"
        for path, texts in READ[kind]()
        for number, text in texts
        for phrase, instead in PHRASES.items()
        if (match := re.search(phrase, text))
    ]
    assert not found, "\n".join(found)


def test_a_question_can_be_understood_without_the_page_around_it():
    riddles = {name: view.question for name, view in VIEWS.items() if PRONOUN.search(view.question)}
    assert not riddles


def test_a_label_is_short():
    labels = [(f"{name}.{of}", setting.label) for name, view in VIEWS.items() for of, setting in view.settings.items()]
    labels += [
        (f"{name}.{of}", part.options["label"])
        for name, view in VIEWS.items()
        for of, part in view.parts.items()
        if part.kind == "button"
    ]
    long = {name: label for name, label in labels if len(label.split()) > MOST_IN_A_LABEL}
    assert not long


def captions() -> Iterator[tuple[type, str]]:
    """The sentences of every caption, note and heading, with the class that declares it; no tables."""
    for view in VIEWS.values():
        for of, part in view.parts.items():
            if part.kind in ("caption", "note", "heading"):
                declares = next(base for base in view.__mro__ if of in vars(base))
                yield from ((declares, sentence.strip(" *")) for sentence in sentences(part.options["markdown"]))


def test_a_sentence_of_a_caption_is_short():
    long = [f"{view.__name__}: {sentence}" for view, sentence in captions() if len(sentence.split()) > MOST_WORDS]
    assert not long, "\n".join(long)


def test_no_two_captions_say_the_same():
    places: dict[str, set[type]] = {}
    for view, sentence in captions():
        if len(sentence.split()) > MOST_IN_A_LABEL:
            kind = view.__mro__[view.__mro__.index(View) - 1]  # views of one kind have one caption
            places.setdefault(sentence, set()).add(kind)
    twice = [f"{sorted(view.__name__ for view in views)}: {said}" for said, views in places.items() if len(views) > 1]
    assert not twice, "\n".join(twice)
