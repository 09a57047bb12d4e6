"""A number that is learnt of texts and pairs (regression): against scikit-learn and scipy, kept, and taken home."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

import explorer
from explorer.analysis import evaluation
from explorer.bert.features import features
from explorer.core.errors import InputError
from explorer.finetune.compute import store
from explorer.finetune.compute.finetune import train
from explorer.finetune.compute.from_table import examples_from_table, numbers_in
from explorer.finetune.compute.predictor import as_kind, write_measure
from explorer.finetune.compute.texts import Classifier
from explorer.finetune.outcome import Outcome
from explorer.finetune.result import Result
from explorer.finetune.try_it import TryIt
from explorer.text.tables import Table
from explorer.training.columns import Columns
from explorer.training.examples import FIFTHS, ScoredExamples
from explorer.training.head import Numbers
from explorer.training.settings import TrainingSettings
from explorer.ui.subject import Subject
from tests.learning import learn_run

WORDS = ["cat", "dog", "tree", "river", "sky", "man", "food", "bread"]
PAIRS = [(f"a {one}", f"a {other}") for one in WORDS for other in WORDS]
NUMBERS = [5.0 if one == other else 0.5 * (len(one) - len(other)) ** 2 for one, other in PAIRS]
EXAMPLES = ScoredExamples(
    tuple(one for one, _ in PAIRS), tuple(map(str, NUMBERS)), tuple(other for _, other in PAIRS), numbers=tuple(NUMBERS)
)


@pytest.fixture(scope="module")
def kept(tiny_folder, runs_of_module):
    """A run, in a store of the module's own."""
    return learn_run(explorer.load(tiny_folder), EXAMPLES)


def test_correlations_are_those_of_scipy():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 5, 40), rng.normal(size=40)
    assert evaluation.pearson(one, other) == pytest.approx(stats.pearsonr(one, other).statistic)
    assert evaluation.spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)
    assert evaluation.pearson(np.ones(4), other[:4]) == 0


def test_a_regression_solved_at_once_is_ridge(tiny):
    vectors, parts = features(tiny, EXAMPLES.texts), EXAMPLES.split(0)
    settings = TrainingSettings(optimizer="lbfgs", regularization=0.1)
    ((epoch, head, _),) = train(vectors, Numbers(NUMBERS, parts.train), parts, settings)
    said = head.outputs(vectors)[:, 0]
    right = np.array(NUMBERS)
    assert epoch.held_out["spearman"] == pytest.approx(
        stats.spearmanr(said[parts.held_out], right[parts.held_out]).statistic, abs=1e-4
    )
    scaled = (vectors - vectors[parts.train].mean(0)) / vectors[parts.train].std(0) / vectors.shape[1] ** 0.5
    theirs = Ridge(alpha=0.1).fit(scaled[parts.train], right[parts.train]).predict(scaled)
    np.testing.assert_allclose(said, theirs, atol=2e-3)


def test_of_every_fifth_of_the_numbers_some_are_held_out():
    parts, strata = EXAMPLES.split(0), EXAMPLES.strata
    assert {strata[row] for row in parts.held_out} == set(FIFTHS)
    low, high = ([n for n, name in zip(NUMBERS, strata, strict=True) if name == fifth] for fifth in ("lowest", "highest"))
    assert max(low) <= min(high)


def test_labels_that_are_numbers_are_learnt_as_numbers():
    assert numbers_in(["1", "2", "5"]) is None, "stars are classes"
    assert numbers_in(["1.5", "2"]) == (1.5, 2)
    assert numbers_in([str(n) for n in range(11)]) == tuple(range(11))
    for wrong in (["1.5", "nan"], ["1.5", "1e9"], ["1.5", "so-so"]):
        assert numbers_in(wrong) is None
    few = Table(("text", "score"), (("a", "0.5"), ("b", "1")), "2 rows.")
    with pytest.raises(InputError, match="10 examples or more"):
        examples_from_table(few, Columns("text", "score"))


def test_the_views_tell_of_a_number(kept, tiny):
    run, subject = kept, Subject(tiny.name, "a cat", "")
    shown = Result(run=run.id).compute(subject)
    assert f"{stats.spearmanr(run.held_out.said, run.held_out.targets).statistic:.2f}" in shown["note"]
    tried = TryIt(run=run.id, tried="a cat", second="a dog").compute(subject)
    said = run.predictor.estimate(explorer.load(run.predictor.model), [("a cat", "a dog")])[0]
    low, high = min(run.held_out.targets), max(run.held_out.targets)
    assert tried["said"] == f"{said:.2f}, where the held-out numbers are {low:g} to {high:g}."
    assert "Spearman" in Outcome(run=run.id).compute(subject)["status"]
    said = Outcome(run=run.id).finding(subject).text
    assert "ounting words: " in said


def test_what_asks_for_labels_refuses_a_number(kept):
    with pytest.raises(InputError, match="gives a number"):
        as_kind(store.fetch(kept.id).predictor, Classifier)
    assert write_measure("spearman", 0.5) == "Spearman correlation 0.50"
