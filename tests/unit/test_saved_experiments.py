"""Runs of experiments as files: what the page saves the package opens and the other way round, and how two of them compare."""

import json

import numpy as np
import pytest

import explorer
from explorer.core import downloads
from explorer.core.errors import InputError
from explorer.core.limits import PREFIX
from explorer.experiments.compute.experiment import experiment
from explorer.experiments.compute.minimal_pairs import suite_items
from explorer.experiments.compute.runs import run_from_json, run_to_json
from explorer.experiments.new import TYPED, NewExperiment
from explorer.experiments.saved import NOTHING, SavedRuns
from explorer.ui.subject import Subject
from tests.unit.test_experiment_questions import BOTH


@pytest.fixture(scope="module")
def found(tiny):
    return experiment(tiny, BOTH, "attention")


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace("The man went to the [MASK]."))


def test_what_the_page_saves_the_package_opens(subject, refusal):
    view = NewExperiment()
    change = view.on_save(subject, None).content["download"]
    path = downloads.find_offered(change["link"].removeprefix("download/"))
    assert path.name == "heads_off-agreement.json"
    again, own = explorer.open_experiment(path), view.known(subject)
    assert again.items == own.items == suite_items("agreement")
    np.testing.assert_allclose(again.values, own.values, atol=1e-6)
    wanted = {"question", "how", "seed", "items", "model", "weights", "dtype", "device", "explorer", "torch", "transformers"}
    assert again.provenance.keys() == wanted
    refusal(InputError, lambda: NewExperiment(source=TYPED, typed="").on_save(subject, None))


def test_what_the_package_saves_the_page_shows(subject, found, tmp_path):
    path = tmp_path / "run.json"
    explorer.save_experiment(found, path)
    run = SavedRuns.settings["run"].read(path)
    assert SavedRuns().compute(subject)["compared"] == NOTHING
    content = SavedRuns(run=run).compute(subject)
    for told in ("seed 0", "SHA-256", "float32", found.provenance["torch"]):
        assert told in content["about"]
    assert content["board"] is not None
    assert content["other_board"] is None
    assert len(content["each"]["rows"]) == len(BOTH)
    view = SavedRuns(run=run, other_run=run)
    assert "all numbers of one are those of the other" in view.compute(subject)["compared"]
    assert "looks there with" in view.finding(subject).text
    clicked = view.on_other_board(subject, [1, 0]).settings["place"]
    assert "Layer 2, head 1" in SavedRuns(run=run, place=clicked).compute(subject)["chosen"]
    assert view.on_each(subject, 0).texts == (BOTH[0].text_a, BOTH[0].text_b)


def test_runs_are_compared_in_the_items_of_both(tiny, found, subject):
    fewer = experiment(tiny, BOTH[::-2], "attention", "backward", seed=3)
    compared = explorer.compare_experiments(found, fewer)
    assert compared.changed == ("how", "seed", "items")
    apart = found.values[[one in BOTH[::-2] for one in BOTH]] - fewer.values[::-1]
    np.testing.assert_allclose(compared.difference.effects, apart.mean(0), atol=1e-6)
    assert compared.items == len(BOTH[::-2])
    assert compared.largest == pytest.approx(np.abs(apart).max())
    told = SavedRuns(run=found, other_run=fewer).compute(subject)["compared"]
    assert "differ in how it was asked, the seed and how many items" in told
    ranks = [np.argsort(np.argsort(one.summary.effects.ravel())) for one in (found, fewer)]
    assert compared.correlation == pytest.approx(np.corrcoef(*ranks)[0, 1])
    other = experiment(tiny, BOTH, "likelihood")
    assert explorer.compare_experiments(found, other).correlation is None
    assert "no difference is taken" in SavedRuns(run=found, other_run=other).compute(subject)["compared"]
    assert explorer.compare_experiments(found, experiment(tiny, BOTH, "heads_off")).difference is None


def changed(file, **new):
    return json.dumps({**file, **new})


def without(file, name):
    return {one: value for one, value in file.items() if one != name}


HOSTILE = {
    "nothing": lambda file: "",
    "too deep": lambda file: "[" * 100_000,
    "another format": lambda file: changed(file, format="bert-explorer experiment 99"),
    "a pickle": lambda file: "\x80\x04cos\nsystem\n(S'true'\ntR.",
    "not a number": lambda file: changed(file, before=[float("nan")] * len(file["before"])),
    "too large a number": lambda file: changed(file, before=[1e300] * len(file["before"])),
    "more digits than are read": lambda file: f'{{"format": {"9" * 10_000}}}',
    "no values": lambda file: json.dumps(without(file, "values")),
    "too many places": lambda file: changed(without(file, "nulls"), values=[[[0] * 20_000] * 2] * len(file["values"])),
    "sizes of 0": lambda file: changed(file, sizes=[0] * len(file["before"])),
    "an unknown question": lambda file: changed(file, provenance={**file["provenance"], "question": "why"}),
    "a question that is no name": lambda file: changed(file, provenance={**file["provenance"], "question": ["attention"]}),
    "a name without end": lambda file: changed(file, provenance={**file["provenance"], "model": "a" * 5_000}),
    "one item": lambda file: changed(file, items=file["items"][:1]),
    "a reason that is no text": lambda file: changed(file, left_out={"1": {"a": 1}}),
}


@pytest.mark.parametrize("spoil", HOSTILE.values(), ids=HOSTILE)
def test_a_file_that_holds_no_run_is_refused_in_a_sentence(found, spoil, refusal):
    refusal(InputError, lambda: run_from_json(spoil(json.loads(run_to_json(found)))))


def test_a_file_that_is_too_large_is_not_read(found, tmp_path, monkeypatch, refusal):
    monkeypatch.setenv(f"{PREFIX}ITEMS", "100")  # for the process that reads it
    path = tmp_path / "run.json"
    path.write_text(run_to_json(found) + " " * 2**20)
    assert "more than 1 MB" in refusal(InputError, lambda: explorer.open_experiment(path))
