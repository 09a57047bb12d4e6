"""Plain English: no phrase of RIDDLES in docstrings and comments; none of PHRASES in docstrings, strings and CLEAN texts."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.tabs import VIEWS
from explorer.ui.view import View

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, SCRIPTS = ROOT / "explorer", ROOT / "assets"
NOT_READ: set[str] = set()
"""Folders with RIDDLES in docstrings or comments. Rewrite them, then remove the folder here."""
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


PHRASES = {  # of assets/guide/contributing/style.md, in texts for readers
    r"\banew\b": ("opened anew", "again"),
    r"\b[Ww]hoever\b": ("whoever leaves", "anyone who, or name the actor"),
    r"\b(be it|seldom|dear|likelier|commoner|surer|surest)\b": (
        "the likelier word",
        "whether, rarely, expensive, more likely, more certain",
    ),
    r"\b(leave|leaves|leaving|left) away\b": ("what was left away", "left out"),
    r"\bhand(s|ed)? (on|over)\b": ("hands over its vector", "pass on, give"),
    r"\blearnt\b": ("what it learnt", "learned"),
    r"\bof (yours|ours|theirs)\b": ("a model of yours", "your own model"),
    r"\b(?:texts?|sentences?|head|box|page|rule|classes|script|model|data|task|row|word|number|places) of "
    r"(?:its|your|our|their|one's) own\b": ("a row of its own", "its own row"),
    r"\b[Ww]hat (is|was|are) (told|asked|said|there|shown|given|kept|compared|to be|wanted|read)\b": ("what is told", "a noun"),
    r"\b[Ww]hat stands\b|\b[Ww]hat it is (bad|good) at\b": ("What stands beside it", "a noun"),
    r"\b(those |what |that )there (is|are)\b": ("those there are", "existing, available"),
    r"\b(stands?|stood) (in|at|there|beside|behind|above|below|side|here|twice|on|with|as|already|apart)\b": (
        "stands in its card",
        "is, appears, contains",
    ),
    r"\b(is|are|was|were) no (?!longer|more|less|fewer|different|better|doubt|one\b|such)[a-z]+": ("is no cause", "is not a"),
    r"\b(one|once|vector|point|picture|pass|switch|sentence|question|hit|use|word|tag|row|column|entry|piece|bits|bytes|dots)"
    r" an? (line|row|head|token|layer|call|sentence|word|item|piece|machine|minute|second|example|question|step|pass|state"
    r"|column|query|use|inch|class|occurrence|key)\b": ("one a line", "one per line"),
    r"\balike\b": ("look alike", "similar, equally, the same"),
    r"\bby (itself|themselves)\b": ("starts by itself", "on its own, separately, automatically"),
    r"\bat once\b": ("is there at once", "immediately, or at the same time"),
    r"\b(tells?|told)\b(?! (you|us|me|them|him|her|the (room|teacher|class)|apart|whether))": (
        "the card tells",
        "shows, reports",
    ),
    r"\bin sight\b": ("stays in sight", "visible"),
    r"\b(the )?other way round\b": ("the other way round", "in reverse, swapped"),
    r"\bstrangers?\b": ("two strangers", "unrelated sentences, people who do not know each other"),
    r"\btests? holds?\b|\bhold (it|them) to\b|\bholds? (what|against)\b": ("the tests hold it", "tests check"),
    r"\bof as many\b|\bas many (pieces|tokens) as\b|\bso many (words|layers|clients)\b": (
        "of as many pieces",
        "the same number of",
    ),
    r"\bhere and there\b|\bover there\b": ("the guesses here and there", "in both"),
    r"(^|[.:] )(Left|Right) (a|the) ": ("Left the sentence", "On the left, the"),
    r"[^.!?;|]*;[^.!?;|]*;": ("one; two; three", "at most one semicolon"),
    r"\b[Nn]obody\b|\b[Ss]omebody\b": ("nobody else's", "no one, someone, or name the actor"),
    r"\bfor (certain|sure)\b|\bin truth\b|\bjust so\b|\bthe like\b|\bnone the worse\b": ("in truth", "plain words"),
    r"\bby lot\b|\bto be had\b": ("drawn by lot", "at random; available"),
    r"\d %": ("91 %", "91%"),
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


def english(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a file of Python or JavaScript, with their lines."""
    text = path.read_text("utf-8")
    if path.suffix == ".js":
        for number, line in enumerate(text.splitlines(), start=1):
            if found := re.search(r"(?:^|\s)// (.*)", line) or re.search(r"^\s*/?\*+ (.*)", line):
                yield number, found[1]
        return
    yield from docstrings(path)
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


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of Markdown that people read: no code, addresses, comments, front matter or generated parts."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    hidden = r"\A---\n.*?^---$|^ *```.*?^ *```$|<!-- generated: .*?<!-- end -->|<!--.*?-->|(?<=\])\([^)\n]*\)"
    hidden += r"|^(?:claim|check|solution|[ab]): .*?$"
    text = re.sub(r"`[^`\n]*`", "X", re.sub(hidden, blank, text, flags=re.DOTALL | re.MULTILINE))
    yield from enumerate(text.splitlines(), start=1)


@pytest.mark.parametrize("phrase", PHRASES)
def test_an_example_of_each_phrase_is_found(phrase):
    example, instead = PHRASES[phrase]
    assert re.search(phrase, example)
    assert instead


def test_only_text_that_people_read_is_looked_at():
    hidden = "---\ntold\n---\n# A\n<!-- told -->\n```\ntold\n```\n`told` [b](told.md)\na: told\n"
    text = hidden + "<!-- generated: x -->\ntold\n<!-- end -->\ntold"
    assert [number for number, line in prose(text) if "told" in line] == [14]


def test_texts_for_readers_can_be_understood_at_the_first_reading():
    paths = [path for pattern in CLEAN for path in sorted(ROOT.glob(pattern))]
    assert len(paths) > 40
    found = [
        f"{path.relative_to(ROOT)}:{number}: instead of {match[0]!r}, {PHRASES[phrase][1]}"
        for path in paths
        for number, line in prose(path.read_text("utf-8"))
        for phrase in PHRASES
        if (match := re.search(phrase, line))
    ]
    assert not found, "\n".join(found)


def sentences(text: str) -> Iterator[str]:
    """The sentences of Markdown that people read, also those that a colon, a semicolon or a bar ends; no tables."""
    lines = "\n".join("" if line.startswith(("|", "![")) else line for _, line in prose(text))
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-#>\d])", lines):
        yield from re.split(r"(?<=[.!?:;·|])[*)”]*\s+", " ".join(paragraph.split()))


def test_sentences_end_at_stops_and_paragraphs():
    assert list(sentences("# A b\nC **d.** E:\nf\n- g; h\n\n| i |")) == ["# A b C **d.", "E:", "f", "- g;", "h", ""]


def test_no_sentence_for_readers_is_longer_than_thirty_words():
    paths = [path for pattern in CLEAN for path in sorted(ROOT.glob(pattern))]
    read = [(path.name, sentence) for path in paths for sentence in sentences(path.read_text("utf-8"))]
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


def test_strings_on_the_page_can_be_understood_at_the_first_reading():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {said[:80]!r}: instead of {match[0]!r}, {PHRASES[phrase][1]}"
        for path in read()
        for number, said in literals(path)
        for phrase in PHRASES
        if (match := re.search(phrase, said))
    ]
    assert not found, "\n".join(found)


def test_docstrings_are_in_plain_words():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:80]!r}: instead of {match[0]!r}, {PHRASES[phrase][1]}"
        for path in read()
        if path.suffix == ".py"
        for line, text in docstrings(path)
        for phrase in PHRASES
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


def test_a_plus_minus_has_a_name():
    unnamed = [
        f"{path.relative_to(ROOT)}:{number}: {said}"
        for path in read()
        for number, said in literals(path)
        if "±" in said and not re.search(r"standard (error|deviation)|interval", said)
    ]
    assert not unnamed
