"""Read the Markdown files of lessons; assets/guide/contributing/lesson.md describes the format.

A file begins with `title`, `about` and `sources` between two lines of ---; for the teacher's sheet also `minutes`, `aims`, and
under `works` and `fails` the inputs to type in class, each with its outcome and the claims that test it. Each `## heading` begins
a step: first lines of `name: value`, then the text to read, `- [ ]` and `- [x]` for answers with feedback after a bar, `>`
before the text shown after the answer, and `claim:` before a claim about the model. An exercise is `exercise:` before its
goal, `check:` before what must then be true of the page, and `solution:` before one way to do it.
"""

import ast
import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorer.core.paths import ASSETS
from explorer.export.links import PARAMETERS
from explorer.export.place import SETTING
from explorer.teaching.lessons.lesson import (
    RELATIONS,
    ROUNDS,
    SPOTS,
    Check,
    Claim,
    Example,
    Exercise,
    Lesson,
    LessonError,
    OfPage,
    Option,
    Step,
)

FOLDER = ASSETS / "lessons" / "en"
HEAD = ("title", "about", "sources")
FOR_TEACHERS = ("minutes", "works", "fails", "aims")
LISTS = ("sources", "works", "fails", "aims")
LASTING = ("a", "b", "tab", "view")  # inherited from the step before
GOES_WITH = {"a": "b", "tab": "view"}  # a new text A or tab ends the inheritance of these
OWN = ("point", "cover", "round", "minutes")
TAGS = ("- [", ">", "claim:", "exercise:", "check:", "solution:")
FEWEST, MOST = 3, 7  # steps
CLAIM = re.compile(rf"(\w+)(\(.*\)) ([\w.*#\-\[\] ]+?) ({'|'.join(RELATIONS)}) (.+)")
KEY = re.compile(r"([a-z][\w.]*): ?(.*)")
MINUTES = re.compile(r"[1-9]\d{0,2}")
EXAMPLE = re.compile(r"([^→]+) → ([^|]+?)((?: \| [^|]+)+)")
OPTION = re.compile(r"(x?)\] ([^|]+)\|(.+)")


@functools.cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons, by number. Raises LessonError."""
    return tuple(read(path) for path in sorted(FOLDER.glob("*.md")))


def read(path: Path) -> Lesson:
    """The lesson in a file. Raises LessonError, which names the line."""
    return _Reader(path).lesson()


def claim(text: str, line: int = 0, of_page: bool = False) -> Claim:
    """Parse a claim found on a line of its file; with `of_page` its arguments may be names of the page. Raises LessonError."""
    how = "a claim is 'endpoint(argument=value) path relation value', as 'tokens(text_a=\"Hi.\") total = 4'."
    if (found := CLAIM.fullmatch(text)) is None:
        raise LessonError(how)
    try:
        call = ast.parse(f"call{found[2]}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        arguments = {str(keyword.arg): _argument(keyword.value, of_page) for keyword in call.keywords}
        value = ast.literal_eval(found[5])
    except (ValueError, SyntaxError):
        raise LessonError(how) from None
    return Claim(text, found[1], arguments, tuple(found[3].strip().split(".")), found[4], value, line)


def _argument(node: ast.expr, of_page: bool) -> Any:
    """The value that is written there. Raises ValueError."""
    if of_page and isinstance(node, ast.Name | ast.Attribute):
        return OfPage(ast.unparse(node))
    if of_page and isinstance(node, ast.Dict):
        names = [ast.literal_eval(key) for key in node.keys if key]
        return {name: _argument(one, of_page) for name, one in zip(names, node.values, strict=True)}
    return ast.literal_eval(node)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path.read_text("utf-8").splitlines()

    def wrong(self, line: int, what: str) -> LessonError:
        return LessonError(f"{self.path.name}, line {line}: {what}")

    def lesson(self) -> Lesson:
        head, start = self._head()
        begins = [number for number in range(start, len(self.lines)) if self.lines[number].startswith("## ")]
        if not FEWEST <= len(begins) <= MOST:
            asked = f"a lesson has {FEWEST} to {MOST} steps, each under a '## heading', not {len(begins)}."
            raise self.wrong(len(self.lines), asked)
        ends = [*begins[1:], len(self.lines)]
        link: dict[str, str] = {}
        steps = []
        for begin, end in zip(begins, ends, strict=True):
            steps.append(self._step(begin, end, link))
            link = {name: value for name, value in steps[-1].link.items() if name in LASTING}
        if not any(step.options for step in steps):
            raise self.wrong(len(self.lines), "no step asks anything; write answers as '- [ ] text | feedback'.")
        (_, title), (_, about) = head["title"][0], head["about"][0]
        sources = tuple(text for _, text in head["sources"])
        aims = tuple(text for _, text in head.get("aims", ()))
        minutes = self._minutes(*head["minutes"][0]) if "minutes" in head else 0
        works, fails = (tuple(self._example(*line) for line in head.get(name, ())) for name in ("works", "fails"))
        lesson = Lesson(self.path.stem, title, about, sources, tuple(steps), minutes, works, fails, aims)
        parts = [step.minutes for step in steps if step.minutes]
        if parts and (len(parts), sum(parts)) != (len(steps), lesson.minutes):
            raise self.wrong(len(self.lines), "if a step has minutes, all have, and their sum is the lesson's.")
        return lesson

    def _head(self) -> tuple[dict[str, list[tuple[int, str]]], int]:
        """The (line, text) pairs by name, and the index of the first line after the head."""
        if not self.lines or self.lines[0] != "---" or "---" not in self.lines[1:]:
            raise self.wrong(1, "a lesson begins with title, about and sources between two lines of '---'.")
        end = self.lines.index("---", 1)
        found: dict[str, list[tuple[int, str]]] = {}
        name = ""
        for number, line in enumerate(self.lines[1:end], start=2):
            if (named := KEY.fullmatch(line)) and named[1] in (*HEAD, *FOR_TEACHERS):
                name = named[1]
                found[name] = [(number, named[2])] if named[2] or name not in LISTS else []
            elif line.startswith("  - ") and name in LISTS:
                found[name].append((number, line[4:]))
            else:
                known = ", ".join((*HEAD, *FOR_TEACHERS))
                raise self.wrong(number, f"the head of a lesson has only {known}, and {', '.join(LISTS)} as '  - text'.")
        if missing := [name for name in HEAD if not any(text for _, text in found.get(name, ()))]:
            raise self.wrong(end + 1, f"the head lacks {' and '.join(missing)}.")
        return found, end + 1

    def _minutes(self, number: int, text: str) -> int:
        if not MINUTES.fullmatch(text):
            raise self.wrong(number, "the minutes are a whole number, as in 'minutes: 30'.")
        return int(text)

    def _example(self, number: int, line: str) -> Example:
        if (found := EXAMPLE.fullmatch(line)) is None:
            raise self.wrong(number, "an example is 'A → what happens | claim', of two texts 'A / B → what happens | claim'.")
        claims = tuple(self._claim(number, text.strip()) for text in found[3].split(" | ")[1:])
        texts = tuple(found[1].split(" / "))
        for text in texts:
            if not any(f'"{text}"' in claim.text for claim in claims):
                raise self.wrong(number, f"no claim of the example is about {text!r}.")
        return Example(texts, found[2].strip(), claims)

    def _step(self, begin: int, end: int, lasting: dict[str, str]) -> Step:
        given: dict[str, str] = {}
        body = begin + 1
        while body < end and self.lines[body]:
            name, value = self._key(body)
            given[name] = value
            body += 1
        own = {name: given.pop(name, "") for name in OWN}
        own["round"], _, own["round_text"] = (part.strip() for part in own["round"].partition("|"))
        if own["round"] not in ("", *ROUNDS):
            raise self.wrong(begin + 1, f"a round is {', '.join(ROUNDS)}; after a bar may follow another text A to ask about.")
        own["point"], _, spot = (part.strip() for part in own["point"].partition("|"))
        ended = [other for name, other in GOES_WITH.items() if name in given]
        link = {name: value for name, value in lasting.items() if name not in ended} | given
        if missing := [name for name in ("a", "tab") if name not in link]:
            raise self.wrong(begin + 1, f"the first step must say its {' and '.join(missing)}.")
        lines = self._tagged(body, end)
        before, after = ("\n".join(text for _, text in lines[tag]).strip() for tag in ("", ">"))
        options = tuple(self._option(*line) for line in lines["- ["])
        if options and sum(option.right for option in options) != 1:
            raise self.wrong(begin + 1, "exactly one answer of a question is right, marked '- [x]'.")
        if not before:
            raise self.wrong(begin + 1, "the step says nothing.")
        if options and not after:
            raise self.wrong(begin + 1, "the question has no answer; write the answer after '> '.")
        return Step(
            self.lines[begin][3:].strip(),
            link,
            point=own["point"],
            spot=self._spot(begin + 1, spot),
            cover=own["cover"],
            before=before,
            options=options,
            after=after,
            claims=tuple(self._claim(*line) for line in lines["claim:"]),
            line=begin + 1,
            round=own["round"],
            round_text=own["round_text"],
            exercise=self._exercise(lines),
            minutes=self._minutes(begin + 1, own["minutes"]) if own["minutes"] else 0,
        )

    def _spot(self, number: int, text: str) -> tuple[str | int, ...]:
        kind, *numbers = text.split() or [""]
        if not text or (SPOTS.get(kind) == len(numbers) and all(number.isdecimal() for number in numbers)):
            return (kind, *map(int, numbers)) if text else ()
        raise self.wrong(number, "after the bar of a point comes 'row 7', 'cell 7 2' or 'ribbon 4 7 2'.")

    def _key(self, number: int) -> tuple[str, str]:
        named = KEY.fullmatch(self.lines[number])
        if named is None:
            raise self.wrong(number + 1, "below a heading come lines of 'name: value', then an empty line.")
        name = named[1]
        if name not in PARAMETERS and name not in OWN and not name.startswith(SETTING):
            raise self.wrong(number + 1, f"there is no {name!r}; there are {', '.join([*OWN, *PARAMETERS])}.")
        return name, named[2]

    def _tagged(self, begin: int, end: int) -> dict[str, list[tuple[int, str]]]:
        """The (number, text) of a step's lines by the tag that they begin with; those without one are read first."""
        found: dict[str, list[tuple[int, str]]] = {tag: [] for tag in ("", *TAGS)}
        for number, line in enumerate(self.lines[begin:end], start=begin + 1):
            tag = next(filter(line.startswith, TAGS), "")
            if not tag and line.strip() and (found["- ["] or found[">"]):
                raise self.wrong(number, "after the answers come only the feedback ('> …') and claims.")
            found[tag].append((number, line[len(tag) :].strip() if tag else line))
        return found

    def _exercise(self, lines: Mapping[str, list[tuple[int, str]]]) -> Exercise | None:
        tasks, checks, solutions = (lines[tag] for tag in ("exercise:", "check:", "solution:"))
        if not (tasks or checks or solutions):
            return None
        number = min(number for number, _ in (*tasks, *checks, *solutions))
        if not (len(tasks) == len(solutions) == 1 and checks):
            raise self.wrong(number, "an exercise has one 'exercise: …', one 'check: …' at least, and one 'solution: …'.")
        return Exercise(tasks[0][1], tuple(self._check(*line) for line in checks), self._solution(*solutions[0]), number)

    def _check(self, number: int, line: str) -> Check:
        what, bar, text = (part.strip() for part in line.partition(" | "))
        if not (bar and what):
            raise self.wrong(number, "a check is 'what is measured, in words | claim', with names of the page in the claim.")
        return Check(what, self._claim(number, text, of_page=True))

    def _solution(self, number: int, line: str) -> dict[str, str]:
        given = dict(part.partition("=")[::2] for part in line.split(" & "))
        if unknown := [name for name in given if name not in PARAMETERS and not name.startswith(SETTING)]:
            raise self.wrong(number, f"a solution is parameters of a link, as 'layer=4 & head=2'; there is no {unknown[0]!r}.")
        return given

    def _option(self, number: int, line: str) -> Option:
        if (found := OPTION.fullmatch(line)) is None:
            raise self.wrong(number, "an answer is '- [ ] text | feedback', the right one '- [x] text | feedback'.")
        return Option(found[2].strip(), found[1] == "x", found[3].strip())

    def _claim(self, number: int, text: str, of_page: bool = False) -> Claim:
        try:
            return claim(text, number, of_page)
        except LessonError as error:
            raise self.wrong(number, str(error)) from None
