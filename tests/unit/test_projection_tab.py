"""What the Projection tab computes, and what it does not compute again."""

import json

import numpy as np
import pytest

from explorer.base.errors import InputError
from explorer.model.features import forget
from explorer.page.wiring import View
from explorer.tabs import projection_data
from explorer.tabs.projection import CONTROLS, _open
from explorer.tabs.projection_data import piece_kind, text_column_of
from explorer.tabs.projection_drawing import draw_in_steps, play_in_steps
from explorer.tabs.projection_picture import COLOURS, NONE_CHOSEN
from explorer.text.limits import MAX_TEXTS
from explorer.text.lines import NO_LABEL, read_lines

ROWS = [{"id": str(i), "text": f"milk {i} {'the cat ' * (i % 5)}", "label": "ab"[i % 2]} for i in range(300)]
DEFAULTS = {
    "source": "CSV file",
    "method": "PCA",
    "layer": 2,
    "sentences": "",
    "rows": ROWS,
    "text_column": "text",
    "label_column": "label",
    "sampled": False,
    "search": "",
    "colour": COLOURS[0],
    "clusters": 3,
    "dimensions": "2-D",
    "pooling": "mean",
    "neighbors": 15,
    "min_dist": 0.1,
    "metric": "cosine",
    "seed": 0,
    "picked": NONE_CHOSEN,
    "kept": NONE_CHOSEN,
}


@pytest.fixture
def draw(tiny_folder):
    """Draws with some settings changed; what is on the screen in the end, by name."""
    view = View(str(tiny_folder), "The man went.", "She was happy.")

    def drawn(handler=draw_in_steps, **changed):
        screen = {}
        for updates in handler(view, DEFAULTS | changed):
            screen |= updates
        return screen

    assert set(DEFAULTS) == set(CONTROLS)
    return drawn


def points_of(screen):
    *groups, _ = screen["chart"].data
    found = {row: (x, y) for g in groups for row, x, y in zip(g.customdata, g.x, g.y, strict=True)}
    return np.array([found[row] for row in sorted(found)])


def test_only_new_texts_and_new_poolings_are_read(draw, tiny, monkeypatch):
    forget()
    rows = []
    embed = type(tiny).embed
    monkeypatch.setattr(
        type(tiny), "embed", lambda model, ids, segments: rows.append(len(ids)) or embed(model, ids, segments)
    )
    first = draw()
    assert sum(rows) == len(ROWS)
    draw(layer=0)
    for changed in (
        {"colour": COLOURS[1]},
        {"colour": COLOURS[2], "clusters": 2},
        {"search": "cat"},
        {"dimensions": "3-D"},
    ):
        draw(**changed)
    draw(play_in_steps)
    assert sum(rows) == len(ROWS)
    np.testing.assert_array_equal(points_of(draw()), points_of(first))
    draw(pooling="cls")
    assert sum(rows) == 2 * len(ROWS)


def test_a_clicked_point_shows_its_neighbours_in_all_dimensions(draw, tiny):
    key = draw()["key"]
    screen = draw(picked=((7,), key))
    listed = [row["index"] for row in screen["listed"]["rows"]]
    from explorer.model.features import features

    vectors = features(tiny, [row["text"] for row in ROWS], 2).astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = unit @ unit[7]
    alike[7] = -2
    np.testing.assert_allclose(np.sort(alike[listed])[::-1], np.sort(alike)[::-1][: len(listed)], atol=1e-4)
    assert draw(picked=((7,), "other points"))["listed"] is None
    kept = draw(kept=((1, 2, 3), key))["listed"]
    assert "3 points taken" in kept["heading"]


@pytest.mark.parametrize("source", ["Words of the input", "Vocabulary", "Sentences"])
def test_other_sources_are_drawn_too(draw, source):
    screen = draw(source=source, sentences="The man went. | x\nA dog.\nA dog.")
    assert np.isfinite(points_of(screen)).all()
    assert "point" in screen["said"]
    assert len(json.loads(screen["chart"].to_json())["data"]) > 1


def test_umap_and_tsne_of_three_rows_fall_back_to_pca(draw):
    for method in ("UMAP", "t-SNE"):
        assert "PCA" in draw(method=method, rows=ROWS[:3])["said"]


def test_files_that_cannot_be_drawn_are_told(draw, monkeypatch, refusal):
    many = [{"text": f"row {i}"} for i in range(MAX_TEXTS + 1)]
    assert "tick the random sample" in refusal(InputError, lambda: draw(rows=many, label_column=None))
    for changed in (
        {"text_column": "body"},
        {"label_column": "class"},
        {"rows": [{"text": " ", "label": ""}]},
        {"source": "Sentences", "sentences": " \n"},
        {"seed": -1},
        {"metric": "angle"},
    ):
        refusal(InputError, lambda changed=changed: draw(**changed))
    texts, labels = projection_data._from_rows(many, "text", None, True, 0)
    assert len(set(texts)) == MAX_TEXTS
    assert set(labels) == {NO_LABEL}


def test_equal_rows_are_said_to_be_equal(draw):
    said = draw(rows=[ROWS[0]] * 12)["said"]
    assert "all in one place" in said
    assert "Trustworthiness" not in said
    assert "the nearest on the map" in draw(rows=ROWS[:4])["said"]


def test_a_file_is_named_with_its_rows(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("text\n" + "".join(f"row {i}\n" for i in range(MAX_TEXTS + 1)), "utf-8")
    opened = _open(str(path))
    assert opened["upload"]["label"] == "CSV file… (many.csv: 5,001 rows)"
    assert opened["sampled"]["label"] == "A random 5,000 of the 5,001 rows"


def test_a_file_is_asked_for_before_there_is_one(draw):
    assert draw(rows=[])["said"].startswith("Choose a CSV file")


def test_lines_columns_and_pieces():
    assert read_lines("a | x\n\n b|c | y\nplain") == (["a", "b|c", "plain"], ["x", "y", NO_LABEL])
    assert text_column_of([{"id": "1", "body": "a long one"}]) == "body"
    assert text_column_of([{"id": "a very long one", "text": ""}]) == "text"
    kinds = [piece_kind(piece) for piece in ("cat", "##ing", "##2", "1990", "!", "##a", "[unused3]", "[")]
    assert kinds == [
        "word",
        "rest of a word",
        "number",
        "number",
        "single sign",
        "single sign",
        "reserved",
        "single sign",
    ]
