"""Concept erasure: the affine map that takes a concept out of vectors and moves them least (LEACE, Belrose et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.core.engine import torch

LEAST = 0.01  # singular values of the whitened cross-covariance below this are noise, as in the package concept-erasure


@dataclass(frozen=True)
class Eraser:
    """x ↦ x − L R (x − mean), for `left` L [..., hidden, rank] and `right` R [..., rank, hidden]: one map, or several."""

    mean: torch.Tensor
    left: torch.Tensor
    right: torch.Tensor

    def __call__(self, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors [..., n, hidden] without the subspace."""
        return vectors - (vectors - self.mean) @ self.right.mT @ self.left.mT


def fit_erasers(vectors: torch.Tensor, labels: torch.Tensor, draws: int, seed: int = 0) -> tuple[Eraser, Eraser]:
    """The eraser of labels [n], classes from 0, from vectors [n, hidden], and `draws` that erase a random subspace of its rank.

    The closed form of Belrose et al. 2023, theorem 4.3: no linear classifier of the erased vectors does better than a constant.
    The covariance is shrunk as by Bodnar et al. 2014, since there may be fewer vectors than numbers in one. The random subspaces
    are erased by the same form, with directions that are uniform where the vectors are whitened.
    """
    inputs = vectors.double()
    classes = torch.nn.functional.one_hot(labels).double()
    mean = inputs.mean(0)
    centred = inputs - mean
    values, axes = torch.linalg.eigh(_shrunk(centred.T @ centred / len(inputs), len(inputs)))
    there = values > values[-1] * len(values) * torch.finfo(values.dtype).eps
    values = values.clamp_min(torch.finfo(values.dtype).tiny)
    whiten = axes * torch.where(there, values.rsqrt(), 0) @ axes.T
    back = axes * torch.where(there, values.sqrt(), 0) @ axes.T
    crossed = centred.T @ (classes - classes.mean(0)) / (len(inputs) - 1)
    directions, sizes, _ = torch.linalg.svd(whiten @ crossed, full_matrices=False)
    own = directions[:, sizes > LEAST]
    source = torch.Generator().manual_seed(seed)
    random = torch.linalg.qr(torch.randn(draws, *own.shape, generator=source, dtype=own.dtype)).Q
    given = mean.to(vectors.dtype)
    maps = ((back @ found, found.mT @ whiten) for found in (own, random))
    erasers = [Eraser(given, left.to(vectors.dtype), right.to(vectors.dtype)) for left, right in maps]
    return erasers[0], erasers[1]


def _shrunk(covariance: torch.Tensor, count: int) -> torch.Tensor:
    """A covariance [hidden, hidden] of `count` vectors, shrunk towards a multiple of the identity (Bodnar et al. 2014)."""
    trace, size = covariance.trace(), len(covariance)
    level, squared = trace / size, (covariance**2).sum()
    spread = squared - trace**2 / size
    least = torch.finfo(covariance.dtype).tiny
    share = (trace**2 / count / spread.clamp_min(least)).clamp(0, 1)
    return (1 - share) * covariance + share * level * torch.eye(size, dtype=covariance.dtype)
