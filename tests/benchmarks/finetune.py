"""Training beside the way it is usually written: the frozen encoder run in every epoch, and in every step."""

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from tests.benchmarks import Comparison
from tests.benchmarks.texts import labelled_texts

TEXTS = 2_000
TEXTS_FOR_LAYERS = 160  # ten epochs of every step would take an hour with all of them; the ratio is the same
EPOCHS, BATCH, RATE = 10, 32, 1e-2
EVERY = 4  # of the loop's batches one in so many is timed, all along the file, and counted so many times


def tutorial() -> Iterator[Comparison]:
    """The tutorials' job: a linear head on the pooled vector, ten epochs."""
    from explorer.bert.features import features
    from explorer.finetune.compute.finetune import train
    from explorer.training.examples import split
    from explorer.training.objectives import Classes
    from explorer.training.settings import TrainingSettings

    model, examples = base_model(), labelled_texts(TEXTS)
    parts = split(examples, 0)
    settings = TrainingSettings(epochs=EPOCHS, learning_rate=RATE, batch_size=BATCH)
    head = torch.nn.Linear(model.capabilities.hidden_size, len(examples.classes))

    def ours() -> None:
        vectors = features(model, examples.texts, -1, "pooler")
        list(train(vectors, Classes.of(examples, parts), parts, settings))

    mine = seconds(ours)
    # The encoder is frozen: every epoch costs the same, so that a part of one is run and counted for all of them.
    optimizer, batches = torch.optim.Adam(head.parameters(), lr=RATE), range(0, len(examples), BATCH * EVERY)
    timed = sum(min(BATCH, len(examples) - start) for start in batches)
    part = seconds(lambda: tutorial_steps(model, examples, head, optimizer, batches))
    loop = EPOCHS * part * len(examples) / timed
    yield Comparison("tutorial-finetune", "features once", "the tutorial's loop", mine, loop, "s", "ratio at most 0.04")

    sample = examples.texts[:200]
    found, wanted = features(model, sample, -1, "pooler"), np.concatenate(list(plain_pooled(model, sample)))
    cosine = (found * wanted).sum(-1) / np.linalg.norm(found, axis=-1) / np.linalg.norm(wanted, axis=-1)
    yield Comparison(
        "tutorial-finetune-features", "lowest cosine to fp32", "the limit", float(cosine.min()), 0.999, "", "ratio at least 1"
    )
    yield from _accuracies()


def _accuracies() -> Iterator[Comparison]:
    """Held-out accuracy with the bundled model, ours and the loop's, on the same split; means over five seeds."""
    import explorer
    from explorer.bert.features import features
    from explorer.finetune.compute.finetune import train
    from explorer.training.examples import split
    from explorer.training.objectives import Classes
    from explorer.training.settings import TrainingSettings

    model, examples = explorer.load(), labelled_texts(TEXTS)
    vectors = features(model, examples.texts, -1, "pooler")
    fp32 = torch.from_numpy(np.concatenate(list(plain_pooled(model, examples.texts))))
    targets = torch.from_numpy(examples.targets)
    ours, loops = [], []
    for seed in range(5):
        settings = TrainingSettings(epochs=EPOCHS, learning_rate=RATE, batch_size=BATCH, seed=seed)
        parts = split(examples, seed)
        *_, (epoch, _) = train(vectors, Classes.of(examples, parts), parts, settings)
        ours.append(epoch.held_out["accuracy"])
        torch.manual_seed(seed)
        trained, held = (torch.from_numpy(rows) for rows in parts)
        head = torch.nn.Linear(fp32.shape[1], len(examples.classes))
        optimizer = torch.optim.Adam(head.parameters(), lr=RATE)
        for _ in range(EPOCHS):
            for batch in trained[torch.randperm(len(trained))].split(BATCH):
                step(head, optimizer, fp32[batch], targets[batch])
        loops.append(float((head(fp32[held]).argmax(-1) == targets[held]).float().mean()))
    yield Comparison(
        "tutorial-finetune-accuracy",
        "held-out accuracy, bundled model",
        "the loop's",
        float(np.mean(ours)),
        float(np.mean(loops)),
        "",
        "at most 0.01 below",
    )


def top_layers() -> Iterator[Comparison]:
    """The top 2 of 12 layers, ten epochs: hidden states of the frozen ten kept, or made anew in every step.

    Twice: with everything else the same, and beside the loop as it is usually written, where a batch is padded to its
    longest text and read at once; ours reads its texts in parts of like length. Precision, optimizer, the layers trained
    and the work saved in the last layer, of which only [CLS] is needed, are always the same.
    """
    from explorer.core.steps import finished
    from explorer.finetune.compute import finetune
    from explorer.finetune.compute.finetune import train_top
    from explorer.finetune.compute.prefix import hidden_in_steps
    from explorer.finetune.compute.top_layers import Top
    from explorer.training.examples import split
    from explorer.training.objectives import Classes
    from explorer.training.settings import TrainingSettings

    model, examples = base_model(), labelled_texts(TEXTS_FOR_LAYERS)
    settings = TrainingSettings(epochs=EPOCHS, learning_rate=5e-5, batch_size=BATCH)
    most, parts = model.capabilities.layers, split(examples, 0)

    def run(states: object) -> None:
        for _ in train_top(Top(model, most, 2, "cls"), states, Classes.of(examples, parts), parts, settings):
            pass

    ours = seconds(lambda: run(finished(hidden_in_steps(model, examples.pairs, most - 2))))
    same = seconds(lambda: run(Recomputed(model, examples, most - 2)))
    yield Comparison("top-layers", "prefix run once", "prefix run in every step", ours, same, "s", "ratio at most 0.5")
    with mock.patch.object(finetune, "PART", BATCH):
        padded = seconds(lambda: run(Recomputed(model, examples, most - 2)))
    yield Comparison("top-layers-padded", "prefix run once", "the same on whole padded batches", ours, padded, "s", "to compare")


class Recomputed:
    """Hidden states that are made each time they are asked for, by the same code."""

    def __init__(self, model, examples, layer) -> None:
        self.model, self.layer = model, layer
        encoded = [model.encode(text) for text in examples.texts]
        self.encoded = [(one.ids, (0,) * one.kept) for one in encoded]
        self.lengths = torch.tensor([one.kept for one in encoded])
        self.flat = torch.empty(0, model.capabilities.hidden_size)

    @torch.no_grad()
    def batch(self, rows):
        """As explorer.finetune.compute.prefix.Ragged does it."""
        from explorer.finetune.compute.prefix import Batch, hidden_of

        return hidden_of(self.model, Batch(rows.numpy(), [self.encoded[row] for row in rows]), self.layer)


def tutorial_steps(model, examples, head, optimizer, starts) -> None:
    """Steps as the tutorials write them: batches in file order, padded, fp32, the encoder run for each."""
    targets = torch.from_numpy(examples.targets)
    for start in starts:
        (pooled,) = plain_pooled(model, examples.texts[start : start + BATCH])
        step(head, optimizer, torch.from_numpy(pooled), targets[start : start + BATCH])


def plain_pooled(model, texts) -> Iterator[np.ndarray]:
    """The pooled vectors of batches in file order, by transformers' own forward pass in fp32."""
    for start in range(0, len(texts), BATCH):
        encoded = model.tokenizer(
            list(texts[start : start + BATCH]), padding=True, truncation=True, max_length=512, return_tensors="pt"
        )
        with torch.no_grad():
            pooled = model.encoder(**encoded).pooler_output.numpy()
        yield pooled  # outside, since a generator's `with` reaches into whoever asks for the next item


def step(head, optimizer, vectors, targets) -> None:
    """One step of a linear head."""
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(head(vectors), targets).backward()
    optimizer.step()


@cache
def base_model():
    """A model of BERT-base size with random weights and the bundled vocabulary."""
    import transformers

    import explorer

    folder = Path(tempfile.mkdtemp(prefix="base-"))
    bundled = explorer.load()
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=bundled.capabilities.vocab_size)
    transformers.BertForPreTraining(config).save_pretrained(folder)
    bundled.tokenizer.save_pretrained(folder)
    return explorer.load(folder)


def seconds(run: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
