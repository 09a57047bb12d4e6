"""The mixing of tokens in one layer's attention block: ALTI, by parts that sum to the model's own vector.

After the attention block the vector of token i is y_i = LayerNorm(x_i + Σ_j Σ_h A_hij v_hj W_O + b_O). With the LayerNorm's mean
and deviation held fixed it is linear in the contributions of the tokens, so y_i = Σ_j T_i(x_j) plus a rest from the biases; the
residual is the token's own contribution. Token j's share is how much closer its part brings the sum in L1 norm, max(0, ‖y_i‖₁ −
‖y_i − T_i(x_j)‖₁), with each row divided by its sum: Ferrando, Gallego and Costa-jussà 2022, section 3.

Everything here is multiplied by σ_i, the LayerNorm's deviation at i, which cancels in the shares: 'vectors' is σ_i y_i.
"""

from __future__ import annotations

from collections.abc import Sequence

from explorer.core.engine import torch
from explorer.techniques.block import Block, biases_of, stacked, through_norms

SHORT = 64  # tokens: up to here all parts fit into memory at once, which needs the fewest calls
AT_ONCE = 250_000  # numbers of parts that stay in the cache: so many layers of a short input are decomposed together
CHECKED = 32  # queries of a longer input whose parts are summed and compared with the model
NEAR = 12  # so many of a vector's smallest numbers may be exceeded by the part of a token with a small output
KEYS, QUERIES = 8, 64  # of a long input at a time, so that their numbers stay in the cache


def shares(block: Block) -> tuple[torch.Tensor, float]:
    """The share of each key in each query, [query, key] with rows summing to 1, and the error of the parts' sum.

    A row in which no part comes closer is all the token's own. The error is the largest difference between y_i and the sum of Σ_j
    T_i(x_j) and the biases: over all queries, or CHECKED evenly spaced ones for more than SHORT tokens.
    """
    found, error = shares_of([block])
    return found[0], error


def shares_of(blocks: Sequence[Block]) -> tuple[torch.Tensor, float]:
    """`shares` of several layers of a run, at most as many as `together` says: [blocks, query, key], and the largest error."""
    tokens = len(blocks[0].hidden)
    if tokens <= SHORT:
        nearer, error = _all_at_once(blocks)
    else:
        found, errors = zip(*map(_linear_and_passed, blocks), strict=True)
        nearer, error = torch.stack(found), max(errors)
    return _of_rows(nearer, torch.arange(tokens)), error


def together(tokens: int, width: int) -> int:
    """The best number of layers to give to `shares_of` at once."""
    return max(1, AT_ONCE // (tokens**2 * width)) if tokens <= SHORT else 1


def shares_at(block: Block, queries: Sequence[int]) -> tuple[torch.Tensor, float]:
    """`shares` of a few queries, for a block whose `hidden` and `weights` are of these only: [queries, key], and the error."""
    taken = block.weights[..., None] * block.value[:, None]  # [heads, queries, key, head_size]
    parts = block.through_norm(taken.permute(2, 1, 0, 3).flatten(2) @ block.layer.attention_dense.weight.T)
    parts[list(queries), range(len(queries))] += block.kept
    nearer, error = _nearer([block], parts[None])
    return _of_rows(nearer, torch.tensor(queries))[0], error


def _of_rows(nearer: torch.Tensor, queries: torch.Tensor) -> torch.Tensor:
    """The amounts by which parts come closer, [blocks, queries, key], as shares of their row; negative ones get none."""
    total = nearer.clamp_(min=0).sum(-1, keepdim=True)
    if not total.all():
        nearer = torch.where(total > 0, nearer, torch.eye(nearer.shape[-1])[queries])
        total = nearer.sum(-1, keepdim=True)
    return nearer.div_(total)


def _all_at_once(blocks: Sequence[Block]) -> tuple[torch.Tensor, float]:
    """‖σy‖₁ − ‖σy − σT‖₁ [blocks, query, key], and the error, from all parts at once."""
    weights = stacked([block.weights.permute(2, 1, 0) for block in blocks])  # [blocks, key, query, heads]
    handed = stacked([(block.value @ block.output).transpose(0, 1) for block in blocks])  # [blocks, key, heads, width]
    parts = weights @ through_norms(blocks, handed)  # [blocks, key, query, width]
    kept = through_norms(blocks, torch.stack([block.residual for block in blocks]))
    parts.diagonal(dim1=1, dim2=2).add_(kept.transpose(1, 2))
    return _nearer(blocks, parts)


def _nearer(blocks: Sequence[Block], parts: torch.Tensor) -> tuple[torch.Tensor, float]:
    """As `_all_at_once`, from the parts σT [blocks, key, query, width], which are overwritten."""
    deviations = stacked([block.deviation for block in blocks])
    vectors = stacked([block.own for block in blocks]) * deviations
    rest = vectors - biases_of(blocks, deviations) - parts.sum(1)
    error = float((rest / deviations).abs().max())
    # Element by element, since sums of |y| are far less exact.
    passed = parts.sub_(vectors[:, None]).abs_().sub_(vectors.abs()[:, None])
    return -passed.sum(-1).transpose(1, 2), error


def _error(block: Block, handed: torch.Tensor) -> float:
    """The error of the parts' sum over CHECKED queries."""
    queries = torch.linspace(0, len(block.hidden) - 1, CHECKED).long()
    joined = block.weights[:, queries].transpose(0, 1).flatten(1)  # [queries, heads · key]
    parts = joined @ handed.flatten(0, 1)
    rest = (block.vectors - block.biases() - block.kept)[queries] - parts
    return float((rest / block.deviation[queries]).abs().max())


def _linear_and_passed(block: Block) -> tuple[torch.Tensor, float]:
    """‖σy‖₁ − ‖σy − σT‖₁ [query, key], and the error, without all parts, which would be [query, key, width].

    |y| − |y − T| is s T with s the sign of y, minus 2 (s T − |y|) where s T exceeds |y|. The sum of the first is a product of
    matrices as small as those of the attention. T exceeds few of y's numbers: where it is known to be smaller than all but the
    smallest of them, only these are compared, elsewhere all.
    """
    vectors, weights, handed = block.vectors, block.weights, block.value @ block.normed_output
    tokens, width = vectors.shape
    sizes, signs = vectors.abs(), _signs(vectors)
    along = (signs @ block.normed_output.flatten(0, 1).T).unflatten(1, (len(weights), -1))  # [query, heads, head_size]
    nearer, most = torch.zeros(tokens, tokens), torch.zeros(tokens, tokens)
    for head, weight in enumerate(weights):
        nearer.addcmul_(weight, along[:, head] @ block.value[head].T)
        most.addcmul_(weight, handed[head].abs().amax(-1))  # an upper bound of the numbers of T
    small = sizes.topk(min(NEAR + 1, width), largest=False, sorted=True)
    heavy = most >= small.values[:, -1:]
    own = torch.einsum("hq,hqw->qw", weights.diagonal(dim1=1, dim2=2), handed) + block.kept
    most.masked_fill_(heavy.fill_diagonal_(True), 0)
    _put_whole(nearer, block, handed, heavy.fill_diagonal_(False), sizes)
    error = _error(block, handed)
    del handed  # as large as what is made next
    nearer -= _passed_nearby(block, small.indices[:, :-1], most, signs, sizes).mul_(2)
    nearer.diagonal().copy_((sizes - (vectors - own).abs()).sum(-1))
    return nearer, error


def _put_whole(nearer: torch.Tensor, block: Block, handed: torch.Tensor, where: torch.Tensor, sizes: torch.Tensor) -> None:
    """Set |y| − |y − T| [query, key], summed element by element, `where` it is true; `sizes` are |y|."""
    by_key = block.weights.permute(2, 1, 0)  # [key, query, heads]
    for start in range(0, len(where), KEYS):
        keys, queries = where.T[start : start + KEYS].nonzero(as_tuple=True)  # key by key
        if len(keys):
            rest = block.vectors.index_select(0, queries)
            weights = by_key[start : start + KEYS][keys, queries]
            ends = keys.bincount(minlength=KEYS).cumsum(0).tolist()
            for key, begin, end in zip(range(start, len(where)), [0, *ends], ends, strict=False):
                if begin < end:
                    rest[begin:end].addmm_(weights[begin:end], handed[:, key], alpha=-1)
            nearer[queries, keys + start] = sizes.index_select(0, queries).sub_(rest.abs_()).sum(-1)


def _passed_nearby(
    block: Block, places: torch.Tensor, most: torch.Tensor, signs: torch.Tensor, sizes: torch.Tensor
) -> torch.Tensor:
    """How much s T exceeds |y| at the `places` [query, near] of each vector's smallest numbers: [query, key].

    No number of T is larger than `most` [query, key], so that fewer places are enough where all of these are small.
    """
    found = torch.zeros_like(most)
    signs, sizes = signs.gather(1, places), sizes.gather(1, places)
    by_number = block.normed_output.transpose(1, 2) @ block.value.transpose(1, 2)  # [heads, width, key]
    needed, order = (sizes < most.amax(1, keepdim=True)).sum(1).sort()  # queries that need as many places go together
    for start in range(0, len(order), QUERIES):
        rows, near = order[start : start + QUERIES], int(needed[start : start + QUERIES][-1])
        if near:
            here = places[rows, :near]
            weights = block.weights.index_select(1, rows)[:, :, None]
            parts = torch.zeros(*here.shape, len(most))  # [queries, near, key]
            for weight, handed in zip(weights, by_number, strict=True):
                parts.addcmul_(handed.index_select(0, here.flatten()).view_as(parts), weight)
            parts.mul_(signs[rows, :near, None]).sub_(sizes[rows, :near, None])
            found[rows] = parts.relu_().sum(1)
    return found.masked_fill_(most == 0, 0)


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
