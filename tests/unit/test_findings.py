"""Findings: each sentence is held to the numbers that transformers gives, and each way to a reason leads somewhere."""

import re

import numpy as np
import pytest

from explorer.attention.heads import Heads, OneHead
from explorer.experiments.saved import SavedRuns
from explorer.fill_mask.guesses import Guesses
from explorer.fill_mask.lens import Lens
from explorer.fill_mask.positions import EachWord, EveryPosition
from explorer.fill_mask.word import WordHeads
from explorer.finetune.outcome import Outcome
from explorer.hidden_states.layers import OneLayer
from explorer.inside_head.decoder import Decoder
from explorer.inside_head.steps import DotProducts
from explorer.model_card.architecture import Parameters
from explorer.next_sentence.pair import ThisPair
from explorer.page.examples import EXAMPLES, FIRST_A, FIRST_B
from explorer.tabs import VIEWS
from explorer.tokens.pieces import Pieces
from explorer.ui.long_view import LongView
from explorer.ui.subject import Subject
from explorer.ui.telling import TURNED
from explorer.ui.view import View
from tests.hooks import zeroed

A, B = "the man went to the [MASK] store.", "he bought a [MASK] of milk."
PARIS = "Paris is the capital of [MASK]."  # where one head matters most
PRONOUN = EXAMPLES["Who is 'it'?"][0]
SILENT = (SavedRuns, EachWord)  # without a file; beside a blank
ELSEWHERE = ("projection", "fine-tune", "own-head")  # their findings, if any, need no text or another model


def opened(model, view: type[View], a: str = FIRST_A, b: str = FIRST_B, **chosen) -> Subject:
    """The input with the layer and head that the view opens with."""
    subject = Subject(model.name, a, b)
    return view().first(subject.select(**chosen) if chosen else subject)


def numbers(text: str) -> list[float]:
    """The numbers outside quotes, without those of the scale."""
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", re.sub("“.*?”", "", text).replace(TURNED, ""))]


def words(text: str) -> list[str]:
    return re.findall("“(.*?)”", text)


def near(share: float, percents: float) -> bool:
    return abs(100 * share - percents) <= 0.5 + 1e-3


@pytest.fixture(scope="module")
def theirs(bundled, eager):
    """The opening example by transformers itself."""
    return eager(bundled, FIRST_A, FIRST_B)[1]


def test_the_opening_example_is_one_where_the_model_is_right_and_a_head_matters(bundled):
    trace = bundled.trace(FIRST_A, FIRST_B)
    (guess,) = bundled.guesses(trace.states[-1][trace.mask_positions], trace.mask_positions, 2)
    first, second = guess.candidates
    assert first.token == "tokyo"
    assert first.probability > 0.7 > 5 * second.probability
    assert bundled.next_sentence(FIRST_A, FIRST_B).is_next > 0.9
    assert trace.kept <= 20
    assert "##s" in trace.tokens


def test_an_answer_at_once_leaves_out_what_takes_longer_and_says_so(bundled):
    subject = Subject(bundled.name, FIRST_A, "It is known for its quiet gardens.")
    hurried = subject.hurried
    assert Heads().first(hurried).selection == subject.selection, "the head that was shown stays"
    assert Heads().finding(hurried) is None
    assert hurried.later
    for _ in OneHead().prepare_rest(subject):
        pass
    known = subject.hurried
    assert Heads().finding(Heads().first(known)) == Heads().finding(Heads().first(subject))
    assert not known.later


def test_the_head_shown_first_is_the_one_without_which_the_guess_loses_most(bundled, eager):
    subject, theirs = opened(bundled, Heads, PARIS, ""), eager(bundled, PARIS)[1]
    found = Heads().finding(subject)
    layer, head, weight, before, after = numbers(found.text)
    query, key, word = words(found.text)
    probabilities = theirs.prediction_logits[0].softmax(-1)
    blank = subject.blank
    assert query == "[MASK]"
    assert bundled.pieces([int(probabilities[blank].argmax())]) == [word]
    assert near(float(probabilities[blank].max()), before)
    weights = theirs.attentions[int(layer) - 1][0, int(head) - 1].numpy()
    assert weights[blank, subject.trace.tokens.index(key)] == pytest.approx(weight, abs=0.005)
    without = [
        float(without_head(bundled, subject, place).softmax(-1)[probabilities[blank].argmax()])
        for place in [(int(layer) - 1, int(head) - 1), (0, 0), (4, 2)]
    ]
    assert near(without[0], after)
    assert without[0] == min(without)
    assert (found.why.tab, found.why.choice) == ("fill-mask", "Switch heads off")
    assert (layer, head) == (subject.selection.layer, subject.selection.head)


def without_head(model, subject, head):
    """The logits at the blank when transformers' own W_O of that layer does not read the head."""
    with zeroed([layer.attention_dense for layer in model.layers], model.capabilities.heads, [head]):
        return model.own_masked_lm(subject.trace.encoding)[subject.blank]


def test_where_a_head_is_off_the_sentence_says_what_that_does(bundled):
    subject = opened(bundled, WordHeads)
    alone = WordHeads().finding(subject)
    pressed = WordHeads().finding(subject.select(off=((5, 7),)))
    assert alone == pressed, "the head that matters most is that of the opening example"
    assert near(float(without_head(bundled, subject, (5, 7)).softmax(-1).max()), numbers(pressed.text)[-1])
    assert (
        WordHeads().finding(subject.select(off=((0, 0), (1, 1)))).text.startswith("Without heads 1.1, 2.2 (layer.head), “tokyo”")
    )


def test_a_pronoun_looks_at_a_word_before_it(bundled, eager):
    subject = opened(bundled, Heads, PRONOUN, "")
    found = Heads().finding(subject)
    layer, head, weight = numbers(found.text)
    assert words(found.text) == ["it", "dog"]
    tokens, attentions = subject.trace.tokens, eager(bundled, PRONOUN)[1].attentions
    it, dog = tokens.index("it"), tokens.index("dog")
    assert attentions[int(layer) - 1][0, int(head) - 1, it, dog] == pytest.approx(weight, abs=0.005)
    before = [tokens.index(word) for word in ("dog", "cross", "street")]
    assert max(float(layer[0, :, it, before].max()) for layer in attentions) == pytest.approx(weight, abs=0.005)
    scored = DotProducts().finding(subject).text
    assert words(scored) == ["it", "dog"]
    assert scored.endswith(f"the softmax makes that a weight of {weight}.")
    assert dict(found.why.selection) == {"layer": layer, "head": head, "token": it}


def test_a_head_that_was_picked_is_told_of_as_it_is(bundled, eager):
    subject, theirs = opened(bundled, Heads, PARIS, "", layer=6, head=6), eager(bundled, PARIS)[1]
    layer, head, weight, _, after = numbers(Heads().finding(subject).text)
    assert (layer, head) == (6, 6)
    assert theirs.attentions[5][0, 5, subject.blank].max() == pytest.approx(weight, abs=0.005)
    assert near(float(without_head(bundled, subject, (5, 5)).softmax(-1).max()), after)
    layer, head, weight = numbers(Heads().finding(subject.select(layer=5, head=9)).text)
    assert (layer, head) == (5, 9), "without it the guess stays, so the sentence says where it looks"


def test_the_decoder_opens_on_the_head_that_looks_ahead_most(bundled, theirs):
    subject = opened(bundled, Decoder)
    layer, head, share = numbers(Decoder().finding(subject).text)
    text = np.array(subject.trace.encoding.sequences) >= 0
    later = np.triu(np.outer(text, text), 1)
    shares = np.stack([(one[0].numpy() * later).sum((1, 2)) / text.sum() for one in theirs.attentions])
    assert np.unravel_index(shares.argmax(), shares.shape) == (layer - 1, head - 1)
    assert near(shares.max(), share)
    hidden = np.stack([np.triu(one[0].numpy(), 1)[:, text].sum(2).mean(1) for one in theirs.attentions])
    at = np.unravel_index(np.where(shares < 0.1, hidden, 0).argmax(), shares.shape)  # it looks at [SEP]
    assert near(hidden[at], numbers(Decoder().finding(subject.select(layer=at[0] + 1, head=at[1] + 1)).text)[-1])


def test_hidden_states_open_at_the_layer_that_turns_the_tokens_most(bundled, theirs):
    subject = opened(bundled, OneLayer)
    found = OneLayer().finding(subject)
    states = np.stack([one[0].numpy() for one in theirs.hidden_states])
    units = states / np.linalg.norm(states, axis=-1, keepdims=True)
    turned = 1 - (units[1:] * units[:-1]).sum(-1)  # [layers, tokens]
    layer, tokens, mean, number, own = numbers(found.text)
    assert (tokens, number) == (20, 15), "[CLS] and [SEP] are in the mean, but neither they nor a full stop are in the maximum"
    assert turned.mean(1).argmax() == layer - 1 == subject.selection.layer - 1
    assert turned.mean(1).max() == pytest.approx(mean, abs=0.005)
    (word,) = words(found.text)
    places = [place for place, token in enumerate(subject.trace.tokens) if token == word]
    assert turned[int(layer) - 1, places].max() == pytest.approx(own, abs=0.005)
    assert OneLayer().first(subject.select(layer=2)).selection.layer == 2, "what was picked stays"


def test_guesses_and_lens_are_those_of_the_head(bundled, theirs):
    subject = opened(bundled, Guesses)
    shares, ids = theirs.prediction_logits[0, subject.blank].softmax(-1).topk(2)
    text = Guesses().finding(subject).text
    assert words(text) == bundled.pieces(ids.tolist())
    assert all(near(float(share), told) for share, told in zip(shares, numbers(text), strict=True))
    text = Lens().finding(subject).text
    states = [one[0, subject.blank] for one in theirs.hidden_states]
    best = [bundled.pieces([int(bundled.masked_lm(state[None]).argmax())])[0] for state in states]
    before, leads = words(text.partition(" The tuned lens")[0])
    last, since = map(int, numbers(text)[:2])
    assert last == since - 1
    assert set(best[since:]) == {leads}
    assert best[last] == before != leads


def test_the_most_surprising_word_is_named(bundled):
    subject = opened(bundled, EveryPosition)
    found = EveryPosition().finding(subject)
    surprise = EveryPosition().result(subject)
    assert numbers(found.text)[0] == pytest.approx(surprise.bits.max(), abs=0.05)
    assert found.why.selection["token"] == surprise.positions[int(surprise.bits.argmax())]


def test_pairs_words_runs_and_parts(bundled, theirs):
    subject = opened(bundled, ThisPair)
    both, swapped = numbers(ThisPair().finding(subject).text)
    assert near(float(theirs.seq_relationship_logits[0].softmax(-1)[0]), both)
    assert near(bundled.next_sentence(FIRST_B, FIRST_A).is_next, swapped)
    assert "skyscrapers" in Pieces().finding(subject).text
    assert numbers(Pieces().finding(subject).text) == [2]
    counts = bundled.parameters_by_part()
    text = Parameters().finding(subject).text
    assert near(max(counts.values()) / sum(counts.values()), numbers(text.replace(f"{sum(counts.values()):,}", ""))[0])
    assert f"{sum(counts.values()):,}" in text
    run = Outcome().find(subject)
    said = numbers(Outcome().finding(subject).text)
    assert said[0] / said[1] == run.score
    assert all(any(near(baseline, one) for one in said) for baseline in run.baselines.values())


@pytest.mark.usefixtures("few_sentences")
def test_every_view_that_has_something_to_say_says_it(bundled, contents):
    for name, view in VIEWS.items():
        subject = opened(bundled, view, A, B)
        if view.finding is View.finding or view in SILENT or name.startswith(ELSEWHERE) or view().unless(subject):
            continue
        found = view().finding(subject)
        if found is None and issubclass(view, LongView):  # it has nothing to say before its work is done
            shown = contents[name]
            if shown.view.waits:
                shown.view.keep(shown.subject, shown.view.result(shown.subject))
            found = shown.view.finding(shown.subject)
        assert found, name


def test_one_word_has_nothing_to_look_at(bundled):
    text = Heads().finding(opened(bundled, Heads, "Hello", "")).text
    assert text == "A single token: besides [CLS] and [SEP] a head has nothing to attend to."
