"""Check an exercise against the page of a learner: the text, head, layer and settings in the page's link."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from explorer.bert import checkpoints
from explorer.core.errors import CapabilityError, InputError
from explorer.export import links
from explorer.export.place import SETTING, Place
from explorer.teaching.lessons.claims import at, endpoint_of
from explorer.teaching.lessons.lesson import RELATIONS, Check, Claim, Exercise, Lesson, OfPage
from explorer.teaching.lessons.reading import lessons
from explorer.ui.subject import Subject

UNKNOWN = "The lesson has no such exercise. Open the lesson again."
NO_LINK = "This page is too long for a link. Shorten the texts."
PAGE = "page"  # in a claim, in place of an endpoint: what the page shows itself
PLACES = ("layer", "head")  # in brackets in the path of a claim: their number on the page, to find a row by
ASKS = {
    "=": "the task asks for {value}",
    "!=": "the task asks for anything else",
    ">": "the task asks for more than {value}",
    ">=": "the task asks for {value} or more",
    "<": "the task asks for less than {value}",
    "<=": "the task asks for {value} or less",
    "contains": "the task asks for {value} among them",
    "lacks": "the task asks for all but {value}",
}
SHOWN = 60  # characters of a found text in a sentence


@dataclass(frozen=True)
class Verdict:
    """Whether an exercise is done, and what was found, in a sentence. `query` is that of the link to what was checked."""

    done: bool
    told: str
    query: str = ""
    found: str = ""  # the last number that was asked for, with its name, if it is done
    model: str = ""  # that was asked, if it is not the one that the app opens with


def exercise_of(name: object) -> tuple[Lesson, Exercise]:
    """The exercise that an address names, such as 03-one-head.1, with its lesson. Raises InputError."""
    for lesson in lessons():
        if isinstance(name, str) and name in lesson.exercises:
            return lesson, lesson.exercises[name]
    raise InputError(UNKNOWN)


def place_of(query: object) -> Place:
    """The place that the query of a link to a page names. Raises ExplorerError if it cannot be followed exactly."""
    if not isinstance(query, str) or not 0 < len(query) <= links.LONGEST:
        raise InputError(NO_LINK)
    return links.follow(query, Subject(checkpoints.default_name(), "", ""))


def check(exercise: Exercise, place: Place) -> Verdict:
    """Whether a page does what the exercise asks for; an input that cannot be read is a sentence, not an error."""
    page, found = Page(place), ""
    query, model = links.query(place), place.subject.model_name
    model = "" if model == checkpoints.default_name() else model
    asked = f" with the model {model}" if model else ""
    try:
        for check in exercise.checks:
            value = page.find(check.claim)
            if not RELATIONS[check.claim.relation](value, check.claim.value):
                return Verdict(False, f"Not yet{asked}: {_sentence(check, value)}.", query, model=model)
            if isinstance(value, int | float):
                found = f"{check.what} is {_written(value, check.claim.value)}"
    except (InputError, CapabilityError) as error:
        return Verdict(False, f"Not yet{asked}: {error}", query, model=model)
    return Verdict(True, f"Done{asked}: {found}." if found else f"Done{asked}.", query, found, model)


class Page:
    """What the claims of an exercise may ask of a learner's page, each by its name."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @cached_property
    def _shown(self) -> Subject:
        """The subject with the layer and head that the page opened with, if none was picked."""
        return self._place.opened().subject

    def named(self, name: str) -> Any:
        """The value of a name: a and b, layer and head from 1, the hidden state, token, off, cut, words, set.NAME."""
        subject = self._place.subject
        if name.startswith(SETTING):
            return self._setting(name.removeprefix(SETTING))
        values: Mapping[str, Callable[[], Any]] = {
            "a": lambda: subject.text_a,
            "b": lambda: subject.text_b,
            "layer": lambda: self._shown.selection.attention_layer + 1,
            "head": lambda: self._shown.selection.head,
            "state": lambda: self._shown.selection.layer,
            "token": lambda: subject.selection.token,
            "off": lambda: subject.selection.off_from_one,
            "cut": lambda: subject.selection.cut_from_one,
            "words": lambda: subject.text_a.lower().split(),
        }
        if name not in values:
            raise InputError(f"A page has no {name!r}. Choose one of {', '.join(values)} and {SETTING}NAME.")
        return values[name]()

    def find(self, claim: Claim) -> Any:
        """The value that a claim is about. Raises InputError if there is none, as for a text without the word it asks for."""
        if claim.endpoint == PAGE:
            name, *rest = claim.path
            answer = self.named(name if name != SETTING[:-1] else ".".join([name, rest.pop(0)]))
            return len(answer) if rest == ["count"] else at(answer, tuple(rest))
        endpoint = endpoint_of(claim)
        arguments = {name: self._filled(value) for name, value in claim.arguments.items()}
        if "model" in inspect.signature(endpoint).parameters:
            arguments.setdefault("model", self._place.subject.model_name)
        answer = endpoint(**arguments)
        return at(answer, tuple(self._step(step, answer) for step in claim.path))

    def _setting(self, name: str) -> Any:
        view = next((view for view in self._place.views if name in view.settings), None)
        if view is None:
            raise InputError("The page shows another view now. Press Back to the task.")
        return getattr(view, name)

    def _filled(self, value: object) -> object:
        if isinstance(value, Mapping):
            return {name: self._filled(one) for name, one in value.items()}
        return self.named(value.name) if isinstance(value, OfPage) else value

    def _step(self, step: str, answer: Any) -> str:
        """A step of a path: [layer] and [head] as the page's, from 0, and any other word in brackets as its token's position."""
        if not (step.startswith("[") and step.endswith("]")):
            return step
        if (word := step[1:-1]) in PLACES:
            return str(self.named(word) - 1)
        tokens = answer["tokens"]
        found = next((token for token in (step, word) if token in tokens), None)
        if found is None:
            raise InputError(f"“{word}” is not among the pieces of your text, and the task needs it.")
        return str(tokens.index(found))


def _sentence(check: Check, value: object) -> str:
    relation, wanted = check.claim.relation, check.claim.value
    asked = f"{wanted:g}" if isinstance(wanted, float) else _written(wanted)
    if relation in ("contains", "lacks"):
        return f"{check.what} {'lacks' if relation == 'contains' else 'has'} {asked}"
    return f"{check.what} is {_written(value, wanted)}, {ASKS[relation].format(value=asked)}"


def _written(value: object, beside: object = None) -> str:
    """A value in a sentence; a number with enough digits to differ from the number `beside`."""
    if isinstance(value, float):
        written = f"{value:.2f}", f"{value:.3f}", f"{value:.5f}"
        return next((text for text in written if float(text) != beside), repr(value))
    if isinstance(value, str):
        return f"“{value if len(value) <= SHOWN else value[:SHOWN] + '…'}”" if value else "empty"
    return "nothing" if value is None else str(value)
