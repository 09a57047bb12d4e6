"""The neurons of a layer that move a target most, each ablated alone at one token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from explorer.bert.layer import shared_copy
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.techniques.ablation import last_vectors
from explorer.techniques.targets import Reading, Target, batches, read_at

TRIED = 2  # times as many candidates as neurons requested


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
