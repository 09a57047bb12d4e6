"""Rows of words with numbers: shares as bars, rankings, and the progress of long work."""

from collections.abc import Callable, Sequence
from typing import Any

from explorer.ui.pictures.numbers import Table, keep, plain

Row = tuple[str, float, str]
SEEN = 0.005  # the smallest change of a share that shows in whole percents


def bars(rows: Sequence[Row], series: Sequence[int] | None = None) -> dict[str, Any]:
    """The component's value for rows of (label, share from 0 to 1, note); the note may be empty.

    `series` are the numbers of the rows' colours among those of the labels (from 0); without them all bars have one colour.
    """
    drawn = bar_groups([("", rows)]) | {"grouped": False}
    for row, number in zip(drawn["groups"][0]["rows"], series or (), strict=False):
        row["series"] = number % 8 + 1  # style sheets have eight colours, from 1
    return drawn


def bar_groups(groups: Sequence[tuple[str, Sequence[Row]]], beside: bool = False, form: str = "") -> dict[str, Any]:
    """The component's value for groups of rows with headings: one below the other or, for comparison, `beside` each other.

    The shares are written in percent, or in the format `form` for numbers that are not percentages.
    """
    listed = [{"heading": heading, "rows": [_row(*row, form) for row in rows]} for heading, rows in groups]
    return keep({"grouped": True, "beside": beside, "groups": listed}, lambda: _table(groups))


def _table(groups: Sequence[tuple[str, Sequence[Row]]]) -> Table:
    """A row per bar, without empty columns."""
    rows = [[heading, label, float(share), note] for heading, bars in groups for label, share, note in bars]
    names = ("group", "label", "share", "note")
    there = [place for place, name in enumerate(names) if name in ("label", "share") or any(row[place] for row in rows)]
    return Table.of(tuple(names[place] for place in there), [[row[place] for place in there] for row in rows])


def percent(share: float) -> str:
    """A share in percent with one decimal: never 0 or 100% unless it is exact."""
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def whole_percent(share: float) -> str:
    """A share in whole percents, for sentences: never 0 or 100% unless it is exact."""
    if 0 < share <= 0.005:
        return "less than 1%"
    if 0.995 <= share < 1:
        return "more than 99%"
    return f"{share:.0%}"


def short_percent(share: float) -> str:
    """A share in whole percents in at most four signs: '<1%' and '>99%' at the ends, 0 or 100% only if it is exact."""
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


def from_to(before: float, after: float, *, whole: Callable[[float], str] = short_percent) -> tuple[str, str]:
    """Two shares in whole percents, with one decimal where both would be the same: ('91%', '<1%'), ('89.4%', '88.9%')."""
    ends = whole(before), whole(after)
    return ends if ends[0] != ends[1] else (percent(before), percent(after))


def short_change(before: float, after: float) -> str:
    """The change of a share in few signs: '91% → <1%', '89.4% → 88.9%', 'stays at 99.9%'."""
    was, now = from_to(before, after)
    return f"stays at {now}" if was == now else f"{was} → {now}"


def change_of(word: str, before: float, after: float) -> str:
    """The change of a word's probability in words: '“tokyo” falls from 77% to 21%'."""
    if abs(after - before) < SEEN:
        return f"“{word}” stays at {whole_percent(after)}"
    return f"“{word}” {'falls' if after < before else 'rises'} from {' to '.join(from_to(before, after, whole=whole_percent))}"


def sign(difference: float) -> str:
    """A difference of logits as sentences show it: '+2.13', '−0.40', and '+0.00' for what rounds to 0."""
    return f"{round(difference, 2) + 0.0:+.2f}".replace("-", "−")


def change_of_difference(word: str, foil: str, before: float, after: float) -> str:
    """What becomes of a difference of logits: '“tokyo” rather than “osaka” falls from +2.13 to −0.40 logits'."""
    if abs(after - before) < SEEN:
        return f"“{word}” rather than “{foil}” stays at {sign(after)} logits"
    moved = "falls" if after < before else "rises"
    return f"“{word}” rather than “{foil}” {moved} from {sign(before)} to {sign(after)} logits"


def _row(label: str, share: float, note: str, form: str) -> dict[str, Any]:
    if not 0 <= share <= 1 + 1e-6:
        raise ValueError(f"the share of {label!r} is {share}, not between 0 and 1")
    share = min(float(share), 1.0)
    return {"label": label, "share": share, "percent": format(share, form) if form else percent(share), "note": note}


def ranking(heading: str, rows: Sequence[tuple[int, str, float | str]], note: str = "", form: str = ".3f") -> dict[str, Any]:
    """The component's value for rows of (index, text, number in the format `form`, or a text instead), with a note below."""
    told = [number if isinstance(number, str) else format(number, form) for _, _, number in rows]
    listed = [{"index": int(row[0]), "text": row[1], "number": number} for row, number in zip(rows, told, strict=True)]
    table = Table.of(("text", "value"), [[text, plain(number)] for _, text, number in rows])
    return keep({"heading": heading, "rows": listed, "note": note}, lambda: table)


def meter(text: str, share: float | None = None) -> dict[str, Any]:
    """The component's value for a sentence about long work and the share done, 0 to 1 or None."""
    return {"text": text, "share": None if share is None else min(max(float(share), 0.0), 1.0)}
