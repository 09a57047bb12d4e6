"""The mixing of tokens in one layer's attention block: ALTI, by parts that sum to the model's own vector.

After the attention block the vector of token i is y_i = LayerNorm(x_i + Σ_j Σ_h A_hij v_hj W_O + b_O). With the LayerNorm's mean
and deviation held fixed it is linear in the contributions of the tokens, so y_i = Σ_j T_i(x_j) plus a rest from the biases; the
residual is the token's own contribution. Token j's share is how much closer its part brings the sum in L1 norm, max(0, ‖y_i‖₁ −
‖y_i − T_i(x_j)‖₁), with each row divided by its sum: Ferrando, Gallego and Costa-jussà 2022, section 3.

Everything here is multiplied by σ_i, the LayerNorm's deviation at i, which cancels in the shares: 'vectors' is σ_i y_i.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.core.engine import torch
from explorer.core.lazy import compiled
from explorer.techniques.block import Block

SHORT = 64  # tokens: up to here all parts are compared number by number
CHECKED = 32  # queries of a longer input whose parts are summed and compared with the model
NEAR = 24  # so many of a vector's smallest numbers are compared with each part of a longer input


def shares(block: Block) -> tuple[torch.Tensor, float]:
    """The share of each key in each query, [query, key] with rows summing to 1, and the error of the parts' sum.

    A row in which no part comes closer is all the token's own. The error is the largest difference between y_i and the sum of Σ_j
    T_i(x_j) and the biases: over all queries, or over CHECKED evenly spaced ones of an input of more than SHORT tokens.
    """
    return shares_at(block, range(len(block.hidden)))


def shares_at(block: Block, queries: Sequence[int]) -> tuple[torch.Tensor, float]:
    """`shares` of some queries, for a block whose `hidden` and `weights` are of these only: [queries, key], and the error."""
    vectors, handed, own = block.vectors, block.handed.contiguous(), torch.tensor(queries)
    nearer, sums = torch.zeros(len(own), handed.shape[1]), torch.zeros_like(vectors)
    if handed.shape[1] <= SHORT:
        checked, whole = slice(None), torch.ones_like(nearer, dtype=torch.bool)
    else:
        checked, whole = torch.linspace(0, len(own) - 1, min(len(own), CHECKED)).long(), _put_nearby(nearer, block, handed)
        whole[checked], whole[torch.arange(len(own)), own] = True, True
    arrays = (nearer, sums, whole, vectors, block.weights.contiguous(), handed, block.kept.contiguous(), own)
    _put_whole(*(array.numpy() for array in arrays))
    rest = (vectors - block.biases() - sums).div_(block.deviation)
    return _of_rows(nearer, own), float(rest[checked].abs().max())


def _of_rows(nearer: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """The amounts by which parts come closer, [query, key], as shares of their row; negative ones get none."""
    total = nearer.clamp_(min=0).sum(-1, keepdim=True)
    if not total.all():
        nearer = torch.where(total > 0, nearer, torch.eye(nearer.shape[-1])[own])
        total = nearer.sum(-1, keepdim=True)
    return nearer.div_(total)


_MATRIX, _WHERE, _CUBE = "float32[:,::1]", "boolean[:,::1]", "float32[:,:,::1]"


@compiled(_MATRIX, _MATRIX, _WHERE, _MATRIX, _CUBE, _CUBE, _MATRIX, "int64[::1]")
def _put_whole(
    nearer: np.ndarray,
    sums: np.ndarray,
    whole: np.ndarray,
    vectors: np.ndarray,
    weights: np.ndarray,
    handed: np.ndarray,
    kept: np.ndarray,
    own: np.ndarray,
) -> None:
    """Set ‖σy‖₁ − ‖σy − σT‖₁ in `nearer` [query, key] where `whole` is true, and add these parts σT to `sums` [query, width].

    `own` is the key of each query's residual `kept`. The norms are compared number by number, since sums of |y| are far less
    exact.
    """
    heads, keys, width = handed.shape
    part = np.empty(width, np.float32)
    for key in range(keys):
        for query in range(len(vectors)):
            if not whole[query, key]:
                continue
            for place in range(width):
                part[place] = kept[query, place] if own[query] == key else 0
            for head in range(heads):
                weight = weights[head, query, key]
                for place in range(width):
                    part[place] += weight * handed[head, key, place]
            total = np.float32(0)
            for place in range(width):
                total += abs(vectors[query, place]) - abs(vectors[query, place] - part[place])
                sums[query, place] += part[place]
            nearer[query, key] = total


def _put_nearby(nearer: torch.Tensor, block: Block, handed: torch.Tensor) -> torch.Tensor:
    """Put ‖σy‖₁ − ‖σy − σT‖₁ into `nearer` [query, key] without all parts; returns where it is still to be set.

    |y| − |y − T| is s T with s the sign of y, minus 2 (s T − |y|) where s T exceeds |y|. The sum of the first is a product of
    matrices as small as those of the attention. T exceeds few of y's numbers: where it is known to be smaller than all but the
    smallest of them, only these are compared.
    """
    vectors, weights, output = block.vectors, block.weights, block.normed_output
    along = (_signs(vectors) @ output.flatten(0, 1).T).unflatten(1, (len(weights), -1))  # [query, heads, head_size]
    most = torch.zeros_like(nearer)  # an upper bound of the numbers of T
    for head, weight in enumerate(weights):
        nearer.addcmul_(weight, along[:, head] @ block.value[head].T)
        most.addcmul_(weight, handed[head].abs().amax(-1))
    small = vectors.abs().topk(min(NEAR + 1, vectors.shape[1]), largest=False, sorted=True)
    by_number = output.transpose(1, 2) @ block.value.transpose(1, 2)  # [heads, width, key]
    arrays = (nearer, vectors, small.indices[:, :-1].contiguous(), most.amax(1), weights, by_number)
    _take_passed(*(array.numpy() for array in arrays))
    return most >= small.values[:, -1:]


@compiled(_MATRIX, _MATRIX, "int64[:,::1]", "float32[::1]", _CUBE, _CUBE)
def _take_passed(
    nearer: np.ndarray, vectors: np.ndarray, near: np.ndarray, most: np.ndarray, weights: np.ndarray, by_number: np.ndarray
) -> None:
    """Subtract from `nearer` [query, key] what parts exceed each vector's numbers at the places `near` [query, near], twice.

    `most` [query] bounds the numbers of all parts of a query, so that its larger numbers need not be compared.
    """
    passed = np.empty(nearer.shape[1], np.float32)
    for query in range(len(vectors)):
        for rank in range(near.shape[1]):
            place = near[query, rank]
            size, sign = abs(vectors[query, place]), np.float32(-1 if vectors[query, place] < 0 else 1)
            if size >= most[query]:
                break
            for key in range(len(passed)):
                passed[key] = -size
            for head in range(len(weights)):
                for key in range(len(passed)):
                    passed[key] += sign * weights[head, query, key] * by_number[head, place, key]
            for key in range(len(passed)):
                nearer[query, key] -= 2 * max(passed[key], np.float32(0))


def head_shares_of(block: Block, query: int, row: torch.Tensor) -> torch.Tensor:
    """The shares `row` [key] of one query divided among its heads: [heads + 1, key], the last one being its residual.

    In each element the value of |y| − |y − T| is divided among the heads in proportion to their parts of T. That is what
    integrated gradients along the straight path from no part to all of it give: the function depends on T alone, so each T^h gets
    T^h / T of its change.
    """
    parts = block.head_parts(query)
    size, sign = block.vectors[query].abs(), _signs(block.vectors[query])
    toward = parts.sum(0) * sign  # [key, width]
    change = torch.where(toward > size, 2 * size / toward - 1, 1) * sign  # (|y| − |y − T|) / T, within -1 and 1
    divided = (parts * change).sum(-1)  # [heads + 1, key]
    total = divided.sum(0)
    if not total.gt(0).any():
        return _all_own(divided, query)
    return torch.where(total > 0, divided * (row / total), 0)


def _signs(vectors: torch.Tensor) -> torch.Tensor:
    """-1 below 0, 1 otherwise, so that the formula for |y| − |y − T| also holds where y is 0."""
    return torch.where(vectors < 0, -1.0, 1.0)


def _all_own(divided: torch.Tensor, query: int) -> torch.Tensor:
    """The division for a row in which no part comes closer: all is the token's own."""
    alone = torch.zeros_like(divided)
    alone[-1, query] = 1
    return alone
