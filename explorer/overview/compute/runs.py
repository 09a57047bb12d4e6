"""A whole run, original or changed: its hidden states, the mixing of its layers, and the outputs of the heads."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

import numpy as np

from explorer.bert.trace import Trace
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.techniques.ablation import Cut, Head
from explorer.techniques.lens import first_guesses
from explorer.techniques.run_mixing import Mixing, Patch, mixing, mixing_and_states

Word = tuple[str, float]
"""A piece of the vocabulary and its probability, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Run:
    """The hidden states [layers + 1, tokens, hidden] of an input, possibly changed, and the mixing of its layers."""

    trace: Trace
    states: torch.Tensor
    mixed: Mixing


_changed: OnceCache[Hashable, Run] = OnceCache(4)  # several parts of a page need the same run


def run_of(trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), patch: Patch | None = None) -> Run:
    """The run of an input, with heads off, weights cut or a vector patched in, as in `changed_states`.

    Raises CapabilityError if the layers of a family cannot be decomposed.
    """
    if not (off or cuts or patch):
        return Run(trace, trace.states, mixing(trace))
    key = (trace.reading, frozenset(off), frozenset(cuts), patch and (*patch[:2], patch[2].reading))

    def make() -> Run:
        mixed, states = mixing_and_states(trace, off, cuts, patch)
        return Run(trace, states, mixed)

    return _changed.get(key, make)


@inference_mode
def read_words(run: Run, states: slice, places: Sequence[int], best: int = 1) -> list[list[list[Word]]]:
    """The `best` words of the masked-LM head at some tokens of some hidden states: [states][places], best first.

    nostalgebraist's logit lens (2020), for BERT. Raises CapabilityError without the head.
    """
    model, vectors = run.trace.model, run.states[states][:, list(places)]
    if best == 1:  # twice as fast as a full softmax
        ids, shares = (found[..., None] for found in first_guesses(model, vectors))
    else:
        top = model.masked_lm(vectors).softmax(-1).topk(min(best, model.capabilities.vocab_size))
        ids, shares = top.indices.numpy(), top.values.numpy()
    words = zip(model.pieces(ids.flatten().tolist()), shares.flatten().tolist(), strict=True)
    return [[list(islice(words, ids.shape[-1])) for _ in row] for row in ids]


def first_difference(run: Run, other: Run) -> int:
    """The lowest hidden state in which two runs of equal length differ; the number of states if none does."""
    same = (torch.equal(mine, theirs) for mine, theirs in zip(run.states, other.states, strict=True))
    return sum(1 for _ in takewhile(bool, same))


@inference_mode
def turned(run: Run) -> np.ndarray:
    """[states, tokens] the change of each token's vector in each layer: 1 − cosine, 0 to 2; 0 for the embeddings."""
    by_layer = 1 - torch.cosine_similarity(run.states[1:], run.states[:-1], dim=-1)  # [layers, tokens]
    return torch.cat([torch.zeros_like(by_layer[:1]), by_layer]).clamp(min=0).numpy()


@inference_mode
def word_shares(run: Run, position: int) -> np.ndarray:
    """The probability (0 to 1) of every piece at a token of the last state: [vocabulary].

    Raises CapabilityError without the head.
    """
    return run.trace.model.masked_lm(run.states[-1, position]).softmax(-1).numpy()


@inference_mode
def pair_shares(run: Run) -> np.ndarray:
    """The probabilities (0 to 1) of both outputs of the head for pairs: [2]. Raises CapabilityError without the head."""
    return run.trace.model.next_sentence_logits(run.states[-1:])[0].softmax(-1).numpy()


@inference_mode
def label_shares(run: Run) -> np.ndarray:
    """The shares (0 to 1) of the labels of the model's task head: [labels]. Raises CapabilityError without one."""
    head = run.trace.model.task_head()
    return head.shares(head.logits(run.trace.model.final(run.states[-1:])))[0].numpy()
