"""Edits of a run beside heads that are off and weights that are cut: a vector of another run, a direction, or a path.

Path patching (Wang et al. 2023, section 3.1) is what one place sends, only as far as another place reads it. In the first of two
runs the sender's output is another one, and only feed-forward blocks and norms are computed again: every other head keeps its
output. What the receiver reads then is put into the second run, in which everything above it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import ref

from explorer.bert.attending import Heads
from explorer.bert.layer import Layer
from explorer.bert.trace import Trace
from explorer.core.engine import torch
from explorer.techniques.ablation import Cut, Edit, Head, Run

PARTS = ("query", "key", "value")

Sender = tuple[int, ...]
"""A head (layer, head), or in all heads a link (layer, query, key); zero-based."""


@dataclass(frozen=True, eq=False)
class Move(Edit):
    """A vector `by` [hidden] added to that of a token in a hidden state, or put in its `place`.

    `name` distinguishes it from others there.
    """

    first: int
    token: int
    name: Hashable
    by: torch.Tensor
    place: bool = False

    @classmethod
    def patch(cls, state: int, token: int, source: Trace) -> Move:
        """The vector of a token in a hidden state, taken from another run with as many tokens."""
        return cls(state, token, ref(source.reading), source.states[state][token], place=True)

    @property
    def key(self) -> Hashable:
        return self.first, self.token, self.name

    def put(self, states: torch.Tensor, state: int) -> None:
        """Change the vector."""
        if state == self.first:
            states[state, self.token] = self.by if self.place else states[state, self.token] + self.by


def messages(
    layers: Sequence[Layer], sender: int, sent: torch.Tensor, hidden: torch.Tensor, contexts: Callable[[int], torch.Tensor]
) -> Iterator[tuple[int, torch.Tensor]]:
    """The first run: each hidden state above the sender's layer (zero-based), with its number, [batch, tokens, hidden].

    `sent` [batch, heads, tokens, head_size] are the head outputs of the sender's layer, `hidden` its input, and `contexts` gives
    the unchanged head outputs of a layer.
    """
    read = layers[sender].after_heads(sent, hidden)
    for at in range(sender + 1, len(layers)):
        yield at, read
        read = layers[at].after_heads(contexts(at), read)
    yield len(layers), read


def receive(sent: Heads, parts: Sequence[str], receivers: Sequence[int], heads: Heads) -> Heads:
    """Heads of which the `receivers` (zero-based) have the queries, keys or values of `sent`."""
    given = {part: getattr(heads, part).clone() for part in parts}
    for part, vectors in given.items():
        vectors[:, receivers] = getattr(sent, part)[:, receivers]
    return replace(heads, **given)


def attend_with(sent: Heads, parts: Sequence[str], receivers: Sequence[int], heads: Heads) -> torch.Tensor:
    """The contexts when some heads receive what was `sent`."""
    return receive(sent, parts, receivers, heads).context()


@dataclass(frozen=True, eq=False)
class Along(Edit):
    """The sender switched off, or as in the run `source`, only as far as one place reads it; all else is as in `run`.

    That place is a head's `part`, one of PARTS: `first` is its layer and `place` its number. Without a part it is the vector of
    the token `place` in hidden state `first`.
    """

    first: int
    place: int
    part: str
    sender: Sender
    run: Run
    source: Trace | None = None

    @property
    def key(self) -> Hashable:
        return self.sender, self.first, self.place, self.part, self.source and ref(self.source.reading)

    def put(self, states: torch.Tensor, state: int) -> None:
        """Replace the vector that receives."""
        if state == self.first and not self.part:
            states[state, self.place] = self.message[0, self.place]

    def give(self, layer: int, heads: Heads) -> Heads:
        """The heads of the receiver's layer, one of which reads the message."""
        if layer != self.first or not self.part:
            return heads
        return receive(self.run.trace.model.layers[layer].heads(self.message), (self.part,), [self.place], heads)

    @cached_property
    def message(self) -> torch.Tensor:
        """The hidden state that the receiver reads in the first run, [1, tokens, hidden]."""
        layers, every, (layer, *at) = self.run.trace.model.layers, range(self.run.trace.kept), self.sender
        gone: tuple[list[Head], list[Cut]] = ([(layer, at[0])], []) if len(at) == 1 else ([], [(layer, at[0], at[1], None)])
        without = replace(self.run, off=[*self.run.off, *gone[0]], cuts=[*self.run.cuts, *gone[1]])
        sent = without.context(layer, every, self.run.states)
        if self.source:  # to which is added what the sender contributes there
            there = self.source.states
            sent = sent + Run(self.source).context(layer, every) - Run(self.source, *gone).context(layer, every, there)
        hidden = self.run.states[layer][None]
        steps = messages(layers, layer, sent, hidden, lambda above: self.run.context(above, every))
        return next(read for state, read in steps if state == self.first)
