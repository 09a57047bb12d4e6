"""Two inputs in one batch, the shorter one padded with [PAD]: run with the attention mask, and without it.

All of it is computed by the model's own modules. The mask sets the scores of [PAD] to −∞ before the softmax, so that their
weights are 0: Vaswani et al. 2017, section 3.2.3, use it for what a decoder must not see.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from explorer.bert.network import Network, Padded
from explorer.bert.trace import Trace
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.limits import MEGABYTE
from explorer.techniques.inside import where_it_may_look

KEPT_MEGABYTES = 32


@dataclass(frozen=True, eq=False)
class Batch:
    """Two inputs as one batch, with the results for the shorter one; for equal lengths that is the first."""

    ids: np.ndarray  # [2, tokens]
    attention_mask: np.ndarray  # [2, tokens] bool: False at [PAD]
    row: int  # the index of the shorter one
    masked: torch.Tensor = field(repr=False)  # [layers + 1, tokens, hidden] of the shorter one, with the mask
    unmasked: torch.Tensor = field(repr=False)  # without the mask
    alone: torch.Tensor = field(repr=False)  # [own tokens, hidden], its last hidden state when it is run alone
    leaks: np.ndarray = field(repr=False)  # [layers, heads, own tokens] the weight of each on [PAD] without the mask, 0 to 1
    words: tuple[int, ...]  # its own tokens, zero-based, that come from a text
    error: float  # of the last hidden states, with the mask, against transformers' own pass

    @property
    def real(self) -> np.ndarray:
        """[tokens] bool: the tokens of the shorter input, without padding."""
        return self.attention_mask[self.row]

    @property
    def start(self) -> int:
        """The index of its first token, after any padding on the left."""
        return int(self.real.argmax())

    def last(self, with_mask: bool) -> torch.Tensor:
        """[own tokens, hidden], the last hidden state of the shorter input in the batch."""
        states = self.masked if with_mask else self.unmasked
        return states[-1][torch.from_numpy(self.real)]

    def moved(self, with_mask: bool) -> float:
        """The largest difference of a number of its last hidden state from that of the input alone."""
        return float((self.last(with_mask) - self.alone).abs().max())

    def turned(self, with_mask: bool) -> float:
        """1 − cosine (0 to 2) between both, the mean over its tokens."""
        return max(0.0, float(1 - torch.cosine_similarity(self.last(with_mask), self.alone, dim=-1).mean()))


@dataclass(frozen=True)
class Row:
    """One query with every position of the batch, [tokens] each: q·k / √d, −∞ where masked, and their softmax."""

    scores: np.ndarray
    weights: np.ndarray


_batches: OnceCache[Hashable, Batch] = OnceCache(
    KEPT_MEGABYTES * MEGABYTE, cost=lambda one: one.masked.nbytes + one.unmasked.nbytes + one.leaks.nbytes
)


def read_together(first: Trace, second: Trace) -> Batch:
    """The batch of two inputs to one model, cached."""
    key = (first.model.checkpoint, first.encoding, second.encoding)
    return _batches.get(key, lambda: _read(first, second))


@inference_mode
def attention_row(model: Network, batch: Batch, layer: int, head: int, token: int, with_mask: bool) -> Row:
    """The attention of a token of the shorter input; layer, head and token are zero-based."""
    states, place = batch.masked if with_mask else batch.unmasked, batch.start + token
    real = torch.from_numpy(batch.real)[None] if with_mask else None
    heads = model.layers[layer].heads(states[layer][None], real)
    scores = heads.key[0, head] @ heads.query[0, head, place] * heads.scaling
    scores = where_it_may_look(heads, scores, slice(place, place + 1))
    return Row(scores.numpy().copy(), scores.softmax(-1).numpy())


@inference_mode
def _read(first: Trace, second: Trace) -> Batch:
    model, traces = first.model, (first, second)
    padded = _rectangle(model, traces)
    row = int(first.kept > second.kept)
    masked: list[torch.Tensor] = []
    unmasked: list[torch.Tensor] = []
    for read, kept in ((padded, masked), (replace(padded, real=torch.ones_like(padded.real)), unmasked)):
        for hidden in model.run_padded(read):
            kept.append(hidden[row].clone())
            last = hidden
        if read is padded:
            error = float((model.final(last) - model.own_hidden(padded)).abs()[padded.real].max())
    return Batch(
        ids=padded.ids.numpy(),
        attention_mask=padded.real.numpy(),
        row=row,
        masked=torch.stack(masked),
        unmasked=torch.stack(unmasked),
        alone=traces[row].states[-1],
        leaks=_leaks(model, unmasked, padded.real[row]),
        words=traces[row].encoding.text_positions,
        error=error,
    )


def _rectangle(model: Network, traces: tuple[Trace, Trace]) -> Padded:
    """Both inputs padded as the model's tokenizer does it."""
    padded = model.pad([(one.ids, one.encoding.segments) for one in traces])
    width = padded.ids.shape[1]
    if model.tokenizer.padding_side == "left":
        ids, segments, real = (
            torch.stack([row.roll(width - one.kept) for row, one in zip(part, traces, strict=True)])
            for part in (padded.ids, padded.segments, padded.real)
        )
        padded = replace(padded, ids=ids, segments=segments, real=real)
    # Whole rows are embedded, with [PAD]: a family that mixes a piece with its neighbors sees it there, as in transformers.
    return replace(padded, lengths=torch.full((2,), width))


def _leaks(model: Network, states: list[torch.Tensor], real: torch.Tensor) -> np.ndarray:
    """[layers, heads, own tokens]: the summed weight on [PAD], from unmasked hidden states [tokens, hidden]."""
    found = []
    for layer, hidden in zip(model.layers, states, strict=False):  # one hidden state more than layers
        weights = layer.heads(hidden[None]).weights()[0]  # [heads, query, key]
        found.append(weights[:, real][..., ~real].sum(-1))
    return torch.stack(found).numpy()
