"""Many pairs scored in a table."""

from collections.abc import Iterator, Sequence
from typing import Any

from explorer.text.lines import pairs_from_lines
from explorer.text.pairs import Pair, check_pairs, read_pairs
from explorer.views.next_sentence.scores import PAIRS, rank_pairs, score_pair
from explorer.views.settings import sheet, text, upload
from explorer.views.subject import Subject
from explorer.views.view import Shown, View, button, caption, sentence

COLUMNS = ("A", "B", "IsNext", "Logit difference")
STEP = 10  # pairs scored between two words on how far it is


class ManyPairs(View):
    """Pairs in a table, with their scores; those that are scored stay as they are until that is asked for."""

    name, question = "next-sentence/pairs", "In which of many pairs does B follow A?"
    fold = "Bring your own"
    pairs: list[list[Any]] = sheet(
        tuple((a, b, None, None) for a, b in PAIRS),
        "Change the pairs or add rows; IsNext is a probability (0 to 1), sorted from likely to unlikely",
        columns=COLUMNS,
        fixed=2,
        datatype=["str", "str", "number", "number"],
        column_widths=["38%", "38%", "11%", "13%"],
        wrap=True,
    )
    score = button("Score the pairs", variant="primary")
    export = button("Download as CSV", saves="pairs")
    status = sentence(keep_height=True)
    lines: str = text("", "One pair a line: A, then a tab or ||, then B", more=True, heard="submit blur", lines=4, scale=6)
    file: list[Pair] | None = upload(
        label="CSV, TSV or JSON lines with the columns A,B", read=read_pairs, more=True, height=130, scale=4
    )
    help = caption(
        "Click a column's head to sort by it. The logit difference (IsNext − NotNext, no bounds) still tells pairs "
        "apart where the probabilities all say 1 or 0."
    )

    def compute(self, subject: Subject) -> Shown:
        """The scores of the pairs that have none yet."""
        if any(row[2] is not None for row in self.pairs):
            return {}
        return {"pairs": rank_pairs([score_pair(subject, *pair) for pair in _pairs_of(self.pairs)])}

    def on_score(self, subject: Subject, index: None) -> Iterator[Shown]:
        """Score the pairs in the table."""
        yield from _score_in_steps(subject, _pairs_of(self.pairs))

    def on_lines(self, subject: Subject, lines: str) -> Iterator[Shown]:
        """Score the pairs that were typed; nothing happens while there are none."""
        if lines.strip():
            yield from _score_in_steps(subject, pairs_from_lines(lines))

    def on_file(self, subject: Subject, pairs: list[Pair] | None) -> Iterator[Shown]:
        """Score the pairs in the file."""
        if pairs:
            yield from _score_in_steps(subject, pairs)


def _score_in_steps(subject: Subject, pairs: Sequence[Pair]) -> Iterator[Shown]:
    rows = []
    for number, pair in enumerate(pairs, start=1):
        rows.append(score_pair(subject, *pair))
        if number % STEP == 0:
            yield {"status": f"{number} of {len(pairs)} pairs."}
    yield {"pairs": rank_pairs(rows), "status": f"{len(pairs)} pairs scored."}


def _pairs_of(rows: Sequence[Sequence[Any]]) -> list[Pair]:
    """The sentences in the table. Raises InputError when a row has one only."""
    return check_pairs([(str(row[0] or "").strip(), str(row[1] or "").strip()) for row in rows], "row")
