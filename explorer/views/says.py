"""What the model says now, in a few words that stand beside the input in every tab; and what it said before a change.

Of an input without a blank: which of its words the model expects least, each hidden in turn.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from explorer.base.errors import ExplorerError
from explorer.base.steps import finished
from explorer.figures.bars import percent, whole_percent
from explorer.model.families import LABELS
from explorer.model.trace import Trace
from explorer.techniques import own_head
from explorer.techniques.ablation import intervene
from explorer.techniques.pseudo_likelihood import Surprise, knows_surprise, surprise_in_steps
from explorer.techniques.targets import Target, is_next_target, shares_at, word_target
from explorer.views.subject import Subject
from explorer.views.view import is_quick

NO_BLANK = "No blank here: hide a word, and BERT guesses it."
SURPRISING = 0.01  # a word that the model gives less than this is marked
NAMED = 3  # of the marked words
AT_ONCE, PATIENCE = 0.05, 8.0  # seconds that hiding each word may take: in the answer to a key, and beside the page


def says_of(subject: Subject) -> dict[str, Any] | None:
    """The value: `answers` (what is asked, the answer, its share, and answer and share before a change), and a `hint`.

    Without a blank, `unexpected`: the words that the model expects least, or `asks`: they are to be asked for, since that takes
    longer. None where nothing can be read.
    """
    try:
        answers = [_answer(subject, target) for target in _targets(subject)]
        if not answers and (head := subject.model.own_head) and head.task == LABELS and head.squash != "none":
            answers = [_label(subject.trace)]
        return {"answers": answers, "hint": "", **_of_no_blank(subject)}
    except ExplorerError:  # what is wrong was told elsewhere
        return None


def _of_no_blank(subject: Subject) -> dict[str, Any]:
    """What is said of an input without a blank."""
    if not subject.model.capabilities.fill_mask or subject.trace.mask_positions:
        return {}
    if not _hidden_in_turn(subject):
        return {"hint": NO_BLANK}
    found = each_word_hidden(subject)
    return {"asks": True} if found is None else {"unexpected": _unexpected(subject, found)}


def each_word_hidden(subject: Subject) -> Surprise | None:
    """What the model says of the words hidden in turn; None where there are none, or where it takes longer than an answer may."""
    places = _hidden_in_turn(subject)
    if not places or not (knows_surprise(subject.trace, places) or is_quick(subject, len(places) / AT_ONCE)):
        return None
    return finished(surprise_in_steps(subject.trace, places))


def prepare(subject: Subject) -> Generator[float, None, None]:
    """Hide the words in turn, so that `says_of` knows what the model expects; yields the share done."""
    if places := _hidden_in_turn(subject):
        yield from surprise_in_steps(subject.trace, places)


def _hidden_in_turn(subject: Subject) -> list[int]:
    """The positions that are hidden in turn: all of a short input; of a long one those in the sentence of the chosen token."""
    encoding = subject.trace.encoding
    every = subject.model.visible_positions(encoding)
    if is_quick(subject, len(every)):
        return every
    sentence = next((group for group in encoding.sentence_groups if subject.token in group), [])
    here = [place for place in every if place in sentence]
    return here if is_quick(subject, len(here) / PATIENCE) else []


def _unexpected(subject: Subject, found: Surprise) -> dict[str, Any]:
    """`words`: the least expected first, with what the model gives them and its own guess; `of`: the tokens they are among.

    `partly` where not all words were hidden, `as_it_is` where something is changed, which this leaves out.
    """
    shares = found.shares
    guesses = subject.model.pieces(found.best_ids.tolist())
    tokens = subject.trace.tokens
    order = [at for rank, at in enumerate(np.argsort(shares, kind="stable")) if shares[at] < SURPRISING or rank == 0]
    words = [
        {
            "token": found.positions[at],
            "word": tokens[found.positions[at]],
            "share": percent(float(shares[at])),
            "guess": "" if found.ranks[at] == 1 else guesses[at],
            "guess_share": whole_percent(float(found.best_probabilities[at])),
        }
        for at in order
    ]
    partly = len(found.positions) < len(subject.model.visible_positions(subject.trace.encoding))
    return {"words": words, "named": NAMED, "of": " ".join(tokens), "partly": partly, "as_it_is": subject.selection.is_changed}


def changes_of(subject: Subject, left_out: bool = False) -> dict[str, Any] | None:
    """The value of the chip that puts everything back, after what is changed; None where nothing is.

    `left_out` says that some picture which is open shows the run without it.
    """
    chosen = subject.selection
    counts = [(len(chosen.off), "head", "off"), (len(chosen.cut), "route", "cut")]
    told = [f"{count} {what}{'s' * (count > 1)} {done}" for count, what, done in counts if count]
    told += ["1 word swapped"] * bool(chosen.swap) + ["1 vector patched"] * bool(chosen.patch)
    where = ", left out of the pictures here" if left_out else ""
    return {"label": ", ".join(told) + where, "chips": ["put back"], "kind": "back"} if told else None


def _targets(subject: Subject) -> list[Target]:
    """What is asked: the blank in question, and whether B follows."""
    model, trace = subject.model.capabilities, subject.trace
    found = []
    if model.fill_mask and trace.mask_positions:
        found.append(trace.once(("first word", subject.blank), lambda: word_target(trace, "", subject.blank)))
    return found + ([is_next_target(trace)] if model.next_sentence and trace.encoding.text_b else [])


def _answer(subject: Subject, target: Target) -> dict[str, Any]:
    asked = subject.trace.tokens[target.position] if target.head == "fill_mask" else ""
    before = subject.trace.once(("first answer", target), lambda: _first(subject, target, subject.trace.states[-1]))
    if not subject.selection.is_changed:
        return {"asked": asked, **before}
    now = _first(subject, target, _changed(subject))
    return {"asked": asked, **now, "before": "{answer} {share}".format(**before)}


def _first(subject: Subject, target: Target, states: Any) -> dict[str, str]:
    """The likeliest answer for last hidden states [tokens, hidden], and its share."""
    shares = shares_at(subject.model, target, states[[target.position]])[0]
    best = int(shares.argmax())
    name = subject.model.pair_names[best] if target.head == "next_sentence" else subject.model.pieces([best])[0]
    return {"answer": name, "share": whole_percent(float(shares[best]))}


def _changed(subject: Subject) -> Any:
    """The last hidden state [tokens, hidden] of the run with everything that is changed in it, kept for the next question."""
    chosen = subject.selection
    patch = (*chosen.patch, subject.trace) if chosen.patch else None
    key = ("changed", chosen.off, chosen.cut, chosen.swap, chosen.patch)
    return subject.trace.once(key, lambda: intervene(subject.swapped.trace, chosen.off, patch, chosen.cut).clone())


def _label(trace: Trace) -> dict[str, str]:
    found = own_head.labels(trace)
    best = int(found.shares.argmax())
    return {"asked": "", "answer": found.labels[best], "share": whole_percent(float(found.shares[best]))}
