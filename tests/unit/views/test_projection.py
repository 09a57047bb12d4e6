"""What the Projection tab computes, and what it does not compute again."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from explorer.bert.features import features
from explorer.core.errors import InputError
from explorer.core.limits import CARDS, TEXTS
from explorer.experiments.compute.items import items_from_lines
from explorer.experiments.new import NewExperiment
from explorer.finetune.tab import TAB as TRAIN
from explorer.projection.map import Map
from explorer.projection.points import EXAMPLE_SETS, FEW_LABELS, SENTENCES, WORDS, lines_of_file
from explorer.text.lines import NO_LABEL, read_lines
from explorer.text.tables import Table
from explorer.ui.pictures.numbers import numbers_of
from explorer.ui.subject import Subject


def table_of(rows):
    return Table(tuple(rows[0]), tuple(tuple(row.values()) for row in rows), "")


ROWS = [{"id": str(i), "text": f"milk {i} {'the cat ' * (i % 5)}", "label": "ab"[i % 2]} for i in range(300)]
DEFAULTS = {"source": SENTENCES, "layer": 2, "sentences": lines_of_file(table_of(ROWS))}


@pytest.fixture
def subject(tiny_folder):
    return Subject(str(tiny_folder), "The man went.", "She was happy.")


TWICE = "The cat sat.\nA dog ran.\nThe cat sat.\nShe bought milk.\nHe went to the store.\nThe cat sat.\nIt was slow."


@pytest.mark.parametrize(
    ("method", "dimensions", "labels"), [("pca", 2, " | a"), ("pca", 3, ""), ("umap", 3, " | a"), ("tsne", 2, "")]
)
def test_equal_sentences_are_one_place_with_a_count(method, dimensions, labels, subject):
    lines = [f"{line}{labels and labels[:-1] + 'ab'[number % 2]}" for number, line in enumerate(TWICE.split("\n"))]
    settings = {"source": SENTENCES, "sentences": "\n".join(lines), "method": method, "dimensions": dimensions, "neighbors": 2}
    view = Map.read(DEFAULTS | settings, subject.model.capabilities)
    shown = view.compute(subject)
    assert (shown["map"] is None) == (dimensions == 3) == (shown["chart"] is not None)
    table = numbers_of(shown["map"] or shown["chart"])  # what is exported
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    cats = [row for row in rows if row["text"] == "The cat sat."]
    assert [row["times"] for row in cats] == [3, 3, 3]
    assert len({tuple(row[axis] for axis in "xyz"[:dimensions]) for row in cats}) == 1
    assert len({tuple(row[axis] for axis in "xyz"[:dimensions]) for row in rows}) == 5
    if dimensions == 3:
        *groups, _ = shown["chart"].data
        assert sorted(name for group in groups for name in group.text).count("The cat sat. (3 times)") == 3
    else:
        exported = {row["text"]: (row["x"], row["y"]) for row in rows}
        drawn = {point["text"].removesuffix(" (3 times)"): (point["x"], point["y"]) for point in shown["map"]["points"]}
        assert drawn == {text: pytest.approx(place, abs=1e-4) for text, place in exported.items()}
        assert shown["map"]["points"][0]["text"] == "The cat sat. (3 times)"
    assert "7 points at 5 places" in shown["summary"]
    finding = view.finding(subject).text
    assert "“The cat sat.” and “The cat sat.”" not in finding
    assert "different points" in finding or not labels
    picked = Map.read(DEFAULTS | settings | {"picked": ((1,), shown["drawn"])}, subject.model.capabilities).compute(subject)
    assert [row["text"] for row in picked["nearest"]["rows"]].count("The cat sat. (3 times)") == 1
    assert len(picked["nearest"]["rows"]) == 4


def told(subject, **settings):
    """What is shown of a map of these settings."""
    shown = Map.read(DEFAULTS | settings, subject.model.capabilities).compute(subject)
    assert set(shown) <= set(Map.names)
    return shown


def test_the_list_and_the_lines_of_a_clicked_point_are_scikit_learns_neighbours(subject, tiny):
    texts = [row["text"] for row in ROWS[:40]]
    settings = {"source": SENTENCES, "sentences": "\n".join(texts)}
    key = told(subject, **settings)["drawn"]
    screen = told(subject, **settings, picked=((7,), key))
    shown, listed = screen["map"], [row["index"] for row in screen["nearest"]["rows"]]
    vectors = features(tiny, texts, 2)
    distances, rows = NearestNeighbors(n_neighbors=9, metric="cosine").fit(vectors).kneighbors(vectors[7:8])
    drawn = {shown["points"][link["end"]]["index"]: float(link["text"]) for link in shown["links"]}
    assert {link["start"] for link in shown["links"]} == {shown["picked"]}
    assert (listed, list(drawn)) == (rows[0, 1:].tolist(), rows[0, 1:6].tolist())
    np.testing.assert_allclose(list(drawn.values()), 1 - distances[0, 1:6], atol=0.0051)
    for gone in (((7,), "other points"), ([len(texts)], key)):
        assert told(subject, **settings, picked=gone)["nearest"] is None
    many = "\n".join(row["text"] for row in ROWS[:61])
    assert told(subject, source=SENTENCES, sentences=many)["map"]["links"] == []


def test_a_word_that_is_there_twice_is_told_apart_by_its_sentence(tiny_folder):
    words = told(Subject(str(tiny_folder), "The man went to the store.", "She <b>was</b> happy."), source=WORDS)["map"]
    contexts = {tuple(point["context"]) for point in words["points"] if point["text"] == "the"}
    assert contexts == {("", " man went…"), ("…went to ", " store.")}
    assert [point["context"] for point in words["points"] if point["text"] == "store"] == [("", "")]


MORE = [{**row, "text": f"{row['text']} {number}"} for number, row in enumerate([*ROWS, *ROWS[:10]])]
LINES = "\n".join(f"{row['text']} | {'ab'[number < 20]}" for number, row in enumerate(ROWS[:40]))


def test_one_map_has_every_layer_and_says_how_many_have_their_own_label_next_to_them(subject, tiny):
    shown = told(subject, source=SENTENCES, sentences=LINES, layer=1)["map"]
    assert (len(shown["frames"]), shown["frame"]) == (tiny.capabilities.layers + 1, 1)
    places = [[point["x"], point["y"]] for point in shown["points"]]
    np.testing.assert_allclose(shown["frames"][1]["places"], places, atol=1e-4)
    texts = [row["text"] for row in ROWS[:40]]
    for layer, frame in enumerate(shown["frames"]):
        vectors = features(tiny, texts, layer)
        near = NearestNeighbors(n_neighbors=2, metric="cosine").fit(vectors).kneighbors(vectors)[1][:, 1]
        right = sum((row < 20) == (other < 20) for row, other in enumerate(near))
        assert frame["text"].startswith(f"Hidden state {layer} of {tiny.capabilities.layers}: {right} of 40 nearest")
    view = Map()
    assert view.on_map_frame(subject, 2).settings == {"layer": 2}


def test_many_points_are_columns_and_umap_begins_as_pca(subject):
    many = told(subject, **Map().on_table(subject, table_of(MORE)).settings)["map"]
    assert many["points"] == []
    assert many["cloud"]["texts"] == [row["text"].replace("  ", " ").strip() for row in MORE]
    assert many["cloud"]["rows"] == list(range(len(MORE)))
    settings = {"source": SENTENCES, "sentences": LINES, "method": "umap", "neighbors": 5}
    view = Map.read(DEFAULTS | settings, subject.model.capabilities)
    first = view.waiting(subject)
    assert "PCA, the directions" in first["summary"]
    assert "UMAP keeps" in view.compute(subject)["summary"]
    again = Map.read(DEFAULTS | settings | {"drawn": first["drawn"]}, subject.model.capabilities)
    assert again.waiting(subject) == {}, "the points that are there already wait for their new places"


def test_a_lasso_selects_lists_and_labels(subject):
    key = told(subject, source=SENTENCES, sentences=LINES)["drawn"]
    view = Map.read(DEFAULTS | {"source": SENTENCES, "sentences": LINES, "drawn": key}, subject.model.capabilities)
    chosen = view.on_map_lasso(subject, [3, 1, 2]).settings["picked"]
    shown = told(subject, source=SENTENCES, sentences=LINES, picked=chosen)
    assert sorted(row["index"] for row in shown["nearest"]["rows"]) == [1, 2, 3]
    assert [point["index"] for point in shown["map"]["points"] if not point["faint"]] == [1, 2, 3]
    assert view.on_map_lasso(subject, "<b>").settings["picked"] == ((), "")
    labelled = Map.read(
        {"source": SENTENCES, "sentences": LINES, "picked": chosen, "naming": " a|b "}, subject.model.capabilities
    )
    lines = labelled.on_label(subject, None).settings["sentences"].split("\n")
    assert [line.rpartition(" | ")[2] for line in lines[:5]] == ["b", "a b", "a b", "a b", "b"]
    with pytest.raises(InputError):
        view.on_label(subject, None)


def sent(subject, lines, **changed):
    """Train's view of the examples, as a click on *Send to Train* opens it."""
    view = Map.read({"source": SENTENCES, "sentences": lines, **changed}, subject.model.capabilities)
    why = view.on_send(subject, None)
    assert (why.tab, TRAIN.choices[why.choice]) == (TRAIN.id, TRAIN.choices["Train"])
    first = next(view for view in TRAIN.views if view.name == "fine-tune/examples")
    return first.read({"source": "Built in", "kind": "words", **why.settings}, subject.model.capabilities)


def test_train_opens_with_the_selected_sentences_as_its_classes(subject):
    lines = "The cat sat. | pet\nShe bought milk. | shop\nIt rained.\nA dog ran. | pet\nHe paid. | shop"
    everything = (("pet", ("The cat sat.", "A dog ran.")), ("shop", ("She bought milk.", "He paid.")))
    assert sent(subject, lines).classes == (everything[0], everything[1], ("unlabelled", ("It rained.",)))
    key = told(subject, source=SENTENCES, sentences=lines)["drawn"]
    examples, _ = sent(subject, lines, picked=((0, 1, 3, 4), key)).examples()
    assert list(examples.pairs) == [(text, "") for _, texts in everything for text in texts]
    assert tuple(examples.labels) == ("pet", "pet", "shop", "shop")
    assert len(sent(subject, lines, picked=((2,), key)).classes) == len(sent(subject, lines, picked=((0, 1), "old")).classes) == 3
    back = Map.read(sent(subject, lines).on_mapped(subject, None).settings, subject.model.capabilities)
    assert read_lines(back.sentences) == (
        ["The cat sat.", "A dog ran.", "She bought milk.", "He paid.", "It rained."],
        ["pet", "pet", "shop", "shop", "unlabelled"],
    )
    with pytest.raises(InputError, match="needs two labels") as refused:
        sent(subject, lines, picked=((0, 3), key))
    assert str(refused.value) == FEW_LABELS
    with pytest.raises(InputError, match="7 labels"):
        sent(subject, "\n".join(f"It is {number}. | {number}" for number in range(CARDS.most + 1)))


def test_a_file_becomes_lines_with_its_labels():
    rows = [
        {"id": "1", "text": "A | b\nc", "label": "x"},
        {"id": "2", "text": " ", "label": "y"},
        {"id": "3", "text": "d", "label": ""},
    ]
    assert lines_of_file(table_of(rows)) == "A b c | x\nd"
    rows = [{"on": "Mon Apr 06 22:19:45 PDT", "Tweet Content": f"It is {n} now.", "my_label": "ab"[n % 2]} for n in range(4)]
    assert lines_of_file(table_of(rows)).startswith("It is 0 now. | a")
    many = lines_of_file(table_of([{"text": f"It is {number}."} for number in range(TEXTS.most + 9)])).split("\n")
    assert len(set(many)) == TEXTS.most
    assert Map().on_table(None, None).settings == {"table": None, "picked": ((), "")}


def test_every_example_is_lines_with_labels():
    for name in EXAMPLE_SETS:
        texts, labels = read_lines(Map().on_example(None, name).settings["sentences"])
        assert len(texts) > 7, name
        assert 1 < len(set(labels)) < 20, name
        assert NO_LABEL not in labels, name


def test_sentences_become_the_items_of_an_experiment(subject):
    lines = "The cat sat.\nA * dog ran.\nShe bought milk.\nHe went."
    view = Map(sentences=lines)
    drawn = view.compute(subject)["drawn"]
    for settings, words in (({}, ["cat", "milk", "went"]), ({"search": "She", "picked": ((0, 2), drawn)}, ["cat", "she"])):
        opened = replace(view, **settings).on_test(subject, None)
        items = items_from_lines(opened.settings["typed"])
        assert [item.word.lower() for item in items] == words
        assert {item.text_a.replace("[MASK]", item.word).lower() for item in items} <= {*lines.lower().split("\n")}
        experiment = NewExperiment.read(dict(opened.settings), subject.model.capabilities)
        assert experiment.items == items
    with pytest.raises(InputError, match="two sentences or more"):
        replace(view, sentences="The cat sat.").on_test(subject, None)
