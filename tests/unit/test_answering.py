"""Finding answers: windows, what is learnt, what is said, and that it is the same at home and in transformers' own class."""

from itertools import pairwise

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute import answers, store
from explorer.finetune.compute.answers import HeldOutAnswers, Spans
from explorer.finetune.compute.export import write_standard
from explorer.finetune.compute.questions import Questions, place
from explorer.finetune.compute.spans import SHARED, exact_match, windows_of
from explorer.finetune.compute.training import new_run, train_whole
from explorer.techniques import own_head
from tests.families import write_family
from tests.learning import task_for

pytestmark = pytest.mark.usefixtures("own_runs")


WORDS = [("store", "happy", "sad"), ("dog", "sad", "slow"), ("milk", "slow", "happy"), ("man", "bad", "good")]
TEXTS = [f"the man went to the {thing} because he was {mood}. she was {other}." for thing, mood, other in WORDS]
ROWS = [place("where did the man go?", text.split(" because")[0].removeprefix("the man went to "), text) for text in TEXTS]
ROWS += [place("how was she?", text.removesuffix(".").rpartition(" ")[2], text) for text in TEXTS]
QUESTIONS = Questions((*ROWS, *(place("who bought milk?", "", text) for text in TEXTS)))
ASKED = ("where did the man go?", "the man went to the store because he was happy. she was sad.")


def task(model, questions=QUESTIONS, layers=2, **settings):
    return task_for(model, questions, layers_trained=layers, **{"batch_size": 4, **settings})


def standard(predictor, folder):
    """The class of transformers for it, as a person opens it in one line."""
    write_standard(predictor, folder)
    return transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()


@pytest.fixture
def trained(tiny):
    return new_run(train_whole(task(tiny, learning_rate=3e-4)), "Test")


def test_a_text_that_fits_is_one_window_and_a_long_one_several_that_share_tokens(tiny, refusal):
    assert [one.begin for one in windows_of(tiny, [ASKED, ASKED])] == [0, 0]
    text = " ".join(f"the man was {mood} and bought milk {number}." for number in range(90) for mood in ("sad", "happy"))
    windows = windows_of(tiny, [ASKED, (ASKED[0], text)])[1:]
    assert len(windows) > 2
    covered = []
    for window in windows:
        assert window.row == 1
        assert window.encoding.kept == window.encoding.total <= tiny.capabilities.max_tokens
        first, last = window.text_tokens[0], window.text_tokens[-1]
        covered.append(window.characters(first, last))
        assert text[slice(*covered[-1])] == window.encoding.text_b.strip()
    assert covered[0][0] == 0
    assert covered[-1][1] == len(text)
    for ((_, before), (begin, _)), window in zip(pairwise(covered), windows[1:], strict=True):
        shared = [token for token in window.text_tokens if window.characters(token, token)[1] <= before]
        assert begin < before
        assert 0 < len(shared) <= SHARED
    assert "too long" in refusal(InputError, lambda: windows_of(tiny, [(text, ASKED[1] * 30)]))


def test_an_answer_is_its_tokens_and_the_tokens_are_the_answer(tiny):
    for one in QUESTIONS.rows:
        (window,) = windows_of(tiny, [(one.question, one.text)])
        start, end = window.tokens(one.span)
        if one.span is None:
            assert (start, end) == (0, 0)
        else:
            assert one.text[slice(*window.characters(start, end))] == one.answer
            assert window.tokens((one.start, len(one.text) + 9)) == (0, 0)  # it ends in another window


@pytest.mark.parametrize("layers", [0, 2])
def test_the_loss_and_the_scores_are_those_of_transformers(tiny, tmp_path, layers):
    result = train_whole(task(tiny, layers=layers))
    predictor = result.predictor
    theirs = standard(predictor, tmp_path)
    windows = windows_of(tiny, QUESTIONS.pairs)
    objective, rows = Spans(QUESTIONS, windows), torch.tensor([7, 0, 10])
    scores = [predictor.scores(tiny, [QUESTIONS.pairs[row]]) for row in rows]
    losses = []
    for row, mine in zip(rows.tolist(), scores, strict=True):
        encoding = windows[row].encoding
        given = {"input_ids": torch.tensor([encoding.ids]), "token_type_ids": torch.tensor([encoding.segments])}
        start, end = objective.targets[row]
        with torch.no_grad():
            out = theirs(**given, start_positions=start[None], end_positions=end[None])
        np.testing.assert_allclose(mine, torch.stack([out.start_logits[0], out.end_logits[0]], -1), atol=1e-4)
        losses.append(out.loss.item())
    flat = torch.from_numpy(np.concatenate(scores))
    assert objective.loss(flat, rows).item() == pytest.approx(np.mean(losses), abs=1e-4)


def test_what_is_measured_is_what_is_said(tiny, trained):
    held, last = trained.held_out, trained.history[-1]
    assert all(held.texts.count(text) == 3 for text in set(held.texts))  # all questions on a text are held out together
    for question, text, said, (score, no_answer) in zip(held.questions, held.texts, held.said, held.scores, strict=True):
        found = trained.predictor.answer(tiny, question, text)
        assert found.text == said
        assert text[found.start : found.end] == said
        assert (found.score, found.no_answer) == pytest.approx((score, no_answer), abs=1e-5)
        assert (said == "") == (no_answer >= score)
    shares = [exact_match(said, right) for said, right in zip(held.said, held.accepted, strict=True)]
    assert last["held_out_exact_match"] == pytest.approx(np.mean(shares))
    assert trained.score == last["held_out_exact_match"]
    again = store.fetch(trained.id)
    assert isinstance(again.held_out, HeldOutAnswers)
    assert again.held_out.said == held.said


def test_of_what_does_not_fit_into_memory_a_part_is_learnt_from(tiny, monkeypatch, refusal):
    rows = sum(one.encoding.kept for one in windows_of(tiny, QUESTIONS.pairs))
    monkeypatch.setattr(answers, "room", lambda hidden: 2 * rows // 3)
    asked = task(tiny)
    parts = asked.split()
    below = finished(asked.read(parts))
    kept = below.split(parts)
    assert len(kept.held_out) == len(parts.held_out)
    assert 0 < len(kept.train) < len(parts.train)
    assert finished(asked.read(parts)).windows == below.windows
    monkeypatch.setattr(answers, "room", lambda hidden: 9)
    refusal(InputError, lambda: finished(asked.read(parts)))


def test_it_learns_what_can_be_learnt(tiny):
    rng = np.random.default_rng(0)
    texts = {" ".join(rng.permutation(["milk", "dog", "man", "store", "happy", "cat"])) for _ in range(80)}
    questions = Questions(tuple(place("who was it?", "dog", text) for text in sorted(texts)))
    history = train_whole(task(tiny, questions, epochs=40, learning_rate=0.1)).history
    assert history[-1].held_out["exact_match"] >= 0.9
    assert history[-1].held_out["loss"] < history[0].held_out["loss"]


def test_the_same_seed_gives_the_same_and_the_model_stays_as_it_was(tiny):
    before = tiny.trace(*ASKED).hidden_states.copy()
    first, second = (train_whole(task(tiny)).history for _ in range(2))
    assert [one.as_row() for one in first] == [one.as_row() for one in second]
    np.testing.assert_array_equal(tiny.trace(*ASKED).hidden_states, before)


def test_a_long_text_is_answered_from_the_window_that_is_surest(tiny, trained):
    text = " ".join(TEXTS * 20)
    found = trained.predictor.answer(tiny, ASKED[0], text)
    windows = windows_of(tiny, [(ASKED[0], text)])
    assert len(windows) > 1
    surest = -np.inf
    every, ends = trained.predictor.scores(tiny, [(ASKED[0], text)]), np.cumsum([one.encoding.kept for one in windows])[:-1]
    for window, scores in zip(windows, np.split(every, ends), strict=True):
        places = window.text_tokens
        best = max(scores[s, 0] + scores[e, 1] for s in places for e in places if s <= e < s + 30)
        if best - scores[0].sum() > surest:
            surest, wanted = best - scores[0].sum(), window
    assert found.window.begin == wanted.begin
    assert (found.text != "") == (surest > 0)
    assert text[found.start : found.end] == found.text


def test_a_checkpoint_for_transformers_says_the_same_as_a_model_of_the_app(tiny, trained, tmp_path):
    standard(trained.predictor, tmp_path)
    opened, found = explorer.load(str(tmp_path)), trained.predictor.answer(tiny, *ASKED)
    best = own_head.answers(opened.trace(*ASKED), 1)[0]
    assert (best.start, best.end) == found.span
    assert best.share == pytest.approx(found.score, abs=1e-5)


@pytest.mark.parametrize("name", ["roberta", "distilbert", "electra-generator", "camembert", "albert"])
def test_the_class_for_answers_of_a_family_scores_alike(tmp_path, name):
    model = explorer.load(write_family(tmp_path / name, name))
    predictor = train_whole(task(model, layers=int(name != "albert"), epochs=1)).predictor
    with torch.no_grad():
        out = standard(predictor, tmp_path / "standard")(**model.tokenizer(*ASKED, return_tensors="pt"))
    ours = predictor.scores(model, [ASKED])
    np.testing.assert_allclose(ours, torch.stack([out.start_logits[0], out.end_logits[0]], -1), atol=1e-4)
