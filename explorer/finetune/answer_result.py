"""The answers to the held-out questions, and which question words are hard."""

import numpy as np

from explorer.finetune.answer_examples import ASKS, OTHER, asks
from explorer.finetune.compute.answering import exact_match, f1
from explorer.finetune.compute.run import HeldOutAnswers, Run
from explorer.finetune.run import OfAnswers, RunView
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.settings import choice
from explorer.ui.subject import Subject
from explorer.ui.view import Content, part, sentence

WRONG, RIGHT = "Wrong", "Right"
NONE = "(no answer)"
MOST_LISTED = 100


class AnswerResult(OfAnswers, RunView):
    """The held-out questions, wrong or right, and exact match and F1 by question word."""

    name, question = "fine-tune/answer-result", "Which questions does it answer?"
    layout = (row(col("listed", "note", width=7), col("by_word", width=4)),)
    answers_shown: str = choice((WRONG, RIGHT), "Held-out questions that are", menu=True)
    listed = part(
        "frame",
        columns=["question", "said", "right", "sure", "text"],
        widths=["24%", "16%", "16%", "9%", "35%"],
        label="What was said, the surest first",
        max_height=380,
        optional=True,
    )
    note = sentence(classes="caption")
    by_word = part("frame", columns=["asks", "questions", "exact match", "F1"], label="By what is asked", optional=True)

    def without_run(self, why: str) -> Content:
        return {"note": ""}

    def show_run(self, subject: Subject, run: Run) -> Content:
        if run.held_out is None:
            return {"note": "This run came in a file, which holds no questions to look at."}
        held = run.held(HeldOutAnswers)
        right = np.array([exact_match(said, accepted) for said, accepted in zip(held.said, held.accepted, strict=True)])
        rows = np.flatnonzero(right == (self.answers_shown == RIGHT))
        shown = rows[np.argsort(-held.scores[rows].max(1), kind="stable")][:MOST_LISTED]
        return {
            "listed": [_row(held, place) for place in shown],
            "by_word": _by_word(held, right),
            "note": (
                f"{len(rows):,} of {len(right):,} held-out questions are answered "
                f"{'exactly' if self.answers_shown == RIGHT else 'otherwise'}, capitals, articles and punctuation aside (exact "
                "match, Rajpurkar et al. 2016); sure is p(start) · p(end) of what was said."
            ),
        }


def _row(held: HeldOutAnswers, place: int) -> list[str]:
    sure = held.scores[place, 0 if held.said[place] else 1]
    right = " or ".join(held.accepted[place]) or NONE
    return [held.questions[place], held.said[place] or NONE, right, f"{sure:.0%}", held.texts[place]]


def _by_word(held: HeldOutAnswers, right: np.ndarray) -> list[list[object]]:
    """Exact match and F1 by question word."""
    words = np.array([asks(question) for question in held.questions])
    overlap = np.array([f1(said, accepted) for said, accepted in zip(held.said, held.accepted, strict=True)])
    there = [word for word in (*ASKS, OTHER) if (words == word).any()]
    counts = [int((words == word).sum()) for word in there]
    exact, mean = ([float(scores[words == word].mean()) for word in there] for scores in (right, overlap))
    columns = (there, counts, map(whole_percent, exact), map(whole_percent, mean))
    rows = [list(row) for row in zip(*columns, strict=True)]
    return keep(rows, lambda: columns_of(asks=there, questions=counts, exact_match=exact, f1=mean))
