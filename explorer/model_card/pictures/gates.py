"""The cell of an LSTM, walked through word by word: what each gate lets through, in numbers."""

from collections.abc import Iterator, Sequence
from typing import Any

from explorer.model_card.compute.lstm import Moment
from explorer.ui.pictures.stepped import Arrow, Box, Step, stepped

SIZE = (400.0, 268.0)
GATES = {"forget": (52.0, 92.0), "input": (150.0, 78.0), "value": (234.0, 80.0), "output": (320.0, 80.0)}  # left, width
STATE, TIMES, GATE, READ, WORDS = 22.0, 80.0, 136.0, 192.0, 242.0  # the tops of the rows
ALT = (
    "The cell of an LSTM. From the word come a forget gate, an input gate, a value and an output gate. The state before is "
    "multiplied by the forget gate; the value times the input gate is added; the output is the tanh of the state, times the "
    "output gate."
)


def gates(moments: Sequence[Moment]) -> dict[str, Any]:
    """The drawing with its steps."""
    return stepped(SIZE, [*_cell(), *_words(moments)], list(_arrows()), list(_steps(moments)), ALT)


def _cell() -> Iterator[Box]:
    """The line of the state at the top, and below it what changes and reads it."""
    yield Box("titled.before", 0, 0, 90, 18, "state before", "title")
    yield Box("titled.after", 286, 0, 90, 18, "state after", "title")
    yield Box("before", 0, STATE, 66, 28, "", "state")
    yield Box("keep", 84, STATE, 28, 28, "×")
    yield Box("add", 217, STATE, 28, 28, "+")
    yield Box("after", 286, STATE, 114, 28, "", "state")
    yield Box("admitted", 217, TIMES, 28, 28, "×")
    yield Box("shown", 346, TIMES, 28, 28, "×")
    yield Box("out", 262, TIMES, 66, 28, "", "state")
    for name, (left, width) in GATES.items():
        yield Box(name, left, GATE, width, 28, name)
    yield Box("read", 52, READ, 348, 26, "")


def _words(moments: Sequence[Moment]) -> Iterator[Box]:
    """The words side by side, as wide as their letters."""
    room = SIZE[0] - 18 * len(moments)
    letters, x = sum(len(one.word.text) for one in moments), 0.0
    for number, one in enumerate(moments):
        width = 14 + room * len(one.word.text) / letters
        yield Box(f"word.{number}", x, WORDS, width, 24, one.word.text, "word")
        x += width + 4


def _arrows() -> Iterator[Arrow]:
    middle = {name: left + width / 2 for name, (left, width) in GATES.items()}
    line, half = STATE + 14, TIMES + 14
    yield Arrow("before>", (67, line), (83, line))
    yield Arrow("keep>", (113, line), (216, line))
    yield Arrow("add>", (246, line), (285, line))
    yield Arrow("forget>", (98, GATE - 1), (98, STATE + 29))
    yield Arrow("input>", (middle["input"], GATE - 1), (218, TIMES + 29))
    yield Arrow("value>", (middle["value"], GATE - 1), (244, TIMES + 29))
    yield Arrow("admitted>", (231, TIMES - 1), (231, STATE + 29))
    yield Arrow("output>", (360, GATE - 1), (360, TIMES + 29))
    yield Arrow("after>", (360, STATE + 29), (360, TIMES - 1))
    yield Arrow("shown>", (345, half), (329, half))
    for name, x in middle.items():
        yield Arrow(f"read>{name}", (x, READ - 1), (x, GATE + 29))


def _steps(moments: Sequence[Moment]) -> Iterator[Step]:
    """The first word part by part, a step for each of the others, and what it is good for."""
    first, *rest = moments
    nothing = dict.fromkeys(("before", "after", "out", "read"), "")
    yield Step(
        "A state is carried from word to word, here a single number: above 0 for a plural subject, below 0 for a singular one. "
        "At each word three gates, numbers from 0 to 1, decide what happens to it.",
        ["before", "before>", "keep", "keep>", "add", "add>", "after"],
        nothing,
        "The cell",
    )
    yield from _first(first)
    for number, one in enumerate(rest, start=1):
        yield Step(_told(one), [f"word.{number}", "read", *_open(one)], _labels(one), "Word by word" if number == 1 else "")
    yield Step(
        "While f is near 1 the state passes almost unchanged, and so does the gradient on its way back in training. A plain "
        "recurrent network sends its state through weights and a tanh at every word, and what is far back fades. But to pass a "
        "word is still a step; attention needs none.",
        ["before", "before>", "keep", "keep>", "add", "add>", "after"],
        title="Why",
    )


def _first(one: Moment) -> Iterator[Step]:
    shown = _labels(one)
    yield Step(
        f"“{one.word.text}” is the subject, so the input gate opens: i = σ(−6 + 12) = {one.admit:.2f}. What it lets in is the "
        f"value, tanh(−3) = {_signed(one.value)} for a singular.",
        ["word.0", "read", "read>input", "read>value", "input", "value", "input>", "value>", "admitted"],
        {name: shown[name] for name in ("before", "read", *GATES)},
        one.word.text,
    )
    yield Step(
        f"The forget gate closes for a new subject: f = σ(6 − 12) = {one.forget:.2f}. The state is f × {_signed(one.before)} + "
        f"i × ({_signed(one.value)}) = {_signed(one.state)}.",
        ["word.0", "read", "read>forget", "forget", "forget>", "keep", "keep>", "admitted>", "add", "add>", "after"],
        {"after": shown["after"]},
    )
    yield Step(
        f"The output gate waits for a verb: o = σ(−6) = {one.show:.2f}. So the output o × tanh({_signed(one.state)}) = "
        f"{_signed(one.output)} tells nothing yet.",
        ["word.0", "read", "read>output", "output", "output>", "after>", "shown", "shown>", "out"],
        {"out": shown["out"]},
    )


def _told(one: Moment) -> str:
    word, number = f"“{one.word.text}”", "plural" if one.state > 0 else "singular"
    if one.word.subject:
        return (
            f"{word} is a new subject: f = {one.forget:.2f} forgets {_signed(one.before)}, i = {one.admit:.2f} lets "
            f"{_signed(one.value)} in. The state is now {_signed(one.state)}: {number}."
        )
    if one.word.verb:
        return (
            f"{word} is the verb: o = {one.show:.2f} lets the state out. The output is tanh({_signed(one.state)}) = "
            f"{_signed(one.output)}: the verb must be {number}. The state stays."
        )
    if one.word.number:
        return (
            f"{word} is singular, its value {_signed(one.value)}. But it is not the subject: i = {one.admit:.2f} keeps it out, "
            f"and f = {one.forget:.2f} keeps what was there, {_signed(one.state)}."
        )
    return f"{word} changes nothing: f = {one.forget:.2f}, i = {one.admit:.2f}, and the state stays {_signed(one.state)}."


def _open(one: Moment) -> Iterator[str]:
    """What is open at this word: gates near 1, and the way through them."""
    if one.forget > 0.5:
        yield from ("forget", "read>forget", "forget>", "before", "before>", "keep", "keep>", "add", "add>", "after")
    if one.admit > 0.5:
        yield from (
            "input",
            "value",
            "read>input",
            "read>value",
            "input>",
            "value>",
            "admitted",
            "admitted>",
            "add",
            "add>",
            "after",
        )
    if one.show > 0.5:
        yield from ("output", "read>output", "output>", "after>", "shown", "shown>", "out")


def _labels(one: Moment) -> dict[str, str]:
    """The labels of the boxes at this word, by their ids."""
    kind = "subject" if one.word.subject else "verb" if one.word.verb else "neither subject nor verb"
    number = {1: "plural", -1: "singular", 0: ""}[one.word.number]
    return {
        "before": _signed(one.before),
        "forget": f"forget {one.forget:.2f}",
        "input": f"input {one.admit:.2f}",
        "value": f"value {_signed(one.value)}",
        "output": f"output {one.show:.2f}",
        "after": _signed(one.state),
        "out": _signed(one.output),
        "read": f"{one.word.text}: {kind}{', ' * bool(number)}{number}",
    }


def _signed(number: float) -> str:
    """With its sign, a minus as long as a plus, and none before a zero."""
    shown = f"{number:+.2f}".replace("-", "−")
    return "0" if shown in ("+0.00", "−0.00") else shown
