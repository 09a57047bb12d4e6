"""One layer of an encoder: its parts, where the row of its family says that they are, and what it computes with them."""

from operator import attrgetter
from typing import Any

import torch

from explorer.model.families import Family


class Layer:
    """The parts of one layer of transformers, which stay what they are; hidden states are [..., tokens, hidden]."""

    def __init__(self, module: torch.nn.Module, family: Family, heads: int) -> None:
        def part(*path: str) -> Any:
            return attrgetter(".".join(path))(module)

        self.module, self.family, self.heads = module, family, heads
        self.self_attention = part(family.self_attention)  # holds `query`, `key` and `value`
        self.attention_dense: torch.nn.Linear = part(family.attention_output, family.dense)  # W_O and its bias
        self.attention_norm = part(family.attention_output, family.norm)  # the LayerNorm after the attention
        self.feed_forward_in: torch.nn.Linear = part(family.intermediate, family.dense)  # W₁ and its bias
        self.activation = part(family.intermediate, family.activation)  # between the two matrices, GELU in BERT
        self.feed_forward_out: torch.nn.Linear = part(family.output, family.dense)  # W₂ and its bias
        self.output_norm = part(family.output, family.norm)  # the LayerNorm at the end
        self._attention_output, self._intermediate = part(family.attention_output), part(family.intermediate)
        self._output = part(family.output)

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
        """Softmax(QKᵀ/√d)V of each head, [batch, heads, queries, head_size], for the tokens `queries` of [batch, tokens, hidden].

        `mask` is false where no query may look, over [batch, heads, query, key].
        """
        query = self.split_heads(self.self_attention.query(hidden[:, queries]))
        key, value = self.split_heads(self.self_attention.key(hidden)), self.values(hidden)
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)

    def after_heads(self, context: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """The rest of the layer after its heads: W_O, add & norm, feed-forward, add & norm.

        `context` [..., heads, tokens, head_size] is what the heads gave; `hidden` [..., tokens, hidden], of a shape that
        broadcasts with it, is what the layer read. Returns the next hidden state, [..., tokens, hidden].
        """
        attended = self._attention_output(self.join_heads(context), hidden)
        return self._output(self._intermediate(attended), attended)

    def output(self, hidden: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """The next hidden state [tokens, hidden] from hidden [tokens, hidden] and attention weights [heads, query, key]."""
        return self.after_heads(attention @ self.values(hidden), hidden)
