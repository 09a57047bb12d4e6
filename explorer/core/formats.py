"""Files of visitors, each declared once as a schema: their values are counted, then parsed in Rust, strictly.

Only here is JSON of a visitor's file parsed.
"""

from collections.abc import Iterator
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from explorer.core.errors import InputError
from explorer.core.limits import Limit

Item = TypeVar("Item")
Form = TypeVar("Form", bound=BaseModel)


Every = Annotated[list[Item], Field(fail_fast=True)]
"""A list that is refused at its first wrong item, since a million of them would be a million errors."""


class Own(BaseModel):
    """An object that this app alone writes: other names than these are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class Foreign(BaseModel):
    """An object that other programs write too, whose other names are passed over."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class Misfit(ValueError):
    """A text is not of its form. It never holds a value of the file."""


def parse(form: type[Form], data: bytes, most: Limit) -> Form:
    """A JSON text of at most `most` values as its form. Raises Misfit, and InputError for more values."""
    return _validate(TypeAdapter(form), data, most)


def parse_each(form: type[Form], data: bytes, most: Limit) -> Iterator[Form]:
    """The objects of a JSON text of at most `most` values: in a list, alone, or one per line. Raises as `parse`."""
    if data.lstrip().startswith(b"["):
        yield from _validate(TypeAdapter(Every[form]), data, most)  # type: ignore[valid-type]
        return
    one = TypeAdapter(form)
    try:
        yield _validate(one, data, most)
    except Misfit:
        for line in list(filter(bytes.strip, data.splitlines())) or [data]:
            yield _validate(one, line, most)


def values(data: bytes, most: Limit) -> Any:
    """Any JSON of at most `most` values, without NaN and Infinity. Raises ValueError, and InputError for more values."""
    if has_more_values(data, most.most):
        raise InputError(most.tell())
    return from_json(data, allow_inf_nan=False)


def has_more_values(body: bytes, most: int) -> bool:
    """Whether a JSON text has more values than `most`, without parsing it: each value but the first of a list follows a comma."""
    if body.count(b",") < most:
        return False
    plain = _without_escapes(body)
    if plain.count(b'"') > 4 * most:  # four quotes a value: around its name and around itself
        return True
    return sum(outside.count(b",") for outside in plain.split(b'"')[::2]) >= most


def longest_text(body: bytes) -> int:
    """The characters of the longest text of a JSON text, without parsing it: `\\u0041` is one."""
    texts = _without_escapes(body).split(b'"')[1::2]
    return max((len(text.decode(errors="ignore")) - text.count(b"\\") - 4 * text.count(b"\\u") for text in texts), default=0)


def _without_escapes(body: bytes) -> bytes:
    """A JSON text in which every quote begins or ends a text: a letter is in the place of the others."""
    return body.replace(rb"\\", b"x").replace(rb"\"", b"x")


def _validate(adapter: TypeAdapter[Any], data: bytes, most: Limit) -> Any:
    if has_more_values(data, most.most):
        raise InputError(most.tell())
    try:
        return adapter.validate_json(data)
    except ValidationError:
        raise Misfit from None  # the error itself holds the visitor's text
