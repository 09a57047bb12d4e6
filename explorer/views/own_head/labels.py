"""A classifier's labels, and the words that decided."""

from typing import TYPE_CHECKING

import numpy as np

from explorer.figures.bars import bars, whole_percent
from explorer.figures.training import word_effects as effects_chart
from explorer.model.families import LABELS
from explorer.views.own_head.head import HeadView
from explorer.views.subject import Subject
from explorer.views.view import Content, Finding, chart, is_quick, part, sentence

if TYPE_CHECKING:
    from explorer.techniques.own_head import Labelled

MOST_BARS = 12


class OwnLabels(HeadView):
    """The probability of every label for the input, and how it depends on its words."""

    name, question = "own-head/labels", "Which label does it give?"
    verdict = part("bars", optional=True)
    number = sentence(optional=True)
    words = chart("How the label depends on each word", height=190, optional=True)
    about = sentence(classes="caption", optional=True)
    layout = ("verdict", "number", "words", "about", "check", "help")
    task = LABELS

    def telling(self, subject: Subject) -> Finding:
        """The likeliest label."""
        from explorer.techniques import own_head

        return Finding(_best(own_head.labels(subject.trace), subject.model.own_head.squash == "none"))

    def tell(self, subject: Subject) -> Content:
        """The labels, and what each word does for the best of them where that is quickly found."""
        from explorer.techniques import own_head  # loads torch

        head = subject.model.own_head
        found = own_head.labels(subject.trace)
        order = np.argsort(-found.shares)
        best = int(order[0])
        rows = [(found.labels[place], float(found.shares[place]), f"logit {found.logits[place]:.2f}") for place in order]
        number = head.squash == "none"
        shown = {"help": _help(head.squash)}
        shown |= {"number": f"{found.labels[0]}: {found.shares[0]:.3f}"} if number else {"verdict": bars(rows[:MOST_BARS])}
        words = subject.trace.encoding.text_words
        if words and not number and is_quick(subject, min(len(words), own_head.MOST_WORDS)):
            shown["words"] = effects_chart(*own_head.word_effects(subject.trace, best))
            label = found.labels[best]
            shown["about"] = f"How much the probability of {label} falls when one word is hidden behind [MASK] (occlusion)."
        return shown


def _best(found: "Labelled", number: bool) -> str:
    """The likeliest label."""
    place = int(np.argmax(found.shares))
    share = f"{found.shares[place]:.2f}" if number else whole_percent(float(found.shares[place]))
    return f"“{found.labels[place]}” with {share}."


def _help(squash: str) -> str:
    """How the logits were made shares."""
    return {
        "softmax": "The labels that the checkpoint was fine-tuned for; their shares (softmax) sum to 100 %.",
        "sigmoid": "The labels that the checkpoint was fine-tuned for; each by itself (sigmoid): they need not sum to 100 %.",
        "none": "The number that the checkpoint was fine-tuned to give (a regression), on the scale of its training texts.",
    }[squash]
