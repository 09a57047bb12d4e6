"""A link that reopens a view: which query parameters there are, written and read in one place."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

from explorer.base.limits import CHARACTERS
from explorer.model import checkpoints
from explorer.text import limits
from explorer.views.subject import Selection, Subject

MOST_LAYERS = 1_000  # no model has as many; a subject brings a selection into its model's range
LONGEST_WORD = 100


def query(subject: Subject, tab: str) -> str:
    """The query string of a link to what the page shows. Raises InputError for a text that no link can hold."""
    chosen = subject.chosen
    text_a = limits.check_optional_text(subject.text_a, "text A")
    text_b = limits.check_optional_text(subject.text_b, "text B")
    parameters = {"a": text_a, "b": text_b, "layer": chosen.layer, "head": chosen.head, "tab": tab}
    if chosen.token is not None:
        parameters["token"] = chosen.token
    if chosen.off:
        parameters["off"] = ",".join(f"{layer + 1}.{head + 1}" for layer, head in chosen.off)
    if chosen.swap:
        parameters["swap"] = ",".join(chosen.swap)
    if chosen.patch:
        parameters["patch"] = "{}.{}".format(*chosen.patch)
    if subject.model_name != checkpoints.default_name():
        parameters["model"] = subject.model_name
    return urlencode(parameters)


def asks(parameters: Iterable[str]) -> bool:
    """Whether parameters, by their names, ask for anything; those that begin with __ are Gradio's own."""
    return any(not name.startswith("__") for name in parameters)


def read(parameters: Mapping[str, str], default: Subject) -> Subject:
    """What the parameters of a link name to show; what is missing or makes no sense is as in `default`."""
    layer, head = _number(parameters.get("layer"), 0, None), _number(parameters.get("head"), 1, None)
    return Subject(
        parameters.get("model") or default.model_name,
        parameters.get("a", default.text_a)[: CHARACTERS.most + 1],
        parameters.get("b", "" if "a" in parameters else default.text_b)[: CHARACTERS.most + 1],
        Selection(
            default.chosen.layer if layer is None else layer,
            default.chosen.head if head is None else head,
            _number(parameters.get("token"), 0, default.chosen.token, limits.MOST_PLACES),
            default.chosen.picked or layer is not None or head is not None,
            tuple((layer - 1, head - 1) for layer, head in _pairs(parameters.get("off"), 1)),
            _words(parameters.get("swap")),
            next(iter(_pairs(parameters.get("patch"), 0, limits.MOST_PLACES)), None),
        ),
    )


def _number(value: str | None, low: int, default: int | None, most: int = MOST_LAYERS) -> int | None:
    if value is None or not value.isdecimal() or not low <= int(value[:8]) <= most:
        return default
    return int(value)


def _pairs(value: str | None, low: int, most: int = MOST_LAYERS) -> list[tuple[int, int]]:
    """The pairs in '6.11,3.2', of numbers from `low` to `most`; none where one of them makes no sense."""
    pairs = [tuple(_number(number, low, None, most) for number in pair.split(".")) for pair in (value or "").split(",")]
    return pairs if all(len(pair) == 2 and None not in pair for pair in pairs) else []  # type: ignore[return-value]


def _words(value: str | None) -> tuple[str, str] | None:
    """The two words in 'teacher,engineer'."""
    match (value or "").split(","):
        case [word, other] if all(0 < len(one) <= LONGEST_WORD and re.fullmatch(r"[^\s,]+", one) for one in (word, other)):
            return word, other
    return None
