"""Two models on one input, two inputs on one model, and the difference."""

import shutil

import numpy as np
import pytest

from explorer.core.errors import ModelError
from explorer.corpus.layers import SIMILARITY, Layers
from explorer.side_by_side.attention import SideAttention
from explorer.side_by_side.guesses import SideGuesses, SidePair
from explorer.side_by_side.other import BACK, Swaps
from explorer.side_by_side.pieces import SidePieces
from explorer.side_by_side.states import SideStates
from explorer.techniques.filling import alternatives
from explorer.text.swaps import PAIRS, find_swaps, put
from explorer.ui.subject import Selection, Subject
from tests.families import own, write_family

TEXTS = ("the man went to the [MASK]", "he bought milk")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """The folder of a model with another tokenizer."""
    return str(write_family(tmp_path_factory.mktemp("side") / "roberta", "roberta"))


@pytest.fixture(scope="module")
def subject(tiny):
    return Subject.of(tiny.trace(*TEXTS), Selection(layer=2, head=1))


def test_it_opens_beside_the_first_usual_swap_until_something_is_asked_for(subject, tiny):
    assert "Name another model" in SidePieces().unless(Subject.of(tiny.trace("milk")))
    first, *_ = find_swaps(TEXTS[0])
    assert first[:2] == ("man", "woman")
    opens, asked = SideGuesses(), SideGuesses(other_a=first[2])
    assert opens.unless(subject) == asked.unless(subject) == ""
    assert opens.other(subject) == asked.other(subject)
    assert opens.compute(subject) == asked.compute(subject)
    assert SideGuesses(other_model=subject.model_name).other(subject).text_a == TEXTS[0], "the same text in another model"
    same = Swaps(other_a=first[2], other_b=TEXTS[1])
    for beside, is_pressed in ((Swaps(), True), (same, True), (Swaps(other_a="the dog"), False)):
        shown = beside.compute(subject)["swaps"]
        assert shown["pressed"][shown["chips"].index("man → woman")] == is_pressed


def test_pieces_that_are_cut_differently_are_named(subject, roberta):
    shown = SidePieces(other_model=roberta).compute(subject)
    assert (shown["here"]["tokens"][0], shown["there"]["tokens"][0]) == ("[CLS]", "<s>")
    assert "bought here, b | ou | gh | t there" in shown["about"]
    same = SidePieces(other_model=subject.model_name).compute(subject)
    assert same["about"].endswith("Words cut differently: none.")


def test_both_sides_answer_where_both_can(subject, bundled, roberta):
    expected = {
        SideGuesses: bundled.fill_mask(*TEXTS)[0].candidates[0].probability,
        SidePair: bundled.next_sentence(*TEXTS).is_next,
    }
    for kind, share in expected.items():
        here, there = kind(other_model=bundled.name).compute(subject)["answers"]["groups"]
        assert here["heading"].startswith("Here")
        assert there["heading"].startswith("There")
        assert there["rows"][0]["share"] == pytest.approx(share, abs=1e-6)
    without = {
        "There: The text has no [MASK]": SideGuesses(other_a="the man went home"),
        "has no next-sentence head": SidePair(other_model=roberta),
    }
    for reason, view in without.items():
        shown = view.compute(subject)
        assert len(shown["answers"]["groups"]) == 1
        assert reason in shown["about"]
        assert view.finding(subject) is None


def test_attention_is_subtracted_where_there_are_equally_many_tokens(subject, tiny, roberta):
    shown = SideAttention(other_a="the dog went to the [MASK]").compute(subject)
    other = tiny.trace("the dog went to the [MASK]", TEXTS[1])
    expected = other.attention(1)[0] - subject.trace.attention(1)[0]
    np.testing.assert_allclose(np.asarray(shown["difference"].data[0].z), expected, atol=1e-6)
    assert "difference" not in SideAttention(other_model=roberta).compute(subject)
    same = SideAttention(other_model=subject.model_name).compute(subject)
    assert "On average 0.0%" in same["about"]
    assert not np.asarray(same["difference"].data[0].z).any()


def test_a_model_that_is_not_here_is_not_fetched(subject, refusal):
    with pytest.raises(ModelError, match="not on this machine"):
        SidePieces(other_model="someone/else").compute(subject)
    for name in ("a cat | b\nthe dog | c", "a\u202eb", "x" * 301):
        said = refusal(ModelError, lambda name=name: SidePieces(other_model=name).compute(subject))
        assert "not a model's name" in said


class TestSwaps:
    def test_words_are_swapped_wherever_they_stand_by_themselves(self):
        assert put("He said he was here; the sheriff, HE.", "he", "she") == "She said she was here; the sheriff, She."
        assert find_swaps("The man was happy.") == [
            ("man", "woman", "The woman was happy."),
            ("was", "is", "The man is happy."),
            ("happy", "sad", "The man was sad."),
        ]
        assert find_swaps("") == find_swaps("東京 <img src=x onerror=alert(1)>") == []
        assert all(one != other for one, other in PAIRS)

    def test_a_click_puts_the_changed_text_beside_the_other_and_takes_it_back(self, tiny):
        subject = Subject.of(tiny.trace("the man was happy", "he bought milk"))
        view = Swaps()
        chips = view.compute(subject)["swaps"]["chips"]
        change = view.on_swaps(subject, chips.index("he → she"))
        assert change.settings == {"other_a": "the man was happy", "other_b": "she bought milk"}
        view = Swaps(**change.settings)
        assert not view.unless(subject)
        assert view.compute(subject)["swaps"]["chips"][0] == BACK
        assert view.on_swaps(subject, 0).settings == {"other_a": "", "other_b": ""}
        assert Swaps().compute(Subject.of(tiny.trace("milk"))) == {}

    def test_the_chosen_word_may_become_what_the_model_would_say(self, bundled):
        text = "She drank a cup of tea."
        trace = bundled.trace(text)
        token = trace.tokens.index("tea")
        found = alternatives(trace, token, 3)
        candidates = bundled.fill_mask(text.replace("tea", "[MASK]"), top_k=24)[0].candidates
        assert found == [one.token for one in candidates if one.token.isalpha() and one.token != "tea"][:3]
        subject = Subject.of(trace, Selection(token=token))
        assert Swaps().compute(subject)["swaps"]["chips"][:3] == [f"tea → {word}" for word in found]
        assert Swaps().on_swaps(subject, 0).settings["other_a"] == text.replace("tea", found[0])
        for special in (0, trace.kept - 1):
            chips = Swaps().compute(subject.select(token=special))["swaps"]["chips"]
            assert not any(chip.startswith("[") for chip in chips)


class TestStates:
    def test_they_are_one_less_the_cosine_of_what_transformers_gives(self, tiny, tiny_folder):
        def states(text):
            return np.stack([state[0].numpy() for state in own(tiny_folder, "BertModel", tiny, (text,)).hidden_states])

        subject = Subject.of(tiny.trace("the man was happy"))
        view = SideStates(other_a="the man was sad")
        here, there = states("the man was happy"), states("the man was sad")
        cosine = (here * there).sum(-1) / (np.linalg.norm(here, axis=-1) * np.linalg.norm(there, axis=-1))
        np.testing.assert_allclose(np.array(view.compute(subject)["picture"].data[0].z), 1 - cosine, atol=1e-5)
        assert "both sides share" in view.finding(subject).text
        assert SideStates(other_a="the man was happy").compute(subject)["picture"].data[0].z.max() < 1e-6
        assert "numbers of tokens" in SideStates(other_a="the").compute(subject)["about"]

    def test_two_models_are_compared_over_a_corpus(self, subject, tiny_folder, tmp_path):
        other = str(shutil.copytree(tiny_folder, tmp_path / "copied"))
        view = SideStates(other_model=other)
        assert "its own space" in view.compute(subject)["about"]
        there = view.finding(subject).why
        settings = Layers(**there.settings)
        assert (there.tab, there.choice, settings.compared) == ("corpus", "Layers", other)
        assert settings.look_at == SIMILARITY
