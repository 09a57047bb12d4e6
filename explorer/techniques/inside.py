"""Inside one input and one layer: the parts whose sum the model reads, and every step from one hidden state to the next.

All of it is made with the model's own modules, and ends in how far the last step is from what the model itself returned.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from explorer.model.trace import Trace


@dataclass(frozen=True)
class EmbeddingParts:
    """What is added up for each token, [tokens, hidden] each: Devlin et al. 2019, figure 2.

    `total` is token + position + segment, `normed` its LayerNorm, `error` the largest distance from hidden state 0.
    """

    token: np.ndarray
    position: np.ndarray
    segment: np.ndarray
    total: np.ndarray
    normed: np.ndarray
    error: float


@dataclass(frozen=True)
class Step:
    """One step inside a layer: `shape` for the whole input, `vector` what it is for one token, in one head if cut."""

    name: str
    formula: str
    shape: tuple[int, ...]
    vector: np.ndarray
    of_head: bool


@dataclass(frozen=True)
class LayerSteps:
    """All steps of a layer in order; `max_error` is how far the last is from the model's own next hidden state."""

    steps: tuple[Step, ...]
    max_error: float


@dataclass(frozen=True)
class HeadStep:
    """One query token in one head: query [d], keys and values [tokens, d], the rest [tokens], output [d].

    scaled = keys · query / √d, weights = softmax(scaled), output = Σ weights · values. Vaswani et al. 2017, 3.2.1.
    """

    query: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    dots: np.ndarray
    scaled: np.ndarray
    weights: np.ndarray
    output: np.ndarray


@torch.inference_mode()
def embedding_parts(trace: Trace) -> EmbeddingParts:
    """The three embeddings of every token of an input, their sum and its LayerNorm."""
    model, encoding = trace.model, trace.encoding

    def rows(table: np.ndarray, indices: tuple[int, ...]) -> torch.Tensor:
        return torch.from_numpy(table[list(indices)])

    token = rows(model.word_table, encoding.ids)
    position = rows(model.position_table, encoding.positions)
    segment = rows(model.segment_table, encoding.segments)
    total = token + segment + position  # in the order of transformers: floating-point sums depend on it
    normed = model.embeddings_norm(total)
    error = float((normed - trace.states[0]).abs().max())
    return EmbeddingParts(*(part.numpy() for part in (token, position, segment, total, normed)), error)


@torch.inference_mode()
def head_step(trace: Trace, layer: int, head: int, token: int) -> HeadStep:
    """One dot product a key: the query of `token` in one head; all three are zero-based."""
    module, hidden = trace.model.layer(layer), trace.states[layer]
    queries, keys = module.queries_and_keys(hidden)  # [heads, tokens, d] each
    query, key = queries[head, token], keys[head]
    value = module.values(hidden)[head]
    dots = key @ query
    scaled = dots * query.shape[-1] ** -0.5
    weights = scaled.softmax(-1)
    parts = (query, key, value, dots, scaled, weights, weights @ value)
    return HeadStep(*(part.numpy().copy() for part in parts))  # a view would keep all the heads in memory


@torch.inference_mode()
def causal_attention(trace: Trace, layer: int, head: int) -> np.ndarray:
    """[query, key]: what the head's weights would be if no token could look ahead, as in a decoder (GPT).

    The scores of the keys after the query are set to −∞ before the softmax: Vaswani et al. 2017, section 3.2.3.
    """
    queries, keys = trace.model.layer(layer).queries_and_keys(trace.states[layer])
    scores = queries[head] @ keys[head].T * queries.shape[-1] ** -0.5
    ahead = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return scores.masked_fill(ahead, -torch.inf).softmax(-1).numpy()


@torch.inference_mode()
def value_norms(trace: Trace, layer: int) -> np.ndarray:
    """[heads, tokens]: ‖f(x)‖, the length of what each token hands on through each head, v W_O of that head.

    Times the attention weight it is the length of what is really added: Kobayashi et al. 2020, ‖α f(x)‖.
    """
    module = trace.model.layer(layer)
    values, weight = module.values(trace.states[layer]), module.output_weights  # [heads, n, d], [heads, d, hidden]
    return torch.stack([torch.linalg.vector_norm(v @ w, dim=-1) for v, w in zip(values, weight, strict=True)]).numpy()


@torch.inference_mode()
def value_error(trace: Trace, layer: int) -> float:
    """How far Σ α f(x) over all heads and keys, plus the bias, is from the output of W_O, at most."""
    module, attention = trace.model.layer(layer), torch.from_numpy(trace.attention(layer))
    values, weight, dense = module.values(trace.states[layer]), module.output_weights, module.attention_dense
    added = dense.bias + sum(a @ (v @ w) for a, v, w in zip(attention, values, weight, strict=True))
    whole = dense(module.join_heads(attention @ values))
    return float((added - whole).abs().max())


@torch.inference_mode()
def layer_steps(trace: Trace, layer: int, token: int = 0, head: int = 0) -> LayerSteps:
    """Every step from hidden state `layer` to the next, for `token` and, where it is cut into heads, for `head`; zero-based."""
    steps, last = [], trace.states[layer]
    for name, formula, step in _steps(trace, layer):
        of_head = step.dim() == 3  # [heads, tokens, ...], else [tokens, size]
        vector = step[head, token] if of_head else step[token]
        steps.append(Step(name, formula, tuple(step.shape), vector.numpy().copy(), of_head))
        last = step
    return LayerSteps(tuple(steps), float((last - trace.states[layer + 1]).abs().max()))


def _steps(trace: Trace, layer: int) -> Iterator[tuple[str, str, torch.Tensor]]:
    """(name, formula, result) of every step, the results [tokens, size] or [heads, tokens, ...]."""
    module, x = trace.model.layer(layer), trace.states[layer]
    yield f"hidden state {layer}", "x", x
    queries, keys = module.queries_and_keys(x)
    values = module.values(x)
    yield "queries", "q = x W_Q + b_Q, cut into heads", queries
    yield "keys", "k = x W_K + b_K, cut into heads", keys
    yield "values", "v = x W_V + b_V, cut into heads", values
    scores = queries @ keys.transpose(1, 2)
    yield "dot products", "q·k, every query with every key", scores
    size = queries.shape[-1]
    scores = scores * size**-0.5
    yield "scaled", f"÷ √d = ÷ √{size}", scores
    weights = scores.softmax(-1)
    yield "attention weights", "softmax over the keys", weights
    context = weights @ values
    yield "weighted values", "z = Σ weight · v", context
    together = module.join_heads(context)
    yield "heads side by side", "concatenate z of all heads", together
    mixed = module.attention_dense(together)
    yield "attention output", "z W_O + b_O", mixed
    added = mixed + x
    yield "attention add", "+ x (residual)", added
    attended = module.attention_norm(added)
    yield "attention norm", "y = LayerNorm", attended
    inner = module.feed_forward_in(attended)
    yield "feed-forward in", "y W₁ + b₁", inner
    activation = str(trace.model.module.config.hidden_act)
    active = module.activation(inner)
    yield activation.upper() if activation == "gelu" else activation, f"{activation}(·), number by number", active
    outer = module.feed_forward_out(active)
    yield "feed-forward out", "W₂ + b₂", outer
    added = outer + attended
    yield "feed-forward add", "+ y (residual)", added
    yield f"hidden state {layer + 1}", "LayerNorm", module.output_norm(added)
