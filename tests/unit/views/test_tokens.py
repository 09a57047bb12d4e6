import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.tokens.embeddings import Embeddings
from explorer.tokens.pieces import Pieces
from explorer.tokens.tab import TAB
from explorer.tokens.vocabulary import Vocabulary
from explorer.ui.subject import Selection, Subject

TEXTS = ("The man mispronounced [MASK].", "He bought 🍎!")


@pytest.fixture(params=["bundled", "tiny"])
def subject(request):
    return Subject.of(request.getfixturevalue(request.param).trace(*TEXTS))


def near(view, subject):
    """The ids of the pieces that are nearest."""
    return [row["token"] for row in view.compute(subject)["nearest"]["rows"]]


def test_every_part_that_is_computed_is_declared(subject):
    for view in TAB.views:
        assert set(view().compute(subject)) <= set(view.parts), view.name


def test_a_card_for_every_token_and_every_word_that_is_cut(bundled):
    subject = Subject.of(bundled.trace(*TEXTS), Selection(token=2))
    shown = Pieces().compute(subject)
    assert shown["cards"]["ids"] == list(subject.trace.ids)
    assert shown["cards"]["selected"] == 2
    assert "mispronounced = mis + ##pro + ##no + ##unced" in shown["counts"]
    assert "; 1 unknown; " in shown["counts"]
    assert shown["counts"].startswith(f"{subject.trace.kept} tokens of a vocabulary of 30,522, for 7 words")


def test_what_is_added_up_is_what_the_model_reads(subject):
    shown = Embeddings().compute(subject.select(token=2))
    assert shown["check"]["text"].startswith("✓ matches the model")
    norms = [row["cells"][-1] for row in shown["sum"]["rows"]]
    assert len(norms) == 6
    assert norms[-1] == norms[-2] == f"{np.linalg.norm(subject.trace.hidden_states[0, 2]):.2f}"
    assert len(shown["norms"]["rows"]) == subject.trace.kept


def test_the_vocabulary_is_searched(bundled):
    subject = Subject.of(bundled.trace(*TEXTS))
    found = Vocabulary(query="##ology").compute(subject)
    assert found["count"] == "1 piece matches."
    assert [row["cells"][0] for row in found["pieces"]["rows"]] == ["##ology"]
    assert Vocabulary(query=" ").compute(subject)["pieces"] is None
    assert Vocabulary(query="no such piece").compute(subject)["count"].startswith("No piece matches")
    many = Vocabulary(query="*").compute(subject)
    assert many["count"] == "30,522 pieces match, the first 200 are shown."
    assert len(many["pieces"]["rows"]) == 200


def test_the_nearest_are_those_of_the_chosen_token_until_a_piece_is_clicked(subject):
    view, start = Vocabulary(), subject.select(token=1)
    own, other = start.trace.ids[1], start.trace.ids[2]
    assert own not in near(view, start)
    settings = view.on_pieces(start, other).settings
    view = Vocabulary.read(settings, start.model.capabilities)
    assert near(view, start) == near(Vocabulary(), start.select(token=2))
    assert near(view, start.select(token=3)) == near(Vocabulary(), start.select(token=3)), "another token leads back"


@pytest.mark.parametrize("detour", [5, "12", [1], [1, 2, 3], [1, -2], [True, 2], [1, 2.5], {"a": 1}, [1, 10**9]])
def test_a_piece_that_is_none_leaves_the_chosen_token(detour, tiny):
    subject = Subject.of(tiny.trace(*TEXTS))
    assert near(Vocabulary.read({"detour": detour}, tiny.capabilities), subject) == near(Vocabulary(), subject)


@pytest.mark.parametrize("index", [-1, 10**9, "a", [1], None])
def test_what_makes_no_sense_is_one_sentence(index, tiny, refusal):
    refusal(InputError, lambda: Vocabulary().on_nearest(Subject.of(tiny.trace(*TEXTS)), index))
    refusal(InputError, lambda: Vocabulary.read({"query": "a" * 101}, tiny.capabilities))
