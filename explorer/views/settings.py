"""What a person, a link or a program may set of a view: declared once, as a field of its class, and checked here."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from explorer.base.errors import InputError
from explorer.base.limits import CHARACTERS, Limit
from explorer.model.network import Capabilities
from explorer.text import limits
from explorer.text.tables import FILE_TYPES, read_table

Bound = float | Callable[[Capabilities], float]  # a number, or where it comes from in the capabilities of a model
NUMBER = re.compile(r"-?\d{1,20}(\.\d{1,20})?(e[-+]?\d{1,3})?", re.ASCII)  # as a link or a program writes one


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting, whatever its kind."""

    label: str = ""
    more: bool = False  # rarely changed, and folded away in the page
    here: bool = True  # whether this view shows its control, or only reads the one of another view in the tab
    linked: bool = True  # whether a link may carry it
    when: Callable[[Any], bool] | None = None  # whether it applies to the view
    answer: bool = False  # the view writes into it what a class may guess first, as a Part says
    look: Mapping[str, Any] = field(default_factory=dict)  # for the page alone: lines, placeholder, a least width

    def check(self, value: object, name: str, capabilities: Capabilities) -> Any:
        """The value as the view gets it; `name` is what to call it. Raises InputError, saying what it may be."""
        return value

    def written(self, value: object) -> str:
        """A value that `check` has passed, as a link carries it."""
        return str(value)

    def parsed(self, text: str) -> Any:
        """What `written` wrote, for `check`, which knows what is allowed. Raises InputError for what is no such value."""
        return text

    def nearest(self, value: object, capabilities: Capabilities) -> Any:
        """The value, moved to where the setting may be, for those who would rather see something than nothing."""
        return value


@dataclass(frozen=True, kw_only=True)
class Choice(Setting):
    """One of `options`, each a value or (label, value)."""

    options: Sequence[Any] = ()
    menu: bool = False  # drawn as a menu, else as buttons in a row
    free: bool = False  # its options come from elsewhere, and any text or None is taken

    @property
    def values(self) -> list[Any]:
        """What may be chosen, without the labels."""
        return [option[1] if isinstance(option, tuple) else option for option in self.options]

    def check(self, value: object, name: str, capabilities: Capabilities) -> Any:
        """One of the options, or a text where that is allowed; 1 is not True."""
        if self.free:
            return None if value is None else limits.check_optional_text(value, name)
        for known in self.values:
            if value == known and isinstance(value, bool) == isinstance(known, bool):
                return known
        return limits.check_choice(value, name, [str(known) for known in self.values])

    def written(self, value: object) -> str:
        """The option; nothing chosen is nothing written."""
        return "" if value is None else str(value)

    def parsed(self, text: str) -> Any:
        """The option that is written so; else the text itself, or None for nothing where any is taken."""
        return next((known for known in self.values if self.written(known) == text), None if self.free and not text else text)


@dataclass(frozen=True, kw_only=True)
class Several(Setting):
    """Any of `options(capabilities)`, which are whole numbers; none of them is allowed."""

    options: Callable[[Capabilities], Sequence[int]]

    def check(self, value: object, name: str, capabilities: Capabilities) -> tuple[int, ...]:
        """Those that this model has, each once, in their order."""
        if not isinstance(value, list | tuple) or any(type(one) is not int for one in value):
            raise InputError(f"{name.capitalize()} must be a list of whole numbers.")
        return tuple(known for known in self.options(capabilities) if known in value)

    def written(self, value: Any) -> str:
        """The numbers with commas between them."""
        return ",".join(map(str, value))

    def parsed(self, text: str) -> tuple[int, ...]:
        """The numbers, in their order."""
        return tuple(_whole(part) for part in text.split(",")) if text else ()


@dataclass(frozen=True, kw_only=True)
class Switch(Setting):
    """On or off."""

    def check(self, value: object, name: str, capabilities: Capabilities) -> bool:
        """True or False."""
        if not isinstance(value, bool):
            raise InputError(f"{name.capitalize()} must be true or false.")
        return value

    def written(self, value: Any) -> str:
        """1 or 0."""
        return str(int(value))

    def parsed(self, text: str) -> bool:
        """On for 1, off for 0."""
        if text not in ("0", "1"):
            raise InputError("A switch is 1 for on or 0 for off.")
        return text == "1"


@dataclass(frozen=True, kw_only=True)
class Number(Setting):
    """A number from `low` to `high`, whole where `step` is; a bound that depends on the model takes what lies past it."""

    low: Bound
    high: Bound
    step: float = 1

    def range(self, capabilities: Capabilities) -> tuple[float, float]:
        """The bounds for a model; the higher one is never below the lower one."""
        low, high = (bound(capabilities) if callable(bound) else bound for bound in (self.low, self.high))
        return low, max(low, high)

    def check(self, value: object, name: str, capabilities: Capabilities) -> float:
        """Within the bounds; nothing at all is the least number."""
        low, high = self.range(capabilities)
        value, whole = low if value is None else value, isinstance(self.step, int)
        if limits.is_number(value) and isfinite(value):
            value = int(value) if whole else float(value)
            if callable(self.high) or callable(self.low):
                value = min(max(value, low), high)
        return limits.check_integer(value, name, int(low), int(high)) if whole else limits.check_number(value, name, low, high)

    def written(self, value: Any) -> str:
        """As short as the number can be told from any other."""
        return repr(int(value) if value == int(value) else float(value))

    def parsed(self, text: str) -> float:
        """A number, whole where it is written so."""
        if not NUMBER.fullmatch(text):
            raise InputError("A number is written like 12 or 0.5.")
        return int(text) if text.removeprefix("-").isdecimal() else float(text)

    def nearest(self, value: Any, capabilities: Capabilities) -> Any:
        """Within the bounds."""
        low, high = self.range(capabilities)
        return min(max(value, low), high)


@dataclass(frozen=True, kw_only=True)
class Text(Setting):
    """A text, which may be empty, within a limit of characters."""

    limit: Limit = CHARACTERS

    def check(self, value: object, name: str, capabilities: Capabilities) -> str:
        """The text as it was typed; '' for nothing."""
        return limits.check_optional_text(value, name, self.limit)


@dataclass(frozen=True, kw_only=True)
class Memory(Setting):
    """What clicks leave behind and no control shows. It may come from a browser: `kept` makes of it what is of use."""

    kept: Callable[[Any], Any]
    stored: str = ""  # the name under which the browser keeps it, beyond a reload

    def check(self, value: object, name: str, capabilities: Capabilities) -> Any:
        """As the view can use it, whatever it was."""
        return self.kept(value)

    def written(self, value: object) -> str:
        """JSON, in which pairs are lists."""
        return json.dumps(value, separators=(",", ":"))

    def parsed(self, text: str) -> Any:
        """Whatever JSON it is."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError("What clicks left behind is written as JSON.") from error


@dataclass(frozen=True, kw_only=True)
class Upload(Setting):
    """What `read` makes of a file of the person's, or None; it stays with the page and in no link."""

    types: Sequence[str] = FILE_TYPES
    read: Callable[[Path], Any] = read_table
    linked: bool = False


@dataclass(frozen=True, kw_only=True)
class Sheet(Setting):
    """Rows of cells that may be edited, a list a row; of `columns` those from `fixed` on belong to the view."""

    columns: Sequence[str] = ()
    fixed: int = 0
    linked: bool = False

    def check(self, value: Any, name: str, capabilities: Capabilities) -> list[list[Any]]:
        """The rows, each with a cell a column."""
        rows = value.astype(object).where(value.notna(), None).to_numpy().tolist() if hasattr(value, "notna") else value
        if not isinstance(rows, list) or any(type(row) is not list or len(row) != len(self.columns) for row in rows):
            raise InputError(f"{name.capitalize()} must be rows of {len(self.columns)} cells.")
        return rows


def _whole(text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise InputError("The numbers are written like 1,2,3.")
    return int(text)


def use(setting: Setting, default: object, here: bool = True) -> Any:
    """A field for a setting that several views of a tab read: one control, shown by the view for which `here` is true."""
    return field(default=default, metadata={"setting": replace(setting, here=here)})


def _maker(kind: type[Setting], nothing: Any = None) -> Callable[..., Any]:
    """`(default, label, ...)` makes a field; what is no field of the kind is how the page draws it."""

    def make(default: object = nothing, label: str = "", **given: Any) -> Any:
        own = {name: given.pop(name) for name in list(given) if name in kind.__dataclass_fields__}
        return use(kind(label=label, look=given, **own), default)

    make.__doc__ = f"A field, by its default and label. {kind.__doc__}"
    return make


number, text, memory, switch = _maker(Number), _maker(Text, ""), _maker(Memory), _maker(Switch, False)
several, upload, sheet, _choice = _maker(Several, ()), _maker(Upload), _maker(Sheet), _maker(Choice)


def choice(options: Sequence[Any], label: str = "", *, default: object = None, **given: Any) -> Any:
    """A field that is one of `options`, values or (label, value); by default the first."""
    first = Choice(options=tuple(options)).values[0] if default is None and options else default
    return _choice(first, label, options=tuple(options), **given)


def pooling(*others: tuple[str, str], **given: Any) -> Any:
    """A field for the way from the tokens of a text to one vector, as `explorer.model.features` names it."""
    ways = (("mean of all tokens", "mean"), ("[CLS]", "cls"), ("pooler (last layer)", "pooler"), *others)
    return choice(ways, "One vector for a sentence", menu=True, **given)
