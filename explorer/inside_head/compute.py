"""Two inputs in one batch, the shorter one padded with [PAD], and position vectors by formula.

The batch is run with the attention mask, and without it, by the model's own modules. The mask sets the scores of [PAD] to −∞
before the softmax, so that their weights are 0: Vaswani et al. 2017, section 3.2.3, use it for what a decoder must not see.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch


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

    def last(self, with_mask: bool) -> torch.Tensor:
        """[own tokens, hidden], the last hidden state of the shorter input in the batch."""
        states = self.masked if with_mask else self.unmasked
        return states[-1, : len(self.alone)]

    def change(self, with_mask: bool) -> float:
        """The largest difference of a number of its last hidden state from that of the input alone."""
        return float((self.last(with_mask) - self.alone).abs().max())

    def turn(self, with_mask: bool) -> float:
        """1 − cosine (0 to 2) between both, the mean over its tokens."""
        return max(0.0, float(1 - torch.cosine_similarity(self.last(with_mask), self.alone, dim=-1).mean()))


@dataclass(frozen=True)
class Answers:
    """One query with every position of the batch, [tokens] each: q·k / √d, −∞ where masked, and their softmax."""

    scores: np.ndarray
    weights: np.ndarray


def read_together(first: Trace, second: Trace) -> Batch:
    """The batch of two inputs to one model, cached with the first."""
    return first.once(("batch", second.encoding), lambda: _read(first, second))


@inference_mode
def answers_to(model: Network, batch: Batch, layer: int, head: int, token: int, with_mask: bool) -> Answers:
    """The attention of a token of the shorter input; layer, head and token are zero-based."""
    states = batch.masked if with_mask else batch.unmasked
    real = torch.from_numpy(batch.real)[None] if with_mask else None
    heads = model.layers[layer].heads(states[layer][None], real)
    scores = heads.of_queries([token]).scores()[0, head, 0]
    return Answers(scores.numpy().copy(), scores.softmax(-1).numpy())


@inference_mode
def _read(first: Trace, second: Trace) -> Batch:
    model, traces = first.model, (first, second)
    padded = model.pad([(trace.ids, trace.encoding.segments) for trace in traces])
    row = int(first.kept > second.kept)
    masked, unmasked = (list(model.run_padded(batch)) for batch in (padded, replace(padded, real=torch.ones_like(padded.real))))
    return Batch(
        ids=padded.ids.numpy(),
        attention_mask=padded.real.numpy(),
        row=row,
        masked=torch.stack([hidden[row] for hidden in masked]),
        unmasked=torch.stack([hidden[row] for hidden in unmasked]),
        alone=traces[row].states[-1],
        leaks=_leaks(model, [hidden[row] for hidden in unmasked], padded.real[row]),
        words=traces[row].encoding.text_positions,
        error=float((model.final(masked[-1]) - model.own_hidden(padded)).abs()[padded.real].max()),
    )


def _leaks(model: Network, states: list[torch.Tensor], real: torch.Tensor) -> np.ndarray:
    """[layers, heads, own tokens]: the summed weight on [PAD], from unmasked hidden states [tokens, hidden]."""
    found = []
    for layer, hidden in zip(model.layers, states, strict=False):  # one hidden state more than layers
        weights = layer.heads(hidden[None]).weights()[0]  # [heads, query, key]
        found.append(weights[:, real][..., ~real].sum(-1))
    return torch.stack(found).numpy()


def sinusoids(positions: int, size: int) -> np.ndarray:
    """[positions, size] float32, −1 to 1: the fixed position vectors of Vaswani et al. 2017, section 3.5.

    PE(pos, 2i) = sin(pos / 10000^(2i/size)), PE(pos, 2i + 1) = cos of the same.
    """
    angles = np.arange(positions)[:, None] / 10000 ** (np.arange(0, size, 2)[None, :] / size)  # [positions, ⌈size/2⌉]
    waves = np.empty((positions, size), dtype=np.float32)
    waves[:, 0::2] = np.sin(angles)
    waves[:, 1::2] = np.cos(angles[:, : size // 2])
    return waves
