"""Heads switched off, a word swapped, a vector patched, a weight cut: before and after, held to transformers."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.attention.heads import Heads, HeadWhatIf
from explorer.fill_mask.word import WordWhatIf
from explorer.next_sentence.pair import PairHeads
from explorer.techniques.ablation import Run
from explorer.techniques.edits import Move
from explorer.techniques.targets import read
from explorer.ui.pictures.bars import percent
from explorer.ui.subject import Selection, Subject
from explorer.ui.what_if import Question
from tests.hooks import cut_weights, eager_bert, every_dense, hooked, zeroed

A, B = "The teacher asked the [MASK] to open their books.", "They read the first page aloud."
TEACHER = 2
BLANK = 5
CUT = (5, BLANK, TEACHER, None)


@pytest.fixture(scope="module")
def subject(bundled):
    return Subject(bundled.name, A, B, Selection(6, 11, None, True))


@pytest.fixture(scope="module")
def module(bundled):
    return eager_bert(bundled)


def theirs(module, model, text_a, text_b, position):
    """What transformers itself puts in a place: token -> probability."""
    with torch.no_grad():
        logits = module(**model.tokenizer(text_a, text_b, return_tensors="pt")).prediction_logits[0, position]
    return dict(zip(model.pieces(list(range(len(logits)))), logits.softmax(-1).tolist(), strict=True))


def shares(group):
    """Token -> probability of a group of bars."""
    return {row["label"]: row["share"] for row in group["rows"]}


def press(view, subject, part, label):
    """The subject after a click on the chip that says `label`."""
    chips = view.compute(subject)[part]["chips"]
    (place,) = [chips.index(label)] if label in chips else [place for place, chip in enumerate(chips) if label in chip]
    return subject.select(**getattr(view, f"on_{part}")(subject, place).selection)


def test_before_and_after_are_transformers_own_without_the_head(subject, bundled, module):
    changed = press(HeadWhatIf(), subject, "gestures", "switch off layer 6, head 11")
    shown = HeadWhatIf().compute(changed)
    before, after = (shares(group) for group in shown["answers"]["groups"])
    own = theirs(module, bundled, A, B, subject.blank)
    with zeroed(every_dense(module), module.config.num_attention_heads, [(5, 10)]):
        without = theirs(module, bundled, A, B, subject.blank)
    for wanted, found in ((own, before), (without, after)):
        assert max(wanted, key=wanted.get) in found
        for token, share in found.items():
            assert share == pytest.approx(wanted[token], abs=1e-5)
    first = max(own, key=own.get)
    assert f"Without layer 6, head 11: {first} {percent(own[first])} → {percent(without[first])}." in shown["outcome"]
    assert shown["check"]["text"].startswith("✓")
    assert [row["note"] for row in shown["answers"]["groups"][1]["rows"]] == [f"was {percent(own[token])}" for token in after]


def test_what_is_put_back_restores_the_very_numbers(subject):
    view = HeadWhatIf()
    assert set(view.compute(subject)) == {"gestures"}
    changed = press(view, press(view, subject, "gestures", "switch off layer"), "gestures", "teacher → engineer")
    assert view.compute(changed)["back"]["chips"] == ["layer 6, head 11", "teacher", "all"]
    assert changed.swapped.text_a == A.replace("teacher", "engineer")
    for restored in (
        press(view, press(view, changed, "back", "layer"), "back", "teacher"),
        press(view, changed, "back", "all"),
        changed.select(off=(), swap=None),
    ):
        assert restored.selection == subject.selection
        assert (restored.swapped.text_a, restored.swapped.text_b) == (A, B)
        assert view.compute(restored) == view.compute(subject)


def test_before_and_after_are_transformers_own_without_the_cut_weights(subject, bundled, module):
    assert subject.blank == BLANK
    cuts, own = (CUT, (2, 3, TEACHER, 4)), theirs(module, bundled, A, B, BLANK)
    for off in ((), ((5, 10), (0, 1))):
        shown = WordWhatIf().compute(subject.select(cut=cuts, off=off))
        with cut_weights(module, cuts), zeroed(every_dense(module), module.config.num_attention_heads, off):
            without = theirs(module, bundled, A, B, BLANK)
        for wanted, group in zip((own, without), shown["answers"]["groups"], strict=True):
            for token, share in shares(group).items():
                assert share == pytest.approx(wanted[token], abs=1e-5)
        assert max(abs(own[token] - without[token]) for token in own) > 1e-3
        assert "teacher → asked in layer 3 (head 5), teacher → [MASK] in layer 6 (all heads): " in shown["outcome"]
        assert shown["check"]["text"].startswith("✓")


def test_cutting_all_that_a_token_looks_at_leaves_its_context_zero(subject, module):
    heads, tokens = module.config.num_attention_heads, subject.trace.kept
    row = [(2, BLANK, key, 7) for key in range(tokens)]

    def no_context(_, read):
        context = read.unflatten(-1, (heads, -1)).clone()
        context[:, BLANK, 7] = 0
        return context.flatten(-2)

    with torch.no_grad(), hooked([every_dense(module)[2]], no_context, before=True):
        expected = module.bert(**subject.model.tokenizer(A, B, return_tensors="pt")).last_hidden_state[0]
    np.testing.assert_allclose(Run(subject.trace, cuts=row).states[-1], expected, atol=1e-5)
    whole = [(2, query, key, 7) for query in range(tokens) for key in range(tokens)]
    np.testing.assert_allclose(Run(subject.trace, cuts=whole).states[-1], Run(subject.trace, [(2, 7)]).states[-1], atol=1e-5)
    np.testing.assert_array_equal(Run(subject.trace, cuts=[]).states[-1], subject.trace.states[-1])


def test_many_cuts_are_counted_and_no_more_than_32_are_kept(subject):
    changed = subject.select(cut=tuple((0, BLANK, key, None) for key in range(12)))
    assert re.match(r"Without [^:]+ and 9 more cuts: ", WordWhatIf().compute(changed)["outcome"])
    most = subject.select(cut=tuple((0, query, key, None) for query in range(6) for key in range(12)))
    assert len(most.selection.cut) == 32


def test_a_cut_goes_together_with_a_swapped_word_and_a_patched_vector(subject):
    swapped = subject.select(swap=("teacher", "engineer"), patch=(1, TEACHER), cut=(CUT,))
    question = Question.of(swapped)
    expected = Run(swapped.swapped.trace, edits=[Move.patch(1, TEACHER, subject.trace)], cuts=[CUT]).states[-1][BLANK]
    np.testing.assert_array_equal(question.vector_after(swapped), expected)
    outcome = WordWhatIf().compute(swapped)["outcome"]
    assert outcome.startswith("Without teacher → [MASK] in layer 6 (all heads), with engineer for teacher, with the vector of ")


def test_a_cut_never_comes_to_mean_other_words(subject, tiny):
    def cut_in(text_a, text_b=B, model=subject.model_name):
        return Subject(model, text_a, text_b, cut.selection).selection.cut

    cut = subject.select(cut=(CUT,))
    assert cut.selection.among == subject.trace.tokens
    assert cut_in(A) == (CUT,)
    assert cut_in(A.replace("open", "close")) == (CUT,)  # as many tokens, and those that it is about are there
    assert cut_in(A.replace("open", "[MASK]")) == (CUT,)
    for other in ("doctor", "[MASK]", "old teacher", "teacher's friend"):
        assert cut_in(A.replace("teacher", other)) == ()
    for other in (A.replace(" books", ""), A.replace("[MASK]", "child"), "[MASK]", ""):
        assert cut_in(other) == ()
    assert cut_in(A, model=tiny.name) == ()  # it has fewer layers, and cuts words into other pieces
    changed = Subject(subject.model_name, "She sat [MASK] down.", "", cut.selection)
    assert changed.selection == replace(cut.selection, cut=())
    assert changed.select(cut=((0, 1, 2, None),)).selection.cut == ((0, 1, 2, None),)


def test_the_strongest_head_is_the_one_that_costs_most_and_then_comes_the_next(subject):
    question = Question.of(subject)
    first = press(WordWhatIf(), subject, "gestures", "strongest").selection.off
    second = press(WordWhatIf(), subject.select(off=first), "gestures", "switch off the strongest").selection.off
    assert len(second) == 2
    costs = {}
    for head in {*second, (0, 0), (5, 2), (3, 3)}:
        hidden = Run(subject.trace, [head]).states[-1]
        costs[head] = float(read(subject.model, question.target, hidden[None]).probability)
    assert min(costs, key=costs.get) == first[0]
    (other,) = {*second} - {*first}
    assert sorted(costs, key=costs.get)[1] == other


def test_a_patched_vector_brings_at_least_half_of_the_answer_back(subject):
    view = WordWhatIf()
    swapped = press(view, subject, "gestures", "teacher → engineer")
    patched = press(view, swapped, "gestures", "patch one vector")
    layer, token = patched.selection.patch
    assert token == TEACHER
    before, after, with_patch = (
        shares(view.compute(one)["answers"]["groups"][at]) for one, at in ((swapped, 0), (swapped, 1), (patched, 1))
    )
    first = max(before, key=before.get)
    assert with_patch[first] - after[first] >= 0.5 * (before[first] - after[first])
    assert f"the vector of teacher (token {token}) at hidden state {layer}" in view.compute(patched)["outcome"]
    embedding = Run(swapped.swapped.trace, edits=[Move.patch(0, TEACHER, subject.trace)]).states[-1]
    np.testing.assert_allclose(embedding, subject.trace.states[-1], atol=1e-5)  # the swapped word is all that differs
    assert patched.select(swap=None).selection.patch is None


def test_without_a_blank_the_chosen_word_is_hidden_or_the_pair_is_asked(bundled):
    pair = Subject(bundled.name, "She sat down.", "He stood.", Selection(off=((0, 0),)))
    before, _ = HeadWhatIf().compute(pair)["answers"]["groups"]
    assert shares(before)["IsNext"] == pytest.approx(bundled.next_sentence("She sat down.", "He stood.").is_next, abs=1e-6)
    word = pair.select(token=2)
    before, _ = HeadWhatIf().compute(word)["answers"]["groups"]
    assert before["heading"] == "Before for 'sat' (token 2), hidden"
    guess = bundled.fill_mask("She [MASK] down.", "He stood.")[0].candidates[0]
    assert shares(before)[guess.token] == pytest.approx(guess.probability, abs=1e-5)


def test_what_no_longer_fits_is_put_back(subject, tiny):
    changed = Subject(subject.model_name, A, B, Selection(off=((0, 1), (5, 11), (6, 0), (0, -1)), swap=("teacher", "engineer")))
    assert changed.selection.off == ((0, 1), (5, 11))
    assert changed.select(patch=(7, 0)).selection.patch is None
    assert changed.select(patch=(0, 99)).selection.patch is None
    other = Subject(subject.model_name, "She drank a cup of [MASK].", "", changed.select(patch=(1, 2)).selection).selection
    assert (other.off, other.swap, other.patch) == (((0, 1), (5, 11)), None, None)
    assert Subject(tiny.name, A, B, changed.selection).selection.off == ((0, 1),)
    for swap in (("teacher", "antidisestablishmentarianism"), ("mask", "teacher"), ("zebra", "horse")):
        assert changed.select(swap=swap).selection.swap is None
    assert Subject(subject.model_name, "", "", changed.selection).selection.swap is None


def test_grid_board_and_panel_share_one_state(subject):
    flipped = subject.select(**Heads().on_grid_switch(subject, [0, 3]).selection)
    assert Heads().compute(flipped)["grid"]()["off"] == PairHeads().compute(flipped)["board"]["off"] == [[0, 3]]
    assert Heads().on_grid_switch(flipped, [0, 3]).selection == {"off": ()}
    assert subject.selection.off == ()
    assert re.match(r"Without layer 1, head 4: ", WordWhatIf().compute(flipped)["outcome"])


def test_the_word_that_was_swapped_is_never_the_one_that_is_hidden(bundled):
    text = Subject.of(bundled.trace("She sat on the bank of the river.", ""), Selection(token=2, swap=("sat", "stood")))
    question = Question.of(text)
    assert text.swapped.trace.tokens[2] == "stood"
    assert question.hidden != 2
    assert not np.array_equal(question.before.states[-1], question.after.states[-1])


def test_the_chosen_token_is_followed_when_the_text_changes(bundled):
    chosen = Subject.of(bundled.trace("The cat sat on the [MASK].")).select(token=6).selection

    def followed(text, selection=chosen):
        subject = Subject(bundled.name, text, "", selection)
        return subject.selection.token, subject.trace.tokens[subject.token]

    assert followed("My dog likes to chase the [MASK] all day.") == (7, "[MASK]")
    assert followed("The cat sat on the mat.") == (6, "mat")  # unmasked in its place
    assert followed("Dogs bark.") == (None, "dogs")
    assert followed("Dogs bark.", Selection(token=2)) == (2, "bark")  # of a link
