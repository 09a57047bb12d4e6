"""Many pairs scored in a table: typed there, pasted, or candidates for the sentence after A."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from explorer.text.lines import Pair, check_pairs, pairs_from_lines
from explorer.ui.pictures.bars import SEEN, sign, whole_percent
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.settings import sheet, text
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, View, button, caption, note, sentence

PAIRS = (
    ("The baby would not stop crying.", "Her father picked her up and sang to her."),
    ("The baby would not stop crying.", "The bridge was finished in 1932."),
    ("We missed the bus this morning.", "So we had to walk to school."),
    ("We missed the bus this morning.", "Saturn is the second largest planet."),
    ("He bought a ticket at the counter.", "Then he waited on the platform for his train."),
    ("He bought a ticket at the counter.", "Most frogs lay their eggs in water."),
)
COLUMNS = ("A", "B", "IsNext", "Logit difference")
STEP = 10  # pairs scored between two reports of progress
QUOTED = 40  # characters of a sentence in a finding
NUMBERS = ("a", "b", "is_next", "logit_difference")


class ManyPairs(View):
    """A table of pairs with their scores; scored pairs are scored again only on request."""

    name, question = "next-sentence/pairs", "In which of many pairs does B follow A?"
    pairs: list[list[Any]] = sheet(
        tuple((a, b, None, None) for a, b in PAIRS),
        "The pairs",
        columns=COLUMNS,
        fixed=2,
        answer=True,
        datatype=["str", "str", "number", "number"],
        column_widths=["32%", "32%", "17%", "19%"],
        wrap=True,
        show_label=False,
        buttons=["copy"],
    )
    how = note("Change the pairs or add rows; IsNext is a probability (0 to 1), sorted from likely to unlikely.")
    score = button("Score the pairs", variant="primary")
    status = sentence(keep_height=True)
    candidates: str = text(
        "",
        "Candidates for B, one per line",
        heard="submit blur",
        placeholder="A sentence that may follow A above, a whole pair (A || B), or two columns pasted from a spreadsheet",
        lines=4,
    )
    help = caption(
        "Each pair is judged separately, so the probabilities do not sum to 1. Click a column's title to sort by that column. "
        "The logit difference (IsNext − NotNext, no bounds) still distinguishes pairs whose probabilities are all near 1 or 0."
    )

    def compute(self, subject: Subject) -> Content:
        if any(row[2] is not None for row in self.pairs):
            return {}
        return {"pairs": _rank(_score(subject, *pair) for pair in self.asked(subject))}

    def asked(self, subject: Subject) -> list[Pair]:
        """The pairs to score: the candidates that a link brings, else those in the table. Raises InputError for half a pair."""
        if self.candidates.strip():
            return pairs_from_lines(self.candidates, subject.text_a)
        return check_pairs([(str(row[0] or "").strip(), str(row[1] or "").strip()) for row in self.pairs], "row")

    def finding(self, subject: Subject) -> Finding:
        """Of candidates for one A the best, and its lead; else how often B follows A, and the least certain pair."""
        rows = [row for row in self.pairs if isinstance(row[3], float | int)] or self.compute(subject)["pairs"]
        if len({row[0] for row in rows}) == 1 < len(rows):
            return Finding(_best(sorted(rows, key=lambda row: -row[3])))
        doubtful = min(rows, key=lambda row: abs(row[3]))
        a, b, _, difference = doubtful
        follow = sum(row[3] >= 0 for row in rows)
        sure = whole_percent(max(_share(doubtful), 1 - _share(doubtful)))
        said = f"{_quote(b)} {'follows' if difference >= 0 else 'does not follow'} {_quote(a)}"
        if len(rows) == 1:
            return Finding(f"BERT predicts that {said} ({sure}).")
        every = "both" if len(rows) == 2 else f"all {len(rows)}"
        some = {0: f"none of the {len(rows)}", len(rows): every}.get(follow, f"{follow} of the {len(rows)}")
        return Finding(f"BERT: B follows A in {some} pairs. The least certain: {said} ({sure}).")

    def on_score(self, subject: Subject, index: None) -> Iterator[Content]:
        yield from _score_in_steps(subject, ManyPairs(pairs=self.pairs).asked(subject))

    def on_candidates(self, subject: Subject, lines: str) -> Iterator[Content]:
        """Score what was typed, if there is anything."""
        if lines.strip():
            yield from _score_in_steps(subject, pairs_from_lines(lines, subject.text_a))


def _best(rows: list[list[Any]]) -> str:
    """The most probable of several candidates, sorted, and its lead over the next."""
    (_, best, _, difference), (_, second, _, next_difference) = rows[:2]
    share, then = (whole_percent(_share(row)) for row in rows[:2])
    if difference < 0:
        return f"None of the {len(rows)} candidates follows A; {_quote(best)} comes closest ({share})."
    if then == share and abs(next_difference - difference) < SEEN:
        return f"{_quote(best)} and {_quote(second)} follow A equally well, with {share}."
    apart = f" and a logit difference of {sign(next_difference)} instead of {sign(difference)}" if then == share else ""
    return f"{_quote(best)} follows A best, with {share}; {_quote(second)} comes next, with {then}{apart}."


def _score(subject: Subject, a: str, b: str) -> list[Any]:
    """A, B, the probability of IsNext (0 to 1), and the logit of IsNext minus that of NotNext."""
    answer = subject.model.next_sentence(a, b)
    return [a, b, answer.is_next, answer.logits[0] - answer.logits[1]]


def _rank(scored: Iterable[list[Any]]) -> list[list[Any]]:
    """Scored pairs for the table, the most probable first, rounded."""
    rows = sorted(scored, key=lambda row: -row[3])
    shown = [[a, b, round(share, 4), round(difference, 2)] for a, b, share, difference in rows]
    return keep(shown, lambda: Table.of(NUMBERS, rows))


def _share(row: list[Any]) -> float:
    """The probability of IsNext in a row of the table; where it is rounded to 0 or 1, from the logit difference."""
    return row[2] if 0 < row[2] < 1 else 1 / (1 + math.exp(-row[3]))


def _quote(text: str) -> str:
    return f"“{shorten(text, QUOTED)}”"


def _score_in_steps(subject: Subject, pairs: Sequence[Pair]) -> Iterator[Content]:
    rows = []
    for number, pair in enumerate(pairs, start=1):
        rows.append(_score(subject, *pair))
        if number % STEP == 0:
            yield {"status": f"{number} of {len(pairs)} pairs."}
    yield {"pairs": _rank(rows), "status": f"{len(pairs)} pair{'s' * (len(pairs) != 1)} scored."}
