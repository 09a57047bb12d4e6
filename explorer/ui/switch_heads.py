"""Switching heads off: the base of the views for a word in a blank and for IsNext."""

from abc import abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.techniques.ablation import Head, Run, head_readings, prepare_head_effects
from explorer.techniques.targets import Reading, Target, own_reading, read, read_at
from explorer.ui.answers import answer_rows
from explorer.ui.layout import col, row
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import SEEN, bar_groups, change_of, change_of_difference, percent, sign
from explorer.ui.pictures.head_grid import switch_board
from explorer.ui.pictures.numbers import with_columns
from explorer.ui.subject import CHANGES, Off, Subject, head_name
from explorer.ui.view import Change, Content, Finding, Why, button, matches, part, select, sentence

ABOUT = (
    "One switch per head. Blue: without that head alone, {what} is less probable. Orange: more probable. The strongest colour "
    "is the largest change for this input. Click heads to switch several off together, or a layer's number for all of its "
    "heads. Off means that the head's slice of the concatenated context, before W_O, is zero. Other heads may take over, so a "
    "pale head is not idle; Michel et al. 2019 found that many heads can go."
)


def pairs_of_numbers(value: object) -> Off:
    """The valid zero-based (layer, head) pairs in a value from the browser."""
    pairs = value if isinstance(value, list | tuple) else ()
    numbers = {tuple(pair) for pair in pairs if isinstance(pair, list | tuple) and all(type(number) is int for number in pair)}
    return tuple(sorted(pair for pair in numbers if len(pair) == 2))


class SwitchHeads(LongView):
    """A switch for each head. Subclasses implement `target`, and have a `help` made from `ABOUT`."""

    question = "Which heads does the answer depend on?"
    start = "Which heads matter here?"
    shows_changes = True
    layout = (row(col("board", "strongest", "help", width=5), col("count", "answers", "reset", "check", width=6)),)
    board = part("board", answer=True)
    strongest = sentence(classes="caption", keep_height=True, answer=True)
    count = sentence(keep_height=True)
    answers = part("bars", answer=True)
    reset = button("Put everything back")
    check = part("check")

    @abstractmethod
    def target(self, subject: Subject) -> Target:
        """The prediction to test."""

    def passes(self, subject: Subject) -> float:
        """One head takes less than half of the layers on average."""
        return _heads(subject) / 3

    def work(self, subject: Subject) -> Generator[float, None, Reading]:
        """The target without each head, [layers, heads] each."""
        yield from prepare_head_effects(subject.trace, self.target(subject))
        return self.result(subject)

    def result(self, subject: Subject) -> Reading:
        """The target without each head, cached with the trace for the findings of other tabs."""
        return head_readings(subject.trace, self.target(subject))

    def draw(self, subject: Subject, found: Reading) -> Content:
        effects = Effects(self.target(subject), _before(subject, self.target(subject)), found)
        return {"board": self._board(subject, effects), "strongest": effects.strongest} | self._without(subject)

    def finding(self, subject: Subject) -> Finding | None:
        target, taken_away = self.target(subject), subject.taken_away
        if taken_away:
            after = measure_at(read_at(subject.model, target, _run_changed(subject, target)[None]), 0)
            seen = _place_of(subject, target)
        elif (found := self.known(subject)) is not None:
            effects = Effects(target, _before(subject, target), found)
            if effects.largest < SEEN:
                return Finding(f"No single head matters: whichever of the {_heads(subject)} is off, {effects.span}.")
            layer, head = divmod(int(np.abs(effects.changes).argmax()), subject.model.capabilities.heads)
            taken_away, after = head_name((layer, head)), measure_at(found, (layer, head))
            seen = {"layer": layer + 1, "head": head + 1, "token": target.position}
        else:
            return None
        told = f"Without {taken_away}, {_change(target, _before(subject, target), after)}."
        return Finding(told, Why("inside-head", "One head", seen))

    def waiting(self, subject: Subject) -> Content:
        """The board without colours: heads can be switched off before their effects are known."""
        return {"board": self._board(subject), "strongest": ""} | self._without(subject)

    def on_board(self, subject: Subject, index: object) -> Change:
        """Set all heads that are off. The board already shows them, and a running computation of effects continues."""
        changed = subject.select(off=pairs_of_numbers(index))
        return Change({"off": changed.selection.off}, content=self._without(changed))

    def on_reset(self, subject: Subject, index: None) -> Change:
        return select(**CHANGES)

    def _board(self, subject: Subject, effects: "Effects | None" = None) -> dict[str, Any]:
        model = subject.model.capabilities
        if effects is None:
            return switch_board(model.layers, model.heads, subject.selection.off)
        notes = [[effects.note((layer, head)) for head in range(model.heads)] for layer in range(model.layers)]
        board = switch_board(model.layers, model.heads, subject.selection.off, effects.shares, notes, effects.scale)
        return with_columns(board, **effects.columns)

    def _without(self, subject: Subject) -> Content:
        target, off, cut = self.target(subject), subject.selection.off, subject.selection.cut
        vector = subject.trace.states[-1][target.position]
        also = target.each
        groups = [("With all heads" + _lead(subject, target, vector), answer_rows(subject.model, target, vector, also))]
        if taken_away := subject.taken_away:
            changed = _run_changed(subject, target)
            without = answer_rows(subject.model, target, changed, also, vector)
            groups.append((f"Without {taken_away}{_lead(subject, target, changed)}", without))
        logits = own_reading(subject.trace, target).logit, read_at(subject.model, target, vector[None]).logit
        matched = "with all heads, the logit is that of the model's own forward pass"
        if target.foil is not None:
            matched = matched.replace("logit is", "difference of logits is")
        every = range(subject.model.capabilities.heads)
        weights = len({(*at, one) for *at, head in cut for one in (every if head is None else [head])})
        count = f"Heads off: {len(off)} of {_heads(subject)}." if off else "All heads are on; click some to switch them off."
        count += f" Attention weights cut: {weights}." if cut else ""
        return {
            "answers": bar_groups(groups, beside=True),
            "count": count,
            "check": matches(abs(float(logits[0]) - float(logits[1])), matched),
        }


def _run_changed(subject: Subject, target: Target) -> Any:
    """The last hidden state [hidden] of the target's token with heads off and weights cut; cached, as two methods need it."""
    off, cut = subject.selection.off, subject.selection.cut

    def make() -> Any:
        return Run(subject.trace, off, cut).states[-1, target.position].clone()

    return subject.trace.once(("without", off, cut, target.position), make)


def _place_of(subject: Subject, target: Target) -> dict[str, int]:
    """A selection that shows the first head that is off (from the target's token), or the first cut."""
    if subject.selection.off:
        layer, head = subject.selection.off[0]
        return {"layer": layer + 1, "head": head + 1, "token": target.position}
    layer, query, _, at = subject.selection.cut[0]
    return {"layer": layer + 1, "head": subject.selection.head if at is None else at + 1, "token": query}


def _heads(subject: Subject) -> int:
    return subject.model.capabilities.layers * subject.model.capabilities.heads


Measured = tuple[float, float]
"""A logit, or difference of logits, and a probability: the two numbers of a Reading at one place."""


@dataclass(frozen=True)
class Effects:
    """A target with all heads, and without each of them: [layers, heads] each."""

    target: Target
    before: Measured
    without: Reading

    @property
    def changes(self) -> np.ndarray:
        """What each absence changes: a probability, with a foil a difference of logits, [layers, heads]."""
        return self.target.measure(self.without).numpy() - self.before[self.target.foil is None]

    @property
    def largest(self) -> float:
        return max(float(np.abs(self.changes).max()), 1e-9)

    @property
    def shares(self) -> np.ndarray:
        """The changes as shares, -1 to 1, of the largest: [layers, heads]."""
        return self.changes / self.largest

    @property
    def scale(self) -> tuple[str, str, str]:
        """What the colours stand for, with the values of the strongest two."""
        if self.target.foil is None:
            points = f"{100 * self.largest:.1f} points"
            return f"change of the probability of {self.target.name}", f"−{points}", f"+{points}"
        leads = f"change of the difference of logits, {self.target.token} − {self.target.foil_token}"
        return leads, sign(-self.largest), sign(self.largest)

    @property
    def strongest(self) -> str:
        """The head that does most for the target, and the one that does most against it, as a sentence."""
        low, high = (divmod(int(index), self.changes.shape[1]) for index in (self.changes.argmin(), self.changes.argmax()))
        against = f"Most of all against it: {head_name(high)} ({self.note(high)})"
        return f"Most of all for {self.target.name}: {head_name(low)} ({self.note(low)}). {against}."

    @property
    def span(self) -> str:
        """Between which two values the target stays, whichever head is off: '“tokyo” stays between 90.8% and 91.1%'."""
        effects, alone = self.target.measure(self.without), self.target.foil is None
        ends = [(percent if alone else sign)(float(end)) for end in (effects.min(), effects.max())]
        stays = f"at {ends[0]}" if ends[0] == ends[1] else f"between {' and '.join(ends)}"
        return f"{self.target.quoted} stays {stays}{'' if alone else ' logits'}"

    def note(self, head: Head) -> str:
        """What a head's absence changes: '77.2% → 3.1%', with a foil '+2.13 → −0.40 logits, 77.2% → 3.1%'."""
        (lead, share), (lead_after, share_after) = self.before, measure_at(self.without, head)
        shares = f"{percent(share)} → {percent(min(share_after, 1.0))}"
        return shares if self.target.foil is None else f"{sign(lead)} → {sign(lead_after)} logits, {shares}"

    @property
    def columns(self) -> dict[str, Callable[[tuple[Any, ...]], Any]]:
        """The numbers of each head, by column: functions of a row that begins with layer and head, from 1."""

        def without(row: tuple[Any, ...]) -> Measured:
            return measure_at(self.without, (row[0] - 1, row[1] - 1))

        shares = {"without_it": lambda row: without(row)[1], "with_it": lambda row: self.before[1]}
        if self.target.foil is None:
            return shares
        leads = {"difference_without_it": lambda row: without(row)[0], "difference_with_it": lambda row: self.before[0]}
        return {**shares, **leads, "word": lambda row: self.target.token, "foil": lambda row: self.target.foil_token}


def measure_at(reading: Reading, place: Any) -> Measured:
    return float(reading.logit[place]), float(reading.probability[place])


def _before(subject: Subject, target: Target) -> Measured:
    return measure_at(read(subject.model, target, subject.trace.states[-1:]), 0)


def _change(target: Target, before: Measured, after: Measured) -> str:
    share = change_of(target.token, before[1], after[1])
    if target.foil is None:
        return share
    return f"{change_of_difference(target.token, target.foil_token, before[0], after[0])}, and {share}"


def _lead(subject: Subject, target: Target, vector: Any) -> str:
    """How far the target's logit is above its foil's, behind a heading; '' without a foil."""
    if target.foil is None:
        return ""
    return f": {target.name} {sign(float(read_at(subject.model, target, vector[None]).logit))} logits"
