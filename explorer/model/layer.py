"""One layer of an encoder: its parts, where the row of its family says that they are, and what it computes with them."""

from operator import attrgetter
from typing import Any

import torch

from explorer.model.families import Family


class Layer:
    """The parts of one layer of transformers, which stay what they are; hidden states are [..., tokens, hidden]."""

    def __init__(self, module: torch.nn.Module, family: Family, heads: int) -> None:
        self.module, self.family, self.heads = module, family, heads

    @property
    def self_attention(self) -> Any:
        """The module that holds `query`, `key` and `value`."""
        return self._part(self.family.self_attention)

    @property
    def attention_dense(self) -> torch.nn.Linear:
        """W_O and its bias."""
        return self._part(self.family.attention_output, self.family.dense)

    @property
    def attention_norm(self) -> torch.nn.Module:
        """The LayerNorm after the attention."""
        return self._part(self.family.attention_output, self.family.norm)

    @property
    def feed_forward_in(self) -> torch.nn.Linear:
        """W₁ and its bias."""
        return self._part(self.family.intermediate, self.family.dense)

    @property
    def activation(self) -> torch.nn.Module:
        """The function between the two matrices of the feed-forward part, GELU in BERT."""
        return self._part(self.family.intermediate, self.family.activation)

    @property
    def feed_forward_out(self) -> torch.nn.Linear:
        """W₂ and its bias."""
        return self._part(self.family.output, self.family.dense)

    @property
    def output_norm(self) -> torch.nn.Module:
        """The LayerNorm at the end."""
        return self._part(self.family.output, self.family.norm)

    @property
    def output_weights(self) -> torch.Tensor:
        """W_O cut into what each head is multiplied with: [heads, head_size, hidden]."""
        return self.attention_dense.weight.T.unflatten(0, (self.heads, -1))

    def queries_and_keys(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The query and the key vectors of every head: [..., heads, tokens, head_size] each."""
        attention = self.self_attention
        return self.split_heads(attention.query(hidden)), self.split_heads(attention.key(hidden))

    def values(self, hidden: torch.Tensor) -> torch.Tensor:
        """The value vectors of every head: [..., heads, tokens, head_size]."""
        return self.split_heads(self.self_attention.value(hidden))

    def split_heads(self, vectors: torch.Tensor) -> torch.Tensor:
        """[..., tokens, hidden] cut into heads: [..., heads, tokens, head_size]."""
        return vectors.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def join_heads(self, vectors: torch.Tensor) -> torch.Tensor:
        """The heads [..., heads, tokens, head_size] side by side: [..., tokens, hidden]."""
        return vectors.transpose(-3, -2).flatten(-2)

    def context(self, hidden: torch.Tensor, queries: slice = slice(None), mask: torch.Tensor | None = None) -> torch.Tensor:
        """Softmax(QKᵀ/√d)V for the tokens `queries` of hidden [batch, tokens, hidden], the rest of them keys only.

        `mask` is false where no query may look, over [batch, heads, query, key]. Returns [batch, heads, queries,
        head_size]: what the heads give.
        """
        query = self.split_heads(self.self_attention.query(hidden[:, queries]))
        key, value = self.split_heads(self.self_attention.key(hidden)), self.values(hidden)
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)

    def after_heads(self, context: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """The rest of the layer after its heads: W_O, add & norm, feed-forward, add & norm.

        `context` [..., heads, tokens, head_size] is what the heads gave; `hidden` [..., tokens, hidden], of a shape that
        broadcasts with it, is what the layer read. Returns the next hidden state, [..., tokens, hidden].
        """
        attended = self._part(self.family.attention_output)(self.join_heads(context), hidden)
        return self._part(self.family.output)(self._part(self.family.intermediate)(attended), attended)

    def output(self, hidden: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """What the layer makes of hidden [tokens, hidden] with attention weights [heads, query, key].

        Returns [tokens, hidden]: the next hidden state, when the weights are the layer's own.
        """
        return self.after_heads(attention @ self.values(hidden), hidden)

    def _part(self, *path: str) -> Any:
        return attrgetter(".".join(path))(self.module)
