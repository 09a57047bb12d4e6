"""What is said of a picture to those who do not see it: it holds to the numbers, whatever the picture."""

import inspect
import json

import numpy as np
import plotly.graph_objects as go
import pytest

from explorer.attention import pictures as attention_pictures
from explorer.corpus.pictures import head_atlas, layers
from explorer.fill_mask import pictures as masked_lm
from explorer.finetune.pictures import results, training
from explorer.inside_head import pictures as inside_pictures
from explorer.model_card import pictures as model_pictures
from explorer.page.components import PlotlyChart
from explorer.techniques.targets import Target
from explorer.ui.pictures import attention, heatmaps, hidden, maps, word_effects
from explorer.ui.pictures.alternatives import alternative, describe
from explorer.ui.pictures.attention import WeightScale

WORDS = ["[CLS]", "the", "cat", "<b>${alert(1)}", "[SEP]"]
ROWS = np.random.default_rng(1).dirichlet(np.full(5, 0.5), size=5).astype(np.float32)
ALIKE = np.corrcoef(np.random.default_rng(2).normal(size=(5, 9))).astype(np.float32)
CURVE = np.linspace(0.2, 0.8, 5)
EPOCH = dict.fromkeys(("train_loss", "held_out_loss", "train_accuracy", "held_out_accuracy", "held_out_macro_f1"), 0.5)
FIGURES = {
    attention.attention_heatmap: (ROWS, WORDS, WORDS),
    attention.difference_heatmap: (ROWS - ROWS.T, WORDS),
    attention_pictures.metric_heatmap: (ROWS, np.full((5, 5), "broad"), "entropy", (0, 1)),
    attention_pictures.sources_heatmap: (ROWS, WORDS),
    inside_pictures.position_vectors: (ROWS, np.arange(5), "key"),
    inside_pictures.position_similarity: (ALIKE, np.arange(5), "key"),
    model_pictures.parameter_bars: ({"<b>": 3, "x": 4},),
    head_atlas.offset_bars: (range(-2, 3), CURVE, (0.6, 0.1)),
    head_atlas.tag_heatmap: (np.hstack([ROWS, ROWS[:, :2]]), WORDS),
    heatmaps.similarity_heatmap: (ALIKE, WORDS),
    hidden.by_layer_heatmap: (ROWS, WORDS, 0, "norm"),
    hidden.context_lines: ([("a and b", CURVE)], "bank", [("river", CURVE)], CURVE),
    hidden.layers_heatmap: (ALIKE,),
    hidden.pooled_heatmap: (CURVE, CURVE),
    hidden.sentences_heatmap: (ALIKE, WORDS),
    hidden.vectors_heatmap: (ROWS, WORDS, 1.0),
    layers.probe_lines: (CURVE, (CURVE, CURVE), {"most frequent": CURVE}, 2),
    maps.point_map: (ROWS[:, :2], WORDS, ["x", "x", "y", "y", "y"], ["PC 1", "PC 2"], "key"),
    word_effects.attribution_bars: (WORDS, CURVE, "gradient", CURVE, "log-odds"),
    masked_lm.followed_words: (["door", "<b>"], np.stack([CURVE, CURVE], 1), np.ones((5, 2))),
    masked_lm.loss_curve: (WORDS, range(5), CURVE, WORDS),
    masked_lm.patching_heatmap: (ROWS, WORDS, "door", 0.9, 0.1),
    masked_lm.recovery_heatmap: (ROWS, ROWS, ROWS, WORDS, Target("fill_mask", 1, 0, "door", 1, "<b>")),
    masked_lm.surprise_bars: (WORDS, CURVE, WORDS, CURVE, np.arange(1, 6), range(5)),
    results.attention_shift: (ROWS,),
    results.calibration_curve: (CURVE, CURVE, np.arange(5)),
    results.confusion_matrix: (np.diag([5, 4, 3, 2, 1]), WORDS),
    results.drift_bars: (CURVE,),
    results.looks_at_answer: (ROWS, 0.1),
    results.number_scatter: (CURVE, CURVE, WORDS, "key"),
    word_effects.word_effects: (WORDS, CURVE),
    training.learning_curves: ([{"epoch": 1, **EPOCH}, {"epoch": 2, **EPOCH}], 5, 1),
    training.probe_curve: (range(5), CURVE, CURVE, CURVE, 0.5),
    training.run_curves: ([("first", CURVE), ("second", CURVE)],),
    model_pictures.weight_histogram: (CURVE, np.arange(5)),
    model_pictures.weights_heatmap: (ROWS, WORDS),
}
"""Every function that draws, and what it draws."""


def said_of(figure) -> str:
    sent = PlotlyChart().postprocess(figure)
    return (json.loads(sent) if isinstance(sent, str) else sent)["layout"]["meta"]["alt"]


def test_no_function_that_draws_is_forgotten():
    modules = {inspect.getmodule(draw) for draw in FIGURES}
    public = {
        made
        for module in modules
        for name, made in inspect.getmembers(module, inspect.isfunction)
        if made.__module__ == module.__name__
        and not name.startswith("_")
        and inspect.signature(made).return_annotation in ("go.Figure", "dict[str, object]")
    }
    drawing = {made for made in public if "axis" not in made.__name__ and made not in NO_PICTURES}
    assert drawing == set(FIGURES)


NO_PICTURES = {heatmaps.heatmap, heatmaps.colour_scale, heatmaps.root_ticks, heatmaps.outline}


@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_every_chart_holds_no_markup_and_says_what_it_shows_of_three_things_at_most(draw):
    figure = go.Figure(draw(*FIGURES[draw]))
    assert "<b>" not in figure.to_json().encode().decode("unicode_escape")
    words = said_of(figure)
    assert "Nothing" not in words
    assert any(digit in words for digit in "0123456789")
    assert words.endswith(".")
    assert not {"nan", "&lt;", "\u200b", "<br>"} & {part for part in ("nan", "&lt;", "\u200b", "<br>") if part in words}
    assert len(words) < 400


def test_the_strongest_cells_are_those_of_the_matrix_on_every_scale():
    for size, root in ((5, False), (5, True), (300, True)):
        values = np.random.default_rng(size).dirichlet(np.full(size, 0.1), size=size).astype(np.float32)
        names = [f"w{i}" for i in range(size)]
        words = said_of(attention.attention_heatmap(values, names, names, WeightScale(square_root=root)))
        places = np.argsort(-values.ravel(), kind="stable")[:3]
        named = [f"w{place // size} → w{place % size} {float(values.ravel()[place]):.3g}" for place in places]
        assert words == f"The strongest 3 of {size * size:,} (weight): {', '.join(named)}."


def test_words_of_the_person_stay_as_they_are():
    names = ["<b>", "&amp;", "the", "the"]
    words = said_of(attention.attention_heatmap(np.diag([4.0, 3.0, 2.0, 1.0]), names, names, WeightScale(unit="x")))
    assert words == "The strongest 3 of 16 (x): <b> → <b> 4, &amp; → &amp; 3, the → the 2."
    assert alternative({"data": [], "layout": {}}) == "Nothing is drawn yet."


def test_the_figure_itself_stays_and_another_value_passes_as_it_is():
    figure = go.Figure(go.Bar(x=["a"], y=[1]))
    describe(figure)
    assert figure.layout.meta is None
    assert describe({"text": "x"}) == {"text": "x"}
