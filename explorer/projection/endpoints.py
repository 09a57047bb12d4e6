"""The endpoint of the Projection tab."""

from typing import Any

from explorer.analysis.projection import METHODS, MapSettings, project
from explorer.bert.explorer import load
from explorer.bert.features import features
from explorer.text import limits


def projection(
    texts: list[str],
    method: str = "pca",
    layer: int = -1,
    pooling: str = "mean",
    dimensions: int = 2,
    model: str = "",
    neighbors: int = 15,
    min_dist: float = 0.1,
    seed: int = 0,
) -> dict[str, Any]:
    """A point for every text: method "pca", "umap" or "tsne", pooling "cls", "mean" or "pooler", 2 or 3 dimensions.

    UMAP reads `neighbors` and `min_dist`. t-SNE's perplexity is a third of `neighbors`; both measure by cosine. The
    trustworthiness, 0 to 1, is how far neighbours on the map are neighbours by cosine, the continuity how far neighbours by
    cosine are neighbours on the map, for every method (Venna & Kaski 2001).

    Returns:
        `points` (the same for equal texts), `explained_variance` (a share for each axis, or null for UMAP and t-SNE),
        `trustworthiness` and `continuity` (null below 3 texts, or when all are the same), and the `method` drawn: PCA where there
        are too few different texts for another, with a `note` on it.
    """
    settings = MapSettings(
        method=limits.check_choice(method, "the method", METHODS),
        dimensions=limits.check_integer(dimensions, "the number of dimensions", 2, 3),
        neighbors=limits.check_integer(neighbors, "the number of neighbors", 2, 200),
        min_dist=limits.check_number(min_dist, "min_dist", 0, 0.99),
        seed=limits.check_integer(seed, "the seed", 0, 2**31 - 1),
    )
    found = project(features(load(model), texts, layer, pooling), settings)
    shares = None if found.explained_variance is None else found.explained_variance.tolist()
    judged = {"trustworthiness": found.trustworthiness, "continuity": found.continuity}
    return {"points": found.points.tolist(), "explained_variance": shares, **judged, "method": found.method, "note": found.note}


ENDPOINTS = (projection,)
