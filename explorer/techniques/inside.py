"""Inside one input and one layer: the summands of the embeddings, and every step from one hidden state to the next.

All of it is computed by the model's own modules, and comes with the difference of the last step from the model's output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from explorer.bert import attending
from explorer.bert.attending import Heads
from explorer.bert.families import ACTIVATION, NEXT, RESIDUAL, Part
from explorer.bert.layer import shared_copy
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.techniques.ablation import Run

NamedStep = tuple[str, str, "torch.Tensor"]
"""The name of a step, its formula, and its result [tokens, size] or [heads, tokens, ...]."""


class EmbeddingParts(NamedTuple):
    """The vectors summed for each token, by name, [tokens, width] each: Devlin et al. 2019, figure 2.

    BERT adds "token", "position" and "segment"; other families may lack some. `total` is the sum, `normed` its LayerNorm,
    `projected` that in the width of the layers if the embeddings are narrower, else None. `error` is the largest difference of
    the last one from hidden state 0.
    """

    added: dict[str, np.ndarray]
    total: np.ndarray
    normed: np.ndarray
    projected: np.ndarray | None
    error: float


class Step(NamedTuple):
    """One step inside a layer: `shape` for the whole input, `vector` for one token (and one head, if `of_head`)."""

    name: str
    formula: str
    shape: tuple[int, ...]
    vector: np.ndarray
    of_head: bool


class HeadStep(NamedTuple):
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


@inference_mode
def embedding_parts(trace: Trace) -> EmbeddingParts:
    """The vectors summed for every token of an input, their sum, and its norm and projection."""
    model, encoding = trace.model, trace.encoding
    added = {"token": torch.from_numpy(model.word_table[list(encoding.ids)])}
    if model.capabilities.positions:
        added["position"] = model.embedded_positions(encoding)
    if len(model.segment_table):
        added["segment"] = torch.from_numpy(model.segment_table[list(encoding.segments)])
    # In the order of transformers, on which floating-point sums depend.
    total = sum((added[name] for name in ("token", "segment", "position") if name in added), torch.zeros(()))
    normed = model.embeddings_norm(total)
    projected = model.project(normed)
    error = float((projected - trace.states[0]).abs().max())
    arrays = {name: part.numpy() for name, part in added.items()}
    return EmbeddingParts(arrays, total.numpy(), normed.numpy(), None if projected is normed else projected.numpy(), error)


@inference_mode
def head_step(run: Run, layer: int, head: int, token: int) -> HeadStep:
    """The query of `token` in one head with all keys; all three are zero-based."""
    heads = run.heads(layer)
    query, key, value = heads.query[0, head, token], heads.key[0, head], heads.value[0, head]
    dots, weights = key @ query, heads.weights_of(token)[0, head]
    parts = (query, key, value, dots, dots * heads.scaling, weights, weights @ value)
    return HeadStep(*(part.numpy().copy() for part in parts))  # a view would keep all heads in memory


@inference_mode
def causal_attention(trace: Trace, layer: int, head: int) -> np.ndarray:
    """[query, key]: the head's weights under a causal mask, as in a decoder (GPT).

    The scores of keys after the query are set to −∞ before the softmax: Vaswani et al. 2017, section 3.2.3.
    """
    scores = trace.heads(layer).scores()[0, head]
    ahead = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return scores.masked_fill(ahead, -torch.inf).softmax(-1).numpy()


@inference_mode
def value_norms(trace: Trace, layer: int) -> np.ndarray:
    """[heads, tokens]: ‖f(x)‖, the length of each token's value through each head, v W_O of that head.

    Times the attention weight it is the length of what is really added: Kobayashi et al. 2020, ‖α f(x)‖.
    """
    return torch.linalg.vector_norm(_values_out(trace, layer), dim=-1).numpy()


@inference_mode
def value_error(trace: Trace, layer: int) -> float:
    """The largest difference between Σ α f(x) over all heads and keys, plus the bias, and the output of W_O."""
    dense, heads = trace.model.layers[layer].attention_dense, trace.heads(layer)
    added = (heads.weights()[0] @ _values_out(trace, layer)).sum(0)
    whole = dense(heads.context()[0].transpose(0, 1).flatten(1))
    return float((added + (0 if dense.bias is None else dense.bias) - whole).abs().max())


def _values_out(trace: Trace, layer: int) -> torch.Tensor:
    """f(x), each token's value through each head: [heads, tokens, hidden]."""
    weight = trace.model.layers[layer].attention_dense.weight.T  # the slices of W_O for the heads, one below the other
    return trace.heads(layer).value[0] @ weight.unflatten(0, (trace.model.capabilities.heads, -1))


@inference_mode
def layer_steps(trace: Trace, layer: int, token: int = 0, head: int = 0) -> tuple[list[Step], float]:
    """Every step from hidden state `layer` to the next, for `token` and, in steps with heads, for `head`; all zero-based.

    Also the largest difference of the last step from the model's own next hidden state.
    """
    steps, last = [], trace.states[layer]
    for name, formula, last in _steps(trace, layer):
        of_head = last.dim() == 3  # [heads, tokens, ...], else [tokens, size]
        vector = last[head, token] if of_head else last[token]
        steps.append(Step(name, formula, tuple(last.shape), vector.numpy().copy(), of_head))
    return steps, float((last - trace.states[layer + 1]).abs().max())


def _steps(trace: Trace, layer: int) -> Iterator[NamedStep]:
    before, heads, after = _watch(trace, layer)
    yield f"{NEXT} {layer}", "x", trace.states[layer]
    yield from before
    queries, keys, values = heads.query[0], heads.key[0], heads.value[0]
    turned = ", turned by its place" if trace.model.family.rotary else ""
    yield "queries", f"q = x W_Q + b_Q, cut into heads{turned}", queries
    yield "keys", f"k = x W_K + b_K, cut into heads{turned}", keys
    yield "values", "v = x W_V + b_V, cut into heads", values
    scores = queries @ keys.transpose(1, 2)
    yield "dot products", "q·k, every query with every key", scores
    scores = scores * heads.scaling
    yield "scaled", f"÷ √d = ÷ √{queries.shape[-1]}", scores
    weights = heads.weights()[0]
    window = "" if heads.mask is None else ", of those near enough"
    yield "attention weights", f"softmax over the keys{window}", weights
    context = weights @ values
    yield "weighted values", "z = Σ weight · v", context
    yield "heads side by side", "concatenate z of all heads", context.transpose(0, 1).flatten(1)
    yield from after


def _watch(trace: Trace, layer: int) -> tuple[list[NamedStep], Heads, list[NamedStep]]:
    """The outputs of a layer's modules in order: those before its heads, the heads' inputs, and those after them."""
    model, original, hidden = trace.model, trace.model.layers[layer], trace.states[layer][None]
    watched = replace(original, module=shared_copy(original.module))
    activation = str(getattr(model.module.config, model.family.activation))
    before: list[NamedStep] = []
    after: list[NamedStep] = []
    given: list[Heads] = []

    def attend(heads: Heads) -> torch.Tensor:
        given.append(heads)
        return heads.weights() @ heads.value

    def see(part: Part, read: torch.Tensor, made: torch.Tensor) -> None:
        name, formula = part.name, part.formula
        if name == ACTIVATION:
            name, formula = activation.upper() if activation == "gelu" else activation, f"{activation}(·), {formula}"
        steps = after if given else before
        steps.extend([(*part.reads, read[0])] if part.reads else [])
        steps.append((name, formula, made[0]))

    for part in model.family.parts:
        module = watched.module.get_submodule(part.path)
        if not isinstance(module, torch.nn.Identity):  # ModernBERT's first layer has no norm before the attention
            module.register_forward_hook(lambda module, read, made, part=part: see(part, read[0], made))
    result = attending.answer_with(attend, lambda: watched(hidden))
    formula = after.pop()[1] if model.family.last_norm else RESIDUAL[1]
    return before, given[0], [*after, (f"{NEXT} {layer + 1}", formula, result[0])]
