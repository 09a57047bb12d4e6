"""The data of a lesson: steps that set the page, explain, and may ask a question before its answer."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.bert import checkpoints
from explorer.core.errors import InputError
from explorer.export import links
from explorer.export.place import Place
from explorer.ui.subject import Subject

ROUNDS = ("blank", "pair", "target")  # the kinds of round that a step may offer to a class
RELATIONS: dict[str, Callable[[Any, Any], bool]] = {  # between what is found and the value of a claim
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "contains": lambda found, value: value in found,
    "lacks": lambda found, value: value not in found,
}
SENTENCE_ENDS = re.compile(r"(?<=[.?!])[\"”]?\s+")
SPOTS = {"row": 1, "cell": 2, "ribbon": 3}  # what a step may point at within a picture, and how many numbers name it


class LessonError(InputError):
    """A lesson's file is invalid; the message names file and line."""


@dataclass(frozen=True)
class Option:
    """One answer to a step's question; `feedback` is shown to those who choose it."""

    text: str
    right: bool
    feedback: str


@dataclass(frozen=True)
class Claim:
    """A claim about the model: the value at `path` in the endpoint's answer to `arguments` has `relation` to `value`."""

    text: str  # as written in the file
    endpoint: str
    arguments: Mapping[str, object] = field(hash=False)
    path: tuple[str, ...]
    relation: str
    value: object = field(hash=False)
    line: int


@dataclass(frozen=True)
class Check:
    """One thing that an exercise asks for: `what` names it in words, `claim` says what must be true of the learner's page.

    In the arguments of the claim stand names of the page, as `exercises.Page` has them.
    """

    what: str
    claim: Claim


@dataclass(frozen=True)
class Exercise:
    """What a learner brings about on the page, `task`, and how it is checked. `solution` is one way, as parameters of a link."""

    task: str  # Markdown without paragraphs
    checks: tuple[Check, ...]
    solution: Mapping[str, str] = field(hash=False)
    line: int


@dataclass(frozen=True)
class OfPage:
    """An argument of a claim that is taken from the learner's page: `name` says what, as in the file."""

    name: str


@dataclass(frozen=True)
class Step:
    """One step: `link` sets the page, `before` is read, one of `options` is chosen, then `after` is read.

    `point` is the id of the element to point at, `cover` of the one to hide until the answer; '' for none. `spot` is what
    the text refers to within that element, of a kind of SPOTS: ("row", 7), ("cell", 7, 2) or ("ribbon", 4, 7, 2), as layer, query
    and key; tokens count from 0, all else from 1, and () is the whole element. `round` is the kind of
    round that fits it, '' for none, and `round_text` the text A that is asked about, '' for the step's own.
    """

    title: str
    link: Mapping[str, str] = field(hash=False)  # parameters of a link, as links.PARAMETERS has them
    point: str
    cover: str
    before: str  # Markdown, as `after`
    options: tuple[Option, ...]
    after: str
    claims: tuple[Claim, ...]
    line: int
    round: str = ""
    round_text: str = ""
    exercise: Exercise | None = None
    spot: tuple[str | int, ...] = ()
    minutes: int = 0  # in class; 0 if unknown

    @property
    def texts(self) -> tuple[str, ...]:
        """Text A, and B if there is one."""
        return tuple(self.link[name] for name in "ab" if self.link.get(name))

    @property
    def question(self) -> str:
        """The question: the last sentence before the options, without markup."""
        return SENTENCE_ENDS.split(self.before.replace("*", "").strip())[-1]

    @property
    def asked(self) -> Place:
        """The place that its round is about."""
        other = {"a": self.round_text} if self.round_text else {}
        return replace(self, link={**self.link, **other}).place

    @property
    def solved(self) -> Place:
        """The place of its exercise's solution."""
        return replace(self, link={**self.link, **(self.exercise.solution if self.exercise else {})}).place

    @property
    def place(self) -> Place:
        """The place it leads to; the model is the bundled one unless the link names another."""
        return links.read(self.link, Subject(checkpoints.BUNDLED, self.link["a"], self.link.get("b", "")))


@dataclass(frozen=True)
class Example:
    """An input to type in class: `outcome` says in words what happens, `claims` say the same as tests."""

    texts: tuple[str, ...]  # text A, or A and B
    outcome: str  # Markdown without paragraphs
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Lesson:
    """A course of steps; `name` is the file's name, which begins with the lesson's number."""

    name: str
    title: str
    about: str
    sources: tuple[str, ...]
    steps: tuple[Step, ...]
    minutes: int = 0  # in class; 0 if unknown
    works: tuple[Example, ...] = ()  # where the model does well
    fails: tuple[Example, ...] = ()  # where it does not
    aims: tuple[str, ...] = ()  # what students can do afterwards; Markdown without paragraphs

    @property
    def number(self) -> int:
        """The number at the beginning of its name."""
        return int(self.name.partition("-")[0])

    @property
    def heading(self) -> str:
        return f"{self.number} · {self.title}"

    def step_name(self, number: int) -> str:
        """The name of a step, counted from 1, in addresses: 03-one-head.1."""
        return f"{self.name}.{number}"

    @property
    def exercises(self) -> dict[str, Exercise]:
        """Its exercises by the names of their steps."""
        return {self.step_name(number): step.exercise for number, step in enumerate(self.steps, start=1) if step.exercise}

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All its claims about the model, in the order of the file."""
        parts: tuple[Example | Step, ...] = (*self.works, *self.fails, *self.steps)
        return tuple(claim for part in parts for claim in part.claims)
