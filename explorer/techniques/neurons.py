"""Feed-forward neurons: the words that a neuron's column of W₂ promotes in the masked-LM head, and those that move a target.

A feed-forward block is a memory: a neuron fires on a pattern, and adds its activation times its column of W₂ to the hidden state
(Geva et al. 2021, 'Transformer Feed-Forward Layers Are Key-Value Memories'). Here the column w is read as BERT's own modules read
a hidden state: weight = ½ (head(LayerNorm(w)) − head(LayerNorm(−w))), a logit per piece, with the LayerNorm that ends the layer
(in families without one, that before the head) and the head's dense layer, activation and LayerNorm. The difference removes what
the head predicts for any input, the frequent words; a neuron with a negative activation does the reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from explorer.bert.layer import shared_copy
from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.techniques.ablation import last_vectors
from explorer.techniques.targets import Reading, Target, batches, read_at

AT_ONCE = 256  # neurons at a time: the vocabulary is large, with a number per piece for each of them
TRIED = 2  # times as many neurons are ablated as asked for


class Promoted(NamedTuple):
    """Pieces with their weights (logits): the most promoted, and the most suppressed ones."""

    promotes: tuple[tuple[str, float], ...]
    suppresses: tuple[tuple[str, float], ...]


@inference_mode
def piece_weights(
    model: Network, layer: int, neurons: slice | Sequence[int] = slice(None), ids: Sequence[int] | None = None
) -> np.ndarray:
    """[neurons, vocabulary] the weight of every piece for some neurons of a layer, all zero-based; with `ids` of these pieces.

    Raises CapabilityError.
    """
    own = model.layers[layer]
    added = own.neurons_dense.weight.detach().T[neurons]  # [neurons, hidden], at an activation of 1
    ways = torch.stack([own.end(added), own.end(-added)])  # the hidden states if one neuron alone wrote to them
    up, down = model.masked_lm(ways) if ids is None else model.masked_lm_of(ways, ids)
    return ((up - down) / 2).numpy()


def find_promoted(model: Network, layer: int, neuron: int, limit: int) -> Promoted:
    """The `limit` words that a neuron promotes and suppresses most, without special tokens. Raises CapabilityError."""
    (weights,) = piece_weights(model, layer, [neuron])
    ids = model.ordinary_ids[model.ordinary_ids < len(weights)]
    order = ids[np.argsort(-weights[ids], kind="stable")]
    ends = order[:limit], order[::-1][:limit]
    return Promoted(*(tuple(zip(model.pieces(some.tolist()), weights[some].tolist(), strict=True)) for some in ends))


def find_promoting(model: Network, id: int, limit: int) -> tuple[tuple[int, int, float], ...]:
    """The neurons that promote a piece most: (layer, neuron, weight), zero-based, in falling order. Raises CapabilityError."""
    layers = range(model.capabilities.layers)
    weights = np.stack([piece_weights(model, layer, ids=[id])[:, 0] for layer in layers])  # [layers, neurons]
    order = np.argsort(-weights, axis=None, kind="stable")[:limit]
    at = zip(*np.unravel_index(order, weights.shape), strict=True)
    return tuple((int(layer), int(neuron), float(weights[layer, neuron])) for layer, neuron in at)


def most_promoted_in_steps(model: Network, layer: int, number: int) -> Generator[float, None, np.ndarray]:
    """[neurons, number] the ids of the pieces that each neuron of a layer promotes most, unordered.

    Yields the share done, 0 to 1. Raises CapabilityError.
    """
    found, count = [], model.capabilities.neurons
    for start in range(0, count, AT_ONCE):
        yield start / count
        weights = torch.from_numpy(piece_weights(model, layer, slice(start, start + AT_ONCE)))
        found.append(weights.topk(min(number, weights.shape[1]), dim=1, sorted=False).indices.numpy())
    return np.concatenate(found)


class NeuronEffect(NamedTuple):
    """A neuron (zero-based), its activation at the token, and the loss of the target without it."""

    neuron: int
    activation: float
    probability: float  # -1 to 1, above 0 if the neuron supports the target
    logit: float


def neuron_effects(trace: Trace, layer: int, token: int, target: Target, count: int = 5) -> tuple[NeuronEffect, ...]:
    """The `count` neurons of a layer whose ablation at one token changes the target's probability most, in falling order.

    Layer and token are zero-based. In the last layer only the target's own token has an effect. There are too many neurons to
    ablate them all: those with the largest gradient × activation, a first-order estimate of the effect (Shrikumar et al. 2016),
    are ablated one by one, TRIED times as many as wanted, and the effect reported is the model's own.
    """
    model = trace.model
    activations, slopes = _slopes(trace, layer, token, target)
    best = (activations * slopes).abs().topk(min(TRIED * count, len(slopes))).indices
    whole = read_at(model, target, trace.states[-1][[target.position]])
    found: list[NeuronEffect] = []
    for batch in batches(len(best), trace.kept):
        without = _without(trace, layer, token, target, best[batch])
        lost = (whole.probability - without.probability).tolist(), (whole.logit - without.logit).tolist()
        found += map(NeuronEffect, best[batch].tolist(), activations[best[batch]].tolist(), *lost)
    return tuple(sorted(found, key=lambda effect: -abs(effect.probability))[:count])


def _slopes(trace: Trace, layer: int, token: int, target: Target) -> tuple[torch.Tensor, torch.Tensor]:
    """The activations [neurons] of all neurons at the token, and the gradient [neurons] of the target's logit by them."""
    leaves: list[torch.Tensor] = []

    def take(activations: torch.Tensor) -> torch.Tensor:
        leaves.append(activations.detach().requires_grad_())
        return leaves[0]

    with torch.enable_grad():
        states = trace.states[layer + 1].clone()[None]  # a copy outside of inference mode, so that gradients can flow
        here = _after(trace, layer, token, 1, take)
        hidden = torch.cat([states[:, :token], here, states[:, token + 1 :]], dim=1)
        for above in trace.model.layers[layer + 1 :]:
            hidden = above(hidden)
        (slopes,) = torch.autograd.grad(read_at(trace.model, target, hidden[:, target.position]).logit.sum(), leaves)
    return leaves[0].detach()[0, 0], slopes[0, 0]


@inference_mode
def _without(trace: Trace, layer: int, token: int, target: Target, neurons: torch.Tensor) -> Reading:
    """The target with each of some neurons ablated at the token, one at a time: [neurons] each."""
    rows = torch.arange(len(neurons))

    def take(activations: torch.Tensor) -> torch.Tensor:
        activations = activations.clone()
        activations[rows, 0, neurons] = 0
        return activations

    states = trace.states[layer + 1].repeat(len(neurons), 1, 1)
    states[:, token] = _after(trace, layer, token, len(neurons), take)[:, 0]
    return read_at(trace.model, target, last_vectors(trace.model, layer + 1, states, target.position))


def _after(trace: Trace, layer: int, token: int, times: int, take: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The token's next hidden state [times, 1, hidden] with `take(activations)` [times, 1, neurons] as the input of W₂."""
    here = slice(token, token + 1)
    watched = replace(trace.model.layers[layer], module=shared_copy(trace.model.layers[layer].module))
    watched.neurons_dense.register_forward_pre_hook(lambda module, given: (take(given[0]),))
    context = trace.heads(layer).context(here).clone()  # [1, heads, 1, head_size]
    return watched.after_heads(context.expand(times, -1, -1, -1), trace.states[layer][here].clone())
