"""What is put into a run beside heads that are off and weights that are cut: a vector of another run, or a direction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from weakref import ref

from explorer.bert.attending import Heads
from explorer.bert.trace import Trace
from explorer.core.engine import torch


class Edit(ABC):
    """A change at one place of a run; `first` is the lowest hidden state that differs, or whose layer reads something else."""

    first: int

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """What distinguishes this edit from others of the same run, without holding that run in memory."""

    @abstractmethod
    def put(self, states: torch.Tensor, state: int) -> None:
        """Change one of the hidden states [layers + 1, tokens, hidden] in place, if it is the edit's."""

    def reaches_heads(self, layer: int) -> bool:
        """Whether the heads of a layer (zero-based) read something else than its input."""
        return False

    def give(self, layer: int, heads: Heads) -> Heads:
        """The queries, keys and values of a layer; `heads` unless the edit reaches them."""
        return heads


@dataclass(frozen=True, eq=False)
class Patch(Edit):
    """The vector of a token in a hidden state, taken from another run with as many tokens."""

    first: int
    token: int
    source: Trace

    @property
    def key(self) -> Hashable:
        return self.first, self.token, ref(self.source.reading)

    def put(self, states: torch.Tensor, state: int) -> None:
        """Replace the vector."""
        if state == self.first:
            states[state, self.token] = self.source.states[state][self.token]


@dataclass(frozen=True)
class Move(Edit):
    """A vector `by` [hidden] added to that of a token in a hidden state; `name` distinguishes it from others there."""

    first: int
    token: int
    name: Hashable
    by: torch.Tensor = field(compare=False, repr=False)

    @property
    def key(self) -> Hashable:
        return self.first, self.token, self.name

    def put(self, states: torch.Tensor, state: int) -> None:
        """Add the vector."""
        if state == self.first:
            states[state, self.token] += self.by
