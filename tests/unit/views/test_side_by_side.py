"""Two models on one input, two inputs on one model, and the difference."""

import numpy as np
import pytest

import explorer
from explorer.analysis.similarity import cka_matrix
from explorer.base.errors import ModelError
from explorer.views.side_by_side.attention import SideAttention
from explorer.views.side_by_side.guesses import SideGuesses, SidePair
from explorer.views.side_by_side.layers import SideLayers
from explorer.views.side_by_side.pieces import SidePieces
from explorer.views.subject import Selection, Subject
from tests.families import write_family

TEXTS = ("the man went to the [MASK]", "he bought milk")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """The folder of a model with another tokenizer."""
    return str(write_family(tmp_path_factory.mktemp("side") / "roberta", "roberta"))


@pytest.fixture(scope="module")
def subject(tiny):
    return Subject.of(tiny.trace(*TEXTS), Selection(layer=2, head=1))


class TestCka:
    def test_a_space_is_like_itself_turned_and_scaled(self):
        rng = np.random.default_rng(0)
        one = rng.normal(size=(2, 50, 8))
        turned = one @ np.linalg.qr(rng.normal(size=(8, 8)))[0] * 3 + 5
        np.testing.assert_allclose(np.diag(cka_matrix(one, turned)), 1, atol=1e-9)

    def test_it_is_what_the_paper_writes(self):
        rng = np.random.default_rng(1)
        one, other = rng.normal(size=(30, 5)), rng.normal(size=(30, 9))
        x, y = one - one.mean(0), other - other.mean(0)
        by_hand = np.linalg.norm(y.T @ x) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))
        assert cka_matrix(one[None], other[None])[0, 0] == pytest.approx(by_hand, abs=1e-12)

    def test_examples_that_are_all_alike(self):
        assert cka_matrix(np.ones((1, 4, 3)), np.ones((1, 4, 3)))[0, 0] == 0


def test_nothing_is_compared_with_itself(subject):
    assert "Name another model" in SidePieces().unless(subject)
    assert SidePieces(other_a="the dog").unless(subject) == ""


def test_pieces_that_are_cut_differently_are_named(subject, roberta):
    shown = SidePieces(other_model=roberta).compute(subject)
    assert shown["here"]["tokens"][0] == "[CLS]"
    assert shown["there"]["tokens"][0] == "<s>"
    assert "bought here, b | ou | gh | t there" in shown["about"]
    same = SidePieces(other_model=subject.model_name).compute(subject)
    assert same["about"].endswith("Words cut differently: none.")


def test_both_sides_guess(subject, bundled):
    shown = SideGuesses(other_model=bundled.name).compute(subject)
    here, there = shown["guesses"]["groups"]
    assert here["heading"].startswith("Here")
    assert there["heading"].startswith("There")
    best = bundled.fill_mask(*TEXTS)[0].candidates[0]
    assert there["rows"][0]["label"] == best.token
    assert there["rows"][0]["share"] == pytest.approx(best.probability, abs=1e-6)
    without = SideGuesses(other_a="the man went home").compute(subject)
    assert len(without["guesses"]["groups"]) == 1
    assert "There: There is no [MASK]" in without["about"]


def test_both_pairs_are_judged_where_both_can(subject, bundled, roberta):
    shown = SidePair(other_model=bundled.name).compute(subject)
    answer = bundled.next_sentence(*TEXTS)
    assert shown["verdicts"]["groups"][1]["rows"][0]["share"] == pytest.approx(answer.is_next, abs=1e-6)
    assert SidePair(other_model=roberta).compute(subject) == {}


def test_the_same_model_and_text_pay_no_other_attention(subject):
    shown = SideAttention(other_model=subject.model_name).compute(subject)
    assert "On average 0.0 %" in shown["about"]
    assert not np.asarray(shown["difference"].data[0].z).any()


def test_attention_is_subtracted_where_the_tokens_are_as_many(subject, tiny, roberta):
    shown = SideAttention(other_a="the dog went to the [MASK]").compute(subject)
    other = tiny.trace("the dog went to the [MASK]", TEXTS[1])
    expected = other.attention(1)[0] - subject.trace.attention(1)[0]
    np.testing.assert_allclose(np.asarray(shown["difference"].data[0].z), expected, atol=1e-6)
    assert "difference" not in SideAttention(other_model=roberta).compute(subject)


def test_layers_of_a_model_are_most_like_themselves(subject, tiny_folder, tmp_path):
    import shutil

    copied = str(shutil.copytree(tiny_folder, tmp_path / "copied"))
    shown = SideLayers(other_model=copied).compute(subject)
    assert shown["about"].endswith("1 ~ 1, 2 ~ 2.")
    matrix = np.asarray(shown["picture"].data[0].z)
    np.testing.assert_allclose(np.diag(matrix), 1, atol=1e-4)
    forgotten = Subject(subject.model_name, *TEXTS)  # the same model, opened once more
    forgotten.__dict__["model"] = explorer.model.explorer.Explorer(subject.model.checkpoint)
    for one in (subject, forgotten):
        assert "picture" not in SideLayers(other_a="the dog").compute(one)


def test_a_model_that_is_not_here_is_not_fetched(subject):
    with pytest.raises(ModelError, match="not on this machine"):
        SidePieces(other_model="someone/else").compute(subject)
    assert explorer.model.checkpoints.is_here("bert-l6-h384-uncased")
