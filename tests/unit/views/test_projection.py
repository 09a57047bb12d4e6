"""What the Projection tab computes, and what it does not compute again."""

import numpy as np
import pytest

from explorer.bert.features import features
from explorer.projection.map import FILE, SENTENCES, Map
from explorer.text.tables import Table
from explorer.ui.pictures.numbers import kept
from explorer.ui.subject import Subject


def table_of(rows):
    return Table(tuple(rows[0]), tuple(tuple(row.values()) for row in rows), "")


ROWS = [{"id": str(i), "text": f"milk {i} {'the cat ' * (i % 5)}", "label": "ab"[i % 2]} for i in range(300)]
DEFAULTS = {"source": FILE, "layer": 2, "table": table_of(ROWS), "text_column": "text", "label_column": "label"}


@pytest.fixture
def subject(tiny_folder):
    return Subject(str(tiny_folder), "The man went.", "She was happy.")


@pytest.fixture
def draw(subject):
    """Draws with some settings changed; what is on the screen in the end, by name."""

    def drawn(play=False, **changed):
        view = Map.read(DEFAULTS | changed, subject.model.capabilities)
        screen = {}
        for shown in view.on_play(subject, None) if play else [view.compute(subject)]:
            screen |= shown
        assert set(screen) <= set(Map.names)
        return screen

    return drawn


def test_a_clicked_point_shows_its_neighbours_in_all_dimensions(draw, tiny):
    key = draw()["drawn"]
    screen = draw(picked=((7,), key))
    listed = [row["index"] for row in screen["nearest"]["rows"]]
    vectors = features(tiny, [row["text"] for row in ROWS], 2).astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = unit @ unit[7]
    alike[7] = -2
    np.testing.assert_allclose(np.sort(alike[listed])[::-1], np.sort(alike)[::-1][: len(listed)], atol=1e-4)
    assert draw(picked=((7,), "other points"))["nearest"] is None
    assert draw(picked=([len(ROWS)], key))["nearest"] is None


TWICE = "The cat sat.\nA dog ran.\nThe cat sat.\nShe bought milk.\nHe went to the store.\nThe cat sat.\nIt was slow."


@pytest.mark.parametrize(
    ("method", "dimensions", "labels"), [("pca", 2, " | a"), ("pca", 3, ""), ("umap", 3, " | a"), ("tsne", 2, "")]
)
def test_equal_sentences_are_one_place_with_a_count(method, dimensions, labels, subject):
    lines = [f"{line}{labels and labels[:-1] + 'ab'[number % 2]}" for number, line in enumerate(TWICE.split("\n"))]
    settings = {"source": SENTENCES, "sentences": "\n".join(lines), "method": method, "dimensions": dimensions, "neighbors": 2}
    view = Map.read(DEFAULTS | settings, subject.model.capabilities)
    shown = view.compute(subject)
    table = kept(shown["chart"])  # what is exported
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    cats = [row for row in rows if row["text"] == "The cat sat."]
    assert [row["times"] for row in cats] == [3, 3, 3]
    assert len({tuple(row[axis] for axis in "xyz"[:dimensions]) for row in cats}) == 1
    assert len({tuple(row[axis] for axis in "xyz"[:dimensions]) for row in rows}) == 5
    *groups, _ = shown["chart"].data
    assert sorted(name for group in groups for name in group.text).count("The cat sat. (3 times)") == 3
    assert "7 points at 5 places" in shown["summary"]
    finding = view.finding(subject).text
    assert "“The cat sat.” and “The cat sat.”" not in finding
    assert "different points" in finding or not labels
    picked = Map.read(DEFAULTS | settings | {"picked": ((1,), shown["drawn"])}, subject.model.capabilities).compute(subject)
    assert [row["text"] for row in picked["nearest"]["rows"]].count("The cat sat. (3 times)") == 1
    assert len(picked["nearest"]["rows"]) == 4


@pytest.mark.parametrize("method", ["umap", "tsne"])
def test_too_few_points_are_drawn_by_pca_and_the_picture_says_so(method, subject):
    settings = {"source": SENTENCES, "sentences": "The cat sat.\nA dog ran.\nThe cat sat.", "method": method}
    view = Map.read(DEFAULTS | settings, subject.model.capabilities)
    shown = view.compute(subject)
    name = {"umap": "UMAP", "tsne": "t-SNE"}[method]
    assert f"{name} needs at least 5 different points; PCA draws the 2 different ones here instead." in shown["summary"]
    assert shown["chart"].layout.xaxis.title.text.startswith("direction 1")
    one = Map.read(DEFAULTS | settings | {"sentences": "The cat sat.\nThe cat sat."}, subject.model.capabilities)
    assert one.finding(subject).text == "All 2 points have the same vector, so none is nearer than another."
