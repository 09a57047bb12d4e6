"""Every token hidden in turn: how surprised the model is by each, and by the sentence as a whole."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.base.errors import InputError
from explorer.model.explorer import Explorer
from explorer.model.trace import Encoding
from explorer.techniques.targets import batches
from explorer.text import limits

MOST_TEXTS = 200


@dataclass(frozen=True)
class Surprise:
    """What the model says at some positions about the piece that stands there; all arrays are [positions].

    log_probabilities: natural log, at most 0. ranks: of the actual piece, 1 is first. best_ids and
    best_probabilities: the first guess. The pseudo-log-likelihood is the sum of `log_probabilities`.
    """

    positions: tuple[int, ...]
    log_probabilities: np.ndarray
    ranks: np.ndarray
    best_ids: np.ndarray
    best_probabilities: np.ndarray

    @property
    def bits(self) -> np.ndarray:
        """-log2 of the probability of each actual piece: 0 for what was certain, 1 for a coin toss."""
        return -self.log_probabilities / np.log(2)


def visible_positions(model: Explorer, encoding: Encoding) -> tuple[int, ...]:
    """Where a piece of the text stands that is no [MASK]."""
    rows = zip(encoding.sequences, encoding.ids, strict=True)
    return tuple(i for i, (sequence, id) in enumerate(rows) if sequence >= 0 and id != model.mask_id)


@torch.inference_mode()
def hidden_surprise_in_steps(model: Explorer, encoding: Encoding) -> Generator[float, None, Surprise]:
    """Hide each visible piece behind [MASK], alone, and ask for it; yields the share done, 0 to 1.

    Salazar et al. 2020, section 2. Batched; the head runs at the hidden position only. Raises CapabilityError.
    """
    model.require("fill_mask")
    positions = visible_positions(model, encoding)
    parts = []
    original, segments = torch.tensor(encoding.ids), torch.tensor(encoding.segments)
    for batch in batches(len(positions), encoding.kept):
        here = torch.tensor(positions[batch])
        rows = torch.arange(len(here))
        ids = original.repeat(len(here), 1)  # [batch, tokens]
        ids[rows, here] = model.mask_id
        hidden = model.run_from(0, model.embed(ids, segments.expand_as(ids)))
        parts.append(_surprise(model, hidden[rows, here], original[here]))
        yield batch.stop / len(positions)
    return _joined(positions, parts)


@torch.inference_mode()
def seen_surprise(model: Explorer, encoding: Encoding, states: torch.Tensor) -> Surprise:
    """The same with every piece in sight, from the last hidden states [tokens, hidden]: one pass, much less surprise."""
    model.require("fill_mask")
    positions = visible_positions(model, encoding)
    ids = torch.tensor(encoding.ids)
    parts = []
    for batch in batches(len(positions), 8):  # 128 rows of logits at once
        here = list(positions[batch])
        parts.append(_surprise(model, states[here], ids[here]))
    return _joined(positions, parts)


def pseudo_likelihoods_in_steps(model: Explorer, texts: Sequence[str]) -> Generator[float, None, list[float]]:
    """The pseudo-log-likelihood (sum of natural logs, at most 0) of each text; yields the share done, 0 to 1.

    Raises CapabilityError without a masked-LM head, InputError when a text holds nothing but [MASK]s.
    """
    model.require("fill_mask")
    texts = limits.check_texts(texts, MOST_TEXTS)
    encoded = [model.encode(text) for text in texts]
    for number, encoding in enumerate(encoded, start=1):
        if not visible_positions(model, encoding):
            raise InputError(f"Text {number} has no visible word to score; type one beside its [MASK]s.")
    work, done, scores = sum(encoding.kept**2 for encoding in encoded), 0, []
    for encoding in encoded:
        steps = hidden_surprise_in_steps(model, encoding)
        while True:
            try:
                yield (done + next(steps) * encoding.kept**2) / work
            except StopIteration as finished:
                scores.append(float(finished.value.log_probabilities.sum()))
                break
        done += encoding.kept**2
    return scores


def _surprise(model: Explorer, vectors: torch.Tensor, actual: torch.Tensor) -> tuple[np.ndarray, ...]:
    """For last hidden states [rows, hidden] and the ids [rows] that stand there: the four columns of Surprise."""
    logs = model.masked_lm(vectors).log_softmax(-1)  # [rows, vocabulary]
    mine = logs.gather(-1, actual[:, None])  # [rows, 1]
    best, best_ids = logs.max(-1)
    return mine[:, 0].double().numpy(), (logs > mine).sum(-1).numpy() + 1, best_ids.numpy(), best.exp().numpy()


def _joined(positions: tuple[int, ...], parts: list[tuple[np.ndarray, ...]]) -> Surprise:
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.empty(0)] * 4
    return Surprise(positions, *columns)
