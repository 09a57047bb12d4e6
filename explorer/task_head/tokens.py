"""Heads with an output for every token: tags, and replaced pieces."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from explorer.bert.families import REPLACED, TAGS
from explorer.task_head.head import HeadView
from explorer.techniques import own_head
from explorer.text import limits
from explorer.ui.pictures.bars import percent, whole_percent
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, part, select, sentence


class TokenHead(HeadView):
    """A row below the tokens; a click selects a token."""

    row = part("words", optional=True, answer=True)
    found = sentence(optional=True, answer=True)
    names: ClassVar[Sequence[str]] = ("row", "found", "check", "help")

    def on_row(self, subject: Subject, index: object) -> Change:
        """Select the token of a cell, [row, column]."""
        _, token = index if isinstance(index, list | tuple) and len(index) == 2 else (0, index)
        return select(token=limits.check_place(token))


class OwnTags(TokenHead):
    """The tag of every token."""

    name, question = "own-head/tags", "Which tag does it give each token?"
    task = TAGS

    def telling(self, subject: Subject) -> Finding | None:
        """The word with the least certain tag, judged by its first piece, since only first pieces have tags in training."""
        tags, shares = own_head.tags(subject.trace)
        if (token := _least_sure(subject, shares)) is None or len(tags) == 1:
            return None
        (first, sure), (second, then) = ((tags[place], shares[token, place]) for place in np.argsort(-shares[token])[:2])
        return Finding(
            f"Of all tags that of “{subject.trace.tokens[token]}” (token {token}) is the least sure: {first} with "
            f"{whole_percent(float(sure))}, then {second} with {whole_percent(float(then))}."
        )

    def tell(self, subject: Subject) -> Content:
        """The most probable tag below each token."""
        trace = subject.trace
        tags, shares = own_head.tags(trace)
        best = shares.argmax(-1)
        special = [kind == "special" for kind in trace.encoding.kinds]
        cells = [
            ("", 0.0, "") if special[token] else (tags[place], float(shares[token, place]), _ranked(tags, shares[token]))
            for token, place in enumerate(best)
        ]
        chosen, doubtful = subject.token, _least_sure(subject, shares)
        outlined = None if doubtful is None else (0, doubtful)
        said = [tags[place] for place in best]
        row = word_grid("token", trace.tokens, ["tag"], [cells], chosen, outlined=outlined)
        return {
            "row": keep(row, lambda: columns_of(position=range(trace.kept), token=trace.tokens, tag=said, share=shares.max(-1))),
            "found": f"'{trace.tokens[chosen]}' (token {chosen}): {_ranked(tags, shares[chosen])}.",
            "help": "The likeliest tag of each token, darker where it is surer; click one for the others. In training only the "
            "first piece of a word has a tag (Devlin et al. 2019, section 5.3): those of the others are the head's guesses.",
        }


class ReplacedPieces(TokenHead):
    """The probability that each piece was put there by another model."""

    name, question = "own-head/replaced", "Which pieces does it think were replaced?"
    task = REPLACED

    def telling(self, subject: Subject) -> Finding:
        """The most suspicious piece."""
        shares = own_head.replaced(subject.trace)
        worst = _most_suspicious(subject, shares)
        share = whole_percent(float(shares[worst]))
        return Finding(f"“{subject.trace.tokens[worst]}” (token {worst}) looks most as if it had been put there: {share}.")

    def tell(self, subject: Subject) -> Content:
        """The probability below each piece."""
        trace, chosen = subject.trace, subject.token
        shares = own_head.replaced(trace)
        cells = [(percent(float(share)), float(share), "") for share in shares]
        worst = _most_suspicious(subject, shares)
        row = word_grid("token", trace.tokens, ["replaced"], [cells], chosen, outlined=(0, worst))
        return {
            "row": keep(row, lambda: columns_of(position=range(trace.kept), token=trace.tokens, replaced=shares)),
            "found": f"Most suspicious: '{trace.tokens[worst]}' (token {worst}), {percent(float(shares[worst]))}.",
            "help": "ELECTRA's discriminator reads a text in which a small model has replaced some pieces, and says of each how "
            "likely it is one of these (sigmoid, 0 to 100 %; Clark et al. 2020, section 2). Put an odd word into A and see.",
        }


def _least_sure(subject: Subject, shares: np.ndarray) -> int | None:
    """The first piece of the word whose most probable tag has the lowest probability; None without a word."""
    starts = [group[0] for group in subject.trace.encoding.text_words]
    return starts[int(shares[starts].max(-1).argmin())] if starts else None


def _most_suspicious(subject: Subject, shares: np.ndarray) -> int:
    """The token of the texts with the highest probability of having been replaced."""
    words = list(subject.trace.encoding.text_positions)
    return words[int(shares[words].argmax())]


def _ranked(tags: tuple[str, ...], shares: np.ndarray) -> str:
    """The three most probable tags of a token."""
    return ", ".join(f"{tags[place]} {percent(float(shares[place]))}" for place in np.argsort(-shares)[:3])
