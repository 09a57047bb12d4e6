"""One input through the model: the object that every view computes from."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from explorer.bert.attending import Heads
from explorer.bert.network import Network
from explorer.core.cache import OnceCache, weight
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.text.encoding import MASK, Encoding

Value = TypeVar("Value")
DERIVED_BYTES = 32_000_000  # for values derived from one reading, each counting at least LEAST
LEAST = 4_096


@dataclass(frozen=True, eq=False)
class Reading:
    """The result of a forward pass. It has no reference to its model, so that an unused model is freed immediately."""

    encoding: Encoding
    states: torch.Tensor = field(repr=False)  # [layers + 1, tokens, hidden] float32
    heads: tuple[Heads, ...] = field(default=(), repr=False)  # of every layer, as the pass computed them; of short inputs only
    derived: OnceCache[Hashable, Any] = field(
        default_factory=lambda: OnceCache(DERIVED_BYTES, lambda one: max(LEAST, weight(one))), repr=False
    )

    @property
    def nbytes(self) -> int:
        """The current size in bytes, with all derived values."""
        heads = sum(layer.query.nbytes + layer.key.nbytes + layer.value.nbytes for layer in self.heads)
        return self.states.nbytes + heads + int(self.derived.total)


@dataclass(frozen=True, eq=False)
class Trace:
    """An encoding and its hidden states. Everything else is derived from these.

    It is derived by the model's own modules: attention, for instance, is the softmax over the queries and keys that a layer
    computes from its hidden state. Those of a short input are kept from the pass.
    """

    model: Network = field(repr=False)
    reading: Reading

    @classmethod
    def of(cls, model: Network, encoding: Encoding) -> Trace:
        """One forward pass over an encoding, which may have been edited."""
        return cls(model, Reading(encoding, model.hidden_states_of([encoding])[0]))

    @cached_property
    def encoding(self) -> Encoding:
        return self.reading.encoding

    @property
    def states(self) -> torch.Tensor:
        """[layers + 1, tokens, hidden] float32: `hidden_states` as a tensor."""
        return self.reading.states

    @cached_property
    def hidden_states(self) -> np.ndarray:
        """[layers + 1, tokens, hidden] float32, read-only; 0 is the embedding output, k the output of layer k."""
        states = self.states.numpy()
        states.flags.writeable = False
        return states

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The result of `make()`, cached with the trace under `key`; for small values only."""
        return self.reading.derived.get(key, make)

    def once_in_steps(self, key: Hashable, steps: Generator[float, None, Value]) -> Generator[float, None, Value]:
        """The result of `steps`, none of which runs where it is cached; closed before the end, it caches nothing."""
        if (found := self.reading.derived.peek(key)) is None:
            found = yield from steps
            self.reading.derived.put(key, found)
        return found

    def knows(self, key: Hashable) -> bool:
        return self.reading.derived.peek(key) is not None

    @cached_property
    def _last(self) -> OnceCache[int, Heads]:
        """The latest layer's, where the reading has none."""
        return OnceCache(1)

    def heads(self, layer: int) -> Heads:
        """The queries, keys and values of a layer's heads (zero-based, -1 is the last), as a batch of one."""
        if self.reading.heads:
            return self.reading.heads[layer]
        layer = range(len(self.model.layers))[layer]  # -1 refers to layers: there is one hidden state more
        return self._last.get(layer, lambda: self.model.layers[layer].heads(self.states[layer][None]))

    @inference_mode
    def attention(self, layer: int) -> np.ndarray:
        """Attention weights [heads, query, key] of a layer (zero-based, -1 is the last), float32 in 0 to 1; rows sum to 1.

        Vaswani et al. 2017, section 3.2.1.
        """
        return self._weights(self.heads(layer))

    def _weights(self, heads: Heads) -> np.ndarray:
        # One NumPy array, filled in place: 12 MB at 512 tokens of BERT-base. Freed tensors of torch are aligned so that the next
        # one of the same size does not fit into their place, layer after layer.
        weights = np.empty((1, heads.query.shape[1], self.kept, self.kept), dtype=np.float32)  # [1, heads, query, key]
        heads.weights(torch.from_numpy(weights))
        return weights[0]

    @inference_mode
    def attention_error(self, layer: int) -> float:
        """The largest difference between the layer's output computed from `attention(layer)` and hidden state `layer + 1`."""
        layer = range(len(self.model.layers))[layer]
        heads = self.heads(layer)
        context = torch.from_numpy(self._weights(heads)) @ heads.value
        rebuilt = self.model.layers[layer].after_heads(context, self.states[layer])[0]
        return float((rebuilt - self.states[layer + 1]).abs().max())

    @inference_mode
    def pooler_output(self) -> np.ndarray:
        """The model's pooled vector [hidden]. Raises CapabilityError when the model has no pooler."""
        return self.model.pooler(self.states[-1:])[0].numpy()

    def blanks(self) -> list[int]:
        """The positions of the [MASK]s. Raises CapabilityError without a masked-LM head, InputError when there are none."""
        self.model.require("fill_mask")
        mask = self.model.tokenizer.mask_token
        texts = self.encoding.text_a + self.encoding.text_b
        if not self.mask_positions and (mask in texts or MASK in texts):
            raise InputError(f"Every {mask} comes after the {self.kept} tokens that fit. Shorten the text.")
        if not self.mask_positions:
            raise InputError(f"The text has no {MASK}. Type one in place of the word to guess.")
        return list(self.mask_positions)  # which its callers may change

    def show(self, view: str = "attention/head", *more: str, **settings: Any) -> Any:
        """A view of the app for display in a notebook: what `explorer.show(trace, view, ...)` returns."""
        return import_module("explorer").show(self, view, *more, **settings)  # by its name, because views import this module

    def view(self, name: str, **settings: Any) -> Any:
        """A view's numbers, finding and check: what `explorer.view(trace, name, ...)` returns."""
        return import_module("explorer").view(self, name, **settings)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The pieces, '##' before those that continue a word."""
        return self.encoding.tokens

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """The vocabulary id of each piece."""
        return self.encoding.ids

    @cached_property
    def kept(self) -> int:
        return self.encoding.kept

    @cached_property
    def mask_positions(self) -> list[int]:
        """The positions of the masked tokens."""
        return self.model.mask_positions(self.encoding)
