"""A question answerer: the spans of B that answer A."""

import numpy as np

from explorer.figures.bars import bars, percent, whole_percent
from explorer.figures.word_grid import word_grid
from explorer.model.families import ANSWER
from explorer.views.own_head.tokens import TokenHead
from explorer.views.subject import Subject
from explorer.views.view import Content, Finding, part

MOST_ANSWERS = 6


class OwnAnswer(TokenHead):
    """The likeliest spans, and where the answer begins and ends."""

    name, question = "own-head/answer", "Where in B is the answer to A?"
    layout = ("answers", "row", "found", "check", "help")
    answers = part("bars", classes="sentences", optional=True)

    task = ANSWER

    def telling(self, subject: Subject) -> Finding | None:
        """The likeliest span."""
        from explorer.techniques import own_head

        best = next(iter(own_head.answers(subject.trace, 1)), None) if subject.text_b.strip() else None
        return best and Finding(f"The likeliest answer is “{best.text}”, with {whole_percent(best.share)}.")

    def tell(self, subject: Subject) -> Content:
        """The best spans, and how likely each token is to begin and to end one; without a text in B, what to do."""
        from explorer.techniques import own_head  # loads torch

        trace = subject.trace
        spans = own_head.answers(trace, MOST_ANSWERS)
        _, logs = own_head.boundaries(trace)
        shares = np.exp(logs)  # [tokens, 2]
        rows = [(span.text, span.share, f"{span.start_logit + span.end_logit:+.2f}") for span in spans]
        cells = [[(percent(float(share)), float(share), "") for share in shares[:, side]] for side in range(2)]
        nothing = float(shares[0, 0] * shares[0, 1])
        return {
            "answers": bars(rows),
            "row": word_grid("token", trace.tokens, ["begins", "ends"], cells, subject.token),
            "found": f"That there is no answer, which {trace.tokens[0]} stands for: {percent(nothing)}.",
            "help": "Type the question in A and the text in B. The share of a span is the probability that the answer begins at "
            "its first token, times that it ends at its last (softmax over all tokens each; Devlin et al. 2019, section 4.2); "
            "on the right stands the sum of both logits.",
        }
