"""The views of the Hidden states tab, without a page."""

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.hidden_states.word import ABOVE, OneWord
from explorer.ui.subject import Selection, Subject

RIVER, MONEY = "She sat on the bank of the river.", "He put the money in the bank."


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace(RIVER, MONEY), Selection(layer=4))


def test_a_word_is_followed_through_its_contexts(subject):
    found = OneWord().compute(subject)
    assert (found["word"]["value"], found["problem"]) == ("bank", "")
    assert "bank" in found["word"]["choices"]
    assert "8 of 8 uses of “bank” lie nearest to their own sense" in OneWord().finding(subject).text
    assert len(found["lines"].data) == 6


def test_any_word_may_be_typed_and_one_that_is_missing_is_told(subject):
    capabilities = subject.model.capabilities
    assert OneWord.read({"word": "BANK"}, capabilities).compute(subject)["problem"] == ""
    found = OneWord.read({"word": "zebra"}, capabilities).compute(subject)
    assert found["problem"]["text"].startswith("The word 'zebra' occurs fewer than twice")
    assert "value" not in found["word"]
    assert OneWord(source=ABOVE, word="zebra").compute(subject)["lines"] is None
    assert "No sentences" in OneWord(contexts=" \n").compute(subject)["problem"]["text"]
    with pytest.raises(InputError):
        OneWord.read({"word": 3}, capabilities)


def test_the_first_numbers_are_those_of_the_vectors(bundled):
    trace = bundled.trace("The river froze.")
    table = trace.view("hidden/first-numbers", layer=3).tables["numbers"]
    assert list(table["token"]) == [*trace.tokens, "pooled output"]
    shown = table.iloc[:, 1:].to_numpy(float)
    assert np.allclose(shown, [*trace.hidden_states[3][:, :10], trace.pooler_output()[:10]], atol=1e-6)
