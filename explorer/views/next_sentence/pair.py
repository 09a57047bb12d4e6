"""The pair on the page: the verdict both ways, and which tokens and heads it rests on."""

from typing import TYPE_CHECKING, Any

from explorer.figures.bars import Row, bars
from explorer.views.attribution import AttributionView
from explorer.views.subject import Subject
from explorer.views.switch_heads import ABOUT, SwitchHeads
from explorer.views.view import Content, View, caption, check, heading, matches, part, sentence

if TYPE_CHECKING:
    from explorer.model.explorer import NextSentence
    from explorer.techniques.targets import Target

SATURATED = 0.999


def no_b(subject: Subject) -> str:
    """Why nothing can be said of a pair, or ''."""
    return "" if subject.text_b.strip() else "Type a second sentence in B to ask whether it follows A."


def _is_next(subject: Subject) -> "Target":
    from explorer.techniques.targets import is_next_target

    return is_next_target(subject.trace)


class ThisPair(View):
    """What the next-sentence head says of B after A, and of A after B."""

    name, question = "next-sentence/pair", "Does B follow A?"
    columns = (("title", "verdict", "logits", "saturated", "check"), ("swapped_title", "swapped", "swapped_logits", "help"))
    title = heading("**B after A**")
    verdict = part("bars")
    logits = sentence()
    saturated = sentence()
    check = check()
    swapped_title = heading("**Swapped: A after B**")
    swapped = part("bars")
    swapped_logits = sentence()
    help = caption(
        "Output 0 of the head is **IsNext** (B is the sentence after A), output 1 is **NotNext** (B comes from "
        "somewhere else); the two sum to 100 %. If order mattered to BERT, the two sides would differ."
    )
    unless = staticmethod(no_b)

    def compute(self, subject: Subject) -> Content:
        """Probabilities and logits, both ways round."""
        from explorer.techniques.targets import IS_NEXT, own_reading

        answer = subject.model.next_sentence(subject.text_a, subject.text_b)
        swapped = subject.model.next_sentence(subject.text_b, subject.text_a)
        error = abs(float(own_reading(subject.trace, IS_NEXT).logit) - answer.logits[0])
        return {
            "verdict": _bars(answer, "B", "A"),
            "logits": _logits(answer),
            "saturated": _saturation(answer),
            "swapped": _bars(swapped, "A", "B"),
            "swapped_logits": _logits(swapped),
            "check": matches(error, "the logit of IsNext is that of the model's own forward pass"),
        }


class PairAttribution(AttributionView):
    """A score for each token, for IsNext."""

    name = "next-sentence/attribution"
    unless = staticmethod(no_b)
    target = staticmethod(_is_next)


class PairHeads(SwitchHeads):
    """Heads as switches, and what they do to IsNext."""

    name = "next-sentence/heads"
    help = caption(ABOUT.format(what="IsNext"))
    unless = staticmethod(no_b)
    target = staticmethod(_is_next)

    def rows(self, subject: Subject, target: "Target", states: Any) -> list[Row]:
        """Both outputs of the head."""
        from explorer.techniques.targets import read

        share = float(read(subject.model, target, states[None]).probability)
        return [("IsNext", share, ""), ("NotNext", 1 - share, "")]


def _bars(answer: "NextSentence", second: str, first: str) -> dict:
    rows = [("IsNext", answer.is_next, f"{second} follows {first}"), ("NotNext", answer.not_next, f"{second} is a stranger")]
    return bars(rows)


def _logits(answer: "NextSentence") -> str:
    is_next, not_next = answer.logits
    return f"Logits: IsNext {is_next:.2f}, NotNext {not_next:.2f}; difference {is_next - not_next:+.2f}."


def _saturation(answer: "NextSentence") -> str:
    if max(answer.is_next, answer.not_next) < SATURATED:
        return ""
    return (
        "Saturated: this head is often far surer than it should be, and beyond 99.9 % the probability tells no more; "
        "compare differences of logits instead."
    )
