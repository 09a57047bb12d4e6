"""What the model says now, in a few words that stand beside the input in every tab; and what it said before a change."""

from typing import Any

from explorer.base.errors import ExplorerError
from explorer.figures.bars import whole_percent
from explorer.model.families import LABELS
from explorer.model.trace import Trace
from explorer.techniques import own_head
from explorer.techniques.ablation import intervene
from explorer.techniques.targets import Target, is_next_target, shares_at, word_target
from explorer.views.subject import Subject

NO_BLANK = "No blank here: hide a word, and BERT guesses it."


def says_of(subject: Subject) -> dict[str, Any] | None:
    """The value: `answers` (what is asked, the answer, its share, and answer and share before a change), and a `hint`.

    None where nothing can be read.
    """
    try:
        answers = [_answer(subject, target) for target in _targets(subject)]
        if not answers and (head := subject.model.own_head) and head.task == LABELS and head.squash != "none":
            answers = [_label(subject.trace)]
    except ExplorerError:  # what is wrong was told elsewhere
        return None
    return {"answers": answers, "hint": "" if answers or not subject.model.capabilities.fill_mask else NO_BLANK}


def changes_of(subject: Subject) -> dict[str, Any] | None:
    """The value of the chip that puts everything back, after what is changed; None where nothing is."""
    chosen = subject.selection
    counts = [(len(chosen.off), "head", "off"), (len(chosen.cut), "route", "cut")]
    told = [f"{count} {what}{'s' * (count > 1)} {done}" for count, what, done in counts if count]
    told += ["1 word swapped"] * bool(chosen.swap) + ["1 vector patched"] * bool(chosen.patch)
    return {"label": ", ".join(told), "chips": ["put back"], "kind": "back"} if told else None


def _targets(subject: Subject) -> list[Target]:
    """What is asked: the blank in question, and whether B follows."""
    model, trace = subject.model.capabilities, subject.trace
    found = [word_target(trace, "", subject.blank)] if model.fill_mask and trace.mask_positions else []
    return found + ([is_next_target(trace)] if model.next_sentence and trace.encoding.text_b else [])


def _answer(subject: Subject, target: Target) -> dict[str, Any]:
    asked = subject.trace.tokens[target.position] if target.head == "fill_mask" else ""
    before = _first(subject, target, subject.trace.states[-1])
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
