"""The way from one word to another: step by step through a recurrent network, and in one step with attention."""

from collections.abc import Iterator, Sequence
from typing import Any

from explorer.ui.pictures.stepped import Arrow, Box, Step, stepped

WIDTH, ROW, TOP = 400, 25, 26
WORD, STATES, SECOND = 92, 124, 216  # width of a word; where the states begin, and the second row of words


def long_way(words: Sequence[str], positions: Sequence[int], start: int, end: int) -> dict[str, Any]:
    """The drawing of the way from the word `start` to the word `end`, zero-based; a click on a word sends its position."""
    number = abs(end - start)
    boxes = [*_titles(), *_rows(words, positions)]
    arrows = [*_chain(len(words), start, end), *_looks(len(words), end)]
    alt = (
        f"Left a recurrent network, a state after each of {len(words)} words: from {words[start]} to {words[end]} it is "
        f"{_steps_of(number)}. Right attention: {words[end]} looks at every word, {words[start]} among them, in one step."
    )
    return stepped((WIDTH, TOP + ROW * len(words)), boxes, arrows, [*_steps(words, start, end)], alt)


def _titles() -> Iterator[Box]:
    yield Box("recurrent", 0, 0, STATES + 46, 20, "recurrent network", "title")
    yield Box("attention", SECOND, 0, WIDTH - SECOND, 20, "attention", "title")


def _rows(words: Sequence[str], positions: Sequence[int]) -> Iterator[Box]:
    for row, (word, position) in enumerate(zip(words, positions, strict=True)):
        y = TOP + ROW * row
        yield Box(f"word.{row}", 0, y, WORD, 19, word, "word", position)
        yield Box(f"state.{row}", STATES, y, 46, 19, f"h{row + 1}", "state")
        yield Box(f"there.{row}", SECOND, y, WORD, 19, word, "word", position)


def _middle(row: int) -> float:
    return TOP + ROW * row + 9.5


def _chain(count: int, start: int, end: int) -> Iterator[Arrow]:
    """From each word into its state, and from state to state in the direction of the way."""
    middle = STATES + 23
    for row in range(count):
        yield Arrow(f"in.{row}", (WORD + 1, _middle(row)), (STATES - 1, _middle(row)))
    for row in range(count - 1):
        above, below = (middle, _middle(row) + 10), (middle, _middle(row + 1) - 10)
        yield Arrow(f"on.{row}", above, below) if end >= start else Arrow(f"on.{row}", below, above)


def _looks(count: int, end: int) -> Iterator[Arrow]:
    """From each other word to the one that looks, as what is taken goes."""
    right = SECOND + WORD + 1
    for row in range(count):
        if row != end:
            yield Arrow(f"look.{row}", (right, _middle(row)), (right, _middle(end)), 14 + 60 * abs(end - row) / max(count - 1, 1))


def _steps(words: Sequence[str], start: int, end: int) -> Iterator[Step]:
    """A step for each state on the way, one for attention, and one for both."""
    of, to, number = f"“{words[start]}”", f"“{words[end]}”", abs(end - start)
    side = 1 if end > start else -1
    away = f"{number} word{'s' * (number > 1)} {'back' if side > 0 else 'ahead'}"
    from_right = " It must read from the right; one that reads from the left would never learn of it."
    carried = [f"word.{start}", f"in.{start}", f"state.{start}"]
    yield Step(
        f"{to} has to know of {of}, {away}. A recurrent network reads a word at a time, and keeps all that it knows in one "
        f"state, h.{'' if side > 0 else from_right}",
        carried,
        title="Recurrent network",
    )
    for done in range(1, number + 1):
        row = start + side * done
        carried = [*carried, f"on.{min(row, row - side)}", f"state.{row}"]
        here = f"The state takes in “{words[row]}”, and must still hold {of}: {_steps_of(done)} so far."
        last = f" Now {to} knows of {of}." if done == number else ""
        yield Step(f"{here}{last}", [*carried, f"word.{row}", f"in.{row}"])
    looks = [f"look.{start}", f"there.{start}", f"there.{end}"]
    meets = f"With attention the query of {to} meets the key of {of} directly: 1 step, however far it is."
    yield Step(meets, looks, title="Attention")
    rest = [f"look.{row}" for row in range(len(words)) if row != end]
    yield Step(
        f"And not {of} alone: {to} looks at every word in the same step. Of n words, the longest way is n steps in a recurrent "
        "network, and 1 with attention, for which all n² pairs are compared.",
        [*carried, *rest, *looks],
        title="Both",
    )


def _steps_of(number: int) -> str:
    return f"{number} step{'s' * (number != 1)}"
