"""A whole run, original or changed: its words, heads and answers, and how far its routes can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np

from explorer.analysis.head_metrics import HABITS, TokenFacts, habit_share, head_metrics, patterns
from explorer.bert.trace import Trace
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.techniques import ablation
from explorer.techniques.ablation import Cut, Edit, Head
from explorer.techniques.lens import first_guesses
from explorer.techniques.mixing import head_shares_of
from explorer.techniques.routes import Mixing, block_of, mixing, place_shares
from explorer.techniques.targets import Target, read_at, read_each

Value = TypeVar("Value")
Word = tuple[str, float]
"""A piece of the vocabulary and its probability, 0 to 1."""
FEWEST = 3  # pieces; the ranks of two are either equal or not
REACHED = 0.001  # by how much a change turns a vector (1 − cosine) that it is seen to reach


class Run(ablation.Run):
    """A run with the values derived from it, of which some are cached with its input."""

    @cached_property
    def mixed(self) -> Mixing:
        """The mixing of its layers, which takes longer than the states. Raises CapabilityError for layers that it cannot read."""
        return mixing(self)

    def towards(self, ends: Collection[int]) -> Run:
        """The run as far as the last vectors of some tokens need it."""
        return replace(self, ends=ends) if self.is_changed and "states" not in self.__dict__ else self

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The result of `make()`, cached with the input under `key` and the changes; for small values only."""
        return self.trace.once((key, *self.key[1:]), make)


_changed: OnceCache[Hashable, Run] = OnceCache(4)  # several parts of a page need the same run


def run_of(trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), edits: Sequence[Edit] = ()) -> Run:
    """The run of an input, with heads off, weights cut or other edits."""
    run = Run(trace, off, cuts, edits)
    return _changed.get((trace.reading, *run.key[1:]), lambda: run) if run.is_changed else run


class HeadRows(NamedTuple):
    """The heads of a layer for one query: `shares` [heads + 1, key], the last row being the residual, and `weights` [heads, key],
    0 where a head is off or a weight is cut."""

    shares: np.ndarray
    weights: np.ndarray


def head_rows(run: Run, layer: int, query: int) -> HeadRows:
    """The heads of a layer for one query, both zero-based. Raises CapabilityError."""
    return run.once(("heads", layer, query), lambda: _head_rows(run, layer, query))


@inference_mode
def _head_rows(run: Run, layer: int, query: int) -> HeadRows:
    block, row = block_of(run, layer, [query]), torch.from_numpy(run.mixed.shares[layer, query].copy())
    return HeadRows(head_shares_of(block, query, row).numpy(), block.weights[:, 0].numpy())


def head_names(run: Run, layer: int) -> list[tuple[str, float | None]]:
    """What each head of a layer (zero-based) does in this run, and how sure that is (0 to 1)."""

    def make() -> list[tuple[str, float | None]]:
        metrics = head_metrics(block_of(run, layer).weights.numpy(), TokenFacts.of(run.trace.encoding))
        habits = [HABITS[str(name)] for name in patterns(metrics)]
        return [
            (habit.name, habit_share(habit, metrics, head)) if habit.metrics else ("", None) for head, habit in enumerate(habits)
        ]

    return run.once(("names", layer), make)


def link_losses(trace: Trace, target: Target, links: Sequence[tuple[int, int, int]], state: int) -> tuple[float, np.ndarray]:
    """The target's probability (0 to 1) in a hidden state, and what is left of it without each link alone, [links].

    Links are (layer, query, key), zero-based, and are cut in all heads.
    """
    vectors = ablation.vectors_without_links(trace, links, target.position, state)
    whole = read_at(trace.model, target, trace.states[state][[target.position]]).probability
    return float(whole), read_each(trace.model, target, vectors).probability.numpy()


@inference_mode
def read_words(run: Run, places: Sequence[tuple[int, int]], best: int) -> list[list[Word]]:
    """The `best` words of the masked-LM head at some places (hidden state, token), best first.

    nostalgebraist's logit lens (2020), for BERT. Raises CapabilityError without the head.
    """
    if not places:
        return []
    model, at = run.trace.model, torch.tensor(places)
    vectors = run.states[at[:, 0], at[:, 1]]
    if best == 1:  # twice as fast as a full softmax
        ids, shares = (found[0][:, None] for found in first_guesses(model, vectors[None]))
    else:
        top = model.masked_lm(vectors).softmax(-1).topk(min(best, model.capabilities.vocab_size))
        ids, shares = top.indices.numpy(), top.values.numpy()
    words = zip(model.pieces(ids.flatten().tolist()), shares.flatten().tolist(), strict=True)
    return [list(islice(words, ids.shape[-1])) for _ in places]


@inference_mode
def reached(run: Run, other: Run) -> np.ndarray:
    """[states, tokens] bool: the places that a change visibly reaches, between two runs of equal length."""
    found = (run.states != other.states).any(-1)
    found[found.clone()] = 1 - torch.cosine_similarity(run.states[found], other.states[found], dim=-1) >= REACHED
    return found.numpy()


def turned(run: Run) -> np.ndarray:
    """[states, tokens] the change of each token's vector in each layer: 1 − cosine, 0 to 2; 0 for the embeddings."""

    @inference_mode
    def make() -> np.ndarray:
        by_layer = 1 - torch.cosine_similarity(run.states[1:], run.states[:-1], dim=-1)  # [layers, tokens]
        return torch.cat([torch.zeros_like(by_layer[:1]), by_layer]).clamp(min=0).numpy()

    return run.once("turned", make)


@inference_mode
def word_shares(run: Run, position: int) -> np.ndarray:
    """The probability (0 to 1) of every piece at a token of the last state: [vocabulary].

    Raises CapabilityError without the head.
    """
    return run.trace.model.masked_lm_of_one(run.states[-1, position]).softmax(-1).numpy()


def best_of(shares: np.ndarray, count: int) -> list[int]:
    """The places of the largest of some shares, in falling order."""
    return torch.from_numpy(shares).topk(min(count, len(shares))).indices.tolist()


@inference_mode
def pair_shares(run: Run) -> np.ndarray:
    """The probabilities (0 to 1) of both outputs of the head for pairs: [2]. Raises CapabilityError without the head."""
    return run.trace.model.next_sentence_logits(run.states[-1:])[0].softmax(-1).numpy()


@inference_mode
def label_shares(run: Run) -> np.ndarray:
    """The shares (0 to 1) of the labels of the model's task head: [labels]. Raises CapabilityError without one."""
    head = run.trace.model.task_head()
    return head.shares(head.logits(run.trace.model.final(run.states[-1:])))[0].numpy()


@dataclass(frozen=True, eq=False)
class Trust:
    """The routes' shares of each piece, and the effects of masking it.

    `places` are the tokens that were masked, zero-based: the pieces of the texts except blanks and the target's own. For each,
    `shares` (0 to 1) is how much of the target's place comes from it in hidden state 0, and `losses` (-1 to 1) and `logit_losses`
    are what the target's probability and logit lose when it is [MASK]: [places] float32 each.
    """

    places: tuple[int, ...]
    shares: np.ndarray
    losses: np.ndarray
    logit_losses: np.ndarray


@inference_mode
def trust(trace: Trace, target: Target) -> Trust:
    """Mask every visible piece except the target's own. Raises InputError when there are fewer than FEWEST pieces."""
    model, position = trace.model, target.position
    places = [place for place in model.visible_positions(trace.encoding) if place != position]
    if len(places) < FEWEST:
        raise InputError(f"The text has fewer than {FEWEST} words to hide. Type a longer sentence.")
    shares = place_shares(mixing(ablation.Run(trace)).shares, position)[0, places]
    whole = read_at(model, target, trace.states[-1][[position]])
    left = ablation.readings_without(trace, target, [[place] for place in places])
    return Trust(tuple(places), shares, (whole.probability - left.probability).numpy(), (whole.logit - left.logit).numpy())
