"""The output of feed-forward neurons: the words that a neuron's column of W₂ promotes and suppresses in the masked-LM head.

A feed-forward block is a memory: a neuron fires on a pattern, and adds its activation times its column of W₂ to the hidden state
(Geva et al. 2021, 'Transformer Feed-Forward Layers Are Key-Value Memories'). Here the column w is read as BERT's own modules read
a hidden state: weight = ½ (head(LayerNorm(w)) − head(LayerNorm(−w))), a logit per piece, with the LayerNorm that ends the layer
(in families without one, that before the head) and the head's dense layer, activation and LayerNorm. The difference removes what
the head predicts for any input, the frequent words; a neuron with a negative activation does the reverse.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.bert.network import Network
from explorer.core.engine import inference_mode, torch

AT_ONCE = 256  # neurons at a time: the vocabulary is large, with a number per piece for each of them


@dataclass(frozen=True)
class Promoted:
    """Pieces with their weights (logits): the most promoted, and the most suppressed ones."""

    promotes: tuple[tuple[str, float], ...]
    suppresses: tuple[tuple[str, float], ...]


def columns(model: Network, layer: int) -> torch.Tensor:
    """[neurons, hidden] the output of each neuron of a layer (zero-based) at an activation of 1."""
    return model.layers[layer].neurons_dense.weight.detach().T


@inference_mode
def piece_weights(model: Network, layer: int, neurons: slice | Sequence[int]) -> np.ndarray:
    """[neurons, vocabulary] the weight of every piece for some neurons of a layer, all zero-based. Raises CapabilityError."""
    ways = _both_ways(model, layer, columns(model, layer)[neurons])
    up, down = model.masked_lm(ways)
    return ((up - down) / 2).numpy()


@inference_mode
def weights_of(model: Network, ids: Sequence[int]) -> np.ndarray:
    """[layers, neurons, ids] the weight of some pieces for all neurons. Raises CapabilityError."""
    found = []
    for layer in range(model.capabilities.layers):
        up, down = model.masked_lm_of(_both_ways(model, layer, columns(model, layer)), ids)
        found.append(((up - down) / 2).numpy())
    return np.stack(found)


def find_promoted(model: Network, layer: int, neuron: int, limit: int) -> Promoted:
    """The `limit` words that a neuron promotes and suppresses most, without special tokens. Raises CapabilityError."""
    (weights,) = piece_weights(model, layer, [neuron])
    ids = model.ordinary_ids[model.ordinary_ids < len(weights)]
    order = ids[np.argsort(-weights[ids], kind="stable")]
    return Promoted(*(_name(model, weights, some[:limit]) for some in (order, order[::-1])))


def find_promoting(model: Network, id: int, limit: int) -> tuple[tuple[int, int, float], ...]:
    """The neurons that promote a piece most: (layer, neuron, weight), zero-based, in falling order. Raises CapabilityError."""
    weights = weights_of(model, [id])[..., 0]
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


def _both_ways(model: Network, layer: int, vectors: torch.Tensor) -> torch.Tensor:
    """[2, neurons, hidden] the hidden states at the end of a layer if one neuron alone wrote to it, positively and negatively."""
    return torch.stack([model.layers[layer].end(vectors), model.layers[layer].end(-vectors)])


def _name(model: Network, weights: np.ndarray, ids: np.ndarray) -> tuple[tuple[str, float], ...]:
    return tuple(zip(model.pieces(ids.tolist()), weights[ids].tolist(), strict=True))
