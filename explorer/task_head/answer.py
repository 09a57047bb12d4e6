"""Extractive question answering: the spans of text B that answer text A."""

import numpy as np

from explorer.bert.families import ANSWER
from explorer.task_head.tokens import TokenHead
from explorer.techniques import own_head
from explorer.techniques.own_head import Answer
from explorer.ui.pictures.bars import bars, percent, whole_percent
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, part

MOST_ANSWERS = 6
QUOTED = 60  # characters of an answer in the finding


class OwnAnswer(TokenHead):
    """The most probable spans, and where the answer begins and ends."""

    name, question = "own-head/answer", "Where in B is the answer to A?"
    names = ("answers", "row", "found", "check", "help")
    answers = part("bars", classes="sentences", optional=True, answer=True)

    task = ANSWER

    def telling(self, subject: Subject) -> Finding | None:
        """The most probable span, and the next one shown that does not overlap it."""
        best, *others = own_head.answers(subject.trace, MOST_ANSWERS) if subject.text_b.strip() else (None,)
        if best is None:
            return None
        apart = next((one for one in others if one.end < best.start or one.start > best.end), None)
        then = f", then, elsewhere, {_told(apart)}" if apart else ""
        return Finding(f"The likeliest answer is {_told(best)}{then}.")

    def tell(self, subject: Subject) -> Content:
        """The best spans, and the probability of each token to begin and to end one; without a text B, what to do."""
        trace = subject.trace
        spans = own_head.answers(trace, MOST_ANSWERS)
        _, logs = own_head.boundaries(trace)
        shares = np.exp(logs)  # [tokens, 2]
        rows = [(span.text, span.share, f"{span.start_logit + span.end_logit:+.2f}") for span in spans]
        cells = [[(percent(float(share)), float(share), "") for share in shares[:, side]] for side in range(2)]
        nothing, ends = float(shares[0, 0] * shares[0, 1]), {"begins": shares[:, 0], "ends": shares[:, 1]}
        row = word_grid("token", trace.tokens, ["begins", "ends"], cells, subject.token, outlined=(0, spans[0].start))
        return {
            "answers": bars(rows),
            "row": keep(row, lambda: columns_of(position=range(trace.kept), token=trace.tokens, **ends)),
            "found": f"That there is no answer, which {trace.tokens[0]} stands for: {percent(nothing)}.",
            "help": "Type the question in A and the text in B. The share of a span is the probability that the answer begins at "
            "its first token, times that it ends at its last (softmax over all tokens each; Devlin et al. 2019, section 4.2); "
            "on the right stands the sum of both logits.",
        }


def _told(answer: Answer) -> str:
    return f"“{shorten(answer.text, QUOTED)}” with {whole_percent(answer.share)}"
