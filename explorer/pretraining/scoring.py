"""Held-out scores: how often BERT predicts the masked piece, and whether it recognizes the next sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from explorer.core.engine import inference_mode, torch, transformers
from explorer.pretraining import sampling
from explorer.pretraining.batches import Batch, Vocabulary, collate
from explorer.pretraining.corpus import Corpus
from explorer.pretraining.losses import predict
from explorer.pretraining.sampling import Example


@dataclass(frozen=True)
class Scores:
    """Scores over a set of inputs; accuracies are shares 0..1, the loss is in nats."""

    top1: float
    top5: float
    loss: float
    chosen: int
    next_accuracy: float | None  # None without a text B
    inputs: int
    late_top1: float | None  # at positions from `late_from` on, None if there are none
    late_chosen: int  # the number of these positions


@inference_mode
def score(model: transformers.BertForPreTraining, batches: Iterable[Batch], late_from: int = 300) -> Scores:
    """Score a model on batches, in its precision and on its device; its training mode is restored."""
    was_training = model.training
    model.eval()
    ranks, losses, places, right = [], [], [], []
    inputs = 0
    for batch in batches:
        found = predict(model, batch)
        logits = found.mlm_logits.float()  # [chosen, vocabulary]
        target = logits.gather(1, found.mlm_labels[:, None])  # [chosen, 1]
        ranks.append((logits > target).sum(1).cpu().numpy())
        losses.append(torch.nn.functional.cross_entropy(logits, found.mlm_labels, reduction="none").cpu().numpy())
        places.append(np.nonzero(batch.labels >= 0)[1])
        inputs += len(batch.labels)
        if found.next_labels is not None:
            right.append((found.next_logits.argmax(1) == found.next_labels).cpu().numpy())
    model.train(was_training)
    rank, late = np.concatenate(ranks), np.concatenate(places) >= late_from  # both [chosen over all batches]
    return Scores(
        top1=float((rank < 1).mean()),
        top5=float((rank < 5).mean()),
        loss=float(np.concatenate(losses).mean()),
        chosen=len(rank),
        next_accuracy=float(np.concatenate(right).mean()) if right else None,
        inputs=inputs,
        late_top1=float((rank[late] < 1).mean()) if late.any() else None,
        late_chosen=int(late.sum()),
    )


def pair_batches(
    corpus: Corpus, vocabulary: Vocabulary, count: int, length: int, seed: int, sentences: int | None = None
) -> Iterator[Batch]:
    """`count` sentence pairs of `length` pieces; the same seed gives the same pairs."""
    rng = np.random.default_rng([seed, length])
    among = sampling.starting_sentences(corpus, length * 3 // 4 if sentences is None else 1, 2)
    examples = [sampling.pair(corpus, sampling.evenly(i, among), length, rng, sentences) for i in range(count)]
    return _batches(examples, vocabulary, rng)


def single_batches(corpus: Corpus, vocabulary: Vocabulary, count: int, length: int, seed: int) -> Iterator[Batch]:
    """`count` single sentences of at most `length` pieces."""
    rng = np.random.default_rng([seed, length, 1])
    among = np.arange(corpus.sentences)
    examples = [sampling.single(corpus, sampling.evenly(i, among), length) for i in range(count)]
    return _batches(examples, vocabulary, rng)


def pack_batches(corpus: Corpus, vocabulary: Vocabulary, count: int, length: int, seed: int) -> Iterator[Batch]:
    """`count` stretches of contiguous text of `length` pieces, across the borders of documents."""
    rng = np.random.default_rng([seed, length, 2])
    among = np.arange(corpus.sentences)
    examples = [sampling.pack(corpus, sampling.evenly(i, among), length) for i in range(count)]
    return _batches(examples, vocabulary, rng)


def _batches(examples: list[Example], vocabulary: Vocabulary, rng: np.random.Generator) -> Iterator[Batch]:
    """Batches of about 4,096 pieces, sorted by length to save padding."""
    examples = sorted(examples, key=len, reverse=True)
    while examples:
        size = max(1, 4096 // (len(examples[0]) + 3))
        yield collate(examples[:size], vocabulary, rng)
        examples = examples[size:]
