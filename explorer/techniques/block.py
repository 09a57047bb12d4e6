"""The attention block of one layer, decomposed into parts whose sum is the output of its norm, times σ, for `mixing`."""

from __future__ import annotations

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
    def norm(self) -> torch.nn.LayerNorm | None:
        """The norm that ends the attention block, or None; found once, since modules look their attributes up slowly."""
        return self.layer.attention_norm

    @cached_property
    def dense(self) -> torch.nn.Linear:
        """W_O with its bias, if it has one."""
        return self.layer.attention_dense

    @cached_property
    def context(self) -> torch.Tensor:
        """The input of W_O from each head: [heads, tokens, head_size]."""
        return self.weights @ self.value

    @property
    def vectors(self) -> torch.Tensor:
        """σ y, y being the model's own vectors after the attention block: [tokens, width]."""
        return self._normed[0]

    @property
    def deviation(self) -> torch.Tensor:
        """The divisor of the norm for each vector, σ [tokens, 1]; ones without a norm."""
        return self._normed[1]

    @cached_property
    def _normed(self) -> tuple[torch.Tensor, torch.Tensor]:
        added = self.dense(self.context.transpose(0, 1).flatten(1)) + self.hidden
        if (norm := self.norm) is None:
            return added, torch.ones(len(added), 1)
        own, _, divided = torch.native_layer_norm(added, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
        deviation = divided.reciprocal_()
        return own * deviation, deviation

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
        return self.through_norm(self.hidden.clone())

    @property
    def output(self) -> torch.Tensor:
        """The slices of W_O for each head: [heads, head_size, width]."""
        return self.dense.weight.T.unflatten(0, (len(self.value), -1))

    def through_norm(self, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors [..., width] through the linear part of the norm (no bias, its deviation times σ), in place."""
        if self.norm is None:
            return vectors
        vectors -= vectors.mean(-1, keepdim=True)
        return vectors.mul_(self.norm.weight)

    def biases(self) -> torch.Tensor:
        """The part that comes from biases, not from tokens, times σ: [tokens, width]."""
        dense, norm = self.dense, self.norm
        rest = torch.zeros(1, dense.out_features) if dense.bias is None else self.through_norm(dense.bias[None].clone())
        return rest.expand(len(self.deviation), -1) if norm is None else rest + norm.bias * self.deviation

    def head_parts(self, query: int) -> torch.Tensor:
        """The parts T of one query by head, times σ, [heads + 1, key, width]; the last row is the residual."""
        by_head = self.weights[:, query, :, None] * self.handed
        own = torch.zeros_like(by_head[:1])
        own[0, query] = self.kept[query]
        return torch.cat([by_head, own])
