"""The answers of a model: as rows of bars, and beside the input in every tab, with those before a change.

For an input without a blank: the words that the model expects least, each masked in turn.
"""

import re
from collections.abc import Generator
from typing import Any

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.families import LABELS
from explorer.bert.trace import Trace
from explorer.core.errors import ExplorerError
from explorer.core.steps import finished
from explorer.techniques import own_head
from explorer.techniques.ablation import Run
from explorer.techniques.pseudo_likelihood import Surprise, knows_surprise, surprise_in_steps
from explorer.techniques.targets import Target, is_next_target, logits_at, word_target
from explorer.ui.edits import edits_of
from explorer.ui.long_view import is_quick
from explorer.ui.pictures.bars import Row, percent, whole_percent
from explorer.ui.subject import CHANGES, Subject

GUESSES = 5  # rows of bars
NO_BLANK = "No blank here: hide a word, and BERT guesses it."
DASHES = re.compile("__+")  # what people write for a blank, and BERT reads as three pieces
SURPRISING = 0.01  # words with a lower probability are marked
NAMED = 3  # marked words that are named
AT_ONCE, PATIENCE = 0.05, 8.0  # seconds that masking all words may take: in an answer at once, and in the background


def answer_rows(model: Explorer, target: Target, vector: Any, also: tuple[Target, ...] = (), before: Any = None) -> list[Row]:
    """A row for each of the best answers from the last hidden state [hidden] of the target's token, and one for each of `also`.

    With `before`, that vector in another run, each row notes its share there.
    """
    shares = logits_at(model, target, vector[None])[0].softmax(-1)  # [classes]
    if target.head == "next_sentence":
        asked = [Target(target.head, target.position, id, name) for id, name in enumerate(model.pair_names)]
    else:
        best = shares.topk(GUESSES).indices.tolist()
        asked = [Target(target.head, target.position, id, name) for id, name in zip(best, model.pieces(best), strict=True)]
        asked += [extra for extra in also if extra not in asked]
    was = None if before is None else logits_at(model, target, before[None])[0].softmax(-1)
    return [
        (answer.token, float(shares[answer.id]), "" if was is None else f"was {percent(float(was[answer.id]))}")
        for answer in asked
    ]


def says_of(subject: Subject) -> dict[str, Any] | None:
    """The value: `answers` (the question, the answer and its share, now and before a change), and a `hint`.

    `dashes` where ___ was typed for a blank. Without a blank also `unexpected`, the words that the model expects least, or `asks`
    if these must be requested because they take longer. None if the input cannot be read.
    """
    try:
        answers = [_answer(subject, target) for target in _targets(subject)]
        if not answers and (head := subject.model.own_head) and head.task == LABELS and head.squash != "none":
            answers = [_label(subject.trace)]
        typed = bool(DASHES.search(f"{subject.text_a} {subject.text_b}")) and subject.model.capabilities.fill_mask
        return {"answers": answers, "hint": "", **_of_no_blank(subject)} | ({"dashes": True} if typed else {})
    except ExplorerError:  # the error is shown elsewhere
        return None


def _of_no_blank(subject: Subject) -> dict[str, Any]:
    """The part of the value for an input without a blank."""
    if not subject.model.capabilities.fill_mask or subject.trace.mask_positions:
        return {}
    if not _hidden_in_turn(subject):
        return {"hint": NO_BLANK}
    found = each_word_hidden(subject)
    return {"asks": True} if found is None else {"unexpected": _describe_surprise(subject, found)}


def each_word_hidden(subject: Subject) -> Surprise | None:
    """The surprisal of all words, masked in turn; None if there are none, or if it would take longer than an answer may."""
    places = _hidden_in_turn(subject)
    if not places or not (knows_surprise(subject.trace, places) or is_quick(subject, len(places) / AT_ONCE)):
        return None
    return finished(surprise_in_steps(subject.trace, places))


def prepare(subject: Subject) -> Generator[float, None, None]:
    """Mask the words in turn, so that `says_of` has the result; yields the share done."""
    if places := _hidden_in_turn(subject):
        yield from surprise_in_steps(subject.trace, places)


def _hidden_in_turn(subject: Subject) -> list[int]:
    """The positions to mask in turn: all of a short input, or those in the sentence of the selected token."""
    encoding = subject.trace.encoding
    every = subject.model.visible_positions(encoding)
    if is_quick(subject, len(every)):
        return every
    sentence = next((group for group in encoding.sentence_groups if subject.token in group), [])
    here = [place for place in every if place in sentence]
    return here if is_quick(subject, len(here) / PATIENCE) else []


def _describe_surprise(subject: Subject, found: Surprise) -> dict[str, Any]:
    """`words`: the least expected first, with their probability and the model's guess; `of`: all tokens.

    `partly` says that not all words were masked, `as_it_is` that changes of the run are left out.
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
    """The value of the chip that undoes all changes, labelled with them; None if there are none.

    `left_out` says that an open picture does not show them.
    """
    chosen = subject.selection
    counts = [(len(chosen.off), "head", "off"), (len(chosen.cut), "route", "cut")]
    told = [f"{count} {what}{'s' * (count > 1)} {done}" for count, what, done in counts if count]
    others = {"swap": "1 word swapped", "patch": "1 vector patched", "move": "1 vector moved", "path": "1 path patched"}
    told += [what for name, what in others.items() if getattr(chosen, name)]
    where = ", left out of the pictures here" if left_out else ""
    return {"label": ", ".join(told) + where, "chips": ["put back"], "kind": "back"} if told else None


def _targets(subject: Subject) -> list[Target]:
    model, trace = subject.model.capabilities, subject.trace
    found = []
    if model.fill_mask and trace.mask_positions:
        found.append(first_word(trace, subject.blank))
    return found + ([is_next_target(trace)] if model.next_sentence and trace.encoding.text_b else [])


def first_word(trace: Trace, blank: int) -> Target:
    """The model's first guess for a blank, cached with the trace."""
    return trace.once(("first word", blank), lambda: word_target(trace, "", blank))


def _answer(subject: Subject, target: Target) -> dict[str, Any]:
    asked = subject.trace.tokens[target.position] if target.head == "fill_mask" else ""
    before = subject.trace.once(("first answer", target), lambda: _first(subject, target, subject.trace.states[-1]))
    if not subject.selection.is_changed:
        return {"asked": asked, **before}
    now = _first(subject, target, _change(subject))
    return {"asked": asked, **now, "before": "{answer} {share}".format(**before)}


def _first(subject: Subject, target: Target, states: Any) -> dict[str, str]:
    """The most probable answer for last hidden states [tokens, hidden], and its share."""
    shares = logits_at(subject.model, target, states[[target.position]])[0].softmax(-1)
    best = int(shares.argmax())
    name = subject.model.pair_names[best] if target.head == "next_sentence" else subject.model.pieces([best])[0]
    return {"answer": name, "share": whole_percent(float(shares[best]))}


def _change(subject: Subject) -> Any:
    """The last hidden state [tokens, hidden] of the run with all changes, cached with the trace."""
    chosen = subject.selection
    key, run = ("changed", *(getattr(chosen, name) for name in CHANGES)), subject.swapped.trace
    edits = edits_of(subject, run, subject.trace)
    return subject.trace.once(key, lambda: Run(run, chosen.off, chosen.cut, edits).states[-1].clone())


def _label(trace: Trace) -> dict[str, str]:
    found = own_head.labels(trace)
    best = int(found.shares.argmax())
    return {"asked": "", "answer": found.labels[best], "share": whole_percent(float(found.shares[best]))}
