"""The attention block of one layer, decomposed into parts whose sum is the output of its norm, times σ, for `mixing`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from explorer.bert.attending import Heads
from explorer.bert.layer import Layer
from explorer.core.engine import torch


@dataclass(frozen=True)
class Block:
    """The attention block of one layer on one input: `weights` [heads, query, key] are its attention weights.

    `hidden` [tokens, hidden] is the layer's input, and `value` [heads, tokens, head_size] are the values of its heads.
    """

    layer: Layer
    hidden: torch.Tensor
    weights: torch.Tensor
    value: torch.Tensor

    @classmethod
    def of(cls, layer: Layer, hidden: torch.Tensor, heads: Heads) -> Block:
        """The block as the model computes it, from the queries, keys and values of its heads: a batch of one."""
        room = torch.empty(*heads.query.shape[:-1], heads.key.shape[-2])  # else scores and weights would be in memory together
        return cls(layer, hidden, heads.weights(room)[0], heads.value[0])

    @cached_property
    def residual(self) -> torch.Tensor:
        """The residual of each token, [tokens, width]."""
        return self.layer.residual(self.hidden)

    @cached_property
    def context(self) -> torch.Tensor:
        """The input of W_O from each head: [heads, tokens, head_size]."""
        return self.weights @ self.value

    @cached_property
    def own(self) -> torch.Tensor:
        """The model's own vectors after the attention block, y [tokens, width]."""
        return self._normed[0]

    @cached_property
    def deviation(self) -> torch.Tensor:
        """The divisor of the norm for each vector, σ [tokens, 1]; ones if it does not divide."""
        return self._normed[1]

    @cached_property
    def _normed(self) -> tuple[torch.Tensor, torch.Tensor]:
        """`own` and `deviation`."""
        added = self.layer.attention_dense(self.context.transpose(0, 1).flatten(1)) + self.residual
        if not isinstance(norm := self.layer.attention_norm, torch.nn.LayerNorm):
            return added if norm is None else norm(added), torch.ones(len(added), 1)
        own, _, divided = torch.native_layer_norm(added, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
        return own, divided.reciprocal_()

    @cached_property
    def vectors(self) -> torch.Tensor:
        """σ y: [tokens, width]."""
        return self.own * self.deviation

    @cached_property
    def handed(self) -> torch.Tensor:
        """The output of each token through each head at weight 1, times σ: [heads, key, width]."""
        if self.value.shape[1] < self.value.shape[2]:  # the norm is then applied to fewer vectors
            return self.through_norm(self.value @ self.output)
        return self.value @ self.normed_output

    @cached_property
    def normed_output(self) -> torch.Tensor:
        """`output` with the norm, which is linear, applied to each row."""
        return self.through_norm(self.output.clone())

    @cached_property
    def kept(self) -> torch.Tensor:
        """The part of each token that is its own residual, times σ: [tokens, width]."""
        return self.through_norm(self.residual.clone())

    @property
    def output(self) -> torch.Tensor:
        """The slices of W_O for each head: [heads, head_size, width]."""
        return self.layer.attention_dense.weight.T.unflatten(0, (len(self.value), -1))

    def through_norm(self, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors [..., width] through the linear part of the norm (no bias, its deviation times σ), in place."""
        return through_norms([self], vectors[None])[0]

    def biases(self) -> torch.Tensor:
        """The part that comes from biases, not from tokens, times σ: [tokens, width]."""
        return biases_of([self], self.deviation[None])[0]

    def head_parts(self, query: int) -> torch.Tensor:
        """The parts T of one query by head, times σ, [heads + 1, key, width]; the last row is the residual."""
        by_head = self.weights[:, query, :, None] * self.handed
        own = torch.zeros_like(by_head[:1])
        own[0, query] = self.kept[query]
        return torch.cat([by_head, own])


def stacked(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """The tensors, one a block, with an axis for the blocks: of a single one a view, since copying takes a tenth of the time."""
    return tensors[0][None] if len(tensors) == 1 else torch.stack(list(tensors))


def through_norms(blocks: Sequence[Block], vectors: torch.Tensor) -> torch.Tensor:
    """Vectors [blocks, ..., width], each through the norm of its block, as in `Block.through_norm`."""
    norms = [norm for block in blocks if (norm := block.layer.attention_norm) is not None]  # all blocks have a norm, or none
    if norms and isinstance(norms[0], torch.nn.LayerNorm):
        vectors -= vectors.mean(-1, keepdim=True)
    if not norms or norms[0].weight is None:
        return vectors
    scales = stacked([norm.weight for norm in norms])
    return vectors.mul_(scales.view(len(blocks), *[1] * (vectors.dim() - 2), -1))


def biases_of(blocks: Sequence[Block], deviations: torch.Tensor) -> torch.Tensor:
    """The parts that come from biases, times σ, for deviations [blocks, tokens, 1]: [blocks, tokens, width]."""
    dense = [block.layer.attention_dense for block in blocks]
    norms = [norm for block in blocks if (norm := block.layer.attention_norm) is not None]
    rest = torch.zeros(len(blocks), 1, dense[0].out_features)
    if dense[0].bias is not None:
        rest = through_norms(blocks, torch.stack([one.bias for one in dense])[:, None])
    if not norms or getattr(norms[0], "bias", None) is None:
        return rest.expand(-1, deviations.shape[1], -1)
    return rest + stacked([norm.bias for norm in norms])[:, None] * deviations
