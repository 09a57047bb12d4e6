"""One input through the model: what every view reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from explorer.base.cache import OnceCache, weight
from explorer.base.engine import inference_mode, torch
from explorer.base.errors import InputError
from explorer.model.attending import Heads
from explorer.model.network import Network
from explorer.text.encoding import MASK, Encoding

Value = TypeVar("Value")
DERIVED_BYTES = 32_000_000  # of what is derived from one reading, each thing counting for LEAST at least
LEAST = 4_096


@dataclass(frozen=True, eq=False)
class Reading:
    """What a forward pass leaves. It does not know its model, so that a model that nobody uses any more is gone at once."""

    encoding: Encoding
    states: torch.Tensor = field(repr=False)  # [layers + 1, tokens, hidden] float32
    derived: OnceCache[Hashable, Any] = field(
        default_factory=lambda: OnceCache(DERIVED_BYTES, lambda one: max(LEAST, weight(one))), repr=False
    )

    @property
    def nbytes(self) -> int:
        """Bytes of all that is kept of it, now."""
        return self.states.nbytes + int(self.derived.total)


@dataclass(frozen=True, eq=False)
class Trace:
    """An encoding and the hidden states it gave. Only these are stored; the rest is derived from them.

    The model's own modules derive it: attention is the softmax of the queries and keys that a layer makes of its hidden state.
    """

    model: Network = field(repr=False)
    reading: Reading
    _last: OnceCache[int, Heads] = field(default_factory=lambda: OnceCache(1), repr=False, init=False)  # one layer's, asked again

    @classmethod
    def of(cls, model: Network, encoding: Encoding) -> Trace:
        """One forward pass over an encoding, which may have been changed by hand."""
        return cls(model, Reading(encoding, model.hidden_states(encoding)))

    @property
    def encoding(self) -> Encoding:
        """What the model read."""
        return self.reading.encoding

    @property
    def states(self) -> torch.Tensor:
        """[layers + 1, tokens, hidden] float32: `hidden_states` for those who compute with them."""
        return self.reading.states

    @cached_property
    def hidden_states(self) -> np.ndarray:
        """[layers + 1, tokens, hidden] float32, read-only; 0 is the embedding output, k the output of layer k."""
        states = self.states.numpy()
        states.flags.writeable = False
        return states

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make()` derives from this trace, made at the first call for `key` and kept: for small things only."""
        return self.reading.derived.get(key, make)

    def knows(self, key: Hashable) -> bool:
        """Whether `once` has the value for `key` already."""
        return self.reading.derived.peek(key) is not None

    def heads(self, layer: int) -> Heads:
        """What the heads of a layer (zero-based, -1 is the last) are given: a batch of one."""
        layer = range(len(self.model.layers))[layer]  # of the layers: there is one hidden state more
        return self._last.get(layer, lambda: self.model.layers[layer].heads(self.states[layer][None]))

    @inference_mode
    def attention(self, layer: int) -> np.ndarray:
        """Attention weights [heads, query, key] of a layer (zero-based, -1 is the last), float32 in 0 to 1; rows sum to 1.

        Vaswani et al. 2017, section 3.2.1.
        """
        return self._weights(self.heads(layer))

    def _weights(self, heads: Heads) -> np.ndarray:
        # One array, filled in place, and numpy's: 12 MB at 512 tokens of BERT-base, and the memory of a freed tensor of
        # torch is aligned so that the next one of the same size does not fit in, layer after layer.
        weights = np.empty((1, heads.query.shape[1], self.kept, self.kept), dtype=np.float32)  # [1, heads, query, key]
        heads.weights(torch.from_numpy(weights))
        return weights[0]

    @inference_mode
    def attention_error(self, layer: int) -> float:
        """How far the layer's output, made from `attention(layer)`, is from hidden state `layer + 1`, at most."""
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
        """Where the [MASK]s are. Raises CapabilityError without a masked-LM head, InputError when there is none."""
        self.model.require("fill_mask")
        mask = self.model.tokenizer.mask_token
        texts = self.encoding.text_a + self.encoding.text_b
        if not self.mask_positions and (mask in texts or MASK in texts):
            raise InputError(f"Every {mask} comes after the {self.kept} tokens that fit; shorten the text.")
        if not self.mask_positions:
            raise InputError(f"There is no {MASK} in the text; type one where a word should be guessed.")
        return self.mask_positions

    def show(self, view: str = "attention/head", *more: str, **settings: Any) -> Any:
        """A view of the app, drawn where a notebook displays it: what `explorer.show(trace, view, ...)` returns."""
        return import_module("explorer").show(
            self, view, *more, **settings
        )  # by its name, since views stand on this, not the reverse

    @property
    def tokens(self) -> tuple[str, ...]:
        """The pieces, '##' before those that continue a word."""
        return self.encoding.tokens

    @property
    def ids(self) -> tuple[int, ...]:
        """The number of each piece in the vocabulary."""
        return self.encoding.ids

    @property
    def kept(self) -> int:
        """How many tokens the model read."""
        return self.encoding.kept

    @property
    def mask_positions(self) -> list[int]:
        """Where the masked tokens are."""
        return self.model.mask_positions(self.encoding)
