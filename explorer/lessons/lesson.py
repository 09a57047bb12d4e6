"""What a lesson is: steps that set the page, say something, and may ask before they tell."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from explorer.base.errors import InputError
from explorer.model import checkpoints
from explorer.outlets import links
from explorer.outlets.place import Place
from explorer.views.subject import Subject


class LessonError(InputError):
    """A lesson's file cannot be read; the sentence names file and line."""


@dataclass(frozen=True)
class Option:
    """One answer to a step's question; `feedback` is told to who chose it."""

    text: str
    right: bool
    feedback: str


@dataclass(frozen=True)
class Claim:
    """What a lesson says of the model: an endpoint's answer to `arguments`, at `path`, stands in `relation` to `value`."""

    text: str  # as it is written
    endpoint: str
    arguments: Mapping[str, object] = field(hash=False)
    path: tuple[str, ...]
    relation: str
    value: object = field(hash=False)
    line: int


@dataclass(frozen=True)
class Step:
    """One step: `link` sets the page, `before` is read, one of `options` is chosen, then `after` is read.

    `point` is the id of the element that is pointed at, `cover` of the one that is hidden until the answer; '' for none.
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

    @property
    def place(self) -> Place:
        """Where it leads, with the bundled model where no other is named."""
        return links.read(self.link, Subject(checkpoints.BUNDLED, self.link["a"], self.link.get("b", "")))


@dataclass(frozen=True)
class Example:
    """What a teacher may type in class: `outcome` is what happens, in words, and `claims` are the same, to be tested."""

    texts: tuple[str, ...]  # text A, or A and B
    outcome: str  # Markdown within a line
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Lesson:
    """A course of steps; `name` is the file's, with its number in front, by which people call it."""

    name: str
    title: str
    about: str
    sources: tuple[str, ...]
    steps: tuple[Step, ...]
    minutes: int = 0  # that it takes in class; 0 where nobody has said
    works: tuple[Example, ...] = ()  # in which the model does well
    fails: tuple[Example, ...] = ()  # in which it does not

    @property
    def number(self) -> int:
        """What stands in front of its name."""
        return int(self.name.partition("-")[0])

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All that it says of the model, in the order of its lines."""
        parts: tuple[Example | Step, ...] = (*self.works, *self.fails, *self.steps)
        return tuple(claim for part in parts for claim in part.claims)
