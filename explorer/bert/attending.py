"""Access to attention: the one function through which every family of transformers computes it.

Registered as an attention function of transformers, it computes what SDPA computes; but a thread can ask to get its arguments, or
to replace its result. So attention can be derived, analysed and changed in any family, without knowing the names of its modules,
and without hooks that other threads would run into.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from explorer.core.engine import torch, transformers, when_loaded

NAME = "explorer"  # of the attention function, for `attn_implementation`


@dataclass(frozen=True)
class Heads:
    """The queries, keys and values of a layer's heads, [batch, heads, tokens, head_size] each.

    `mask`, over [batch, heads, query, key] or None, is false where a query may not attend. Scores are q·k times `scaling`.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    scaling: float

    def scores(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """The scaled scores, [batch, heads, query, key], -∞ where a query may not attend; in `out` if it is given."""
        scores = torch.matmul(self.query * self.scaling, self.key.transpose(-1, -2), out=out)
        return scores if self.mask is None else scores.masked_fill_(~self.mask, -torch.inf)

    def weights(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """The softmax of the scores over the keys, [batch, heads, query, key], in `out` if it is given."""
        return torch.softmax(self.scores(out), -1, out=out)

    def of_queries(self, places: Sequence[int] | slice) -> Heads:
        """The same heads with the queries of some tokens only, in this order; keys and values are those of all tokens."""
        places = places if isinstance(places, slice) else list(places)
        mask = self.mask if self.mask is None or self.mask.shape[-2] == 1 else self.mask[..., places, :]
        return replace(self, query=self.query[..., places, :], mask=mask)

    def weights_of(self, query: int) -> torch.Tensor:
        """The row of one query in `weights`: [batch, heads, key]."""
        return self.of_queries([query]).weights()[..., 0, :]

    def context(self, queries: Sequence[int] | slice = slice(None)) -> torch.Tensor:
        """The head outputs (values weighted by attention) for the tokens `queries`: [batch, heads, queries, head_size]."""
        own = self.of_queries(queries)
        return torch.nn.functional.scaled_dot_product_attention(own.query, own.key, own.value, own.mask, scale=own.scaling)

    def context_at(self, places: torch.Tensor) -> torch.Tensor:
        """The values weighted for one token of each input, at `places` [batch]: [batch, heads, 1, head_size]."""
        rows, mask = torch.arange(len(places)), self.mask
        if mask is not None and mask.shape[-2] > 1:
            mask = mask.expand(len(places), *mask.shape[1:])[rows, :, places][:, :, None]
        query = self.query[rows, :, places][:, :, None]
        return torch.nn.functional.scaled_dot_product_attention(query, self.key, self.value, mask, scale=self.scaling)


class _Seen(Exception):  # ends a computation of which the rest is not needed
    def __init__(self, heads: Heads) -> None:
        self.heads = heads


class _Asking(threading.local):
    """What this thread does with the next attention: `answer` replaces its result, and `seen` collects its inputs."""

    answer: Callable[[Heads], torch.Tensor] | None = None
    seen: list[Heads] | None = None


_asking = _Asking()


def heads_in(compute: Callable[[], Any]) -> Heads:
    """The inputs of the first attention in `compute()`; the rest is not computed. Raises RuntimeError when there is none."""

    def leave(heads: Heads) -> torch.Tensor:
        raise _Seen(heads)

    try:
        answer_with(leave, compute)
    except _Seen as seen:
        return seen.heads
    raise RuntimeError("no attention was computed")


@contextmanager
def collect() -> Iterator[list[Heads]]:
    """The inputs of every attention that this thread computes meanwhile, layer by layer; those of replaced ones are left out."""
    seen: list[Heads] = []
    _asking.seen = seen
    try:
        yield seen
    finally:
        _asking.seen = None


def answer_with(answer: Callable[[Heads], torch.Tensor], compute: Callable[[], Any]) -> Any:
    """The result of `compute()` when `answer` gives the context of its attentions, [batch, heads, tokens, head_size]."""
    _asking.answer = answer
    try:
        return compute()
    finally:
        _asking.answer = None


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **more: Any,
) -> tuple[torch.Tensor, None]:
    """The context [batch, tokens, heads, head_size]; without dropout, which would use the random numbers of all threads."""
    heads = Heads(query, key, value, attention_mask, query.shape[-1] ** -0.5 if scaling is None else scaling)
    if _asking.answer is not None:
        return _asking.answer(heads).transpose(1, 2).contiguous(), None
    if _asking.seen is not None:
        _asking.seen.append(heads)
    attend = transformers.integrations.sdpa_attention.sdpa_attention_forward
    return attend(module, query, key, value, attention_mask, dropout=0.0, scaling=scaling, **more)


@when_loaded
def _register() -> None:
    masking = transformers.masking_utils
    transformers.AttentionInterface.register(NAME, _attention)
    masking.AttentionMaskInterface.register(NAME, masking.sdpa_mask)
