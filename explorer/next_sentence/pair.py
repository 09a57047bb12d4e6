"""The texts on the page as a pair: the prediction in both orders, and the tokens and heads on which it depends."""

from dataclasses import replace
from typing import Any

from explorer.bert.explorer import NextSentence
from explorer.techniques.targets import Target, is_next_target, own_reading
from explorer.ui.attribution import AttributionView
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import bar_groups, sign, whole_percent
from explorer.ui.subject import Subject
from explorer.ui.switch_heads import ABOUT, SwitchHeads
from explorer.ui.view import Content, Finding, View, caption, check, heading, matches, part, prose, sentence

SATURATED = 0.999
HELP = (
    "**IsNext** (output 0 of the head): B is the sentence after A. **NotNext** (output 1): B comes from somewhere else. The two "
    "sum to 100%."
)
ORDER_HELP = (
    "This model was taught sentence *order*, not next sentences (Lan et al. 2020, section 3.1): output 0 of its head is "
    "**InOrder** (B comes right after A), output 1 is **Swapped** (neighbours in reverse order); the two sum to 100%. The "
    "model never saw unrelated sentences, so its answer for them means little."
)


class _OfPair:
    """What views have in common that need a second text."""

    def unless(self, subject: Subject) -> str:
        return "" if subject.text_b.strip() else "Type a second sentence in B to ask whether it follows A."

    def target(self, subject: Subject) -> Target:
        return is_next_target(subject.trace)


class ThisPair(_OfPair, View):
    """The next-sentence head's prediction for B after A; beside it for A after B, and the check."""

    name, question = "next-sentence/pair", "Does B follow A, and A follow B?"
    layout = (row(col("verdict", "logits"), col("swapped", "swapped_logits")),)
    verdict = part("bars", answer=True)
    logits = sentence(answer=True)
    swapped = part("bars", answer=True)
    swapped_logits = sentence(answer=True)
    saturated = sentence(answer=True)
    check = check()
    help = prose(classes="caption")

    def compute(self, subject: Subject) -> Content:
        (answer, swapped), model, names = _both_ways(subject), subject.model, subject.model.pair_names
        own = subject.trace.once("own next sentence", lambda: float(own_reading(subject.trace, self.target(subject)).logit))
        check = f"the logit of {names[0]} for B after A is that of the model's own forward pass"
        return {
            "verdict": _bars("", answer, names, "B", "A"),
            "logits": _logits(answer, names),
            "swapped": _bars("Swapped: ", swapped, names, "A", "B"),
            "swapped_logits": _logits(swapped, names),
            "saturated": _saturation(answer),
            "check": matches(abs(own - answer.logits[0]), check),
            "help": ORDER_HELP if model.family.pair_order else HELP,
        }

    def finding(self, subject: Subject) -> Finding:
        """The confidence of the prediction, and that for the swapped pair."""
        answer, swapped = _both_ways(subject)
        follows = "follows A" if answer.is_next >= 0.5 else "does not follow A"
        sure, back = whole_percent(max(answer.is_next, answer.not_next)), whole_percent(swapped.is_next)
        return Finding(f"BERT says that B {follows} ({sure}). With the two swapped, A follows B with a probability of {back}.")


class PairAttribution(_OfPair, AttributionView):
    """A score for each token, for IsNext."""

    name = "next-sentence/attribution"
    waits = True
    names = ("title", *AttributionView.names)
    title = heading(f"**{AttributionView.question}**")
    bars = replace(AttributionView.bars, optional=True)  # hidden until it is asked for

    def waiting(self, subject: Subject) -> Content:
        return {"check": ""}


class PairHeads(_OfPair, SwitchHeads):
    """A switch for each head, with its effect on IsNext."""

    name = "next-sentence/heads"
    waits = True
    names = ("title", *SwitchHeads.names)
    title = heading(f"**{SwitchHeads.question}**")
    help = caption(ABOUT.format(what="IsNext (or InOrder)"))


def _both_ways(subject: Subject) -> tuple[NextSentence, NextSentence]:
    """The prediction for B after A, and for A after B."""
    a, b = subject.text_a, subject.text_b
    return subject.model.next_sentence(a, b), subject.model.next_sentence(b, a)


def _bars(lead: str, answer: NextSentence, names: tuple[str, str], second: str, first: str) -> dict[str, Any]:
    stranger = f"{second} is unrelated" if names == ("IsNext", "NotNext") else f"{second} came before {first}"
    rows = [(names[0], answer.is_next, f"{second} follows {first}"), (names[1], answer.not_next, stranger)]
    return bar_groups([(f"{lead}{second} after {first}", rows)])


def _logits(answer: NextSentence, names: tuple[str, str]) -> str:
    first, second = answer.logits
    return f"Logits: {names[0]} {sign(first)}, {names[1]} {sign(second)}; difference {sign(first - second)}."


def _saturation(answer: NextSentence) -> str:
    if max(answer.is_next, answer.not_next) < SATURATED:
        return ""
    return (
        "Saturated: this head is often overconfident, and probabilities beyond 99.9% no longer distinguish pairs. Compare "
        "differences of logits instead."
    )
