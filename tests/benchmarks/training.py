"""A head on the pooled vector beside the loop of the tutorials, which runs the frozen encoder for each batch of each epoch."""

import time
from collections.abc import Iterator
from typing import Any

import torch
import transformers

from explorer.bert.explorer import Explorer
from explorer.finetune.compute.task import Task, make_plan, train_whole
from tests.benchmarks import Comparison
from tests.benchmarks.accuracies import examples_of
from tests.benchmarks.base_model import base_model

EPOCHS, BATCH, RATE = 10, 32, 1e-2
EVERY = 4  # one of so many batches of the loop is timed: the encoder is frozen, so that each epoch costs the same


def run() -> Iterator[Comparison]:
    """2,000 tweets, ten epochs, with a model of BERT-base's size; ours includes the baselines that the page shows."""
    model, examples = base_model(), examples_of("tweets_train.csv")
    plan = make_plan(model, -1, "pooler", epochs=EPOCHS, learning_rate=RATE, batch_size=BATCH)
    begun = time.perf_counter()
    train_whole(Task(model, examples, plan))
    ours, theirs = time.perf_counter() - begun, EPOCHS * EVERY * _run_loop(model, examples)
    yield Comparison("training", f"{len(examples):,} texts", "the tutorials' loop", ours, theirs, "s", "at most 0.04")


def _run_loop(model: Explorer, examples: Any) -> float:
    """Seconds of one batch in EVERY of an epoch, as the tutorials write it: padded, in 32 bits."""
    plain = transformers.AutoModel.from_pretrained(model.checkpoint.folder, dtype=torch.float32).eval()
    head = torch.nn.Linear(plain.config.hidden_size, len(examples.classes))
    optimizer, targets = torch.optim.Adam(head.parameters(), lr=RATE), torch.from_numpy(examples.targets)
    begun = time.perf_counter()
    for start in range(0, len(examples), EVERY * BATCH):
        batch = slice(start, start + BATCH)
        encoded = model.tokenizer(list(examples.texts[batch]), padding=True, truncation=True, return_tensors="pt")
        with torch.no_grad():
            pooled = plain(**encoded).pooler_output
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(head(pooled), targets[batch]).backward()
        optimizer.step()
    return time.perf_counter() - begun
