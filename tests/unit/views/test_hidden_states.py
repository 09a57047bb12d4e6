"""The views of the Hidden states tab, without a page."""

import pytest

from explorer.core.errors import InputError
from explorer.hidden_states.layers import NORM, VECTORS, EveryLayer, OneLayer, PooledOutput
from explorer.hidden_states.sentences import Sentences
from explorer.hidden_states.tab import TAB
from explorer.hidden_states.word import ABOVE, OneWord, senses
from explorer.ui.subject import Selection, Subject

RIVER, MONEY = "She sat on the bank of the river.", "He put the money in the bank."


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace(RIVER, MONEY), Selection(layer=4))


@pytest.mark.parametrize("view", TAB.views, ids=lambda view: view.name)
def test_what_is_computed_is_declared_and_settings_come_back(view, subject):
    capabilities = subject.model.capabilities
    assert view().compute(subject).keys() <= {*view.parts, *view.settings}
    for name, setting in view.settings.items():
        for value in getattr(setting, "values", ()):
            chosen = view.read({name: value}, capabilities)
            assert view.read(chosen.changed(), capabilities) == chosen
            assert chosen.compute(subject)


def test_one_layer_is_told_with_what_to_judge_it_by(subject):
    assert "in the output of layer 4" in OneLayer().compute(subject)["about"]
    assert "in common already" in OneLayer().compute(subject)["about"]
    about = OneLayer(look=VECTORS).compute(subject.select(layer=0))["about"]
    assert "in the embedding output" in about
    assert "outliers of this input" in about


def test_changes_begin_at_layer_1_and_norms_at_the_embeddings(subject):
    layers = subject.model.capabilities.layers
    assert EveryLayer().compute(subject)["picture"].data[0].z.shape == (layers, subject.trace.kept)
    assert EveryLayer(measure=NORM).compute(subject)["picture"].data[0].z.shape == (layers + 1, subject.trace.kept)


def test_the_pooled_output_is_its_formula(subject):
    assert PooledOutput().compute(subject)["check"]["text"].startswith("✓ matches the model: this formula")


def test_a_word_is_followed_through_its_contexts(subject):
    found = OneWord().compute(subject)
    assert (found["word"]["value"], found["problem"]) == ("bank", "")
    assert "bank" in found["word"]["choices"]
    assert "8 of 8 “bank” lie nearest" in OneWord().finding(subject).text
    assert len(found["lines"].data) == 6


def test_another_source_brings_its_sentences_and_its_word(subject):
    change = OneWord().on_source(subject, "crane")
    assert change.settings == {"contexts": senses()["crane"], "word": ""}
    assert change.content["contexts"] == {"value": senses()["crane"], "visible": True}
    found = OneWord(source="crane", **change.settings).compute(subject)
    assert (found["word"]["value"], found["problem"]) == ("crane", "")
    change = OneWord(contexts="Mine.").on_source(subject, ABOVE)
    assert change.content["contexts"] == {"value": "Mine.", "visible": False}
    assert "The cosine between the two is" in OneWord(source=ABOVE, **change.settings).compute(subject)["about"]


def test_a_word_that_has_gone_from_the_texts_above_makes_room_for_one_that_is_there(bundled):
    others = Subject.of(bundled.trace("Cats chase mice.", "Dogs chase cats."))
    found = OneWord(source=ABOVE, word="bank").compute(others)
    assert (found["word"]["value"], found["problem"]) == ("cats", "")
    strangers = Subject.of(bundled.trace("Quite different.", "Nothing alike."))
    found = OneWord(source=ABOVE, word="bank").compute(strangers)
    assert "fewer than twice" in found["problem"]["text"]
    assert (found["lines"], found["map"], found["word"]["choices"]) == (None, None, [])


def test_any_word_may_be_typed_and_one_that_is_missing_is_told(subject):
    capabilities = subject.model.capabilities
    assert OneWord.read({"word": "BANK"}, capabilities).compute(subject)["problem"] == ""
    found = OneWord.read({"word": "zebra"}, capabilities).compute(subject)
    assert found["problem"]["text"].startswith("The word 'zebra' occurs fewer than twice")
    assert "value" not in found["word"]
    asked = OneWord(source=ABOVE, word="zebra").on_word(subject, "zebra").content
    assert (asked["word"], asked["lines"]) == ("zebra", None)
    assert OneWord().on_word(subject, "bank").content == {}
    assert "no sentences" in OneWord(contexts=" \n").compute(subject)["problem"]["text"]
    with pytest.raises(InputError):
        OneWord.read({"word": 3}, capabilities)


def test_sentences_have_a_matrix_and_closest_pairs_or_a_problem_and_nothing_else(subject):
    found = Sentences().compute(subject)
    assert len(found["closest"]["rows"]) == 5
    assert "unrelated sentences" in found["about"]
    assert "of layer 6;" in Sentences(pooling="pooler").compute(subject)["about"]
    assert Sentences(space="centred").compute(subject)["about"].split("different ones. ")[1].startswith("Centred: ")
    assert Sentences(sentences="Only one.").compute(subject)["closest"] is None
    assert Sentences(sentences="x\n" * 51).compute(subject).keys() == {"problem"}


def test_bad_settings_are_told_in_one_sentence(subject):
    capabilities = subject.model.capabilities
    for view, given in ((OneLayer, {"look": "?"}), (Sentences, {"space": 1}), (OneWord, {"source": 1, "no": 2})):
        with pytest.raises(InputError) as told:
            view.read(given, capabilities)
        assert str(told.value).endswith(".")
