"""What a view is: a question with named settings, its computation, and the parts that show the result. No Gradio here.

The page makes controls and listeners from it; a program calls `compute` for the numbers. See assets/guide/contributing/view.md.
"""

from abc import ABC
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from functools import partial
from inspect import signature
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform, get_type_hints

from explorer.bert.capabilities import Capabilities
from explorer.core.errors import ExplorerError, InputError
from explorer.core.scheduling import TRAINING, Kind
from explorer.ui.layout import LayoutRow
from explorer.ui.settings import Setting
from explorer.ui.subject import Subject

Content = dict[str, Any]
"""A view's values, by the name of a part or setting. A part that is left out stays as it is; an `optional` one disappears.

A value may be a function, called only if the value is needed, or `props` of the part or control.
"""

MARKDOWN = ("caption", "heading", "note")  # kinds of parts that are the same for every input,
WITHOUT_NUMBERS = (*MARKDOWN, "prose", "button", "chips", "meter", "check", "code", "step")  # kinds that show no numbers
Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True)
class Part:
    kind: str  # names the component that draws it
    options: Mapping[str, Any] = field(default_factory=dict)  # for its component
    optional: bool = False  # hidden while it has no value
    marks: bool = False  # it shows by itself what was clicked in it, so that it is not sent again
    more: bool = False  # folded away
    answer: bool = False  # a class may guess it first: the page covers it while answers are hidden, like every finding


def part(kind: str, **given: Any) -> Part:
    """Declare a part of this kind; `explorer/page/controls.py` lists the kinds."""
    own = {name: given.pop(name) for name in list(given) if name in Part.__dataclass_fields__}
    return Part(kind, given, **own)


sentence = partial(part, "sentence")  # plain text, which may contain what the user typed
prose = partial(part, "prose")  # our Markdown, without what the user typed
check = partial(part, "check")  # the check below a picture, from `verdict`


def chart(label: str, height: int = 400, **options: Any) -> Part:
    """A Plotly figure; `label` describes it for screen readers."""
    return part("chart", label=label, height=height, **options)


def caption(markdown: str, kind: str = "caption", **options: Any) -> Part:
    """Markdown that does not depend on the input. The page shows it behind 'How is this made?', like checks."""
    return part(kind, markdown=markdown, **options)


heading = partial(caption, kind="heading")  # a title within a view
note = partial(caption, kind="note")  # a caption that is always visible: what one can do here


def button(label: str, **options: Any) -> Part:
    """A button; the view's `on_<name>` says what it does."""
    return part("button", label=label, **options)


class props(dict):
    """Properties of a part or control to change besides its value: label, choices, interactive, visible."""


@dataclass(frozen=True)
class Change:
    """What a click does: select something for the page, change settings of the tab, or show other content."""

    selection: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)
    is_drawn: bool = False  # whether the content shows what the settings change, so that nothing is drawn again


@dataclass(frozen=True)
class NewInput:
    """What a click does that puts other texts into the page, and selects something of them."""

    texts: tuple[str, str]
    selection: Mapping[str, Any]


@dataclass(frozen=True)
class OpenModel:
    """What a button does that opens another model in the whole page, and shows this content in its view."""

    name: str
    content: Mapping[str, Any] = field(default_factory=dict)


def runs_as(kind: Kind) -> Callable[[Handler], Handler]:
    """Mark an `on_<name>` as this kind of work (`core/scheduling.py`). Unmarked ones use a model, or take long if they yield."""

    def mark(method: Handler) -> Handler:
        method.kind = kind  # type: ignore[attr-defined]
        return method

    return mark


takes_long = runs_as(TRAINING)  # of a button that starts long work, which takes turns with trainings


@dataclass(frozen=True)
class Why:
    """Where the reason of a finding is seen: a choice of a tab, with a selection and settings."""

    tab: str  # its id
    choice: str
    selection: Mapping[str, Any] = field(default_factory=dict)  # as the arguments of `select`
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """The most telling fact: one sentence of plain text with computed numbers, which may contain what the user typed."""

    text: str
    why: Why | None = None


def finding_of(views: Iterable["View"], subject: Subject) -> Finding | None:
    """The finding of the first view that has one; a view that cannot be shown has none."""
    for view in views:
        with suppress(ExplorerError):
            if not view.unless(subject) and (found := view.finding(subject)):
                return found
    return None


def open_on(views: Iterable["View"], subject: Subject) -> Subject:
    """The subject with the layer and head that the views open with; those that were picked stay. Raises ExplorerError."""
    for view in views:
        subject = view.first(subject)
    return subject


def select(**chosen: Any) -> Change:
    """Choose a layer (from 1), a head (from 1) or a token (from 0) for the whole page."""
    return Change(selection=chosen)


def settle(**settings: Any) -> Change:
    return Change(settings=settings)


def read(text_a: str, text_b: str = "", token: int | None = None) -> NewInput:
    """Put other texts into the page and select this token of them."""
    return NewInput((text_a, text_b), {"token": token})


def show(**content: Any) -> Change:
    """Show other content, and change nothing else."""
    return Change(content=content)


def verdict(fine: bool, what: str) -> dict[str, str]:
    """The value of a check part: green if it passed, red if not."""
    mark = "✓ matches the model" if fine else "✗ does not match the model"
    return {"text": f"{mark}: {what}.", "kind": "info" if fine else "error"}


def max_error(error: float) -> str:
    return f"max error {error:.0e}" if error else "max error 0"


def matches(error: float, what: str, limit: float = 1e-3) -> dict[str, str]:
    """The value of a check part, which passes if the largest error is at most `limit`."""
    return verdict(error <= limit, f"{what} ({max_error(error)})")


@dataclass_transform(frozen_default=True)
class View(ABC):
    """A question and its answer: a frozen dataclass whose fields are its settings.

    Subclasses declare settings and parts in the order of the page, and compute their content. A method `on_<name>(subject,
    value)` handles a click on a part (value: its index), a button (None) or a setting (its new value): it returns a Change, or is
    a generator that yields content and may return a Change. A generator may outlast its page, which closes it; its
    `begin_<name>()` is content shown immediately, before its turn comes, and `fail_<name>()` content shown after an error.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    redraws: ClassVar[Sequence[type["View"]]] = ()  # views of its tab whose parts its generators `on_<name>` may show too
    layout: ClassVar[Sequence[LayoutRow]] = ()  # its rows, each placed at the first of its names
    width: ClassVar[int] = 1  # the view's relative width beside other views
    shows_changes: ClassVar[bool] = False  # whether it shows heads off, swaps, patches and cuts
    folded: ClassVar[str] = ""  # if set, the whole view is folded away under this title
    fold: ClassVar[str] = "More settings"  # the title of the fold with its `more` settings and parts
    names: ClassVar[Sequence[str]] = ()  # of its settings and parts on the page, from top to bottom: by default all, as declared
    settings: ClassVar[Mapping[str, Setting]] = {}
    parts: ClassVar[Mapping[str, Part]] = {}
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # of every subclass

    def __init_subclass__(cls) -> None:
        annotated = vars(cls).get("__annotations__", {})
        own = [name for name, value in vars(cls).items() if isinstance(value, Part) or name in annotated]
        dataclass(frozen=True)(cls)
        cls.settings = {declared.name: declared.metadata["setting"] for declared in fields(cls)}
        names = dict.fromkeys([*cls.names, *own])
        cls.parts = {name: value for name in names if isinstance(value := getattr(cls, name, None), Part)}
        cls.names = [name for name in names if name in cls.parts or name in cls.settings]
        if twice := cls.parts.keys() & cls.settings.keys():
            raise TypeError(f"{cls.__name__} calls a part and a setting {min(twice)!r}; content goes by the name")

    @classmethod
    def read(cls, given: Mapping[str, Any], capabilities: Capabilities) -> Self:
        """The view with these settings, and defaults that fit the model for the rest. Raises InputError for an invalid one."""
        if unknown := given.keys() - cls.settings.keys():
            named = str(min(unknown, key=str))[:40]
            raise InputError(f"This view has no setting {named!r}. Its settings: {', '.join(cls.settings) or 'none'}.")
        checked = {}
        for name, setting in cls.settings.items():
            if name in given or setting.depends:
                value = given.get(name, cls.__dataclass_fields__[name].default)
                checked[name] = setting.check(value, f"the setting {setting.label or name!r}", capabilities)
        return cls(**checked)

    def list_changes(self, with_files: bool = False) -> dict[str, Any]:
        """The settings that differ from their defaults and belong in a link, or those `with_files` alone."""
        changed = {}
        for name, setting in self.settings.items():
            value, default = getattr(self, name), self.__dataclass_fields__[name].default
            asked = setting.with_files if with_files else setting.linked
            if asked and value != default and setting.write(value) != setting.write(default):  # a sheet differs by its scores
                changed[name] = value
        return changed

    def unless(self, subject: Subject) -> str:
        """Why the view shows nothing for this input, or ''."""
        return ""

    def first(self, subject: Subject) -> Subject:
        """The subject with the layer and head that the view opens with; those that were picked stay."""
        return subject

    def compute(self, subject: Subject) -> Content:
        return {}

    def open(self, subject: Subject) -> Content:
        """The content that a page opens with: without long work, unless its result is known."""
        return self.compute(subject)

    def finding(self, subject: Subject) -> Finding | None:
        """The most telling fact about this input, if known or quickly found; called after `compute`."""
        return None

    def standing_alone(self, subject: Subject, content: Content, unfolded: bool) -> Content:
        """The content where clicks are not answered: a file, a notebook, a class's phones.

        With `unfolded`, it includes what clicks would have asked for, if that is little.
        """
        return content

    def prepare_rest(self, subject: Subject) -> Generator[Any, None, None]:
        """Compute, step by step, what `first`, `finding` or `compute` leave out of an immediate answer.

        They note it in `subject.later`, and have it afterwards. It is stopped when the user asks for something else.
        """
        yield from ()

    @classmethod
    def shows_pictures(cls) -> bool:
        """Whether any part is a picture, rather than a sentence or a button."""
        return any(part.kind not in ("sentence", *WITHOUT_NUMBERS) for part in cls.parts.values())

    @classmethod
    def listens_to(cls) -> dict[str, Callable[..., Any]]:
        """The `on_<name>` methods of parts and settings, by the name of the part or setting.

        What one returns says what its click does: a Change, a NewInput, an OpenModel, the Why to go to, an iterator of contents,
        or a generator of them that ends in a Change. One whose last parameter is called `customdata` gets that of the clicked
        point, the others the index.
        """
        return {name: method for name in cls.names if (method := getattr(cls, f"on_{name}", None))}

    @classmethod
    def does(cls, name: str) -> Any:
        """The type that `on_<name>` returns; None if the view does not listen to the name."""
        method = cls.listens_to().get(name)
        return method and get_type_hints(method).get("return")


def takes_customdata(method: Callable[..., Any]) -> bool:
    """Whether a handler of clicks takes the customdata of the point, by the name of its last parameter, rather than its index."""
    return "customdata" in signature(method).parameters
