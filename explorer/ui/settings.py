"""Settings of a view, for people, links and programs: declared as fields of its class, and checked here."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

from explorer.bert.capabilities import Capabilities
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, Limit
from explorer.text import limits
from explorer.text.tables import FILE_TYPES, read_table

Bound = float | Callable[[Capabilities], float]  # a number, or a function of the model's capabilities
NUMBER = re.compile(r"-?\d{1,20}(\.\d{1,20})?(e[-+]?\d{1,3})?", re.ASCII)  # as links and programs write one


@dataclass(frozen=True, kw_only=True)
class Setting:
    label: str = ""
    more: bool = False  # rarely changed: folded away on the page
    here: bool = True  # False if the control is shown by another view of the tab
    linked: bool = True  # whether links carry it
    with_files: bool = False  # whether this browser's requests for files and phones carry it, though links do not
    when: Callable[[Any], bool] | None = None  # whether it applies to the view
    answer: bool = False  # the view writes an answer into it, to be covered like such a Part
    fresh: Any = None  # its control's value on a page that no link opened, if not the default, which links and programs rely on
    look: Mapping[str, Any] = field(default_factory=dict)  # for the page only: lines, placeholder, least width

    @property
    def depends(self) -> bool:
        """Whether its control depends on the model or on other settings."""
        return self.when is not None

    @property
    def is_open(self) -> bool:
        """Whether programs may read and set it: not an upload, nor a memory of one visitor."""
        return self.linked

    def describe(self, capabilities: Capabilities) -> dict[str, Any]:
        """The type and the allowed values, for programs."""
        return {"type": "any"}

    def check(self, value: object, name: str, capabilities: Capabilities) -> Any:
        """The value, checked and converted; `name` is for the message. Raises InputError that says which values are allowed."""
        return value

    def write(self, value: object) -> str:
        """A checked value as the text in a link."""
        return str(value)

    def parse(self, text: str) -> Any:
        """The value in a link's text, still to be checked. Raises InputError for a text that is no such value."""
        return text


@dataclass(frozen=True, kw_only=True)
class Choice(Setting):
    """One of `options`, each a value or (label, value)."""

    options: Sequence[Any] = ()
    menu: bool = False  # a dropdown instead of radio buttons
    free: bool = False  # options come from elsewhere: any text or None is accepted

    @cached_property
    def values(self) -> list[Any]:
        return [option[1] if isinstance(option, tuple) else option for option in self.options]

    def describe(self, capabilities: Capabilities) -> dict[str, Any]:
        return {"type": "text"} if self.free else {"type": "choice", "choices": self.values}

    def check(self, value: object, name: str, capabilities: Capabilities) -> Any:
        """The option, or any text if `free`; 1 does not count as True."""
        if self.free:
            return None if value is None else limits.check_optional_text(value, name)
        for known in self.values:
            if value == known and isinstance(value, bool) == isinstance(known, bool):
                return known
        return limits.check_choice(value, name, [str(known) for known in self.values])

    def write(self, value: object) -> str:
        return "" if value is None else str(value)

    def parse(self, text: str) -> Any:
        """The option with that text; if `free`, the text itself, or None for ''."""
        return next((known for known in self.values if self.write(known) == text), None if self.free and not text else text)


@dataclass(frozen=True, kw_only=True)
class Several(Setting):
    """Several of `options(capabilities)`, which are whole numbers; may be empty."""

    options: Callable[[Capabilities], Sequence[int]]
    depends = True

    def describe(self, capabilities: Capabilities) -> dict[str, Any]:
        return {"type": "list", "choices": list(self.options(capabilities))}

    def check(self, value: object, name: str, capabilities: Capabilities) -> tuple[int, ...]:
        """Those that the model has, sorted and without duplicates."""
        if not isinstance(value, list | tuple) or any(type(number) is not int for number in value):
            raise InputError(f"{name.capitalize()} must be a list of whole numbers.")
        return tuple(known for known in self.options(capabilities) if known in value)

    def write(self, value: Any) -> str:
        return ",".join(map(str, value))

    def parse(self, text: str) -> tuple[int, ...]:
        return tuple(_whole(part) for part in text.split(",")) if text else ()


@dataclass(frozen=True, kw_only=True)
class Switch(Setting):
    def describe(self, capabilities: Capabilities) -> dict[str, Any]:
        return {"type": "boolean"}

    def check(self, value: object, name: str, capabilities: Capabilities) -> bool:
        if not isinstance(value, bool):
            raise InputError(f"{name.capitalize()} must be true or false.")
        return value

    def write(self, value: Any) -> str:
        return str(int(value))

    def parse(self, text: str) -> bool:
        """True for 1, False for 0."""
        if text not in ("0", "1"):
            raise InputError("A switch is 1 for on or 0 for off.")
        return text == "1"


@dataclass(frozen=True, kw_only=True)
class Number(Setting):
    """A number from `low` to `high`, whole if `step` is. A value beyond a bound that depends on the model is moved to it."""

    low: Bound
    high: Bound
    step: float = 1

    @property
    def follows_model(self) -> bool:
        return callable(self.low) or callable(self.high)

    @property
    def depends(self) -> bool:
        return super().depends or self.follows_model

    def range(self, capabilities: Capabilities) -> tuple[float, float]:
        """The bounds for a model; the upper one is never below the lower one."""
        low = self.low(capabilities) if callable(self.low) else self.low
        high = self.high(capabilities) if callable(self.high) else self.high
        return low, max(low, high)

    def describe(self, capabilities: Capabilities) -> dict[str, Any]:
        return {"type": "integer" if isinstance(self.step, int) else "number", "range": list(self.range(capabilities))}

    def check(self, value: object, name: str, capabilities: Capabilities) -> float:
        """The number within the bounds; None is the lower bound."""
        low, high = self.range(capabilities)
        value, whole = low if value is None else value, isinstance(self.step, int)
        if limits.is_number(value) and abs(value) <= sys.float_info.max:  # neither NaN nor an integer that no float holds
            value = int(value) if whole else float(value)
            if self.follows_model:
                value = min(max(value, low), high)
        return limits.check_integer(value, name, int(low), int(high)) if whole else limits.check_number(value, name, low, high)

    def write(self, value: Any) -> str:
        return repr(int(value) if value == int(value) else float(value))

    def parse(self, text: str) -> float:
        """The number in a text, an int if written as one."""
        if not NUMBER.fullmatch(text):
            raise InputError("A number is written like 12 or 0.5.")
        return int(text) if text.removeprefix("-").isdecimal() else float(text)


@dataclass(frozen=True, kw_only=True)
class Text(Setting):
    """A text within a limit of characters; may be empty."""

    limit: Limit = CHARACTERS

    def describe(self, capabilities: Capabilities) -> dict[str, Any]:
        return {"type": "text", "range": [0, self.limit.most]}

    def check(self, value: object, name: str, capabilities: Capabilities) -> str:
        return limits.check_optional_text(value, name, self.limit)


@dataclass(frozen=True, kw_only=True)
class Memory(Setting):
    """A setting without a control, written by clicks. The browser may send anything: `kept` makes a valid value of it."""

    kept: Callable[[Any], Any]
    stored: str = ""  # the browser's storage key, to keep it beyond a reload

    def check(self, value: object, name: str, capabilities: Capabilities) -> Any:
        return self.kept(value)

    def write(self, value: object) -> str:
        return _to_json(value)

    def parse(self, text: str) -> Any:
        return _from_json(text)


@dataclass(frozen=True, kw_only=True)
class Upload(Setting):
    """What `read` returns for an uploaded file, or None; it stays on the page and in no link.

    With `file_count="multiple"`, `read` gets a list of files.
    """

    types: Sequence[str] = FILE_TYPES
    read: Callable[[Any], Any] = read_table
    linked: bool = False


@dataclass(frozen=True, kw_only=True)
class Sheet(Setting):
    """Editable rows of cells, each a list; `columns` from `fixed` on are written by the view."""

    columns: Sequence[str] = ()
    fixed: int = 0
    linked: bool = False
    with_files: bool = True

    is_open = True

    def describe(self, capabilities: Capabilities) -> dict[str, Any]:
        return {"type": "rows", "columns": list(self.columns)}

    def check(self, value: Any, name: str, capabilities: Capabilities) -> list[list[Any]]:
        """The rows, each with one cell per column. Raises InputError."""
        rows = value.astype(object).where(value.notna(), None).to_numpy().tolist() if hasattr(value, "notna") else value
        if not isinstance(rows, list) or any(type(row) is not list or len(row) != len(self.columns) for row in rows):
            raise InputError(f"{name.capitalize()} must be rows of {len(self.columns)} cells.")
        for cell in chain.from_iterable(rows):
            CHARACTERS.check(len(cell) if isinstance(cell, str) else 0, "a cell")
        return rows

    def write(self, value: Any) -> str:
        """JSON without what the view wrote, which is computed again."""
        return _to_json([[*row[: self.fixed], *[None] * (len(self.columns) - self.fixed)] for row in value])

    def parse(self, text: str) -> Any:
        return _from_json(text)


def plain_value(value: object) -> Any:
    """A setting's value with lists in place of tuples."""
    return [plain_value(item) for item in value] if isinstance(value, list | tuple) else value


def _to_json(value: object) -> str:
    """JSON, in which tuples become lists."""
    return json.dumps(value, separators=(",", ":"))


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("What clicks left behind is written as JSON.") from error


def _whole(text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise InputError("The numbers are written like 1,2,3.")
    return int(text)


def use(setting: Setting, default: object, here: bool = True) -> Any:
    """A setting that several views of a tab read: one control, shown by the view with `here` true."""
    return field(default=default, metadata={"setting": replace(setting, here=here)})


def _maker(kind: type[Setting], nothing: Any = None) -> Callable[..., Any]:
    """Make a function `(default, label, ...)` that declares a field; other arguments than the kind's fields become its `look`."""

    def make(default: object = nothing, label: str = "", **given: Any) -> Any:
        own = {name: given.pop(name) for name in list(given) if name in kind.__dataclass_fields__}
        return use(kind(label=label, look=given, **own), default)

    return make


number, text, memory, switch = _maker(Number), _maker(Text, ""), _maker(Memory), _maker(Switch, False)
several, upload, sheet, _choice = _maker(Several, ()), _maker(Upload), _maker(Sheet), _maker(Choice)


def choice(options: Sequence[Any], label: str = "", *, default: object = None, **given: Any) -> Any:
    """Declare a Choice of `options` (values or (label, value)); the default is the first."""
    first = Choice(options=tuple(options)).values[0] if default is None and options else default
    return _choice(first, label, options=tuple(options), **given)


def pooling(*others: tuple[str, str], **given: Any) -> Any:
    """Declare the pooling, from a text's token vectors to one vector, with the names of `explorer.bert.features`."""
    ways = (("mean of all tokens", "mean"), ("[CLS]", "cls"), ("pooler (last layer)", "pooler"), *others)
    return choice(ways, "One vector for a sentence", menu=True, **given)
