"""One notion of a view: a question with named settings, what it computes, and what is seen of it. No Gradio here.

The page makes the controls, the listening and the waiting from it, a program asks `compute` for the numbers. There is a whole
view in CONTRIBUTING.md.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Self, dataclass_transform

from explorer.base.cache import OnceCache, weight
from explorer.base.errors import ExplorerError, InputError
from explorer.base.steps import finished
from explorer.model.network import Capabilities
from explorer.views.settings import Setting
from explorer.views.subject import Subject

Content = dict[str, Any]
"""What is to be seen: a value by the name of a part or a setting. A part that is left out stays as it is, an `optional`
one disappears. A value may be a function, called only if the value is wanted; or `props` of the thing."""

MARKDOWN = ("caption", "heading", "note")  # the kinds of parts that are the same for every input, and
WITHOUT_NUMBERS = (*MARKDOWN, "prose", "button", "chips", "meter", "check", "code")  # those that show no numbers of it
QUICK = 60e9  # multiplications that are done without asking: about a second on two cores


@dataclass(frozen=True)
class Part:
    """Something that is seen."""

    kind: str  # what draws it
    options: Mapping[str, Any] = field(default_factory=dict)  # for what draws it
    optional: bool = False  # there only when it has a value
    marks: bool = False  # it shows by itself what was clicked in it, and is not sent again
    more: bool = False  # folded away
    customdata: bool = False  # a click is told by the customdata of its point
    long: bool = False  # a press of it takes long
    saves: str = ""  # a press of it gives the sheet of that name as a CSV file
    passive: bool = False  # a row of other tokens than the input's
    wide: bool = False  # a button as wide as what stands above it
    opens: bool = False  # a click on it puts other texts into the page, and nothing else
    leads: bool = False  # a press of it goes to where its `on_<name>` says, a Why
    answer: bool = False  # a class may guess it first: the page covers it while answers are hidden, as it does every finding


def part(kind: str, **given: Any) -> Part:
    """A part that the component of this kind draws; the page has a list of the kinds."""
    own = {name: given.pop(name) for name in list(given) if name in Part.__dataclass_fields__}
    return Part(kind, given, **own)


sentence = partial(part, "sentence")  # plain, which may hold words of the person's
prose = partial(part, "prose")  # Markdown of ours, without words of the person's
check = partial(part, "check")  # the proof below a picture, from `verdict`


def chart(label: str, height: int = 400, **options: Any) -> Part:
    """A Plotly figure; `label` says what it is to those who do not see it."""
    return part("chart", label=label, height=height, **options)


def caption(markdown: str, kind: str = "caption", **options: Any) -> Part:
    """Markdown that does not depend on the input. On the page it stands behind 'How is this made?', as checks do."""
    return part(kind, markdown=markdown, **options)


heading = partial(caption, kind="heading")  # a title within a view
note = partial(caption, kind="note")  # a caption that is always seen: what one may do here


def button(label: str, **options: Any) -> Part:
    """Something to press: what it means is the view's `on_<name>`."""
    return part("button", label=label, **options)


class props(dict):
    """What else changes of a part or a control besides its value: label, choices, interactive, visible."""


@dataclass(frozen=True)
class Change:
    """What a click means: another selection on the page, other settings of the tab, or only something else to see.

    A view that stands above the choices of its tab may open one of them; what `opens` says which texts the page is to be about.
    """

    selection: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)
    choice: str = ""
    texts: tuple[str, str] | None = None


@dataclass(frozen=True)
class Why:
    """Where the reason of a finding is seen: a choice of a tab, what is selected on the page, and settings of that tab."""

    tab: str  # its id
    choice: str
    selection: Mapping[str, Any] = field(default_factory=dict)  # as for `select`
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """What is most telling here: one sentence of plain text with computed numbers, which may hold words of the person's."""

    text: str
    why: Why | None = None


def finding_of(views: Iterable["View"], subject: Subject) -> Finding | None:
    """The finding of the first of some views that has one; a view that cannot be shown has none."""
    for view in views:
        with suppress(ExplorerError):
            if not view.unless(subject) and (found := view.finding(subject)):
                return found
    return None


def open_on(views: Iterable["View"], subject: Subject) -> Subject:
    """The subject with the layer and head that some views open with; what was picked stays."""
    for view in views:
        subject = view.first(subject)
    return subject


def select(**chosen: Any) -> Change:
    """Choose a layer (from 1), a head (from 1) or a token (from 0) for the whole page."""
    return Change(selection=chosen)


def settle(**settings: Any) -> Change:
    """Set settings of the view."""
    return Change(settings=settings)


def read(text_a: str, text_b: str = "", token: int | None = None) -> Change:
    """Put other texts into the page, with this token of them chosen."""
    return Change({"token": token}, texts=(text_a, text_b))


def show(**content: Any) -> Change:
    """Change what is seen, and nothing else."""
    return Change(content=content)


def verdict(fine: bool, what: str) -> dict[str, str]:
    """A check as it is shown: red when it failed."""
    mark = "✓ matches the model" if fine else "✗ does not match the model"
    return {"text": f"{mark}: {what}.", "kind": "info" if fine else "error"}


def max_error(error: float) -> str:
    """A largest error as the checks tell it."""
    return f"max error {error:.0e}" if error else "max error 0"


def matches(error: float, what: str, limit: float = 1e-3) -> dict[str, str]:
    """The verdict on one largest error."""
    return verdict(error <= limit, f"{what} ({max_error(error)})")


@dataclass_transform(frozen_default=True)
class View(ABC):
    """One question, and the answer to it: a frozen dataclass, whose fields are its settings.

    Subclasses declare settings and parts, both in the order in which they stand on the page, and say what they show. A method
    `on_<name>(subject, value)` says what a click on a part (its index), a press of a button (None) or a choice of a
    setting (its value) means: it returns a Change, or is a generator of what is to be seen meanwhile.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    columns: ClassVar[Sequence[Sequence[str]]] = ()  # names what stands side by side, of everything that is declared,
    widths: ClassVar[Sequence[int]] = ()  # and how wide
    width: ClassVar[int] = 1  # the view's own, beside others
    side_by_side: ClassVar[Sequence[Sequence[str]]] = ()  # what shares a line, each as wide as its `scale` says
    shows_changes: ClassVar[bool] = False  # whether it shows what is switched off, swapped, patched or cut
    stands_in: ClassVar[bool] = False  # whether it is seen, above the choices, only where the open one shows nothing
    folded: ClassVar[str] = ""  # the title under which the whole view is folded away
    fold: ClassVar[str] = "More"  # the title under which what is `more` is
    layout: ClassVar[Sequence[str]] = ()  # names of settings and parts, in the order of the class
    settings: ClassVar[Mapping[str, Setting]] = {}
    parts: ClassVar[Mapping[str, Part]] = {}
    by_hand: ClassVar[Mapping[str, str]] = {}  # what the page wires by itself, and why, in a sentence each
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # of every subclass

    def __init_subclass__(cls) -> None:
        annotated = vars(cls).get("__annotations__", {})
        own = [name for name, value in vars(cls).items() if isinstance(value, Part) or name in annotated]
        dataclass(frozen=True)(cls)
        cls.settings = {one.name: one.metadata["setting"] for one in fields(cls)}
        names = dict.fromkeys([*cls.layout, *own])
        cls.parts = {name: value for name in names if isinstance(value := getattr(cls, name, None), Part)}
        cls.layout = [name for name in names if name in cls.parts or name in cls.settings]
        if twice := cls.parts.keys() & cls.settings.keys():
            raise TypeError(f"{cls.__name__} calls a part and a setting {min(twice)!r}; content goes by the name")

    @classmethod
    def read(cls, given: Mapping[str, Any], capabilities: Capabilities) -> Self:
        """With these settings; what is not given is as declared. Raises InputError naming what is wrong."""
        known = cls.settings
        if unknown := [str(name)[:40] for name in given if name not in known]:
            raise InputError(f"There is no setting {unknown[0]!r} here; there are {', '.join(known) or 'none'}.")
        called = {name: f"the setting {known[name].label or name!r}" for name in given}
        return cls(**{name: known[name].check(value, called[name], capabilities) for name, value in given.items()})

    def changed(self) -> dict[str, Any]:
        """The settings that are not as declared and that a link may carry."""
        own = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        return {name: now for name, (now, declared) in own.items() if now != declared and self.settings[name].linked}

    def unless(self, subject: Subject) -> str:
        """Why there is nothing to see for this input, or ''."""
        return ""

    def first(self, subject: Subject) -> Subject:
        """The subject with the layer and head that the view opens with; what was picked stays."""
        return subject

    def compute(self, subject: Subject) -> Content:
        """What is to be seen."""
        return {}

    def finding(self, subject: Subject) -> Finding | None:
        """What is most telling of this input, if it is known or quickly found; asked after `compute`."""
        return None

    def standing_alone(self, subject: Subject, content: Content, unfolded: bool) -> Content:
        """The content as a page shows it that nobody answers: a file, a notebook, the phones of a class.

        Where `unfolded`, with what a click would have asked for, if that is little.
        """
        return content

    def prepare_rest(self, subject: Subject) -> Generator[Any, None, None]:
        """Find, step by step, what `first`, `finding` or `compute` leave out where an answer is wanted at once.

        They note it in `subject.later`, and know it from then on. It is stopped when a person asks for something else.
        """
        yield from ()

    @classmethod
    def shows_pictures(cls) -> bool:
        """Whether anything is drawn in it, beside sentences and buttons."""
        return any(one.kind not in ("sentence", *WITHOUT_NUMBERS) for one in cls.parts.values())

    @classmethod
    def listens_to(cls) -> dict[str, Callable[..., Any]]:
        """The parts and settings with a meaning of their own, and the method that tells it."""
        return {name: method for name in cls.layout if (method := getattr(cls, f"on_{name}", None))}


RESULTS, RESULTS_BYTES = 64, 128_000_000
_results: OnceCache[Hashable, Any] = OnceCache(RESULTS_BYTES, lambda one: max(RESULTS_BYTES // RESULTS, weight(one)))


class LongView(View):
    """A view with work of many passes: done at once where it is quick, else when `start` is pressed, with a way to stop.

    With `start` = '' it is done whenever its key changes, unless that is None, beside the rest of the page; its results
    are not kept here.
    """

    start: ClassVar[str] = ""

    def passes(self, subject: Subject) -> float:
        """How many forward passes the work is worth."""
        return 0

    @abstractmethod
    def work(self, subject: Subject) -> Generator[Any, None, Any]:
        """The work: yields the share done, 0 to 1, or a sentence with it, and returns what `draw` needs."""

    @abstractmethod
    def draw(self, subject: Subject, found: Any) -> Content:
        """What is to be seen of the result."""

    def waiting(self, subject: Subject) -> Content:
        """What is to be seen while there is no result yet."""
        return {name: None for name, one in self.parts.items() if one.kind in ("chart", "sentence", "check")}

    def prepare(self) -> None:
        """Called when the result is there to be seen: what nobody should wait for."""

    def key(self, subject: Subject) -> Hashable:
        """The work's result is the same where this is."""
        changed = tuple(str(getattr(self, name)) for name in self.settings)
        return (self.name, subject.model_name, subject.text_a, subject.text_b, subject.selection.token, changed)

    def known(self, subject: Subject) -> Any | None:
        """The result, if it is there already or quickly made."""
        found = _results.peek(self.key(subject))
        return self.result(subject) if found is None and is_quick(subject, self.passes(subject)) else found

    def result(self, subject: Subject) -> Any:
        """The result, however long it takes."""
        if not self.start:
            return finished(self.work(subject))
        return _results.get(self.key(subject), lambda: finished(self.work(subject)))

    def keep(self, subject: Subject, found: Any) -> None:
        """Remember a result that was made step by step."""
        _results.get(self.key(subject), lambda: found)

    def compute(self, subject: Subject) -> Content:
        """What is to be seen once the work is done."""
        return self.draw(subject, self.result(subject))


def is_quick(subject: Subject, passes: float) -> bool:
    """Whether so many forward passes over this input are done in about a second."""
    model = subject.model.capabilities
    return reads_quickly(model, passes) and reads_quickly(model, passes * subject.trace.kept)


def seconds(subject: Subject, passes: float) -> float:
    """About how long so many forward passes over this input take."""
    model = subject.model.capabilities
    return 12 * model.layers * model.hidden_size**2 * passes * subject.trace.kept / QUICK


def reads_quickly(model: Capabilities, tokens: float) -> bool:
    """Whether a model, by its capabilities, reads so many tokens in about a second."""
    return 12 * model.layers * model.hidden_size**2 * tokens <= QUICK


Cell = type[View] | Sequence[type[View]]  # a view, or several of them one below the other


def views_in(rows: Sequence[Sequence[Cell]]) -> list[type[View]]:
    """The views that stand in some rows."""
    cells = [cell for row in rows for cell in row]
    return [view for cell in cells for view in ([cell] if isinstance(cell, type) else cell)]


@dataclass(frozen=True)
class Tab:
    """A tab: its question, and the views to choose from, each choice one or several of them in rows.

    `groups` says what one wants with some choices that follow each other: its name, and the first of them. `above` stands
    over every choice, `note` below. `steppers` are what of the selection its pictures show ('layer', 'head' or
    'hidden_state').
    """

    id: str
    label: str
    question: str
    choices: Mapping[str, Sequence[Sequence[Cell]]]
    needs: str | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False  # there only for a model that has what the tab needs
    above: Sequence[type[View]] = ()
    note: str = ""
    more: str = "More"  # the title under which a choice folds away what has several titles of its own
    steppers: Sequence[str] = ()
    without_steppers: Sequence[str] = ()  # the choices that need none

    @property
    def views(self) -> list[type[View]]:
        """All of them, each once."""
        return list(dict.fromkeys([*self.above, *(view for rows in self.choices.values() for view in views_in(rows))]))
