"""Finding answers: what is learnt, what is said, and that it is the same at home and in transformers' own class."""

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute import layers, store
from explorer.finetune.compute.answers import HeldOutAnswers, Spans, exact_match, locate
from explorer.finetune.compute.export import write_standard
from explorer.finetune.compute.questions import Questions, place
from explorer.finetune.compute.store import new_run
from explorer.finetune.compute.task import train_whole
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


def test_an_answer_is_its_tokens_and_the_tokens_are_the_answer(tiny):
    for one in QUESTIONS.rows:
        encoding = tiny.encode(one.question, one.text)
        start, end = locate(encoding, encoding.kept, one.span)
        if one.span is None:
            assert (start, end) == (0, 0)
        else:
            assert one.text[encoding.offsets[start][0] : encoding.offsets[end][1]] == one.answer
            assert locate(encoding, encoding.kept, (one.start, len(one.text) + 9)) == (0, 0)  # a part of it is not read
            assert locate(encoding, end + 1, one.span) == (0, 0)  # [SEP] is in the place of its end


@pytest.mark.parametrize("layers", [0, 2])
def test_the_loss_and_the_scores_are_those_of_transformers(tiny, tmp_path, layers):
    result = train_whole(task(tiny, layers=layers))
    predictor = result.predictor
    theirs = standard(predictor, tmp_path)
    encodings = [tiny.encode(*pair) for pair in QUESTIONS.pairs]
    lengths = torch.tensor([encoding.kept for encoding in encodings])
    objective, rows = Spans(QUESTIONS, encodings, lengths), torch.tensor([7, 0, 10])
    scores = [predictor.scores(tiny, [QUESTIONS.pairs[row]]) for row in rows]
    losses = []
    for row, mine in zip(rows.tolist(), scores, strict=True):
        encoding = encodings[row]
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


def test_a_text_is_cut_where_all_of_them_do_not_fit_into_memory(tiny, monkeypatch, refusal):
    asked = task(tiny)
    whole = asked.objective(finished(asked.read()), asked.split()).targets
    cut = int(whole[0, 1]) + 2  # the answer to the first question, and [SEP]
    monkeypatch.setattr(layers, "CUTS", (cut,))
    below = finished(asked.read())
    assert below.states.lengths.max() == cut
    found = asked.objective(below, asked.split()).targets
    assert torch.equal(found, torch.where(whole.max(1, keepdim=True).values < cut - 1, whole, 0))
    assert 0 < (found[:, 1] > 0).sum() < (whole[:, 1] > 0).sum(), "some answers are not read any more"
    monkeypatch.setattr(layers, "CUTS", ())
    refusal(InputError, lambda: finished(asked.read()))


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
