"""Switching heads off: the base of the views for a word in a blank and for IsNext."""

from abc import abstractmethod
from collections.abc import Generator
from typing import Any

import numpy as np

from explorer.figures.bars import bar_groups, change_of, percent
from explorer.figures.numbers import with_columns
from explorer.figures.switch_board import switch_board
from explorer.techniques.ablation import head_effects, head_effects_in_steps, intervene
from explorer.techniques.targets import Target, own_reading, read, read_at
from explorer.views.answers import answer_rows
from explorer.views.subject import CHANGES, Off, Subject, head_name
from explorer.views.view import Change, Content, Finding, LongView, Why, button, matches, part, select, sentence

ABOUT = (
    "One switch a head. Blue: without that head alone, {what} is less probable; orange: more probable; the strongest "
    "colour is the largest change here. Click heads to switch them off together, or a layer's number for all of its "
    "heads. Off means that the head's slice of the concatenated context, before W_O, is zero; Michel et al. 2019 "
    "found that many heads can go. Other heads may take over, so a pale one is not idle."
)


def pairs_of_numbers(value: object) -> Off:
    """The valid zero-based (layer, head) pairs in a value from the browser."""
    pairs = value if isinstance(value, list | tuple) else ()
    return tuple(sorted({tuple(pair) for pair in pairs if _is_pair(pair)}))


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(type(number) is int for number in value)


class SwitchHeads(LongView):
    """A switch for each head. Subclasses implement `target`, and have a `help` made from `ABOUT`."""

    question = "Which heads does the answer rest on?"
    start = "Which heads matter here?"
    shows_changes = True
    columns = (("board", "strongest", "help"), ("count", "answers", "reset", "check"))
    widths = (5, 6)
    board = part("board")
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

    def work(self, subject: Subject) -> Generator[float, None, np.ndarray]:
        """The target's probability without each head, [layers, heads]."""
        return head_effects_in_steps(subject.trace, self.target(subject))

    def result(self, subject: Subject) -> np.ndarray:
        """The same, cached with the trace for the findings of other tabs."""
        return head_effects(subject.trace, self.target(subject))

    def draw(self, subject: Subject, found: np.ndarray) -> Content:
        """The coloured board, and the answer without the heads that are off."""
        target = self.target(subject)
        before = float(read(subject.model, target, subject.trace.states[-1:]).probability)
        shown = {"board": self._board(subject, found, before), "strongest": _strongest(found, before, target.token)}
        return shown | self._without(subject)

    def finding(self, subject: Subject) -> Finding | None:
        """The effect of what is switched off or cut, or else the head with the largest effect."""
        target, taken_away = self.target(subject), subject.taken_away
        before = float(read(subject.model, target, subject.trace.states[-1:]).probability)
        if taken_away:
            after = float(read_at(subject.model, target, _changed(subject, target)[None]).probability)
            seen = _place_of(subject, target)
        elif (found := self.known(subject)) is not None:
            layer, head = (int(place) for place in np.unravel_index(int(found.argmin()), found.shape))
            taken_away, after = head_name((layer, head)), float(found[layer, head])
            seen = {"layer": layer + 1, "head": head + 1, "token": target.position}
        else:
            return None
        told = f"Without {taken_away}, {change_of(target.token, before, after)}."
        return Finding(told, Why("inside-head", "One head", seen))

    def waiting(self, subject: Subject) -> Content:
        """The board without colours: heads can be switched off before their effects are known."""
        return {"board": self._board(subject), "strongest": ""} | self._without(subject)

    def on_board(self, subject: Subject, index: object) -> Change:
        """Set all heads that are off. The board already shows them, and a running computation of effects continues."""
        changed = subject.select(off=pairs_of_numbers(index))
        return Change({"off": changed.selection.off}, content=self._without(changed))

    def on_reset(self, subject: Subject, index: None) -> Change:
        """Undo all changes."""
        return select(**CHANGES)

    def _board(self, subject: Subject, effects: np.ndarray | None = None, before: float = 0) -> dict[str, Any]:
        model = subject.model.capabilities
        if effects is None:
            return switch_board(model.layers, model.heads, subject.selection.off)
        change = effects - before
        notes = [[f"{percent(before)} → {percent(min(after, 1.0))}" for after in row] for row in effects.tolist()]
        shares = change / max(float(np.abs(change).max()), 1e-9)
        board = switch_board(model.layers, model.heads, subject.selection.off, shares, notes)
        without = {"without_it": lambda row: float(effects[row[0] - 1, row[1] - 1]), "with_it": lambda row: before}
        return with_columns(board, **without)

    def _without(self, subject: Subject) -> Content:
        """The answer before and after."""
        target, off, cut = self.target(subject), subject.selection.off, subject.selection.cut
        vector = subject.trace.states[-1][target.position]
        groups = [("With all heads", answer_rows(subject.model, target, vector, (target,)))]
        if taken_away := subject.taken_away:
            without = answer_rows(subject.model, target, _changed(subject, target), (target,), vector)
            groups.append((f"Without {taken_away}", without))
        logits = own_reading(subject.trace, target).logit, read_at(subject.model, target, vector[None]).logit
        count = f"{len(off)} of {_heads(subject)} heads are off." if off else "All heads are on; click some to switch them off."
        count += f" {len(cut)} attention weight{'s are' if len(cut) > 1 else ' is'} cut." if cut else ""
        return {
            "answers": bar_groups(groups, beside=True),
            "count": count,
            "check": matches(
                abs(float(logits[0]) - float(logits[1])), "with all heads, the logit is that of the model's own forward pass"
            ),
        }


def _changed(subject: Subject, target: Target) -> Any:
    """The last hidden state [hidden] of the target's token with heads off and weights cut; cached, as two methods need it."""
    off, cut = subject.selection.off, subject.selection.cut

    def make() -> Any:
        return intervene(subject.trace, off, cuts=cut)[target.position].clone()

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


def _strongest(effects: np.ndarray, before: float, token: str) -> str:
    """The head with the largest effect for the target, and the one with the largest effect against it."""

    def place(index: int) -> str:
        layer, head = np.unravel_index(index, effects.shape)
        return f"{head_name((int(layer), int(head)))} ({percent(before)} → {percent(float(effects[layer, head]))})"

    low, high = int(effects.argmin()), int(effects.argmax())
    return f"Most of all for {token}: {place(low)}. Most of all against it: {place(high)}."
