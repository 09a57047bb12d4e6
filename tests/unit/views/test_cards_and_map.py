"""Cards, the map beside them, and what a result is said to be worth."""

import re
from base64 import b64encode
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.resampling import wilson
from explorer.core.errors import InputError
from explorer.core.limits import CARDS
from explorer.export import links
from explorer.export.place import Place
from explorer.finetune import outcome
from explorer.finetune.cards import CONTRADICTION, DOUBLE, NAMELESS, STARTER, TWICE, cards_of, find_faults
from explorer.finetune.compute import store
from explorer.finetune.compute.finetune import duration
from explorer.finetune.examples import ExamplesView
from explorer.finetune.outcome import Outcome
from explorer.finetune.pictures import explain_map, map_of
from explorer.finetune.recipe import KINDS, OWN, PRESETS, Recipe, defaults
from explorer.finetune.runs import learn
from explorer.finetune.sources import size_of
from explorer.finetune.tab import TAB
from explorer.finetune.try_it import TryIt
from explorer.finetune.verdict import cost, judge, next_step
from explorer.training.examples import Examples
from explorer.ui.pictures.bars import percent
from tests.waiting import drain


def test_cards_come_back_as_they_were_made_and_nothing_else_does():
    given = [["zebra", ["One.", "Two."]], ["ant", []]]
    assert cards_of(given) == (("zebra", ("One.", "Two.")), ("ant", ()))
    for wrong in (None, 4, [], [["a"]], [["a", "b"]], [[1, []]], [["a", [1]]], "x"):
        assert cards_of(wrong) == STARTER
    assert len(cards_of([["a", []]] * 40)) == CARDS.most
    (name, lines), *_ = cards_of([["n" * 500, ["x" * 30_000] * 200], ["b", []]])
    assert len(name) == 100
    assert sum(map(len, lines)) <= 1_000_000


def test_faults_are_found_in_place():
    cards = (("a", ("One.", "one. ", "Two.", " ")), ("b", ("two.",)), ("", ("Three.",)), ("A ", ()))
    found = {(fault["card"], fault["line"]): fault["text"] for fault in find_faults(cards)}
    assert found == {
        (0, 0): DOUBLE,
        (0, 1): DOUBLE,
        (0, 2): CONTRADICTION,
        (1, 0): CONTRADICTION,
        (2, -1): NAMELESS,
        (3, -1): TWICE,
    }
    assert find_faults(STARTER) == []


def test_the_order_of_the_cards_goes_through_training_saving_and_links(subject):
    turned = tuple(reversed(STARTER))
    view = ExamplesView(classes=turned)
    examples, _ = view.examples()
    assert examples.classes == ["food", "vehicle", "animal"]
    run = store.keep(learn(subject.model_name, examples, view.title(examples)))
    store._read.clear()
    assert store.fetch(run.id).predictor.labels == ("food", "vehicle", "animal")
    assert map_of(store.fetch(run.id))["classes"] == ["food", "vehicle", "animal"]
    query = links.query(Place(subject, "fine-tune", "Train", (view, TryIt())))
    back = links.views_of(query, TAB, "Train", subject.model.capabilities)
    assert next(one for one in back if type(one) is ExamplesView).classes == turned


def test_a_mistake_is_marked_in_its_card_and_ringed_in_the_map_where_it_lies(subject, opened):
    held = opened.held_out
    shown = ExamplesView().compute(subject)["cards"]
    wrong = [STARTER[one["card"]][1][one["line"]] for one in shown["wrong"]]
    assert wrong == [text for text, right, said in zip(held.texts, held.targets, held.said, strict=True) if right != said]
    drawn = map_of(opened)
    assert [point["text"] for point in drawn["points"] if point["ring"]] == wrong
    regions = drawn["regions"]
    for point, said in zip(drawn["points"], held.said, strict=True):
        scores = np.array(regions["origin"]) + np.array([point["x"], point["y"]]) @ np.array(regions["directions"])
        assert scores.argmax() == said


def test_the_sentence_that_is_tried_is_a_star_in_its_region_and_its_words_pull(subject):
    shown = TryIt().compute(subject)["map"]
    star, regions = shown["star"], shown["regions"]
    scores = np.array([star["x"], star["y"]]) @ np.array(regions["directions"])
    assert shown["classes"][scores.argmax()] == "animal"
    assert star["pulls"][0]["word"] == "eagle"
    film = TryIt().on_slow_motion(subject, None).content["map"]
    assert np.abs(film["frames"][0]["places"]).max() == 0
    assert film["frames"][-1]["places"] == [[point["x"], point["y"]] for point in film["points"]]
    assert film["frames"][-1]["text"].startswith("The end, solved directly: 17 of 18")


def test_layers_that_are_trained_move_the_points_epoch_by_epoch(subject, monkeypatch):
    monkeypatch.setattr(outcome, "EVERY", 0)
    shown, change = drain(Outcome(preset=OWN, layers=1, pooling="cls", epochs=3, rate=2e-4, batch=8).on_train(subject, None))
    moving = [content["map"]["value"] for content in shown if "map" in content]
    axes = {tuple(content["curves"].layout.xaxis.range) for content in shown if "curves" in content}
    assert axes == {(0.5, 3.5)}, "all epochs to come have room"
    store._read.clear()
    run = store.fetch(change.settings["run"])
    film = map_of(run)["frames"]
    assert len(film) == 4
    assert film[0]["places"] != film[1]["places"]
    losses = [float(re.search(r"loss ([\d.]+),", frame["text"])[1]) for frame in film[:-1]]
    np.testing.assert_allclose(losses, [row["held_out_loss"] for row in run.history], atol=0.006)
    places = [[[point["x"], point["y"]] for point in one["points"]] for one in moving]
    assert places == [frame["places"] for frame in film[:-1]], "and while they learn"
    points, learned = map_of(run)["points"], run.learned
    assert [point["text"] for point in moving[0]["points"]] == [point["text"] for point in points]
    assert {point["text"]: point["faint"] for point in points} == {
        **dict.fromkeys(run.held_out.texts, False),
        **dict.fromkeys(learned.texts, True),
    }
    assert sorted(point["text"] for point in points) == sorted(line for _, lines in STARTER for line in lines)
    own = run.predictor.classify(subject.model, learned.pairs)
    np.testing.assert_allclose(learned.probabilities, own, atol=1e-5)
    np.testing.assert_allclose(learned.epochs[-1], own, atol=1e-5)  # the last epoch is kept
    assert "held out, a fifth" in ExamplesView(run=run.id).compute(subject)["about"], "not what is said of a head alone"


def test_the_map_says_what_its_directions_are(subject, opened):
    assert "the three logits" in explain_map(opened)
    held = replace(opened.held_out, probabilities=np.full((18, 2), 0.5, np.float32), targets=np.zeros(18, np.int64))
    two = replace(opened, predictor=replace(opened.predictor, labels=("a", "b")), held_out=held)
    assert "the height has no meaning" in explain_map(two)


def test_the_result_has_its_interval_and_what_needs_no_bert(subject, opened):
    low, high = wilson(17, 18)
    said, interval = judge(opened), f"{100 * low:.0f}% to {100 * high:.0f}%, 95% interval"
    assert said.startswith(f"17 of 18 sentences are right when left out of the training ({interval}). ")
    assert said.endswith(f"Guessing one class: 33%; counting words: {opened.baselines['bag of words']:.0%}.")
    assert Outcome().finding(subject).text == said


def test_the_next_step_is_proposed_with_its_cost_and_trains_what_it_says(subject, opened):
    model = subject.model.capabilities
    step = next_step(opened, model)
    assert step.settings["layers"] == 2
    plan = Recipe(**step.settings).plan(subject.model)
    assert (plan.layers_trained, plan.layer, plan.pooling) == (2, 6, "cls")
    assert plan.settings.fill_in(18, 2).epochs * 1 >= 100 / 2, "few examples need many epochs"
    shown = Outcome(run=opened.id).compute(subject)
    assert (
        shown["next_step"]["value"]
        == f"Next: {step.text} ({duration(cost(model, plan, *size_of(ExamplesView().examples()[0])))})"
    )
    assert shown["train"]["visible"] is False, "there is no button for what is instant"
    assert Outcome(run=opened.id, layers=1).compute(subject)["train"]["visible"]
    by_pooler = replace(opened, predictor=replace(opened.predictor, pooling="pooler"))
    assert next_step(by_pooler, model).settings["pooling"] == "mean"
    for trained, then in ((2, 6), (6, None)):
        after = next_step(replace(opened, settings={**opened.settings, "layers_trained": trained}), model)
        assert (after and after.settings["layers"]) == then


@pytest.mark.parametrize("preset", [*PRESETS, OWN])
@pytest.mark.parametrize("layers", [0, 1, 6])
@pytest.mark.parametrize("kind", KINDS)
def test_every_preset_at_every_depth_trains_what_it_says(subject, preset, layers, kind):
    view = replace(Recipe(kind=kind, **defaults(kind, subject.model.capabilities)), layers=layers, layer=6)
    settings = view.on_preset(subject, preset).settings
    plan = replace(view, **settings).plan(subject.model)
    assert plan.pooling in KINDS[kind].poolings
    if preset == OWN:
        typed = Recipe(kind=kind, **{**defaults(kind, subject.model.capabilities), "layers": layers})
        shown = replace(typed, **typed.on_layers(subject, layers).settings).plan(subject.model)
        assert shown.layers_trained == plan.layers_trained == layers
        return
    epochs, rate, batch = PRESETS[preset]
    assert (plan.settings.epochs, plan.settings.learning_rate, plan.settings.batch_size) == (epochs, rate, batch)
    assert plan.layers_trained == (0 if preset.startswith("Head only") else layers or 6)
    shown = settings.get("layers", layers)
    assert shown == plan.layers_trained, "the page shows the number of layers that it trains"


def test_many_sentences_are_a_table_of_labels_and_of_words_that_decided(subject, opened, refusal):
    view = TryIt(many="A cat slept.\n\nThe bus is late.")
    rows = view.compute(subject)["table"]
    assert [row[:2] for row in rows] == [["A cat slept.", "animal"], ["The bus is late.", "vehicle"]]
    assert "cat" in rows[0][3]
    (pair,) = TryIt(many="A cat slept. ‖ It was tired.").compute(subject)["table"]
    shares = opened.predictor.classify(subject.model, [("A cat slept.", "It was tired.")])
    assert pair[2] == percent(float(shares.max())), "the line of a pair is read as one"
    assert "table" not in TryIt().compute(subject)
    offered = TryIt().on_offer(subject, None).settings["many"]
    assert len(offered.splitlines()) == 6
    refusal(InputError, lambda: TryIt(many="x\n" * 300).compute(subject))


def test_a_model_with_a_name_for_the_same_class_twice_is_one_class():
    examples = Examples(("a", "b", "c", "d"), ("x", "y", "x", "y"), order=("y", "x"))
    assert examples.classes == ["y", "x"]
    assert examples.targets.tolist() == [1, 0, 1, 0]
    assert examples.draw(2).order == ("y", "x")


def dropped(subject, cards, text, name="", card=0):
    """The cards after a file was dropped on one, or, without a name, a table was pasted there; and what was left out."""
    content = "data:text/csv;base64," + b64encode(text if isinstance(text, bytes) else text.encode()).decode()
    change = ExamplesView().on_cards(subject, {"cards": cards, "card": card, "name": name, "content": content})
    return change.settings["classes"], change.content.get("read_as", "")


def test_a_table_goes_into_the_cards_by_its_labels_as_a_file_is_read(subject, refusal):
    empty, sheet = (("", ()), ("", ())), "I love it\tgood\nI hate it\tbad\nBest day ever\tgood\nWhat a mess\tbad"
    cards = (("good", ("I love it", "Best day ever")), ("bad", ("I hate it", "What a mess")))
    fewer = (cards[0], ("bad", ("I hate it",)))
    assert dropped(subject, empty, sheet) == (cards, "")
    assert dropped(subject, empty, sheet.rpartition("\n")[0]) == (fewer, "")
    assert dropped(subject, empty, sheet.removesuffix("bad")) == (fewer, "1 row without a text or a label left out.")
    table = b'label,text\nGood,"Yes,\np\xe8re"\nnone,It is six.\nnone,A table.\ngood,Hurray!\n'
    more, _ = dropped(subject, cards, table, "table.csv")
    assert more == (("good", (*cards[0][1], "Yes, père", "Hurray!")), cards[1], ("none", ("It is six.", "A table.")))
    for text, name in (('{"text": "Well, one."}\n{"text": "Well, two."}', "x.jsonl"), ("Well, one.\n\nWell, two.", "x.txt")):
        assert dropped(subject, cards, text, name, card=1)[0][1][1][2:] == ("Well, one.", "Well, two.")
    many = "sentence\tlabel\n" + "".join(f"This is {i}.\tl{i % 9}\n" for i in range(60))
    most = "sentence\tlabel\n" + "".join(f"It is {i}.\tl{i % 15_000}\n" for i in range(30_000))
    pairs = "premise,hypothesis,label\nA,B,x\nC,D,y"
    for text, name in ((many, ""), (most, ""), (pairs, "x.csv"), (bytes(256), "x"), ("", "x.csv")):
        refusal(InputError, lambda text=text, name=name: dropped(subject, cards, text, name))
    refusal(InputError, lambda: ExamplesView().on_cards(subject, {"cards": cards, "name": "x.csv", "content": ",no"}))
