"""The views of Fine-tune, on the bundled model and without the page."""

import re
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest
import sklearn.metrics

from explorer.core import downloads, jobs
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.export import links
from explorer.export.place import Place
from explorer.finetune import runs as runs
from explorer.finetune.cards import STARTER, TASKS
from explorer.finetune.compute import store
from explorer.finetune.examples import ExamplesView
from explorer.finetune.outcome import Outcome
from explorer.finetune.recipe import FILE, FIT_PRESET, HUB, KINDS, PRESETS, READY, TEXTS, TYPED, WORDS, KnownTasks, Recipe
from explorer.finetune.result import Probe, Result, tell
from explorer.finetune.runs import Runs, run_id, run_ids
from explorer.finetune.tab import TAB
from explorer.finetune.try_it import TryIt, samples_of
from explorer.finetune.verdict import hardly_learned, summary
from explorer.text.corpora import Corpus
from explorer.text.tables import Table, parse_table
from explorer.text.tagged import Sentence
from explorer.training.examples import ScoredExamples
from explorer.training.probe import LayerProbe
from explorer.ui.pictures.numbers import numbers_of


def read(view, subject, **given):
    return view.read(given, subject.model.capabilities)


def test_without_a_text_there_is_a_run_and_nothing_of_it_goes_into_a_link(subject, opened):
    for view in TAB.views:
        assert read(view, subject, **view().list_changes()) == view()
    for view in (Outcome, TryIt, Result, Runs):
        assert (view().unless(subject), view().compute(subject)["run"]) == ("", opened.id)
        assert read(view, subject, run=opened.id, runs=[opened.id]).list_changes() == {}


def test_what_a_browser_remembers_is_an_id_or_nothing(subject):
    assert read(Outcome, subject, run="A" * 22).run == "A" * 22
    for known in (None, "x", 5, ["A" * 22], "../" + "A" * 19, "A" * 23):
        assert read(Outcome, subject, run=known, training=known).run is None
        assert run_ids([known, "B" * 22, "B" * 22]) == ("B" * 22,)
        assert run_ids(known) == (("A" * 22,) if known == ["A" * 22] else ())


@pytest.mark.parametrize("name", KINDS[TEXTS].sets)
def test_every_built_in_set_is_described(subject, name):
    view = read(ExamplesView, subject, source=READY, ready=name)
    examples, _ = view.examples()
    shown = view.compute(subject)
    assert shown["about"].startswith(f"{len(examples):,} ")
    assert view.title(examples) == KINDS[TEXTS].sets[name].split(":")[0]
    if name != "similarity":  # a number, which has no classes
        rows = shown["balance"]["groups"][0]["rows"]
        assert sum(row["share"] for row in rows) == pytest.approx(1)
        assert all(row["series"] == examples.classes.index(row["label"]) % 8 + 1 for row in rows), "its colour on the map"
    assert "preview" not in shown


@pytest.mark.parametrize("name", TASKS)
def test_a_known_task_opens_its_kind_with_a_set_of_it(subject, name):
    change = KnownTasks().on_task(subject, name)
    assert change.settings["ready"] in KINDS[change.settings["kind"]].sets
    views = {setting: view for view in TAB.views for setting in view.settings}
    for setting, value in change.settings.items():
        assert views[setting].settings[setting].check(value, setting, subject.model.capabilities) == value
    told = read(KnownTasks, subject, task=name).compute(subject)["about"]
    assert re.search(r": .* → .* \(.* (19|20)\d\d\)\. Chosen: ", told)
    assert KnownTasks().compute(subject) == {"about": ""}


def cards(*changed, start=STARTER):
    """The opening cards, with (number from 1, name, lines) in place of some, or after them."""
    made = [list(card) for card in start]
    for number, name, lines in changed:
        made[number - 1 : number] = [[name, list(lines)]]
    return made


def test_typed_classes_are_examples_once_they_have_names(subject, refusal):
    view = ExamplesView()
    assert view.source == TYPED
    assert view.compute(subject)["about"].startswith("18 sentences")
    refusal(InputError, read(ExamplesView, subject, classes=cards((4, "", ["What time is it?"]))).examples)
    lines = [f"Question {number}?" for number in range(2_000)]  # more characters than one text may have
    named = read(ExamplesView, subject, classes=cards((4, "question", lines)))
    examples, _ = named.examples()
    assert examples.counts == {"animal": 6, "vehicle": 6, "food": 6, "question": 2_000}
    assert named.title(examples) == "animal / vehicle / food / question"


def typed(subject, before=None, **given):
    """The view after something was typed, and what is seen of it."""
    before = before or ExamplesView()
    view = replace(read(ExamplesView, subject, **given), run=before.run, of=before.of)
    shown = view.compute(subject)
    return replace(view, run=shown["run"], of=shown["of"]), shown


def beside(kind, view, **given):
    """Another view of the page on which the examples are those of `view`."""
    return kind(**{**{name: getattr(view, name) for name in ExamplesView.settings}, **given})


def verdict(subject, view, **given):
    shown = beside(TryIt, view, **given).compute(subject).get("verdict")
    return shown and {row["label"]: row["share"] for row in shown["groups"][0]["rows"]}


def test_every_line_that_is_typed_moves_the_answer_at_once(subject, opened):
    assert ExamplesView().compute(subject)["run"] == opened.id
    first = verdict(subject, ExamplesView())
    view, _ = typed(subject, classes=cards((1, "animal", [*STARTER[0][1], "A hawk flew over the valley."])))
    more = verdict(subject, view)
    assert more["animal"] > first["animal"] > 0.6
    assert "of 19 sentences are right when left out of the training" in beside(Outcome, view).finding(subject).text
    back, _ = typed(subject, view)
    assert verdict(subject, back) == first


def test_nothing_learnt_of_other_examples_stays_beside_new_ones(subject, opened):
    view, _ = typed(subject, source=READY, ready="spam")
    assert verdict(subject, view) is None
    assert "Press Train" in beside(Outcome, view).compute(subject)["status"]
    nothing, shown = typed(subject, source=FILE)
    assert "Choose a file" in shown["about"]
    assert verdict(subject, nothing) is None
    same, _ = typed(subject, nothing, classes=cards((1, "animal", ["One text.", "one  TEXT."])))
    assert verdict(subject, same) is None
    many, _ = typed(subject, classes=cards((1, "animal", [f"Animal {number}." for number in range(100)])))
    assert verdict(subject, many) is None, "so many wait for Train"
    trained = replace(nothing, run=store.keep(replace(opened, id="")).id)
    assert verdict(subject, trained)
    words = Corpus("mine", (Sentence(("Ada", "sings"), ("B-PER", "O")), Sentence(("O", "Oslo"), ("O", "B-LOC"))))
    for given in ({"source": FILE, "file": words}, {"source": READY, "ready": "parts_of_speech"}, {"tagged_lines": "a/B c"}):
        view, shown = typed(subject, kind=WORDS, **given)
        assert (shown["run"], beside(Outcome, view).finding(subject)) == (None, None)


def test_what_is_tried_fits_the_classes(subject):
    own = [[name, [f"{name} {word}" for word in ("now", "again", "for ever")]] for name in ("joy", "anger", "fear")]
    view, _ = typed(subject, classes=own)
    shown = beside(TryIt, view).compute(subject)
    assert (shown["tried"]["value"], shown.get("verdict")) == ("", None)
    assert "joy, anger, fear" in shown["tried"]["placeholder"]
    assert verdict(subject, view, tried="What joy!")["joy"] > 0.5, "a sentence of the person's own stays"
    renamed, _ = typed(subject, classes=cards((3, "meal", STARTER[2][1])))
    assert "value" not in beside(TryIt, renamed).compute(subject)["tried"]
    sentiment, _ = typed(subject, source=READY)
    shown = beside(TryIt, sentiment).compute(subject)
    assert shown["tried"]["value"] in dict(shown["sample"]["choices"]).values()
    assert "six tweets" in shown["offer"]
    tweets = beside(TryIt, sentiment).on_offer(subject, None).settings["many"].splitlines()
    rows = beside(TryIt, sentiment, many="\n".join(tweets)).compute(subject)["table"]
    assert [row[1] for row in rows] == ["positive", "negative", "positive", "negative", "neutral", "neutral"]


def test_the_opening_is_right_sure_and_for_the_right_words(subject):
    for view, label, word in ((ExamplesView(), "animal", "eagle"), (typed(subject, source=READY)[0], "positive", "happy")):
        run = beside(Outcome, view).find(subject)
        pair = samples_of(run)[0]
        found = run.predictor.decide(subject.model, pair)
        assert run.predictor.labels[found.best] == label
        assert found.probabilities.max() > 0.8
        assert found.words[found.effects.argmax()] == word


def test_a_table_is_guessed_shown_and_put_away(subject):
    assert "hoose" in ExamplesView(source=FILE).compute(subject)["about"]
    rows = tuple((f"{label} {number}", label) for label in ("good", "bad") for number in range(4))
    view = read(ExamplesView, subject, source=FILE, file=Table(("text", "label"), rows, "8 rows."))
    guessed = view.on_file(subject, view.file).settings
    assert guessed == {"text_column": "text", "label_column": "label", "second_column": "(none)", "labels_are": ""}
    chosen = read(ExamplesView, subject, source=HUB, file=view.file, **guessed)
    assert len(chosen.examples()[0]) == 8
    shown = chosen.compute(subject)
    assert shown["preview"]["value"]["headers"] == ["text", "label"]
    assert shown["label_column"]["choices"] == ["text", "label"]
    away = {**guessed, **view.on_source(subject, READY).settings}
    assert away["file"] is None
    assert read(ExamplesView, subject, **away).examples()


def test_the_guess_is_stated_and_the_kind_is_one_click(subject):
    rows = "a good day\t3\n" + "".join(f"a text number {row}\t{row % 2 + 4}\n" for row in range(12))
    view = read(ExamplesView, subject, source=FILE, file=parse_table(rows.encode()))
    chosen = read(ExamplesView, subject, source=FILE, file=view.file, **view.on_file(subject, view.file).settings)
    shown = chosen.compute(subject)
    assert "The first row is data" in shown["read_as"]
    assert "'column 2' (it has 3 different values)" in shown["read_as"]
    assert isinstance(replace(chosen, labels_are="number").examples()[0], ScoredExamples)
    refused = replace(chosen, text_column="column 2", label_column="column 1", labels_are="number")
    assert "aren't numbers" in refused.compute(subject)["about"]
    assert refused.compute(subject)["label_column"]["choices"], "the way out"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_trains_what_it_names(subject, preset):
    """In the page, and where a link or a program names the preset alone."""
    model, before = subject.model, read(Recipe, subject, layers=2, preset=FIT_PRESET)
    chosen = Recipe(**{"layers": 2, **before.on_preset(subject, preset).settings}).plan(model)
    named, own = (read(Recipe, subject, preset=preset, **more).plan(model) for more in ({}, {"epochs": 7}))
    epochs, rate, batch = PRESETS[preset]
    for plan, trained in ((chosen, 2), (named, 6)):
        assert (plan.settings.epochs, plan.settings.learning_rate, plan.settings.batch_size) == (epochs, rate, batch)
        assert plan.layers_trained == (0 if preset.startswith("Head only") else trained)
    assert own.settings.epochs == 7


@pytest.mark.parametrize("kind", [TEXTS, WORDS])
def test_a_head_that_learned_nothing_has_no_score_beside_equal_shares(subject, opened, kind):
    run = Outcome(kind=kind).find(subject)
    held = run.held_out
    labels = held.probabilities.shape[1]
    even = np.full_like(held.probabilities, 1 / labels)
    even[np.arange(len(held.targets)), held.targets] += 1e-3  # right each time, and sure of nothing
    unsure = replace(run, held_out=replace(held, probabilities=even))
    assert "nearly equal shares" in hardly_learned(unsure)
    assert not re.search(r"accuracy|right|100", hardly_learned(unsure) + summary(unsure))
    assert hardly_learned(run) == ""


def test_the_plan_is_what_the_page_says(subject):
    plan = Recipe().plan(subject.model)
    assert (plan.layer, plan.pooling, plan.layers_trained, plan.keep_best) == (6, "mean", 0, True)
    assert (plan.settings.epochs, plan.settings.learning_rate, plan.settings.batch_size) == (0, 0.01, 32)
    plan = read(Recipe, subject, held_out=0.5).plan(subject.model)
    assert (plan.settings.optimizer, plan.settings.held_out) == ("adam", 0.5)


def test_the_result_has_its_picture_its_scores_and_its_mistakes(subject, opened):
    shown = read(Result, subject, run=opened.id).compute(subject)
    assert {"note", "picture", "scores", "sentences"} <= set(shown) <= {*Result.names, "run", "of", "visitor"}
    held = opened.held_out
    macro = sklearn.metrics.f1_score(held.targets, held.said, average="macro")
    assert f"Macro-F1 (the mean of all classes) is {macro:.1%}" in shown["note"]


def test_a_click_in_the_confusion_matrix_lists_the_sentences_of_the_cell(subject, opened, refusal):
    view, labels = Result(run=opened.id), opened.predictor.labels
    listed = 0
    for right in range(len(labels)):
        for predicted in range(len(labels)):
            cell = view.on_picture(subject, [right, predicted]).settings
            sentences = read(Result, subject, run=opened.id, **cell).compute(subject)["sentences"]
            rows = sentences["value"]["data"]
            assert sentences["label"].endswith(f": {len(rows)}")
            assert all(row[1] == labels[right] and row[2].startswith(labels[predicted]) for row in rows)
            listed += len(rows)
    assert listed == len(opened.held_out.targets)
    refusal(InputError, lambda: view.on_picture(subject, [0, 99]))
    of_another = read(Result, subject, run=opened.id, cell=["A" * 22, 0, 0]).compute(subject)
    assert of_another["sentences"]["label"] == "The most confident mistakes"
    assert read(Result, subject, cell=["x", 0, 0]).cell is read(Result, subject, cell="x").cell is None
    place = Place(subject, "fine-tune", "Train", (shown := replace(view, **cell),))
    asked = links.query_of_page(place).replace(links.APART, "&")  # by the page, for a file or phones
    assert (shown in links.follow(asked, subject).views, opened.id in links.query(place)) == (True, False)
    assert shown not in links.read(dict(parse_qsl(asked)), subject).views, "a link brings no run along"


def test_a_sentence_is_judged_and_explained(subject):
    shown = TryIt().compute(subject)
    rows = shown["verdict"]["groups"][0]["rows"]
    assert rows[0]["label"] == "animal"
    assert sum(row["share"] for row in rows) == pytest.approx(1, abs=1e-5)
    assert shown["second"]["visible"] is False
    assert "verdict" not in TryIt(tried=" ").compute(subject)
    sample, _ = shown["sample"]["choices"][1]
    chosen = TryIt().on_sample(subject, sample).settings
    assert (chosen["tried"], chosen["second"]) == (sample, "")
    assert TryIt(**chosen).compute(subject)["verdict"]


def test_a_run_goes_home_and_comes_back(subject, opened):
    with pytest.raises(InputError, match=r"\[CLS\] or the pooler"):  # test_standard.py has those
        Runs(run=opened.id).on_standard(subject, None)
    saved = Runs(run=opened.id).on_save(subject, None).content
    zipped = downloads.find_offered(saved["download"]["link"].removeprefix("download/"))
    change = Runs(runs=(opened.id,), visitor="hers").on_load(subject, Runs.settings["load"].read(zipped))
    back = change.settings["run"]
    assert back != opened.id
    assert change.settings == {"run": back, "of": "", "runs": (back, opened.id)}
    assert store.visitor_of(store.folder() / back) == "hers"
    assert change.content["note"] == f"{opened.title} is loaded."
    looked = Result(run=back).compute(subject)
    assert "has no sentences" in looked["note"]
    assert "picture" not in looked


def test_a_browser_is_known_by_an_id_that_nobody_can_guess(subject, opened):
    first, second = (read(Outcome, subject, visitor=given).visitor for given in ("", "short"))
    assert len({first, second, run_id(first), run_id(second)}) == 2
    assert read(Outcome, subject, visitor=first, run=opened.id).compute(subject)["visitor"] == first


def test_what_is_asked_of_all_examples_waits_for_a_press(subject):
    view = read(Probe, subject, source=TYPED, classes=cards((1, "a class of this test", STARTER[0][1])))
    assert view.known(subject) is None
    assert view.waiting(subject)["curve"] is None
    shown = view.compute(subject)
    assert shown["about"].startswith("Best at hidden state")
    assert "95% interval" in shown["about"], "a band without a name is taken for a deviation"
    assert numbers_of(shown["curve"]).columns
    assert view.known(subject) is not None
    assert Probe(source=FILE).known(subject) is None, "there is nothing to ask, and nothing goes wrong"


def test_a_run_that_memory_has_dropped_is_trained_again(subject, monkeypatch, tmp_path):
    monkeypatch.setenv("BERT_EXPLORER_RUNS", str(tmp_path))
    first = Outcome().find(subject)
    assert Outcome().find(subject) is first
    monkeypatch.setattr(runs, "_learned", OnceCache(1))
    again = Outcome(run=first.id, runs=(first.id,)).find(subject)
    assert again.id != first.id
    assert again.history == first.history


def test_after_a_reload_the_end_of_the_training_is_waited_for(subject, opened, monkeypatch):
    waited = []
    monkeypatch.setattr(jobs, "wait", lambda identifier, seconds: waited.append(identifier))
    assert read(Outcome, subject, runs=["A" * 22, opened.id]).find(subject).id == opened.id
    assert waited == ["A" * 22]
    read(Outcome, subject, run=opened.id, runs=["A" * 22]).find(subject)
    assert waited == ["A" * 22], "the run is known"


def test_a_probe_says_what_its_lead_is_worth():
    few = tell([LayerProbe(0, 1.0, 0.0, 0.3, 0.72, 1.0, 10)])
    assert "(95% interval 72% to 100% over 10 different held-out texts" in few
    assert "cannot rank the layers" in few
    assert "selectivity" not in few
    rows = [LayerProbe(0, 0.5, 0, 0.3, 0.4, 0.6, 90), LayerProbe(1, 0.9, 0, 0.3, 0.8, 0.95, 90)]
    assert "overlap" not in tell(rows)
    close = tell([*rows, LayerProbe(2, 0.88, 0, 0.3, 0.79, 0.94, 90)])
    assert close.endswith("Its interval overlaps with those of 1 of the 2 other hidden states.")
