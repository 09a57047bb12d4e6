"""Edits of a run beside heads that are off and weights that are cut: a vector of another run, a direction, or a path.

Path patching (Wang et al. 2023, section 3.1) is what one place sends, only as far as another place reads it. In the first of two
runs the sender's output is another one, and only feed-forward blocks and norms are computed again: every other head keeps its
output. What the receiver reads then is put into the second run, in which everything above it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import ref

from explorer.bert.attending import Heads
from explorer.bert.layer import Layer
from explorer.bert.trace import Trace
from explorer.core.engine import torch
from explorer.techniques.ablation import Cut, Edit, Head, changed_states, context_without, heads_of

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
    """The sender switched off, or as in the run `source`, only as far as one place reads it; all other changes are as given.

    That place is a head's `part`, one of PARTS: `first` is its layer and `place` its number. Without a part it is the vector of
    the token `place` in hidden state `first`.
    """

    first: int
    place: int
    part: str
    sender: Sender
    trace: Trace
    off: Collection[Head] = ()
    cuts: Collection[Cut] = ()
    edits: Sequence[Edit] = ()
    source: Trace | None = None

    @property
    def key(self) -> Hashable:
        return self.sender, self.first, self.place, self.part, self.source and ref(self.source.reading)

    def put(self, states: torch.Tensor, state: int) -> None:
        """Replace the vector that receives."""
        if state == self.first and not self.part:
            states[state, self.place] = self.message[0, self.place]

    def reaches_heads(self, layer: int) -> bool:
        """Whether a head of this layer receives."""
        return layer == self.first and bool(self.part)

    def give(self, layer: int, heads: Heads) -> Heads:
        """The heads of the receiver's layer, one of which reads the message."""
        if not self.reaches_heads(layer):
            return heads
        return receive(self.trace.model.layers[layer].heads(self.message), (self.part,), [self.place], heads)

    @cached_property
    def message(self) -> torch.Tensor:
        """The hidden state that the receiver reads in the first run, [1, tokens, hidden]."""
        states, layers = changed_states(self.trace, self.off, self.edits, self.cuts), self.trace.model.layers
        layer, *at = self.sender
        also: tuple[list[Head], list[Cut]] = ([(layer, at[0])], []) if len(at) == 1 else ([], [(layer, at[0], at[1], None)])
        sent = self._context(states, layer, *also)
        if self.source:  # to which is added what the sender contributes there
            theirs, everywhere = self.source.heads(layer), range(self.trace.kept)
            gone, weights = also
            sent = sent + theirs.context() - context_without(theirs, [head for _, head in gone], weights, everywhere)
        run = messages(layers, layer, sent, states[layer][None], lambda above: self._context(states, above))
        return next(read for state, read in run if state == self.first)

    def _context(self, states: torch.Tensor, layer: int, off: Collection[Head] = (), cuts: Collection[Cut] = ()) -> torch.Tensor:
        """The head outputs of a layer of the run, [1, heads, tokens, head_size]; in addition, some heads off or weights cut."""
        gone = [head for at, head in (*self.off, *off) if at == layer]
        weights = [cut for cut in (*self.cuts, *cuts) if cut[0] == layer]
        return context_without(heads_of(self.trace, layer, states, self.edits), gone, weights, range(self.trace.kept))
