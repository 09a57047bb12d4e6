"""The labels of a classifier, and the words that decided."""

import numpy as np

from explorer.bert.families import LABELS
from explorer.task_head.head import HeadView
from explorer.techniques import own_head
from explorer.ui.long_view import is_quick
from explorer.ui.pictures.bars import SEEN, bars, whole_percent
from explorer.ui.pictures.word_effects import word_effects as effects_chart
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, chart, part, sentence

MOST_BARS = 12


class OwnLabels(HeadView):
    """The probability of every label, and how it depends on the words of the input."""

    name, question = "own-head/labels", "Which label does it give?"
    verdict = part("bars", optional=True, answer=True)
    number = sentence(optional=True, answer=True)
    words = chart("How the label depends on each word", height=190, optional=True, answer=True)
    about = sentence(classes="caption", optional=True, answer=True)
    names = ("verdict", "number", "words", "about", "check", "help")
    task = LABELS

    def telling(self, subject: Subject) -> Finding:
        """The most probable label, and the word whose masking lowers it most, if that is found quickly."""
        found = own_head.labels(subject.trace)
        if subject.model.task_head().squash == "none":
            return Finding(f"{_numbers(found, 2)}.")
        best = int(found.shares.argmax())
        share, said = float(found.shares[best]), f"“{found.labels[best]}” with {whole_percent(found.shares[best])}"
        words, effects = _effects(subject, best) or ([], np.zeros(0))
        if (place := _deciding(effects)) is None:
            return Finding(f"{said}.")
        return Finding(f"{said}; with “{words[place]}” hidden, only {whole_percent(share - float(effects[place]))}.")

    def tell(self, subject: Subject) -> Content:
        """The labels, and the effect of each word on the best one if that is found quickly."""
        head = subject.model.task_head()
        found = own_head.labels(subject.trace)
        order = np.argsort(-found.shares)
        best = int(order[0])
        rows = [(found.labels[place], float(found.shares[place]), f"logit {found.logits[place]:.2f}") for place in order]
        number = head.squash == "none"
        shown: Content = {"help": _help(head.squash)}
        shown |= {"number": _numbers(found, 3)} if number else {"verdict": bars(rows[:MOST_BARS])}
        if not number and (known := _effects(subject, best)):
            words, effects = known
            shown["words"] = effects_chart(words, effects.tolist(), outlined=_deciding(effects))
            label = found.labels[best]
            shown["about"] = f"How much the probability of {label} falls when one word is hidden behind [MASK] (occlusion)."
        return shown


def _numbers(found: own_head.Labelled, digits: int) -> str:
    """The first numbers of a regression, each with its name: '“stars”: 3.21'."""
    named = zip(found.labels[:MOST_BARS], found.shares, strict=False)
    return ", ".join(f"“{label}”: {f'{number:.{digits}f}'.replace('-', '−')}" for label, number in named)


def _deciding(effects: np.ndarray) -> int | None:
    """The word whose masking lowers the share most, None if none lowers it visibly."""
    return int(effects.argmax()) if effects.max(initial=0) >= SEEN else None


def _effects(subject: Subject, label: int) -> tuple[list[str], np.ndarray] | None:
    """The words, and how much the share of a label falls when each is masked; None without words, or if it would take long."""
    trace, words = subject.trace, subject.trace.encoding.text_words
    if not words or not is_quick(subject, min(len(words), own_head.MOST_WORDS)):
        return None
    return trace.once(("word effects", label), lambda: own_head.word_effects(trace, label))


def _help(squash: str) -> str:
    """How the shares were computed from the logits."""
    return {
        "softmax": "The labels that the checkpoint was fine-tuned for; their shares (softmax) sum to 100 %.",
        "sigmoid": "The labels that the checkpoint was fine-tuned for. The share of each is the sigmoid of its own logit, so the "
        "shares need not sum to 100 %.",
        "none": "The numbers that the checkpoint was fine-tuned to give (a regression), on the scale of its training texts.",
    }[squash]
