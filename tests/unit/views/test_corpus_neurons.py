"""What the choice Neurons shows: what drives one, what it promotes, and the neurons of a word."""

from dataclasses import replace

import pytest

from explorer.core.errors import InputError
from explorer.corpus.compute import neurons as readings
from explorer.corpus.heads import NEURON, Heads
from explorer.corpus.neuron_look import LINES, NEURONS, WORDS
from explorer.techniques.neurons import find_promoted
from explorer.ui.subject import Subject
from tests.corpora import corpus_neurons

pytestmark = pytest.mark.usefixtures("part")

TEXT = "She sat on the bank of the river."


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace(TEXT)).select(layer=5)


def test_a_neuron_of_ones_own_is_shown_as_it_is(subject, bundled, part):
    content = Heads(unit=NEURON, neuron=7).compute(subject)
    found = corpus_neurons(bundled, part)
    assert [row["cells"][-1] for row in content["hits"]["rows"]] == [
        format(one, ".2f") for one in found.activations[4, 6, :LINES]
    ]
    words = find_promoted(bundled, 4, 6, WORDS)
    for name in ("promotes", "suppresses"):
        assert [row["cells"][0] for row in content[name]["rows"]] == [piece for piece, _ in getattr(words, name)]
    assert content["check"]["text"].startswith("✓")
    assert "neuron 7 of layer 5 is most active" in content["about"]
    assert not {"promoting", "driven", "problem", "grid"} & set(content)


def test_it_opens_on_a_telling_one_and_says_by_how_much(subject, bundled):
    view = Heads(unit=NEURON)
    assert view.finding(subject) is None, "nothing is read for a sentence"
    view.compute(subject)
    shown, told = view.result(subject), view.finding(subject).text
    different, among = shown.shared
    hundred = {piece for piece, _ in find_promoted(bundled, 4, shown.neuron, 100).promotes}
    driving = {driver.token for driver in shown.found.hits if driver.token.strip("#").isalpha()}
    assert (different, among) == (len(driving), len(driving & hundred))
    assert f"Neuron {shown.neuron + 1} of layer 5 is most active at “{shown.found.hits[0].word.lower()}”" in told
    assert f"of the {different} different words that drive it most, {among} " in told
    assert among >= 3
    assert told.endswith(f" No other of the 1,536 neurons in this layer has more such words; the median is {shown.median:g}.")
    chosen = replace(view, neuron=shown.neuron + 1)
    chosen.compute(subject)
    assert "the median" not in chosen.finding(subject).text, "a person chose it"
    assert Heads(unit=NEURON).first(Subject.of(bundled.trace(TEXT))).selection.layer == 5
    assert Heads(unit=NEURON).first(subject.select(layer=2)).selection.layer == 2


def test_a_word_finds_neurons_and_a_click_opens_one(subject, refusal):
    view = Heads(unit=NEURON, neuron=7, by_word=" The ")
    content = view.compute(subject)
    assert f"the first {readings.READ} sentences with it" in content["about"]
    for name in ("promoting", "driven"):
        rows = content[name]["rows"]
        assert len(rows) == NEURONS
        change = view.on_promoting(subject, rows[0]["token"])
        assert rows[0]["cells"][0] == f"layer {change.selection['layer']} · {change.settings['neuron']}"
    for index in (6 * 1536, -1, None):
        refusal(InputError, lambda index=index: view.on_driven(subject, index))
