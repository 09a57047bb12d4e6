"""A whole run, original or changed: the neurons of a layer that move its guess, and how far its routes can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from explorer.bert.layer import shared_copy
from explorer.bert.trace import Trace
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.core.lazy import scipy
from explorer.techniques.ablation import Cut, Head, Patch, changed_states, last_vectors, readings_without, vectors_without_links
from explorer.techniques.lens import first_guesses
from explorer.techniques.mixing import head_shares_of
from explorer.techniques.routes import place_shares
from explorer.techniques.run_mixing import Mixing, block_of, mixing
from explorer.techniques.targets import Reading, Target, batches, read_at, read_each

Word = tuple[str, float]
"""A piece of the vocabulary and its probability, 0 to 1."""
TRIED = 2  # times as many candidates as neurons requested
FEWEST = 3  # pieces; the ranks of two are either equal or not
REACHED = 0.001  # by how much a change turns a vector (1 − cosine) that it is seen to reach

Changes = tuple[Collection[Head], Collection[Cut], Patch | None]
"""The heads that are off, the weights that are cut and the vector that is patched in."""


@dataclass(frozen=True, eq=False)
class Run:
    """The hidden states [layers + 1, tokens, hidden] of an input, possibly changed."""

    trace: Trace
    states: torch.Tensor
    changes: Changes = ((), (), None)

    @cached_property
    def mixed(self) -> Mixing:
        """The mixing of its layers, which takes longer than the states. Raises CapabilityError for layers that it cannot read."""
        return mixing(self.trace, *self.changes)


_changed: OnceCache[Hashable, Run] = OnceCache(4)  # several parts of a page need the same run


def run_of(trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), patch: Patch | None = None) -> Run:
    """The run of an input, with heads off, weights cut or a vector patched in, as in `changed_states`."""
    if not (off or cuts or patch):
        return Run(trace, trace.states)
    key = (trace.reading, frozenset(off), frozenset(cuts), patch and (*patch[:2], patch[2].reading))
    return _changed.get(key, lambda: Run(trace, changed_states(trace, off, patch, cuts), (off, cuts, patch)))


@inference_mode
def head_rows(run: Run, layer: int, query: int) -> tuple[np.ndarray, np.ndarray]:
    """The heads of a layer for one query, both zero-based: their shares [heads + 1, key], the last row being the residual,
    and the weights [heads, query, key] of the layer, 0 where a head is off or a weight is cut. Raises CapabilityError."""
    off, cuts, patch = run.changes
    block = block_of(run.trace, layer, off, cuts, patch, run.states)
    row = torch.from_numpy(run.mixed.shares[layer, query].copy())
    return head_shares_of(block, query, row).numpy(), block.weights.numpy()


def link_losses(trace: Trace, target: Target, links: Sequence[tuple[int, int, int]], state: int) -> tuple[float, np.ndarray]:
    """The target's probability (0 to 1) in a hidden state, and what is left of it without each link alone, [links].

    Links are (layer, query, key), zero-based, and are cut in all heads.
    """
    vectors = vectors_without_links(trace, links, target.position, state)
    whole = read_at(trace.model, target, trace.states[state][[target.position]]).probability
    return float(whole), read_each(trace.model, target, vectors).probability.numpy()


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


@inference_mode
def reached(run: Run, other: Run) -> np.ndarray:
    """[states, tokens] bool: the places that a change visibly reaches, between two runs of equal length."""
    return (1 - torch.cosine_similarity(run.states, other.states, dim=-1) >= REACHED).numpy()


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


@dataclass(frozen=True)
class NeuronEffect:
    """A neuron (zero-based), its activation at the token, and the loss of the target without it."""

    neuron: int
    activation: float
    probability: float  # -1 to 1, above 0 if the neuron supports the target
    logit: float


def neuron_effects(trace: Trace, layer: int, token: int, target: Target, count: int = 5) -> tuple[NeuronEffect, ...]:
    """The `count` neurons of a layer whose ablation at one token changes the target's logit most, in falling order.

    Layer and token are zero-based. In the last layer only the target's own token has an effect. There are too many neurons to
    ablate them all: those with the largest gradient × activation, a first-order estimate of the effect (Shrikumar et al. 2016),
    are ablated one by one, and the effect reported is the model's own.
    """
    model = trace.model
    activations, slopes = _slopes(trace, layer, token, target)
    best = (activations * slopes).abs().topk(min(TRIED * count, len(slopes))).indices
    whole = read_at(model, target, trace.states[-1][[target.position]])
    found: list[NeuronEffect] = []
    for batch in batches(len(best), trace.kept):
        without = _without(trace, layer, token, target, best[batch])
        lost = (whole.probability - without.probability).tolist(), (whole.logit - without.logit).tolist()
        found += map(NeuronEffect, best[batch].tolist(), activations[best[batch]].tolist(), *lost)
    return tuple(sorted(found, key=lambda effect: -abs(effect.logit))[:count])


def _slopes(trace: Trace, layer: int, token: int, target: Target) -> tuple[torch.Tensor, torch.Tensor]:
    """The activations [neurons] of all neurons at the token, and the gradient [neurons] of the target's logit by them."""
    leaves: list[torch.Tensor] = []

    def take(activations: torch.Tensor) -> torch.Tensor:
        leaves.append(activations.detach().requires_grad_())
        return leaves[0]

    with torch.enable_grad():
        states = trace.states[layer + 1].clone()[None]  # a copy outside of inference mode, so that gradients can flow
        here = _after(trace, layer, token, 1, take)
        hidden = torch.cat([states[:, :token], here, states[:, token + 1 :]], dim=1)
        for above in trace.model.layers[layer + 1 :]:
            hidden = above(hidden)
        (slopes,) = torch.autograd.grad(read_at(trace.model, target, hidden[:, target.position]).logit.sum(), leaves)
    return leaves[0].detach()[0, 0], slopes[0, 0]


@inference_mode
def _without(trace: Trace, layer: int, token: int, target: Target, neurons: torch.Tensor) -> Reading:
    """The target with each of some neurons ablated at the token, one at a time: [neurons] each."""
    rows = torch.arange(len(neurons))

    def take(activations: torch.Tensor) -> torch.Tensor:
        activations = activations.clone()
        activations[rows, 0, neurons] = 0
        return activations

    states = trace.states[layer + 1].repeat(len(neurons), 1, 1)
    states[:, token] = _after(trace, layer, token, len(neurons), take)[:, 0]
    if layer == len(trace.model.layers) - 1:
        return read_at(trace.model, target, states[:, target.position])
    return read_at(trace.model, target, last_vectors(trace.model, layer + 1, states, target.position))


def _after(trace: Trace, layer: int, token: int, times: int, take: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The token's next hidden state [times, 1, hidden] with `take(activations)` [times, 1, neurons] as the input of W₂."""
    here = slice(token, token + 1)
    watched = replace(trace.model.layers[layer], module=shared_copy(trace.model.layers[layer].module))
    watched.neurons_dense.register_forward_pre_hook(lambda module, given: (take(given[0]),))
    context = trace.heads(layer).context(here).clone()  # [1, heads, 1, head_size]
    return watched.after_heads(context.expand(times, -1, -1, -1), trace.states[layer][here].clone())


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

    @property
    def correlation(self) -> float:
        """Spearman's rank correlation of shares and losses of probability, -1 to 1; 0 if either is constant."""
        return rank_correlation(self.shares, self.losses)


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's rank correlation, -1 to 1; 0 if either array is constant."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(scipy.stats.spearmanr(one, other).statistic)


@inference_mode
def trust(trace: Trace, target: Target) -> Generator[float, None, Trust]:
    """Mask every visible piece except the target's own; yields the share done, 0 to 1.

    Raises InputError when there are fewer than FEWEST pieces.
    """
    model, position = trace.model, target.position
    places = [place for place in model.visible_positions(trace.encoding) if place != position]
    if len(places) < FEWEST:
        raise InputError(f"There are only {len(places)} words to hide; type a longer sentence.")
    shares = place_shares(mixing(trace).shares, position)[0, places]
    whole = read_at(model, target, trace.states[-1][[position]])
    losses = np.empty((2, len(places)), dtype=np.float32)
    for batch, without in readings_without(trace, target, [[place] for place in places]):
        losses[0, batch] = (whole.probability - without.probability).numpy()
        losses[1, batch] = (whole.logit - without.logit).numpy()
        yield batch.stop / len(places)
    return Trust(tuple(places), shares, *losses)
