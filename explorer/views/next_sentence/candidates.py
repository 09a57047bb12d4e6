"""Candidates ranked as the next sentence."""

from explorer.base.errors import InputError
from explorer.figures.bars import bars
from explorer.text.lines import split_lines
from explorer.text.pairs import MOST_PAIRS
from explorer.views.next_sentence.scores import PAIRS, rank_pairs, score_pair
from explorer.views.settings import text
from explorer.views.subject import Subject
from explorer.views.view import Change, Shown, View, button, caption, part, sentence, show


class NextSentences(View):
    """Which of several sentences follows A."""

    name, question = "next-sentence/candidates", "Which sentence follows A?"
    columns = (("candidates", "find"), ("best", "ranking", "help"))
    widths = (5, 6)
    candidates: str = text(
        "\n".join(dict.fromkeys(b for _, b in PAIRS)), "Candidates for B, one a line", heard="", lines=7, max_lines=14
    )
    find = button("Find the next sentence", variant="primary", long=True)
    best = sentence(keep_height=True)
    ranking = part("bars", classes="sentences")
    help = caption(
        "The probability of IsNext (0 to 100 %) for A and each candidate, ranked by the difference of the two "
        "logits, which is given on the right. Each pair is judged by itself: the bars do not sum to 100 %."
    )

    def compute(self, subject: Subject) -> Shown:
        """The candidates, and B if there is one, the likeliest first."""
        b = subject.text_b.strip()
        texts = list(dict.fromkeys([*split_lines(self.candidates), *([b] if b else [])]))
        if not 1 <= len(texts) <= MOST_PAIRS:
            raise InputError(f"Type 1 to {MOST_PAIRS} candidates, one a line; there are {len(texts)}.")
        rows = rank_pairs(score_pair(subject, subject.text_a, candidate) for candidate in texts)
        best = f"Best of {len(rows)}: {rows[0][1]}"
        return {
            "ranking": bars([(candidate, share, f"{difference:+.2f}") for _, candidate, share, difference in rows]),
            "best": best[:300],
        }

    def on_find(self, subject: Subject, index: None) -> Change:
        """Rank them."""
        return show(**self.compute(subject))
