"""Changing the run with one click: the answers before and after, beside each other."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from explorer.bert.trace import Trace
from explorer.core.steps import finished
from explorer.techniques.ablation import Cut, Run, head_readings, patching_in_steps, with_mask
from explorer.techniques.targets import Target, is_next_target, own_reading, read, read_at, word_target
from explorer.text import limits
from explorer.ui.answers import answer_rows
from explorer.ui.edits import edit_names, edits_of
from explorer.ui.long_view import is_quick
from explorer.ui.pictures.bars import SEEN, bar_groups, percent
from explorer.ui.subject import CHANGES, Off, Subject, cut_name, head_name, in_order
from explorer.ui.swapping import fitting_swaps
from explorer.ui.view import Change, Content, View, check, matches, part, select, sentence

SWAPS = 4
NO_QUESTION = "This model has no answer to change: its head for words or pairs is missing, or the input has no word."
Gesture = tuple[str, bool, Callable[[], Change]]  # a label, whether it is done already, and the change that a click makes
WayBack = tuple[str, Callable[[], Change]]  # a label, and the change that a click makes


@dataclass(frozen=True)
class Question:
    """A question asked of both the original and the changed run; `hidden` is the token masked in both, if any."""

    before: Trace
    after: Trace
    hidden: int | None
    target: Target

    @classmethod
    def of(cls, subject: Subject) -> "Question | None":
        """The blank, else the selected token, masked. Without a selection, whether B follows A, else the first word, masked."""
        model, trace, other = subject.model.capabilities, subject.trace, subject.swapped.trace
        chosen, places = subject.selection.token, trace.encoding.text_positions
        if model.fill_mask and trace.mask_positions:
            return cls(trace, other, None, word_target(trace, "", subject.blank))
        if model.next_sentence and subject.text_b.strip() and not (model.fill_mask and chosen in places):
            return cls(trace, other, None, is_next_target(trace))
        # Masking the swapped word itself would show nothing.
        same = [place for place in places if trace.ids[place] == other.ids[place]]
        if not model.fill_mask or not same:
            return None
        hidden = subject.token if subject.token in same else same[0]
        before, after = (with_mask(run, hidden) for run in (trace, other))
        return cls(before, after, hidden, word_target(before, "", hidden))

    def vector_after(self, subject: Subject) -> Any:
        """The last hidden state [hidden] of the target's token in the changed run."""
        edits = edits_of(subject, self.after, self.before)
        return Run(self.after, subject.selection.off, subject.selection.cut, edits).states[-1, self.target.position]

    def strongest(self, off: Off) -> tuple[int, int]:
        """Of the heads that are on, the one whose ablation alone lowers the first answer most."""
        effects = self.target.measure(head_readings(self.before, self.target)).numpy().copy()
        for head in off:
            effects[head] = np.inf
        layer, strongest = np.unravel_index(int(effects.argmin()), effects.shape)
        return int(layer), int(strongest)

    def telling_state(self) -> tuple[int, int]:
        """The highest hidden state at which one vector restores at least half of the answer, and its token.

        The token of the answer is left out: its last vector is the answer itself. If no vector restores as much, the best one is
        taken.
        """
        patched = finished(patching_in_steps(self.before, self.after, self.target))
        found = self.target.measure(patched).numpy()  # [hidden states, tokens]
        clean, swapped = (float(read(run.model, self.target, run.states[-1:]).probability) for run in (self.before, self.after))
        share = (found - swapped) / (clean - swapped or 1)
        share[:, self.target.position] = -np.inf
        best = share.max(axis=1)  # [hidden states]
        layer = int(np.flatnonzero(best >= min(0.5, best.max()))[-1])
        return layer, int(share[layer].argmax())


class WhatIf(View):
    """The answer with heads or weights switched off, a word swapped or a vector patched, beside that of the original run."""

    question = "What changes if you break a part of the model?"
    shows_changes = True
    this_head: ClassVar[bool] = False  # whether the selected head is shown, so that it can be switched off here
    note: ClassVar[str] = ""
    gestures = part("chips", optional=True)
    back = part("chips", optional=True)
    outcome = sentence(classes="outcome", optional=True, answer=True)
    answers = part("bars", optional=True, answer=True)
    about = sentence(classes="caption", optional=True)
    check = check(optional=True)

    def compute(self, subject: Subject) -> Content:
        gestures = self._gestures(subject)
        chips = {"chips": [label for label, *_ in gestures], "pressed": [done for _, done, _ in gestures]}
        shown: Content = {"gestures": {"label": "Break it:", **chips}} if gestures else {}
        if not subject.selection.is_changed:
            return shown
        shown["back"] = {"label": "Put back:", "chips": [label for label, _ in _ways_back(subject)], "kind": "back"}
        question = self.asked(subject)
        return shown | ({"outcome": NO_QUESTION} if question is None else self._compare(subject, question))

    def asked(self, subject: Subject) -> Question | None:
        return Question.of(subject)

    def on_gestures(self, subject: Subject, index: object) -> Change:
        return _choose(subject, [change for *_, change in self._gestures(subject)], index)

    def on_back(self, subject: Subject, index: object) -> Change:
        return _choose(subject, [change for _, change in _ways_back(subject)], index)

    def _compare(self, subject: Subject, question: Question) -> Content:
        model, target = subject.model, question.target
        before, after = question.before.states[-1][question.target.position], question.vector_after(subject)
        also = (*target.each, *_first(model, target, after))
        hidden = question.hidden
        where = "" if hidden is None else f" for '{subject.trace.tokens[hidden]}' (token {hidden}), hidden"
        groups = [
            (f"Before{where}", answer_rows(model, target, before, also)),
            ("After", answer_rows(model, target, after, also, before)),
        ]
        own = question.before.once(("own", target), lambda: float(own_reading(question.before, target).logit))
        ours = float(read_at(model, target, before[None]).logit)
        shares = [{answer: share for answer, share, _ in rows} for _, rows in groups]
        return {
            "outcome": outcome_of(_changes(subject), target.token, *shares),
            "answers": bar_groups(groups, beside=True),
            "check": matches(abs(own - ours), "before, the logit is that of the model's own forward pass"),
        } | ({"about": self.note} if self.note else {})

    def _gestures(self, subject: Subject) -> list[Gesture]:
        """The possible changes, always in the same order; clicking one that is made undoes it."""
        selection = subject.selection
        found: list[Gesture] = []
        if not _is_asked(subject):
            return []
        head = (selection.attention_layer, selection.head_index)
        if self.this_head:
            found.append((f"switch off {head_name(head)}", head in selection.off, lambda: toggle(subject, head)))
        model = subject.model.capabilities
        if not self.this_head and is_quick(subject, model.layers * model.heads / 3):
            found.append(("switch off the strongest head", False, lambda: _strongest_off(subject)))  # of those that are on
        for swap in subject.trace.once(("fitting swaps", selection.token), lambda: fitting_swaps(subject, SWAPS)):
            done = selection.swap == swap
            found.append(("{} → {}".format(*swap), done, partial(select, swap=None if done else swap, patch=None)))
        if selection.swap and is_quick(subject, subject.trace.kept * (model.layers + 1) / 2):
            patched = selection.patch is not None
            change = (lambda: select(patch=None)) if patched else (lambda: _patch(subject))
            found.append(("patch one vector from the run before", patched, change))
        return found


def _is_asked(subject: Subject) -> bool:
    """Whether the model has a head for a word, or for this pair."""
    model = subject.model.capabilities
    return model.fill_mask or bool(model.next_sentence and subject.text_b.strip())


def toggle(subject: Subject, head: tuple[int, int]) -> Change:
    return select(off=tuple(sorted({*subject.selection.off} ^ {head})))


def cut_or_mend(subject: Subject, cut: Cut) -> Change:
    """Cut one attention weight, or restore it: zero-based (layer, query, key, head), head None for all."""
    return select(cut=in_order({*subject.selection.cut} ^ {cut}))


def outcome_of(changed: list[str], token: str, before: dict[str, float], after: dict[str, float]) -> str:
    lead = ", ".join(changed)
    outcome = f"{lead[:1].upper()}{lead[1:]}: {token} {percent(before[token])} → {percent(after[token])}."
    first = max(after, key=after.__getitem__)
    if first != token:
        return f"{outcome} The first answer is now {first} ({percent(before[first])} → {percent(after[first])})."
    slight = max(abs(after[answer] - before[answer]) for answer in after.keys() & before.keys()) < SEEN
    return f"{outcome} Hardly anything changes." if slight else outcome


def _first(model: Any, target: Target, vector: Any) -> tuple[Target, ...]:
    if target.head == "next_sentence":
        return ()
    (guess,) = model.guesses(vector[None], [target.position], 1)
    return (Target(target.head, target.position, guess.candidates[0].id, guess.candidates[0].token),)


def _changes(subject: Subject) -> list[str]:
    selection, changed = subject.selection, []
    if taken_away := subject.taken_away:
        changed.append(f"without {taken_away}")
    if selection.swap:
        changed.append("with {1} for {0}".format(*selection.swap))
    return [*changed, *(one.phrase for one in edit_names(subject))]


def _ways_back(subject: Subject) -> list[WayBack]:
    """All changes, to be undone one by one or together."""
    selection = subject.selection
    found: list[WayBack] = [(head_name(head), partial(toggle, subject, head)) for head in selection.off[:8]]
    for cut in selection.cut[:8]:
        found.append((cut_name(cut, subject.trace.tokens), partial(cut_or_mend, subject, cut)))
    if selection.swap:
        found.append((selection.swap[0], lambda: select(swap=None)))
    found += [(one.label, partial(select, **{one.field: None})) for one in edit_names(subject)]
    if len(selection.off) + len(selection.cut) > 1 or len(found) > 1:
        found.append(("all", lambda: select(**CHANGES)))
    return found


def _strongest_off(subject: Subject) -> Change:
    model, off = subject.model.capabilities, subject.selection.off
    question = Question.of(subject) if len(off) < model.layers * model.heads else None
    return toggle(subject, question.strongest(off)) if question else _as_it_is(subject)


def _patch(subject: Subject) -> Change:
    question = Question.of(subject)
    return select(patch=question.telling_state()) if question else _as_it_is(subject)


def _choose(subject: Subject, changes: list[Callable[[], Change]], index: object) -> Change:
    """The change at an index, if it still exists."""
    place = limits.check_place(index)
    return changes[place]() if place < len(changes) else _as_it_is(subject)


def _as_it_is(subject: Subject) -> Change:
    """No change, but draw again."""
    return select(off=subject.selection.off)
