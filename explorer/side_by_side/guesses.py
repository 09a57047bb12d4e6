"""The answers of both heads on both sides: the guesses for the blank, and whether B follows A."""

from explorer.core.errors import CapabilityError, InputError
from explorer.side_by_side.other import SideView
from explorer.ui.pictures.bars import Row, bar_groups, whole_percent
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, part, sentence

GUESSES = 6


class SideGuesses(SideView):
    """The best guesses for the blank; a sentence for a side that has none."""

    name, question = "side-by-side/guesses", "Which words fill the blank on each side?"
    answers = part("bars", optional=True, answer=True)
    about = sentence(answer=True)

    def compute(self, subject: Subject) -> Content:
        groups, reasons = [], []
        for side, one in (("Here", subject), ("There", self.other(subject))):
            try:
                heading, rows = self.answer(one)
                groups.append((f"{side}{heading}", rows))
            except (CapabilityError, InputError) as reason:
                reasons.append(f"{side}: {reason}")
        return ({"answers": bar_groups(groups, beside=True)} if groups else {}) | {"about": " ".join(reasons)}

    def finding(self, subject: Subject) -> Finding | None:
        try:
            (_, here), (_, there) = self.answer(subject), self.answer(self.other(subject))
        except (CapabilityError, InputError):
            return None
        (first, share, _), (other, other_share, _) = (max(rows, key=lambda row: row[1]) for rows in (here, there))
        one, two = whole_percent(share), whole_percent(other_share)
        if first == other:
            return Finding(f"Both sides get the same answer, “{first}”: {one} on this side, {two} on the other.")
        return Finding(f"BERT answers “{first}” ({one}) on this side, “{other}” ({two}) on the other.")

    def answer(self, subject: Subject) -> tuple[str, list[Row]]:
        """The rest of a heading, and the bars of one side. Raises CapabilityError or InputError if it has no answer."""
        subject.trace.blanks()
        trace, blank = subject.trace, subject.blank
        (guess,) = subject.model.guesses(trace.states[-1][[blank]], [blank], GUESSES)
        return f", token {blank}", [
            (candidate.token, candidate.probability, f"logit {candidate.logit:.2f}") for candidate in guess.candidates
        ]


class SidePair(SideGuesses):
    """The next-sentence head's answer; a sentence for a side that has none."""

    name, question = "side-by-side/pair", "Does B follow A on each side?"

    def answer(self, subject: Subject) -> tuple[str, list[Row]]:
        found = subject.model.next_sentence(subject.text_a, subject.text_b)
        shares = zip(subject.model.pair_names, (found.is_next, found.not_next), found.logits, strict=True)
        return "", [(name, share, f"logit {logit:.2f}") for name, share, logit in shares]
