"""How a run is paced: the rate, batches made ahead, the mean of the weights, and that all of it survives an interruption."""

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForPreTraining

from explorer.core.errors import InputError
from explorer.pretraining.batches import Vocabulary
from explorer.pretraining.corpus import Corpus
from explorer.pretraining.losses import Predictions, predict
from explorer.pretraining.reading_ahead import read_ahead
from explorer.pretraining.running_mean import RunningMean
from explorer.pretraining.settings import Settings
from explorer.pretraining.stream import BatchStream, Mixture
from explorer.pretraining.training import Trainer

WORDS = 60


@pytest.fixture(scope="module")
def stream() -> BatchStream:
    """Batches of twenty documents of four sentences of six pieces."""
    pieces = np.random.default_rng(0).integers(6, 6 + WORDS, size=480).astype(np.uint16)
    corpus = Corpus(pieces, np.arange(0, 481, 6), np.arange(0, 81, 4))
    kinds = np.arange(6 + WORDS) >= 6
    vocabulary = Vocabulary(1, 2, 0, 3, np.arange(6, 6 + WORDS), ~kinds, kinds, ~kinds)
    return BatchStream([(1.0, corpus)], vocabulary, Mixture(pieces=128, length=32, long_length=48, short_length=16), seed=1)


def tiny_bert(seed: int = 0) -> BertForPreTraining:
    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return BertForPreTraining(BertConfig(vocab_size=6 + WORDS, max_position_embeddings=48, **sizes, **off))


def test_copying_is_the_share_on_other_words_of_content_that_are_read():
    logits = torch.log(torch.tensor([[0.1, 0.2, 0.3, 0.15, 0.25], [0.1, 0.2, 0.3, 0.15, 0.25]]))
    read = torch.tensor([[1, 2, 2, 4], [1, 0, 3, 3]])
    content = torch.tensor([False, True, True, True, True])
    found = Predictions(logits + 7, torch.tensor([4, 2]), torch.zeros(2, 2), None, torch.zeros(2, 4, 1), read).copying(content)
    assert found.item() == pytest.approx(-np.mean(np.log1p([-(0.2 + 0.3), -(0.2 + 0.15)])), abs=1e-6)


def test_a_run_that_copying_counts_in_copies_less(stream, tmp_path):
    found = []
    for weight in (0.0, 5.0):
        settings = Settings(steps=60, peak_rate=1e-2, warmup=5, copy_weight=weight, bf16=False)
        trainer = Trainer(tiny_bert(), stream, settings, tmp_path / str(weight))
        trainer.run()
        found.append(
            np.mean([predict(trainer.model, stream.batch(step)).copying(trainer.content).item() for step in range(90, 110)])
        )
    assert found[1] < 0.8 * found[0]


def test_the_rate_stays_at_its_peak_until_the_decay():
    settings = Settings(steps=100, peak_rate=1.0, warmup=10, decay=0.2)
    rates = [settings.rate(step, settings.progress(step, 0)) for step in range(101)]
    assert rates[4] == pytest.approx(0.5)
    assert rates[10:81] == pytest.approx([1.0] * 71)
    assert rates[90] == pytest.approx(0.5)
    assert rates[100] == 0
    for wrong in ({"decay": 0.0}, {"decay": 1.5}, {"average": 1.0}, {"average": -0.1}):
        with pytest.raises(InputError, match="decay"):
            Settings(steps=1, **wrong)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_made_ahead_are_the_same_in_the_same_order(stream, workers):
    asked = []

    def wanted():
        for step in range(5, 500):
            asked.append(step)
            yield step, 0.3

    batches = read_ahead(stream, wanted(), workers)
    for step in range(5, 12):
        batch, expected = next(batches), stream.batch(step, 0.3)
        assert (batch.input_ids == expected.input_ids).all()
        assert (batch.labels == expected.labels).all()
    assert len(asked) == 7 if workers == 0 else 7 < len(asked) < 30


def test_the_running_mean_is_plain_at_first_and_exponential_later():
    model = torch.nn.Linear(1, 1, bias=False)
    mean = RunningMean(model, keep=0.5)
    seen = []
    for value in (1.0, 3.0, 4.0, 8.0):
        model.weight.data.fill_(value)
        mean.add(model)
        seen.append(mean.weights["weight"].item())
    assert seen == pytest.approx([1.0, 2.0, 3.0, 5.5])
    mean.exchange(model)
    assert (model.weight.item(), mean.weights["weight"].item()) == pytest.approx((5.5, 8.0))


def test_a_run_of_two_legs_ends_with_the_same_weights_and_the_same_mean(stream, tmp_path):
    settings = Settings(steps=12, peak_rate=1e-2, warmup=2, decay=0.3, average=0.8)
    whole = Trainer(tiny_bert(), stream, settings, tmp_path / "whole")
    whole.run()
    Trainer(tiny_bert(), stream, settings, tmp_path / "legs").run(max_steps=5)
    second = Trainer(tiny_bert(seed=3), stream, settings, tmp_path / "legs")
    assert second.mean.steps == 5
    second.run()
    for name, weights in whole.model.named_parameters():
        assert torch.equal(weights, dict(second.model.named_parameters())[name]), name
        assert torch.equal(whole.mean.weights[name], second.mean.weights[name]), name
    assert any(not torch.equal(weights, whole.mean.weights[name]) for name, weights in whole.model.named_parameters())


def test_a_mean_begins_anew_where_the_first_leg_had_none(stream, tmp_path):
    Trainer(tiny_bert(), stream, Settings(steps=9, warmup=1), tmp_path).run(max_steps=3)
    second = Trainer(tiny_bert(seed=3), stream, Settings(steps=9, warmup=1, average=0.9), tmp_path)
    assert second.mean.steps == 0
    assert all(torch.equal(weights, second.mean.weights[name]) for name, weights in second.model.named_parameters())
