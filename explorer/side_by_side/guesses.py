"""The guesses for the blank on both sides, and whether B follows A."""

from explorer.core.errors import CapabilityError, InputError
from explorer.side_by_side.other import SideView
from explorer.ui.pictures.bars import Row, bar_groups, whole_percent
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, part, sentence

GUESSES = 6


class SideGuesses(SideView):
    """The best guesses for the blank here and there."""

    name, question = "side-by-side/guesses", "What belongs in the blank, here and there?"
    guesses = part("bars", optional=True, answer=True)
    about = sentence(answer=True)

    def finding(self, subject: Subject) -> Finding | None:
        """The first guess on each side."""
        try:
            (here, before, _), (there, after, _) = (_rows(one)[0] for one in (subject, self.other(subject)))
        except (CapabilityError, InputError):
            return None
        return Finding(f"Here “{here}” with {whole_percent(before)}, there “{there}” with {whole_percent(after)}.")

    def compute(self, subject: Subject) -> Content:
        """Two groups of bars; a sentence for a side without a blank, or without a masked-LM head."""
        groups, said = [], []
        for side, one in (("Here", subject), ("There", self.other(subject))):
            try:
                rows = _rows(one)
                groups.append((f"{side}, token {one.blank}", rows))
            except (CapabilityError, InputError) as why:
                said.append(f"{side}: {why}")
        return ({"guesses": bar_groups(groups, beside=True)} if groups else {}) | {"about": " ".join(said)}


class SidePair(SideView):
    """The output of both heads for pairs."""

    name, question = "side-by-side/pair", "Does B follow A, here and there?"
    verdicts = part("bars", optional=True, answer=True)

    def compute(self, subject: Subject) -> Content:
        """Two groups of bars; nothing if a side has no second text, or no head for pairs."""
        sides = [("Here", subject), ("There", self.other(subject))]
        if not all(one.model.capabilities.next_sentence and one.text_b.strip() for _, one in sides):
            return {}
        return {"verdicts": bar_groups([(side, _pair(one)) for side, one in sides], beside=True)}


def _rows(subject: Subject) -> list[Row]:
    """The best guesses for the blank. Raises CapabilityError or InputError if there is none."""
    subject.trace.blanks()
    trace, blank = subject.trace, subject.blank
    (guess,) = subject.model.guesses(trace.states[-1][[blank]], [blank], GUESSES)
    return [(candidate.token, candidate.probability, f"logit {candidate.logit:.2f}") for candidate in guess.candidates]


def _pair(subject: Subject) -> list[Row]:
    answer = subject.model.next_sentence(subject.text_a, subject.text_b)
    shares = zip(subject.model.pair_names, (answer.is_next, answer.not_next), answer.logits, strict=True)
    return [(name, share, f"logit {logit:.2f}") for name, share, logit in shares]
