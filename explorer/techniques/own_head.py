"""The output of a fine-tuned checkpoint's task head, and the words on which it depends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorer.bert.families import ANSWER, LABELS, REPLACED
from explorer.bert.own_head import OwnHead
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import CapabilityError, InputError
from explorer.techniques.ablation import masked_in_turn

LONGEST_ANSWER = 30  # tokens
MOST_WORDS = 60


class Labelled(NamedTuple):
    """All labels of a text or pair, [labels], or of its tokens, [tokens, labels]: logits and shares.

    Shares are from 0 to 1, or the numbers of a regression themselves.
    """

    labels: tuple[str, ...]
    logits: np.ndarray
    shares: np.ndarray


class Answer(NamedTuple):
    """A span of tokens from `start` to `end`, zero-based and both included.

    `share` is p(start) · p(end), 0 to 1, and `logit` the sum of both logits.
    """

    start: int
    end: int
    text: str
    logit: float
    share: float


@inference_mode
def labels(trace: Trace, task: str = LABELS) -> Labelled:
    """The labels of an input, or for TAGS of its tokens. Raises CapabilityError without a head for the task."""
    head, logits = _read(trace, task)
    return Labelled(head.labels, logits.numpy(), head.shares(logits).numpy())


@inference_mode
def word_effects(trace: Trace, label: int) -> tuple[list[str], np.ndarray]:
    """The first MOST_WORDS words, and how much the share of a label (by index) falls when each is masked.

    Occlusion (Zeiler & Fergus 2014). Raises CapabilityError without a head for labels.
    """
    head, logits = _read(trace, LABELS)
    words, model = trace.encoding.text_words[:MOST_WORDS], trace.model
    effects = np.zeros(len(words), dtype=np.float32)
    for batch, embedded in masked_in_turn(trace, words):
        shares = head.shares(head.logits(model.final(model.run(embedded))))  # [batch, labels]
        effects[batch] = head.shares(logits)[label] - shares[:, label]
    return [trace.encoding.word(word) for word in words], effects


@inference_mode
def boundaries(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """The logits and log-probabilities (natural) that the answer begins, and ends, at each token, [tokens, 2] each.

    Raises CapabilityError without a head for answers, InputError without a text B.
    """
    _, logits = _read(trace, ANSWER)
    if not trace.encoding.text_b:
        raise InputError("The text to search is missing. Type the question in A and the text in B.")
    return logits.numpy(), logits.log_softmax(0).numpy()


def answers(trace: Trace, count: int) -> list[Answer]:
    """The most probable spans of B, best first, of at most LONGEST_ANSWER tokens: Devlin et al. 2019, section 4.2."""
    logits, logs = boundaries(trace)
    inside = [token for token, sequence in enumerate(trace.encoding.sequences) if sequence == 1]
    spans = [(start, end) for start in inside for end in range(start, min(start + LONGEST_ANSWER, inside[-1] + 1))]
    spans.sort(key=lambda span: -(logs[span[0], 0] + logs[span[1], 1]))
    offsets, text = trace.encoding.offsets, trace.encoding.text_b
    return [
        Answer(
            *(start, end, text[offsets[start][0] : offsets[end][1]]),
            logit=float(logits[start, 0] + logits[end, 1]),
            share=float(np.exp(logs[start, 0] + logs[end, 1])),
        )
        for start, end in spans[:count]
    ]


@inference_mode
def replacement_shares(trace: Trace) -> np.ndarray:
    """The probability that each piece was put there by another model, [tokens], 0 to 1: Clark et al. 2020, section 2.

    Raises CapabilityError without such a head.
    """
    return trace.model.replaced_logits(trace.states[-1:])[0].sigmoid().numpy()


@inference_mode
def own_error(trace: Trace) -> float:
    """The largest difference of the head's logits from those on the hidden states of transformers' own forward pass."""
    model = trace.model
    if model.capabilities.own_head == REPLACED:
        ours, theirs = model.replaced_logits(trace.states[-1:])[0], model.own_outputs(trace.encoding).logits[0]
    else:
        head, ours = _read(trace, model.task_head().task)
        theirs = head.logits(model.own_hidden(model.pad([(trace.ids, trace.encoding.segments)])))[0]
    return float((ours - theirs).abs().max())


def _read(trace: Trace, task: str) -> tuple[OwnHead, torch.Tensor]:
    """The head for a task, and its logits for an input: [labels], [tokens, labels] or [tokens, 2]. Raises CapabilityError."""
    head = trace.model.own_head
    if head is None or head.task != task:
        raise CapabilityError(
            f"{trace.model.name} has no head for this task. Open a checkpoint that was fine-tuned for the task."
        )
    return head, head.logits(trace.model.final(trace.states[-1:]))[0]
