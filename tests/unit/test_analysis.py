"""Pure functions of arrays, against what can be worked out by hand."""

import numpy as np
import pytest

from explorer.analysis import attention, projection, similarity
from explorer.base.errors import InputError

rng = np.random.default_rng(0)


def random_attention(*shape):
    weights = rng.random(shape)
    return weights / weights.sum(-1, keepdims=True)


def test_a_small_thumbnail_is_the_attention_itself():
    weights = random_attention(2, 3, 40, 40)
    assert np.array_equal(attention.thumbnails(weights, 48), weights)


@pytest.mark.parametrize("tokens", [49, 100, 512])
def test_a_thumbnail_keeps_every_line(tokens):
    diagonal = np.eye(tokens)[None]
    small = attention.thumbnails(diagonal, 48)
    assert small.shape == (1, 48, 48)
    assert np.array_equal(np.diagonal(small[0]), np.ones(48))
    column = np.zeros((1, tokens, tokens))
    column[..., 7] = 1
    assert (attention.thumbnails(column, 48).max(-1) == 1).all()


def test_the_error_of_rows():
    weights = random_attention(2, 5, 5)
    assert attention.rows_error(weights) < 1e-12
    weights[0, 0, 0] += 0.25
    assert attention.rows_error(weights) == pytest.approx(0.25)


def test_cosines():
    vectors = np.array([[1.0, 0], [2, 0], [0, 3], [-1, 0], [0, 0]])
    wanted = [[1, 1, 0, -1, 0], [1, 1, 0, -1, 0], [0, 0, 1, 0, 0], [-1, -1, 0, 1, 0], [0, 0, 0, 0, 0]]
    np.testing.assert_allclose(similarity.cosine_matrix(vectors), wanted, atol=1e-12)
    np.testing.assert_allclose(similarity.norms(vectors), [1, 2, 3, 1, 0])


def test_pca_keeps_distances_and_says_how_much():
    vectors = rng.normal(size=(30, 3)) * [5, 2, 0.1]
    found = projection.project(vectors, projection.MapSettings("pca", 3))
    wanted = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
    np.testing.assert_allclose(np.linalg.norm(found.points[:, None] - found.points[None], axis=-1), wanted, atol=1e-4)
    assert found.explained_variance.sum() == pytest.approx(1)
    assert list(found.explained_variance) == sorted(found.explained_variance, reverse=True)


@pytest.mark.parametrize(("rows", "dimensions"), [(1, 2), (1, 3), (2, 2), (2, 3), (3, 3)])
def test_pca_of_few_points(rows, dimensions):
    found = projection.project(rng.normal(size=(rows, 8)), projection.MapSettings("pca", dimensions))
    assert found.points.shape == (rows, dimensions)
    assert np.isfinite(found.points).all()
    assert np.isfinite(found.explained_variance).all()


def test_pca_of_identical_points():
    found = projection.project(np.ones((5, 8)), projection.MapSettings("pca", 2))
    assert not found.points.any()
    assert not found.explained_variance.any()


@pytest.mark.parametrize("rows", [5, 8, 40])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_umap_is_finite_and_repeats(rows, dimensions):
    vectors = rng.normal(size=(rows, 8)).astype(np.float32)
    first, second = (projection.project(vectors, projection.MapSettings("umap", dimensions)) for _ in range(2))
    assert first.points.shape == (rows, dimensions)
    assert np.isfinite(first.points).all()
    assert np.array_equal(first.points, second.points)
    assert first.explained_variance is None


def test_umap_keeps_groups_apart():
    groups = np.repeat([0, 1], 20)
    vectors = rng.normal(size=(40, 8)) * 0.05 + np.eye(8)[groups * 3]
    points = projection.project(vectors.astype(np.float32), projection.MapSettings("umap")).points
    near = np.linalg.norm(points[:, None] - points[None], axis=-1).argsort(1)[:, 1:6]
    assert (groups[near] == groups[:, None]).mean() > 0.95


def test_umap_of_too_few_points_is_refused():
    with pytest.raises(InputError, match="at least 5"):
        projection.project(np.ones((4, 3)), projection.MapSettings("umap"))
