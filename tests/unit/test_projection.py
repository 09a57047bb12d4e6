import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness as reference_trustworthiness
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from explorer.analysis.projection import METHODS, LayerMaps, MapSettings, add_rows, align, clusters, project, quality
from explorer.analysis.similarity import Agreement, Nearest
from explorer.bert.features import features
from explorer.core.errors import InputError
from explorer.core.lazy import umap
from explorer.core.steps import Stopped, finished
from explorer.projection.map import Map, name_clusters
from explorer.projection.picture import Labelled, nearby
from explorer.projection.points import Points
from explorer.projection.two_models import TwoModels
from explorer.text.lines import NO_LABEL, read_lines
from explorer.ui.subject import Subject
from tests.at_night import at_night

RANDOM = np.random.default_rng(0)
GROUPS = np.concatenate([RANDOM.normal(centre, 0.5, size=(15, 20)) for centre in (-2, 0, 2)]).astype(np.float32)
FITS = ("umap", "tsne")


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_trustworthiness_is_scikit_learns_and_continuity_the_same_in_reverse(metric):
    for points in (GROUPS[:, :2], RANDOM.normal(size=(45, 2))):
        expected = reference_trustworthiness(GROUPS, points, n_neighbors=5, metric=metric)
        true = pairwise_distances(GROUPS.astype(np.float64), metric=metric)
        found, kept = quality(GROUPS, points, metric=metric)
        assert found == pytest.approx(expected, abs=1e-6)
        assert kept == pytest.approx(continuity(true, pairwise_distances(points), 5), abs=1e-6)


def continuity(true, drawn, k):
    """The definition of Venna & Kaski 2001, row by row."""
    total, n = 0, len(true)
    for row in range(n):
        others = [other for other in range(n) if other != row]
        near, ranked = (sorted(others, key=lambda other: distances[row, other]) for distances in (true, drawn))
        total += sum(max(ranked.index(other) + 1 - k, 0) for other in near[:k])
    return 1 - 2 * total / (n * k * (2 * n - 3 * k - 1))


@pytest.mark.parametrize(("method", "dimensions"), [("pca", 2), ("pca", 3), ("umap", 2), ("umap", 3), ("tsne", 2)])
def test_maps_keep_neighbours_and_the_seed_decides(method, dimensions):
    settings = MapSettings(method, dimensions, seed=3)
    first, second = project(GROUPS, settings), project(GROUPS, settings)
    np.testing.assert_array_equal(first.points, second.points)
    assert first.points.shape == (len(GROUPS), dimensions)
    assert np.isfinite(first.points).all()
    assert 0.7 < first.trustworthiness <= 1
    assert (first.explained_variance is None) == (method != "pca")


def test_umap_is_umap_learns_with_the_same_seed():
    settings = {"n_neighbors": 7, "min_dist": 0.2, "metric": "cosine", "init": "spectral", "random_state": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed means one thread
        expected = umap.UMAP(**settings).fit_transform(GROUPS)
    np.testing.assert_array_equal(project(GROUPS, MapSettings("umap", neighbors=7, min_dist=0.2, seed=4)).points, expected)


def test_added_rows_are_placed_by_umap_learns_transform_and_no_other_row_moves():
    settings, new = MapSettings("umap", neighbors=7, seed=4), RANDOM.normal(size=(3, 20)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = umap.UMAP(n_neighbors=7, metric="cosine", random_state=4).fit(GROUPS)
        expected = reference.transform(new)
    fitted = project(GROUPS, settings)
    found = add_rows(fitted, GROUPS, np.concatenate([new[:1], GROUPS[5:], new[1:], GROUPS[7:8]]), settings)
    np.testing.assert_allclose(found.points[[0, -3, -2]], expected, atol=1e-4)
    np.testing.assert_array_equal(found.points[1:-3], fitted.points[5:])
    np.testing.assert_array_equal(found.points[-1], fitted.points[7])
    assert (found.added, found.first[-1]) == (3, 3)


def test_added_rows_turn_with_the_map_of_their_layer():
    settings = MapSettings("umap", neighbors=7, seed=4)
    before, after = (np.stack([GROUPS[rows] + 1, GROUPS[rows]]) for rows in (slice(40), slice(None)))
    fitted = LayerMaps(before, settings)
    maps = LayerMaps(after, settings, fitted)
    for layer in range(2):
        drawn, all_points = fitted.at(layer), maps.at(layer).points
        np.testing.assert_array_equal(all_points[:40], drawn.points)
        own, raw = drawn.reducer.embedding_, drawn.reducer.transform(after[layer, 40:])
        expected = pairwise_distances(raw, own) / pairwise_distances(own).max() * pairwise_distances(drawn.points).max()
        np.testing.assert_allclose(pairwise_distances(all_points[40:], drawn.points), expected, rtol=0.01, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("number", [1, 2, 3, 5, 11])
def test_few_and_identical_rows_give_finite_points_and_a_note_on_the_method(method, number):
    for vectors, same in ((GROUPS[:number], False), (np.repeat(GROUPS[:1], number, axis=0), True)):
        found = project(vectors, MapSettings(method))
        different = 1 if same else number
        if method in FITS and different < 5:
            assert found.method == "pca"
            assert found.note.startswith("UMAP needs at least" if method == "umap" else "t-SNE needs at least")
            assert f" {different} different {'one' if different == 1 else 'ones'} here" in found.note
            np.testing.assert_array_equal(found.points, project(vectors, MapSettings("pca")).points)
        else:
            assert (found.method, found.note) == (method, "")
        assert found.points.shape == (number, 2)
        assert np.isfinite(found.points).all()
        assert (found.trustworthiness is None) == (same or number < 3)
        assert same or number < 3 or 0 <= found.trustworthiness <= 1


@pytest.mark.parametrize("dimensions", at_night([2, 3], but=[2]))
@pytest.mark.parametrize("method", METHODS)
def test_equal_rows_are_one_place_in_every_map(method, dimensions):
    settings, places = MapSettings(method, dimensions, neighbors=6), np.r_[np.arange(12), 3, 3, 7, 0]
    vectors = GROUPS[places * 3] * (1 + 1e-7 * RANDOM.normal(size=(len(places), 1))).astype(np.float32)  # as batches differ
    found = project(vectors, settings)
    np.testing.assert_array_equal(found.first, places)
    np.testing.assert_array_equal(found.points, found.points[places])
    assert len(np.unique(found.points, axis=0)) == 12
    if method in FITS:  # how often a text is there does not move the others
        np.testing.assert_array_equal(found.points[:12], project(vectors[:12], settings).points)
    states = np.stack([vectors, vectors[:, ::-1], vectors + 1])
    for layer, at in enumerate([LayerMaps(states, settings).at(layer) for layer in range(3)]):
        np.testing.assert_array_equal(at.points, at.points[places], err_msg=str(layer))


def test_aligned_maps_keep_their_distances_and_come_back():
    points = RANDOM.normal(size=(40, 2)).astype(np.float32)
    turn = np.array([[0.6, -0.8], [-0.8, -0.6]])  # turned and mirrored
    np.testing.assert_allclose(align(points @ turn + [3, -5], points), points, atol=1e-5)
    other = RANDOM.normal(size=(40, 2))
    moved = align(points, other)
    distances = [np.linalg.norm(p[:, None] - p[None], axis=-1) for p in (points, moved)]
    np.testing.assert_allclose(*distances, atol=1e-4)
    assert np.linalg.norm(moved - other) <= np.linalg.norm(points - points.mean(0) - other + other.mean(0)) + 1e-6


def test_layers_follow_each_other_without_a_jump():
    drifting = [GROUPS + k * 0.05 * RANDOM.normal(size=GROUPS.shape) for k in range(4)]
    maps = LayerMaps(np.stack(drifting), MapSettings())
    points = [maps.at(k).points for k in range(4)]
    for before, after in itertools.pairwise(points):
        assert np.linalg.norm(before - after, axis=1).max() < 0.6
    assert all(np.sqrt((each**2).sum(1).mean()) == pytest.approx(1, abs=1e-5) for each in points)


def test_clusters_find_the_groups_and_never_more_than_there_are_rows():
    directions = np.repeat(np.eye(3), [12, 10, 8], axis=0) + RANDOM.normal(0, 0.01, size=(30, 3))
    np.testing.assert_array_equal(clusters(directions, 3), np.repeat([0, 1, 2], [12, 10, 8]))
    assert set(clusters(np.ones((4, 3)), 4)) == {0}


def test_clusters_are_named_by_the_words_that_only_they_have():
    texts = [f"the salt and the {food}" for food in ("soup", "bread", "rice")] + [
        f"the match of a {who}" for who in ("team", "coach", "team")
    ]
    vectors = np.repeat(np.eye(2), 3, axis=0) + RANDOM.normal(0, 0.01, size=(6, 2))
    names = name_clusters(vectors, texts)
    assert len(set(names[:3])) == len(set(names[3:])) == 1
    assert names[0] == "salt"
    assert names[3] == "match, team"
    single = name_clusters(vectors, ["##a", "salt", "bread", "x", "match", "team"])
    assert set(single[0].split(", ")) == {"salt", "bread"}


def test_shuffled_labels_say_whether_groups_are_more_than_chance():
    groups = np.repeat(list("abc"), 15)
    nearest = Nearest.of(np.repeat(np.eye(3), 15, axis=0) + RANDOM.normal(0, 0.01, size=(45, 3)))
    found = Agreement.of(nearest, groups)
    assert (found.right, found.items, found.p) == (45, 45, 0.001)
    assert found.shuffled == pytest.approx(45 * 14 / 44, abs=0.5)
    random = [Agreement.of(nearest, RANDOM.permutation(groups), seed).p for seed in range(60)]
    assert np.mean(np.array(random) <= 0.05) <= 0.15, "as rarely as p says"
    assert 0.3 < np.mean(random) < 0.7


def test_tsne_that_nobody_waits_for_ends_before_the_next_layer():
    told = []

    def report(share):
        told.append(share)
        if len(told) == 2:
            raise Stopped

    maps = LayerMaps(np.stack([GROUPS, GROUPS + 1, GROUPS + 2]), MapSettings("tsne"))
    with pytest.raises(Stopped):
        maps.at(0, report)
    assert maps.has(2)
    assert not maps.has(1)
    assert maps.at(1).points.shape == (len(GROUPS), 2)  # what comes next does not wait for it


def test_typing_a_sentence_adds_its_point_and_moves_no_other(bundled):
    subject = Subject.of(bundled.trace("It slept."))
    lines = [f"{who} {did} the {what}." for who in ("She", "He") for did in ("ate", "lost") for what in ("soup", "game", "key")]
    view = Map(method="umap", sentences="\n".join(lines))
    shown = view.compute(subject)
    places = places_of(shown)
    for added, gone in (("Banks lend.", lines[:0]), ("Banks lend money.", lines[:2])):  # typed on, and two lines removed
        view = replace(view, sentences="\n".join([*lines[len(gone) :], added]), fitted=shown["fitted"])
        shown = view.compute(subject)
        now = places_of(shown)
        assert {**places, added: now[added]} | dict.fromkeys(gone) == {**now} | dict.fromkeys([*gone])
        assert "added 1 point " in shown["summary"]
        assert shown["refit"]["visible"]
        assert view.key(subject) != replace(view, fitted="").key(subject)
    assert not replace(view, fitted="").compute(subject)["refit"]["visible"]
    other = replace(view, sentences="\n".join(map(str.upper, "abcdefgh")))
    assert other.compute(subject)["fitted"] == other.compute(subject)["drawn"] != shown["fitted"], (
        "too many new ones: fitted again"
    )


def test_a_search_lists_the_hits_by_their_cosine_with_the_mean_and_the_neighbours_of_a_single_one(bundled):
    subject, lines = Subject.of(bundled.trace("It slept.")), read_lines(Map().sentences)[0]
    vectors = features(bundled, lines, 6, "mean")
    hits = [row for row, line in enumerate(lines) if "the s" in line.casefold()]
    assert len(hits) > 1
    listed = Map(search="the s").compute(subject)["nearest"]
    cosine = 1 - pairwise_distances(vectors[hits], vectors[hits].mean(axis=0, keepdims=True), metric="cosine")[:, 0]
    assert [row["index"] for row in listed["rows"]] == [hits[at] for at in np.argsort(-cosine)]
    assert [float(row["number"]) for row in listed["rows"]] == pytest.approx(np.sort(cosine)[::-1], abs=6e-4)
    assert listed["heading"] == f"{len(hits)} contain ‘the s’"
    (only,) = (row for row, line in enumerate(lines) if "bread" in line)
    near = NearestNeighbors(n_neighbors=9, metric="cosine").fit(vectors).kneighbors(vectors[[only]])[1][0, 1:]
    assert [row["index"] for row in Map(search="bread").compute(subject)["nearest"]["rows"]] == near.tolist()
    assert Map(search="zebra").compute(subject)["nearest"] is None


def places_of(shown):
    return {point["text"]: (point["x"], point["y"]) for point in shown["map"]["points"]}


def test_points_without_a_label_are_not_judged():
    texts, labels = [f"text {row}" for row in range(45)], [*np.repeat(list("abc"), 15)]
    labelled = Points(texts, labels, GROUPS[None])
    more = Points([*texts, "new", "newer"], [*labels, NO_LABEL, NO_LABEL], np.concatenate([GROUPS, -GROUPS[:2]])[None])
    assert nearby(more, 0, None).text == nearby(labelled, 0, None).text.replace("points", "labelled points")
    assert Labelled.of(more, 0).count() == Labelled.of(labelled, 0).count()
    assert Labelled.of(more, 0).agreement.p == 0.001
    assert Labelled.of(replace(labelled, labels=[*"abc" * 15]), 0).agreement.p > 0.05
    assert nearby(replace(labelled, labels=[*"abc" * 15]), 0, None).text.startswith("Labels say little here")
    one = Points(texts, ["a", *[NO_LABEL] * 44], GROUPS[None])
    assert "closer than any other two" in nearby(one, 0, None).text


def test_two_layers_share_the_neighbours_that_scikit_learn_finds(bundled):
    subject = Subject.of(bundled.trace("It slept."))
    view = TwoModels(state=5, other_state=1)
    sides = finished(view.work(subject))
    texts = list(dict.fromkeys(read_lines(view.texts)[0]))
    near = []
    for layer, side in ((5, 0), (1, 1)):
        vectors = features(bundled, texts, layer)
        reference = NearestNeighbors(n_neighbors=6, metric="cosine").fit(vectors.astype(np.float64))
        near.append(reference.kneighbors(return_distance=False, n_neighbors=5))
        np.testing.assert_array_equal(sides.near[side], near[-1])
        placed = np.linalg.norm(sides.places[side][:, None] - sides.places[side], axis=-1)
        plain = PCA(2).fit_transform(vectors)
        np.testing.assert_allclose(placed, pairwise_distances(plain) / np.sqrt((plain**2).sum(1).mean()), atol=1e-3)
    kept = [len(set(mine) & set(yours)) for mine, yours in zip(*near, strict=True)]
    np.testing.assert_array_equal(sides.kept, kept)
    shown = view.compute(subject)
    ringed = [number for number, point in enumerate(shown["there"]["points"]) if point["ring"]]
    assert sorted(sides.changed) == ringed
    assert max(np.array(kept)[ringed]) <= min(np.delete(kept, ringed))
    assert f"share {np.mean(kept):.1f} of each sentence's 5 nearest" in view.finding(subject).text
    lines = replace(view, followed=3).draw(subject, sides)["there"]["links"]
    assert [line["end"] for line in lines] == near[1][3].tolist()
    assert "share 5.0 of each" in finished(replace(view, other_state=5).work(subject)).finding()
    with pytest.raises(InputError, match="at least 4 different"):
        replace(view, texts="a\nb\nb\nc").compute(subject)
