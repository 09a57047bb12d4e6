"""The places of an experiment: which one is looked at, and what it is called."""

from collections.abc import Callable, Sequence
from math import isnan

from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.question import HEADS, STATES, Axis
from explorer.ui.pictures.bars import sign
from explorer.ui.subject import head_name

MOST_PLACES = 10_000  # in a direction


def kept_place(value: object) -> tuple[int, ...]:
    """A place that a click left behind, () for none."""
    fine = isinstance(value, list | tuple) and len(value) <= 2 and all(type(at) is int and 0 <= at < MOST_PLACES for at in value)
    return tuple(value) if fine else ()  # type: ignore[arg-type]


def place_in(found: Experiment, place: tuple[int, ...]) -> tuple[int, ...]:
    """A place that was clicked, where the run has it; else the selected one."""
    shape = found.summary.q.shape
    fits = len(place) == len(shape) and all(at < most for at, most in zip(place, shape, strict=True))
    return place if fits else found.summary.selected


def of_heads(found: Experiment) -> bool:
    return len(found.axes) == 2 and found.axes[1].name == HEADS[0]


def of_items(count: int) -> str:
    """A number of items, as "1 item" or "1,000 items"."""
    return "1 item" if count == 1 else f"{count:,} items"


def in_groups(items: int, groups: int) -> str:
    """How many items there are, and how many independent groups: "36 items in 12 groups"."""
    return of_items(items) if items == groups else f"{of_items(items)} in {groups:,} group{'s' * (groups != 1)}"


def plain(value: float) -> str:
    """A number with two digits behind the point."""
    return sign(value).removeprefix("+")


def interval_of(low: float, high: float, groups: int, written: Callable[[float], str] = plain) -> str:
    """An interval in words, or why there is none."""
    if isnan(low):
        return f"no interval from {groups} group{'s' * (groups != 1)}"
    return f"95% interval {written(low)} to {written(high)}"


def place_name(axes: Sequence[Axis], at: tuple[int, ...]) -> str:
    """A place in words: 'layer 5, head 11', 'hidden state 4, changed words'."""
    if len(axes) == 2 and axes[1].name == HEADS[0]:
        return head_name((at[0], at[1]))
    first, *rest = (axis.labels[place] for axis, place in zip(axes, at, strict=True))
    return ", ".join([f"{axes[0].name} {first}", *map(str, rest)]) if axes[0].name in (STATES[0], "layer") else f"{first}"


def short(axes: Sequence[Axis], at: tuple[int, ...]) -> str:
    """A place in few letters: '5.11', 'state 4'."""
    labels = [str(axis.labels[place]) for axis, place in zip(axes, at, strict=True)]
    if len(axes) == 2 and axes[1].name == HEADS[0]:
        return ".".join(labels)
    return f"{'state ' if axes[0].name == STATES[0] else ''}{', '.join(labels)}"
