"""No regular expression of the package backtracks: each takes linear time, whatever text it is given."""

import ast
import importlib
import itertools
import re
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.at_night import at_night

PACKAGE = Path(importlib.import_module("explorer").__file__).parent
FLAGS_AT = {"compile": 1, "match": 2, "fullmatch": 2, "search": 2, "findall": 2, "finditer": 2, "split": 3, "sub": 4, "subn": 4}
FROM_ONE_PLACE = {"match", "fullmatch"}
A_WORD = "ab"  # stands for what a pattern takes from a variable of its function
SMALL, LARGE = 1_000, 4_000  # characters: a quadratic pattern takes 16 times as long for the second, a linear one 4 times
MOST_TIMES, A_MOMENT, TRIES = 8, 0.001, 5  # seconds, below which nothing can be compared
ENDLESS = 0.1  # seconds for less than SMALL characters: it is exponential
STEPS = (12, 16, 20, 24, 28, 32, 60, 200)  # characters; small ones first, since an exponential one would never come back
COMMON = " \na0.|"
MOST_CHARACTERS = 8


@dataclass(frozen=True)
class Pattern:
    """A pattern, where it is written, and by which functions of `re` it is used."""

    place: str
    pattern: str | bytes
    flags: int
    uses: frozenset[str]


def value_of(node: ast.expr, names: dict) -> object:
    """What an expression in a module is; what it takes from a function's own variables is A_WORD."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(value_of(part.value if isinstance(part, ast.FormattedValue) else part, names)) for part in node.values)
    try:
        return eval(compile(ast.Expression(node), "", "eval"), dict(names))
    except NameError:
        return A_WORD


def calls(tree: ast.AST) -> list[tuple[ast.Call, ast.Attribute, str]]:
    """The calls of methods that have the name of a function of `re`, and of what."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [(node, node.func, ast.unparse(node.func.value)) for node in found if node.func.attr in FLAGS_AT]


@cache
def patterns() -> tuple[Pattern, ...]:
    """All patterns of the package, found in its source, so that a new one is tested too."""
    texts = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items() if re.search(rf"\.({'|'.join(FLAGS_AT)})\b", text)}
    methods: dict[str, set[str]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in FLAGS_AT:
                methods.setdefault(ast.unparse(node.value).rpartition(".")[2], set()).add(node.attr)
    found = []
    for path, tree in trees.items():
        assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
        named = {id(node.value): ast.unparse(node.targets[0]) for node in assigned}
        for call, function, owner in calls(tree):
            if owner != "re":
                continue
            module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            names, at = vars(importlib.import_module(module)), FLAGS_AT[function.attr]
            flags = [*call.args[at : at + 1], *(one.value for one in call.keywords if one.arg == "flags")]
            uses = {function.attr}
            if function.attr == "compile":
                uses = methods.get(named.get(id(call), ""), {"finditer", "fullmatch"})
            place = f"{path.relative_to(PACKAGE).as_posix()}:{call.lineno}"
            given = int(value_of(flags[0], names)) if flags else 0
            found.append(Pattern(place, value_of(call.args[0], names), given, frozenset(uses)))
    return tuple(found)


def characters(pattern: str | bytes) -> str:
    """Characters that occur in a pattern, and common ones."""
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    plain = re.sub(r"\(\?[a-zA-Z<=!:]+|\\[a-zA-Z]|[\[\](){}?*+^$]", "", text)
    return "".join(dict.fromkeys(COMMON + re.sub(r"[^\[\](){}?*+^$]", "", text) + plain))[: len(COMMON) + MOST_CHARACTERS]


def inputs(pattern: Pattern):
    """Makers of texts of a length: runs of each character and of each two of the pattern, and of its words, then an end."""
    known = characters(pattern.pattern)
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    units = [*known, *map("".join, itertools.permutations(known, 2)), *dict.fromkeys(re.findall(r"[\w<>!=#-]{2,9}", text))]
    for unit, begin, end in itertools.product(units, ("", "x"), ("", "\x00")):

        def make(length, unit=unit, begin=begin, end=end):
            made = begin + unit * (length // len(unit)) + end
            return made if isinstance(pattern.pattern, str) else made.encode("latin-1", "replace")

        yield make, repr(begin + unit + "…" + end)


def seconds(compiled, pattern: Pattern, text) -> float:
    start = time.thread_time()  # another process may have the core meanwhile
    if pattern.uses - FROM_ONE_PLACE:
        for _ in compiled.finditer(text):
            pass
    for use in pattern.uses & FROM_ONE_PLACE:
        getattr(compiled, use)(text)
    return time.thread_time() - start


def slow_on(pattern: Pattern) -> str:
    """An input on which a pattern takes more than linear time, "" if none is found."""
    compiled = re.compile(pattern.pattern, pattern.flags)
    for make, shown in inputs(pattern):
        for length in STEPS:
            if seconds(compiled, pattern, make(length)) > ENDLESS and seconds(compiled, pattern, make(length)) > ENDLESS:
                return shown
        tries = ([seconds(compiled, pattern, make(length)) for length in (SMALL, LARGE)] for _ in range(TRIES))
        if all(large > max(A_MOMENT, MOST_TIMES * small) for small, large in tries):  # not in one busy moment only
            return shown
    return ""


def test_the_patterns_of_the_package_are_found():
    assert len(patterns()) > 80
    places = [pattern.place.partition(":")[0] for pattern in patterns()]
    assert {"experiments/compute/items.py", "text/sentences.py", "server/gate.py"} <= set(places)


def test_every_pattern_takes_linear_time():
    assert {pattern.place: found for pattern in patterns() if (found := slow_on(pattern))} == {}


BACKTRACKING = (r" *[|\t] *", r"<b.*?>x", r"\s*\|\|+\s*", r"(a+)+b", r"(\w+\s?)*\.", "a.*?a.*?a.*?b")


@pytest.mark.parametrize("slow", at_night(BACKTRACKING, but=BACKTRACKING[:2]))
def test_what_backtracks_is_found(slow):
    assert slow_on(Pattern("", slow, 0, frozenset({"finditer"})))
