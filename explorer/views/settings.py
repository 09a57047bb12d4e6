"""What a person, a link or a program may set of a view: declared once, with its label, range and default, and checked here.

A view is a class; a setting is a field of it, made by one of the functions below:

    layer: int = number(6, "Up to layer", low=1, high=lambda can: can.layers)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, Self

from explorer.base.errors import InputError
from explorer.text import limits

Bound = float | Callable[[Any], float]
"""A number, or where it comes from in the capabilities of a model."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting. `when(view)` says whether it applies; `more`: rarely changed, and folded away in the page.

    `here`: whether this view shows the control of it, or only reads the one of another view in its tab. `linked`: whether
    a link may carry it. `look` is for the page alone.
    """

    label: str = ""
    more: bool = False
    here: bool = True
    linked: bool = True
    when: Callable[[Any], bool] | None = None
    look: Mapping[str, Any] = field(default_factory=dict)

    def check(self, value: Any, name: str, capabilities: Any) -> Any:
        """The value as the view gets it. Raises InputError, naming the setting and what it may be."""
        return value

    def _called(self, name: str) -> str:
        return f"the setting {self.label or name!r}"


@dataclass(frozen=True, kw_only=True)
class Choice(Setting):
    """One of `options`, each a value or (label, value); with `menu` drawn as a menu, else as buttons in a row.

    `free`: a menu into which any text may be typed.
    """

    options: Sequence[Any] = ()
    menu: bool = False
    free: bool = False

    @property
    def values(self) -> list[Any]:
        """What may be chosen, without the labels."""
        return [option[1] if isinstance(option, tuple) else option for option in self.options]

    def check(self, value: Any, name: str, capabilities: Any) -> Any:
        """One of the options, or a text where that is allowed; 1 is not True."""
        if self.free:
            return limits.check_optional_text(value, self._called(name))
        for known in self.values:
            if value == known and isinstance(value, bool) == isinstance(known, bool):
                return known
        return limits.check_choice(value, self._called(name), [str(known) for known in self.values])


@dataclass(frozen=True, kw_only=True)
class Several(Setting):
    """Any of `options(capabilities)`, which are whole numbers; none of them is allowed."""

    options: Callable[[Any], Sequence[int]]

    def check(self, value: Any, name: str, capabilities: Any) -> tuple[int, ...]:
        """Those that this model has, each once, in their order. Raises InputError for anything but a list of numbers."""
        if not isinstance(value, list | tuple) or any(
            isinstance(one, bool) or not isinstance(one, int) for one in value
        ):
            raise InputError(f"{self._called(name).capitalize()} must be a list of whole numbers.")
        return tuple(known for known in self.options(capabilities) if known in value)


@dataclass(frozen=True, kw_only=True)
class Switch(Setting):
    """On or off."""

    def check(self, value: Any, name: str, capabilities: Any) -> bool:
        """True or False."""
        if not isinstance(value, bool):
            raise InputError(f"{self._called(name).capitalize()} must be true or false.")
        return value


@dataclass(frozen=True, kw_only=True)
class Number(Setting):
    """A number from `low` to `high`, whole where `step` is; a bound that depends on the model takes what lies past it."""

    low: Bound
    high: Bound
    step: float = 1

    def range(self, capabilities: Any) -> tuple[float, float]:
        """The bounds for a model; the higher one is never below the lower one."""
        low, high = (bound(capabilities) if callable(bound) else bound for bound in (self.low, self.high))
        return low, max(low, high)

    def check(self, value: Any, name: str, capabilities: Any) -> float:
        """Within the bounds; nothing at all is the least number."""
        low, high = self.range(capabilities)
        value = low if value is None else value
        whole = isinstance(self.step, int)
        if isinstance(value, Real) and not isinstance(value, bool) and isfinite(value):
            value = int(value) if whole else float(value)
            if callable(self.high) or callable(self.low):
                value = min(max(value, low), high)
        return (limits.check_integer if whole else limits.check_number)(value, self._called(name), low, high)


@dataclass(frozen=True, kw_only=True)
class Text(Setting):
    """A text, which may be empty, of at most `most` characters."""

    most: int = limits.MAX_CHARACTERS

    def check(self, value: Any, name: str, capabilities: Any) -> str:
        """The text as it was typed; '' for nothing."""
        return limits.check_optional_text(value, self._called(name), self.most)


@dataclass(frozen=True, kw_only=True)
class Memory(Setting):
    """What clicks leave behind and no control shows: `kept(value)` gives what the view makes of it, whatever it is."""

    kept: Callable[[Any], Any] = lambda value: value

    def check(self, value: Any, name: str, capabilities: Any) -> Any:
        """As the view can use it. It may come from a browser: `kept` lets nothing through that is of no use."""
        return self.kept(value)


@dataclass(frozen=True, kw_only=True)
class Upload(Setting):
    """A table from a file of the person's, or None; it stays with the page and in no link."""

    types: Sequence[str] = (".csv", ".tsv", ".txt", ".json", ".jsonl")
    linked: bool = False


@dataclass(frozen=True, kw_only=True)
class Sheet(Setting):
    """Rows of cells that may be edited, a list a row; of `columns` those from `fixed` on belong to the view."""

    columns: Sequence[str] = ()
    fixed: int = 0
    linked: bool = False

    def check(self, value: Any, name: str, capabilities: Any) -> list[list[Any]]:
        """The rows. Raises InputError unless they are lists as long as there are columns."""
        rows = value.astype(object).where(value.notna(), None).to_numpy().tolist() if hasattr(value, "notna") else value
        if not isinstance(rows, list) or any(
            not isinstance(row, list) or len(row) != len(self.columns) for row in rows
        ):
            raise InputError(f"{self._called(name).capitalize()} must be rows of {len(self.columns)} cells.")
        return rows


def use(setting: Setting, default: Any, here: bool = True) -> Any:
    """A field for a setting that several views of a tab read: one control, shown by the view for which `here` is true."""
    kind = type(setting)
    same = {name: getattr(setting, name) for name in kind.__dataclass_fields__}
    return field(default=default, metadata={"setting": kind(**{**same, "here": here})})


def choice(options: Sequence[Any], label: str = "", *, default: Any = None, menu: bool = False, **more: Any) -> Any:
    """A field that is one of `options`, values or (label, value); by default the first."""
    made = Choice(options=tuple(options), label=label, menu=menu, **_split(more))
    return use(made, made.values[0] if default is None else default)


def several(options: Callable[[Any], Sequence[int]], label: str, *, default: Sequence[int] = (), **more: Any) -> Any:
    """A field that is any of the numbers that `options(capabilities)` gives."""
    return use(Several(options=options, label=label, **_split(more)), tuple(default))


def switch(default: bool, label: str, **more: Any) -> Any:
    """A field that is on or off."""
    return use(Switch(label=label, **_split(more)), default)


def number(default: float, label: str, *, low: Bound, high: Bound, step: float = 1, **more: Any) -> Any:
    """A field that is a number from `low` to `high`, whole where `step` is."""
    return use(Number(label=label, low=low, high=high, step=step, **_split(more)), default)


def text(default: str = "", label: str = "", **more: Any) -> Any:
    """A field that is a text."""
    return use(Text(label=label, **_split(more)), default)


def memory(default: Any = None, kept: Callable[[Any], Any] = lambda value: value, **more: Any) -> Any:
    """A field that no control shows: what clicks leave behind."""
    return use(Memory(kept=kept, **_split(more)), default)


def upload(label: str, **more: Any) -> Any:
    """A field that is a table from a file, or None."""
    return use(Upload(label=label, **_split(more)), None)


def sheet(rows: Sequence[Sequence[Any]], label: str, **more: Any) -> Any:
    """A field that is rows of cells."""
    return use(Sheet(label=label, **_split(more)), tuple(tuple(row) for row in rows))


def _split(given: dict[str, Any]) -> dict[str, Any]:
    """What is no field of any setting is how the page draws it: lines, placeholder, a least width."""
    own = {"more", "linked", "when", "free", "most", "types", "columns", "fixed"}
    look = {name: value for name, value in given.items() if name not in own}
    return {**{name: value for name, value in given.items() if name in own}, "look": look}


class Settings:
    """A set of settings: a frozen dataclass whose fields are declared as above."""

    settings: ClassVar[Mapping[str, Setting]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True)(cls)
        cls.settings = {one.name: one.metadata["setting"] for one in fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def read(cls, given: Mapping[str, Any], capabilities: Any) -> Self:
        """With these settings; what is not given is as declared. Raises InputError naming what is wrong."""
        for name in given:
            if name not in cls.settings:
                raise InputError(
                    f"There is no setting {str(name)[:40]!r} here; there are {', '.join(cls.settings) or 'none'}."
                )
        return cls(**{name: cls.settings[name].check(value, name, capabilities) for name, value in given.items()})

    def changed(self) -> dict[str, Any]:
        """The settings that are not as declared and that a link may carry."""
        return {
            one.name: value
            for one in fields(self)  # type: ignore[arg-type]
            if (value := getattr(self, one.name)) != one.default and self.settings[one.name].linked
        }
