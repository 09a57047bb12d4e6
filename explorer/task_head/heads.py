"""The output of a task head: labels, tags, answers, or replaced pieces; nothing if the model's head has another task."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from explorer.bert.families import ANSWER, LABELS, REPLACED, TAGS
from explorer.techniques import own_head
from explorer.techniques.own_head import Answer, Labelled, own_error
from explorer.text import limits
from explorer.ui.long_view import is_quick
from explorer.ui.pictures.bars import SEEN, bars, percent, whole_percent
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.pictures.word_effects import word_effects
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, View, chart, matches, part, prose, select, sentence

MOST_BARS = 12
MOST_ANSWERS = 6
QUOTED = 60  # characters of an answer in the finding
SQUASHED = {  # how the shares were computed from the logits
    "softmax": "The labels that the checkpoint was fine-tuned for; their shares (softmax) sum to 100%.",
    "sigmoid": "The labels that the checkpoint was fine-tuned for. The share of each is the sigmoid of its own logit, so the "
    "shares need not sum to 100%.",
    "none": "The numbers that the checkpoint was fine-tuned to give (a regression), on the scale of its training texts.",
}


class HeadView(View):
    """The output of a head for one task, and a check against transformers' own forward pass."""

    task: ClassVar[str]
    check = part("check", optional=True)
    help = prose(classes="caption", optional=True)

    @abstractmethod
    def show(self, subject: Subject) -> Content:
        """The contents for a model with such a head, except for the check."""

    @abstractmethod
    def describe(self, subject: Subject) -> str:
        """The most telling fact, for a model with such a head; '' if there is none."""

    def compute(self, subject: Subject) -> Content:
        if subject.model.capabilities.own_head != self.task:
            return {}
        proof = matches(own_error(subject.trace), "the logits are those of transformers' own forward pass")
        return self.show(subject) | {"check": proof}

    def finding(self, subject: Subject) -> Finding | None:
        fact = self.describe(subject) if subject.model.capabilities.own_head == self.task else ""
        return Finding(fact) if fact else None


class OwnLabels(HeadView):
    """The probability of every label, and how it depends on the words of the input."""

    name, question = "own-head/labels", "Which label does the checkpoint predict?"
    verdict = part("bars", optional=True, answer=True)
    number = sentence(optional=True, answer=True)
    words = chart("How the label depends on each word", height=190, optional=True, answer=True)
    about = sentence(classes="caption", optional=True, answer=True)
    names = ("verdict", "number", "words", "about", "check", "help")
    task = LABELS

    def describe(self, subject: Subject) -> str:
        """The most probable label, and the word whose masking lowers it most, if that is found quickly."""
        found = own_head.labels(subject.trace)
        if subject.model.task_head().squash == "none":
            return f"{_numbers(found, 2)}."
        best = int(found.shares.argmax())
        share, said = float(found.shares[best]), f"“{found.labels[best]}” with {whole_percent(found.shares[best])}"
        words, effects = _effects(subject, best) or ([], np.zeros(0))
        if (place := _deciding(effects)) is None:
            return f"{said}."
        return f"{said}; with “{words[place]}” hidden, only {whole_percent(share - float(effects[place]))}."

    def show(self, subject: Subject) -> Content:
        """The labels, and the effect of each word on the best one if that is found quickly."""
        squash, found = subject.model.task_head().squash, own_head.labels(subject.trace)
        shown: Content = {"help": SQUASHED[squash]}
        if squash == "none":
            return shown | {"number": _numbers(found, 3)}
        order = np.argsort(-found.shares)[:MOST_BARS]
        shown["verdict"] = bars(
            [(found.labels[place], float(found.shares[place]), f"logit {found.logits[place]:.2f}") for place in order]
        )
        if known := _effects(subject, int(order[0])):
            words, effects = known
            shown["words"] = word_effects(words, effects.tolist(), outlined=_deciding(effects))
            label = found.labels[order[0]]
            shown["about"] = f"How much the probability of {label} falls when one word is hidden behind [MASK] (occlusion)."
        return shown


class TokenHead(HeadView):
    """The base of heads with an output for every token: rows below the tokens, where a click selects a token."""

    row = part("words", optional=True, answer=True)
    found = sentence(optional=True, answer=True)
    names: ClassVar[Sequence[str]] = ("row", "found", "check", "help")

    def on_row(self, subject: Subject, index: object) -> Change:
        """Select the token of a cell, [row, column]."""
        _, token = index if isinstance(index, list | tuple) and len(index) == 2 else (0, index)
        return select(token=limits.check_place(token))


class OwnTags(TokenHead):
    """The tag of every token."""

    name, question = "own-head/tags", "Which tag does the checkpoint give each token?"
    task = TAGS

    def describe(self, subject: Subject) -> str:
        """The word with the least certain tag, judged by its first piece, since only first pieces have tags in training."""
        tags, _, shares = own_head.labels(subject.trace, TAGS)
        if (token := _least_sure(subject, shares)) is None or len(tags) == 1:
            return ""
        (first, sure), (second, then) = ((tags[place], shares[token, place]) for place in np.argsort(-shares[token])[:2])
        return (
            f"Of all tags that of “{subject.trace.tokens[token]}” (token {token}) is the least sure: {first} with "
            f"{whole_percent(float(sure))}, then {second} with {whole_percent(float(then))}."
        )

    def show(self, subject: Subject) -> Content:
        trace, chosen = subject.trace, subject.token
        tags, _, shares = own_head.labels(trace, TAGS)
        best, doubtful = [tags[place] for place in shares.argmax(-1)], _least_sure(subject, shares)
        cells = [
            ("", 0.0, "") if kind == "special" else (tag, float(row.max()), _rank_tags(tags, row))
            for kind, tag, row in zip(trace.encoding.kinds, best, shares, strict=True)
        ]
        outlined = None if doubtful is None else (0, doubtful)
        numbers: dict[str, Any] = {"tag": best, "share": shares.max(-1)}
        return {
            "row": _rows(subject, {"tag": cells}, numbers, outlined),
            "found": f"'{trace.tokens[chosen]}' (token {chosen}): {_rank_tags(tags, shares[chosen])}.",
            "help": "The most likely tag of each token, darker where the head is more confident; click a token for the others. "
            "In training only the first piece of a word has a tag (Devlin et al. 2019, section 5.3), so tags of later pieces "
            "are the head's guesses.",
        }


class OwnAnswer(TokenHead):
    """The most probable spans of text B that answer text A, and where the answer begins and ends."""

    name, question = "own-head/answer", "Where in B is the answer to A?"
    names = ("answers", "row", "found", "check", "help")
    answers = part("bars", classes="sentences", optional=True, answer=True)
    task = ANSWER

    def describe(self, subject: Subject) -> str:
        """The most probable span, and the next one shown that does not overlap it."""
        if not subject.text_b.strip():
            return ""
        best, *others = own_head.answers(subject.trace, MOST_ANSWERS)
        apart = next((other for other in others if other.end < best.start or other.start > best.end), None)
        then = f", then, elsewhere, {_quote(apart)}" if apart else ""
        return f"The most likely answer is {_quote(best)}{then}."

    def show(self, subject: Subject) -> Content:
        """The best spans, and the probability of each token to begin and to end one. Raises InputError without a text B."""
        trace = subject.trace
        spans = own_head.answers(trace, MOST_ANSWERS)
        _, logs = own_head.boundaries(trace)
        shares = np.exp(logs)  # [tokens, 2]
        ends = {"begins": shares[:, 0], "ends": shares[:, 1]}
        cells = {name: [(percent(float(share)), float(share), "") for share in values] for name, values in ends.items()}
        nothing = float(shares[0, 0] * shares[0, 1])
        return {
            "answers": bars([(span.text, span.share, f"{span.logit:+.2f}") for span in spans]),
            "row": _rows(subject, cells, ends, (0, spans[0].start)),
            "found": f"No answer ({trace.tokens[0]}): {percent(nothing)}.",
            "help": "Type the question in A and the text in B. The share of a span is the probability that the answer begins "
            "at the span's first token, times the probability that it ends at the last (each a softmax over all tokens; Devlin "
            "et al. 2019, section 4.2). On the right is the sum of both logits.",
        }


class ReplacedPieces(TokenHead):
    """The probability that each piece was put there by another model."""

    name, question = "own-head/replaced", "Which pieces look replaced?"
    task = REPLACED

    def describe(self, subject: Subject) -> str:
        worst, share = _most_suspicious(subject)
        return f"“{subject.trace.tokens[worst]}” (token {worst}) looks most like a replacement: {whole_percent(share)}."

    def show(self, subject: Subject) -> Content:
        shares, (worst, share) = own_head.replacement_shares(subject.trace), _most_suspicious(subject)
        cells = [(percent(float(share)), float(share), "") for share in shares]
        return {
            "row": _rows(subject, {"replaced": cells}, {"replaced": shares}, (0, worst)),
            "found": f"Most suspicious: '{subject.trace.tokens[worst]}' (token {worst}), {percent(share)}.",
            "help": "ELECTRA's discriminator reads a text in which a small model has replaced some pieces. For each piece it "
            "gives the probability that this piece was replaced (sigmoid, 0 to 100%; Clark et al. 2020, section 2). Put an odd "
            "word into A and see.",
        }


def _numbers(found: Labelled, digits: int) -> str:
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


def _rows(subject: Subject, cells: dict[str, Any], numbers: dict[str, Any], outlined: tuple[int, int] | None) -> dict[str, Any]:
    """Rows of cells below the tokens, by their names; `numbers` are what programs get of them, [tokens] each."""
    trace = subject.trace
    grid = word_grid("token", trace.tokens, list(cells), list(cells.values()), subject.token, outlined=outlined)
    return keep(grid, lambda: columns_of(position=range(trace.kept), token=trace.tokens, **numbers))


def _least_sure(subject: Subject, shares: np.ndarray) -> int | None:
    """The first piece of the word whose most probable tag has the lowest probability; None without a word."""
    starts = [group[0] for group in subject.trace.encoding.text_words]
    return starts[int(shares[starts].max(-1).argmin())] if starts else None


def _most_suspicious(subject: Subject) -> tuple[int, float]:
    """The token of the texts with the highest probability of having been replaced, and that probability."""
    shares, words = own_head.replacement_shares(subject.trace), list(subject.trace.encoding.text_positions)
    worst = words[int(shares[words].argmax())]
    return worst, float(shares[worst])


def _rank_tags(tags: tuple[str, ...], shares: np.ndarray) -> str:
    """The three most probable tags of a token."""
    return ", ".join(f"{tags[place]} {percent(float(shares[place]))}" for place in np.argsort(-shares)[:3])


def _quote(answer: Answer) -> str:
    return f"“{shorten(answer.text, QUOTED)}” with {whole_percent(answer.share)}"
