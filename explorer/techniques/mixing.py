"""The mixing of tokens in one layer's attention block: ALTI, by parts that sum to the model's own vector.

After the attention block the vector of token i is y_i = LayerNorm(x_i + Σ_j Σ_h A_hij v_hj W_O + b_O). With the LayerNorm's mean
and deviation held fixed it is linear in the contributions of the tokens, so y_i = Σ_j T_i(x_j) plus a rest from the biases; the
residual is the token's own contribution. Token j's share is how much closer its part brings the sum in L1 norm, max(0, ‖y_i‖₁ −
‖y_i − T_i(x_j)‖₁), with each row divided by its sum: Ferrando, Gallego and Costa-jussà 2022, section 3.

Everything here is multiplied by σ_i, the LayerNorm's deviation at i, which cancels in the shares: 'vectors' is σ_i y_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from explorer.bert.layer import Layer
from explorer.core.engine import torch
from explorer.core.lazy import compile_with

SHORT = 64  # tokens: up to here all parts are compared number by number
CHECKED = 32  # queries of a longer input whose parts are summed and compared with the model
NEAR = 24  # so many of a vector's smallest numbers are compared with each part of a longer input


@dataclass(frozen=True)
class Block:
    """The attention block of one layer on one input: `weights` [heads, query, key] are its attention weights.

    `hidden` [tokens, hidden] is the layer's input, and `value` [heads, tokens, head_size] are the values of its heads.
    """

    layer: Layer
    hidden: torch.Tensor
    weights: torch.Tensor
    value: torch.Tensor

    @cached_property
    def normed(self) -> tuple[torch.Tensor, torch.Tensor]:
        """σ y, y being the model's own vectors after the attention block, [tokens, width]; and σ, the divisor of the norm for
        each of them, [tokens, 1], ones without a norm."""
        added = self.layer.attention_dense((self.weights @ self.value).transpose(0, 1).flatten(1)) + self.hidden
        if (norm := self.layer.attention_norm) is None:
            return added, torch.ones(len(added), 1)
        own, _, divided = torch.native_layer_norm(added, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
        deviation = divided.reciprocal_()
        return own * deviation, deviation

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
        return self.layer.attention_dense.weight.T.unflatten(0, (len(self.value), -1))

    def through_norm(self, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors [..., width] through the linear part of the norm (no bias, its deviation times σ), in place."""
        if (norm := self.layer.attention_norm) is None:
            return vectors
        vectors -= vectors.mean(-1, keepdim=True)
        return vectors.mul_(norm.weight)


def shares(block: Block) -> tuple[torch.Tensor, float]:
    """The share of each key in each query, [query, key] with rows summing to 1, and the error of the parts' sum.

    A row in which no part comes closer is all the token's own. The error is the largest difference between y_i and the sum of Σ_j
    T_i(x_j) and the biases: over all queries, or over CHECKED evenly spaced ones of an input of more than SHORT tokens.
    """
    (vectors, deviation), handed, tokens = block.normed, block.handed().contiguous(), len(block.hidden)
    nearer, sums = torch.zeros(tokens, tokens), torch.zeros_like(vectors)
    if tokens <= SHORT:
        checked, whole = slice(None), torch.ones_like(nearer, dtype=torch.bool)
    else:
        checked, whole = torch.linspace(0, tokens - 1, CHECKED).long(), _put_nearby(nearer, block, handed)
        whole[checked] = True
        whole.fill_diagonal_(True)
    arrays = (nearer, sums, whole, vectors, block.weights.contiguous(), handed, block.kept.contiguous())
    _put_whole(*(array.numpy() for array in arrays))
    dense, norm = block.layer.attention_dense, block.layer.attention_norm
    biases = torch.zeros(()) if dense.bias is None else block.through_norm(dense.bias[None].clone())
    biases = biases if norm is None else biases + norm.bias * deviation
    rest = (vectors - biases - sums).div_(deviation)
    total = nearer.clamp_(min=0).sum(-1, keepdim=True)  # a part that does not come closer has no share
    if not total.all():
        nearer = torch.where(total > 0, nearer, torch.eye(tokens))
        total = nearer.sum(-1, keepdim=True)
    return nearer.div_(total), float(rest[checked].abs().max())


_MATRIX, _WHERE, _CUBE = "float32[:,::1]", "boolean[:,::1]", "float32[:,:,::1]"


@compile_with(_MATRIX, _MATRIX, _WHERE, _MATRIX, _CUBE, _CUBE, _MATRIX)
def _put_whole(
    nearer: np.ndarray,
    sums: np.ndarray,
    whole: np.ndarray,
    vectors: np.ndarray,
    weights: np.ndarray,
    handed: np.ndarray,
    kept: np.ndarray,
) -> None:
    """Set ‖σy‖₁ − ‖σy − σT‖₁ in `nearer` [query, key] where `whole` is true, and add these parts σT to `sums` [query, width].

    `kept` are the residuals. The norms are compared number by number, since sums of |y| are far less exact.
    """
    heads, keys, width = handed.shape
    part = np.empty(width, np.float32)
    for key in range(keys):
        for query in range(len(vectors)):
            if not whole[query, key]:
                continue
            for place in range(width):
                part[place] = kept[query, place] if query == key else 0
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
    vectors, weights, output = block.normed[0], block.weights, block.normed_output
    signs = torch.where(vectors < 0, -1.0, 1.0)
    along = (signs @ output.flatten(0, 1).T).unflatten(1, (len(weights), -1))  # [query, heads, head_size]
    most = torch.zeros_like(nearer)  # an upper bound of the numbers of T
    for head, weight in enumerate(weights):
        nearer.addcmul_(weight, along[:, head] @ block.value[head].T)
        most.addcmul_(weight, handed[head].abs().amax(-1))
    small = vectors.abs().topk(min(NEAR + 1, vectors.shape[1]), largest=False, sorted=True)
    by_number = output.transpose(1, 2) @ block.value.transpose(1, 2)  # [heads, width, key]
    arrays = (nearer, vectors, small.indices[:, :-1].contiguous(), most.amax(1), weights, by_number)
    _take_passed(*(array.numpy() for array in arrays))
    return most >= small.values[:, -1:]


@compile_with(_MATRIX, _MATRIX, "int64[:,::1]", "float32[::1]", _CUBE, _CUBE)
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
    """The shares `row` [key] of a query, the only one of `block`, divided among its heads: [heads + 1, key], the residual last.

    In each element the value of |y| − |y − T| is divided among the heads in proportion to their parts of T. That is what
    integrated gradients along the straight path from no part to all of it give: the function depends on T alone, so each T^h gets
    T^h / T of its change.
    """
    divided = divide(block, 0, slice(None), [key == query for key in range(len(row))])
    total = divided.sum(0)
    found = torch.where(total > 0, divided * (row / total), 0)
    if not total.gt(0).any():  # no part comes closer: all is the token's own
        found[-1, query] = 1
    return found


def divide(block: Block, rows: int | list[int], keys: slice | list[int], own: list[bool]) -> torch.Tensor:
    """‖y‖₁ − ‖y − T‖₁ divided among the heads and the residual, which is the last one: [heads + 1, part].

    The i-th T is what the i-th of `keys` gives to the i-th of `rows`, or the only one; `own[i]` says whether that is its own row.
    All steps from the values of the heads to T are linear: the change by T is taken back through them, to numbers of each head.
    """
    weight, norm = block.layer.attention_dense.weight, block.layer.attention_norm
    given = (block.weights[:, rows, keys, None] * block.value[:, keys]).transpose(0, 1)  # [part, heads, head_size]
    kept = block.hidden[rows] * torch.tensor(own)[:, None]
    part = block.through_norm(given.flatten(1) @ weight.T + kept)  # times σ
    vectors = block.normed[0][rows]
    size, sign = vectors.abs(), torch.where(vectors < 0, -1.0, 1.0)  # never 0, so that this also holds where y is 0
    toward = part * sign
    back = torch.where(toward > size, 2 * size / toward - 1, 1) * sign  # (|y| − |y − T|) / T, within -1 and 1
    if norm is not None:
        back *= norm.weight
        back -= back.mean(-1, keepdim=True)
    by_head = (given * (back @ weight).view_as(given)).sum(-1)
    return torch.cat([by_head, (kept * back).sum(-1, keepdim=True)], 1).T
