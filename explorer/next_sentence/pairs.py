"""Many pairs scored in a table, and candidates ranked as the next sentence."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from explorer.core.errors import InputError
from explorer.core.limits import PAIRS as MOST_PAIRS
from explorer.text.lines import pairs_from_lines, split_lines
from explorer.text.pairs import Pair, check_pairs, read_pairs
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import SEEN, bars, whole_percent
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.settings import sheet, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, SaveSheet, View, Why, button, caption, part, sentence, settle, takes_long

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
QUOTED = 60  # characters of a sentence in a finding
NUMBERS = ("a", "b", "is_next", "logit_difference")


class ManyPairs(View):
    """A table of pairs with their scores; scored pairs are scored again only on request."""

    name, question = "next-sentence/pairs", "In which of many pairs does B follow A?"
    fold = "Bring your own"
    pairs: list[list[Any]] = sheet(
        tuple((a, b, None, None) for a, b in PAIRS),
        "Change the pairs or add rows; IsNext is a probability (0 to 1), sorted from likely to unlikely",
        columns=COLUMNS,
        fixed=2,
        answer=True,
        datatype=["str", "str", "number", "number"],
        column_widths=["32%", "32%", "17%", "19%"],
        wrap=True,
    )
    score = button("Score the pairs", variant="primary")
    export = button("Download as CSV")
    on_export = SaveSheet("pairs")
    status = sentence(keep_height=True)
    help = caption(
        "Click a column's head to sort by it. The logit difference (IsNext − NotNext, no bounds) still tells pairs "
        "apart where the probabilities all say 1 or 0."
    )
    lines: str = text("", "One pair a line: A, then a tab or ||, then B", more=True, heard="submit blur", lines=4, scale=6)
    file: list[Pair] | None = upload(
        label="CSV, TSV or JSON lines with the columns A,B", read=read_pairs, more=True, height=130, scale=4
    )

    def compute(self, subject: Subject) -> Content:
        """The scores of the pairs, if none has one yet."""
        if any(row[2] is not None for row in self.pairs):
            return {}
        return {"pairs": _shown(_rank([_score(subject, *pair) for pair in _pairs_of(self.pairs)]))}

    def finding(self, subject: Subject) -> Finding:
        """The number of pairs in which B follows A, and the least certain pair."""
        rows = [row for row in self.pairs if isinstance(row[3], float | int)] or self.compute(subject)["pairs"]
        a, b, _, difference = min(rows, key=lambda row: abs(row[3]))
        follow = sum(row[3] >= 0 for row in rows)
        sure = whole_percent(_probability(abs(difference)))
        said = f"{_quote(b)} {'follows' if difference >= 0 else 'does not follow'} {_quote(a)}"
        if len(rows) == 1:
            return Finding(f"{said}, says BERT with {sure}.")
        every = "both" if len(rows) == 2 else f"all {len(rows)}"
        some = {0: f"none of the {len(rows)}", len(rows): every}.get(follow, f"{follow} of the {len(rows)}")
        return Finding(f"B follows A in {some} pairs, says BERT; it is least sure that {said} ({sure}).")

    def on_score(self, subject: Subject, index: None) -> Iterator[Content]:
        """Score the pairs in the table."""
        yield from _score_in_steps(subject, _pairs_of(self.pairs))

    def on_lines(self, subject: Subject, lines: str) -> Iterator[Content]:
        """Score the pairs that were typed, if there are any."""
        if lines.strip():
            yield from _score_in_steps(subject, pairs_from_lines(lines))

    def on_file(self, subject: Subject, pairs: list[Pair] | None) -> Iterator[Content]:
        """Score the pairs in the file."""
        if pairs:
            yield from _score_in_steps(subject, pairs)


class NextSentences(View):
    """Which of several candidates follows A."""

    name, question = "next-sentence/candidates", "Which sentence follows A?"
    layout = (row(col("candidates", "find", width=5), col("ranking", "help", width=6)),)
    candidates: str = text(
        "\n".join(dict.fromkeys(b for _, b in PAIRS)), "Candidates for B, one a line", heard="", lines=7, max_lines=14
    )
    find = button("Find the next sentence", variant="primary")
    ranking = part("bars", classes="sentences", answer=True)
    help = caption(
        "The probability of IsNext (0 to 100 %) for A and each candidate, ranked by the difference of the two "
        "logits, which is given on the right. Each pair is judged by itself: the bars do not sum to 100 %."
    )

    def compute(self, subject: Subject) -> Content:
        """The candidates, and B if there is one, the most probable first."""
        rows = self._ranked(subject)
        shown = bars([(candidate, share, f"{difference:+.2f}") for _, candidate, share, difference in rows])
        return {"ranking": keep(shown, lambda: Table.of(NUMBERS, rows))}

    def finding(self, subject: Subject) -> Finding:
        """The most probable candidate, and its lead over the next."""
        rows = self._ranked(subject)
        _, best, _, difference = rows[0]
        share = whole_percent(_probability(difference))
        why = Why("next-sentence", "Which tokens") if best == subject.text_b.strip() else None
        if difference < 0:
            none = "The only candidate does not follow A" if len(rows) == 1 else f"None of the {len(rows)} candidates follows A"
            return Finding(f"{none}, says BERT; {_quote(best)} comes closest, with {share}.", why)
        if len(rows) == 1:
            return Finding(f"{_quote(best)} follows A, says BERT with {share}.", why)
        second, then = _quote(rows[1][1]), whole_percent(_probability(rows[1][3]))
        if then == share and abs(rows[1][3] - difference) < SEEN:
            return Finding(f"{_quote(best)} and {second} follow A equally well, with {share}.", why)
        apart = f" and a logit difference of {rows[1][3]:.2f} instead of {difference:.2f}" if then == share else ""
        return Finding(f"{_quote(best)} follows A best, with {share}; {second} comes next, with {then}{apart}.", why)

    @takes_long
    def on_find(self, subject: Subject, index: None) -> Change:
        """Rank the candidates."""
        return settle(candidates=self.candidates)

    def _ranked(self, subject: Subject) -> list[list[Any]]:
        b = subject.text_b.strip()
        texts = list(dict.fromkeys([*split_lines(self.candidates), *([b] if b else [])]))
        if not 1 <= len(texts) <= MOST_PAIRS.most:
            raise InputError(MOST_PAIRS.tell(len(texts), "candidates"))
        return _rank(_score(subject, subject.text_a, candidate) for candidate in texts)


def _score(subject: Subject, a: str, b: str) -> list[Any]:
    """A, B, the probability of IsNext (0 to 1), and the logit of IsNext minus that of NotNext."""
    answer = subject.model.next_sentence(a, b)
    return [a, b, answer.is_next, answer.logits[0] - answer.logits[1]]


def _shown(rows: list[list[Any]]) -> list[list[Any]]:
    """Scored pairs for the table, rounded."""
    return keep(
        [[a, b, round(share, 4), round(difference, 2)] for a, b, share, difference in rows], lambda: Table.of(NUMBERS, rows)
    )


def _probability(difference: float) -> float:
    """The probability of the first of two outputs from the difference of their logits; unlike a rounded one, never 0 or 1."""
    return 1 / (1 + math.exp(-difference))


def _quote(text: str) -> str:
    return f"“{shorten(text, QUOTED)}”"


def _rank(rows: Iterable[list[Any]]) -> list[list[Any]]:
    """Scored pairs, the most probable first."""
    return sorted(rows, key=lambda row: -row[3])


def _score_in_steps(subject: Subject, pairs: Sequence[Pair]) -> Iterator[Content]:
    rows = []
    for number, pair in enumerate(pairs, start=1):
        rows.append(_score(subject, *pair))
        if number % STEP == 0:
            yield {"status": f"{number} of {len(pairs)} pairs."}
    yield {"pairs": _shown(_rank(rows)), "status": f"{len(pairs)} pairs scored."}


def _pairs_of(rows: Sequence[Sequence[Any]]) -> list[Pair]:
    """The pairs in the table. Raises InputError when a row has only one sentence."""
    return check_pairs([(str(row[0] or "").strip(), str(row[1] or "").strip()) for row in rows], "row")
