"""Edges between the components of an encoder: what one adds, as far as one later component reads it.

A component is the embedding output, a head, a feed-forward block ("MLP") or the answer, which reads the last hidden state. Here a
LayerNorm follows every sum (Vaswani et al. 2017), so an edge leads through each LayerNorm between its sender and its receiver,
and nothing else: all other components keep what they give. Only the receiver reads the change, and all behind it is computed.
`estimate` is this to first order, with the derivative of every LayerNorm (EAP, Syed et al. 2023); `vectors_with` is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from explorer.bert import attending
from explorer.bert.attending import Heads
from explorer.bert.explorer import Explorer
from explorer.bert.layer import Layer
from explorer.core.engine import torch
from explorer.core.errors import CapabilityError
from explorer.core.lazy import compile_with
from explorer.experiments.compute.question import Axis, Batch
from explorer.techniques.edits import PARTS, attend_with

SENDERS, RECEIVERS = Axis("sender", first=0, ends="embeddings"), Axis("receiver", ends="answer")


@dataclass(frozen=True)
class Run:
    """What each layer reads and computes, by name, the last hidden state behind it, and the slopes of some numbers by each.

    "hidden" is what a layer reads, "mid" what its feed-forward block reads and "added" what that adds, [n, tokens, hidden];
    "query", "key", "value" and "context" are [n, heads, tokens, head_size]. Slopes are [numbers, n, ...].
    """

    layers: Sequence[dict[str, torch.Tensor]]
    slopes: Sequence[dict[str, torch.Tensor]]

    def of(self, name: str) -> list[torch.Tensor]:
        """By layer, of "hidden" with the last one."""
        return [layer[name] for layer in self.layers if name in layer]

    def slopes_by(self, name: str) -> list[torch.Tensor]:
        return [layer[name] for layer in self.slopes if name in layer]


def require_edges(model: Explorer) -> None:
    """Raise CapabilityError for a model in which norms do not follow the sums."""
    if any(None in (layer.attention_norm, layer.last_norm) for layer in model.layers):
        raise CapabilityError(f"{model.name} has no LayerNorm after each sum, which edges need. Patch its heads instead.")


def run(model: Explorer, hidden: torch.Tensor, numbers: Callable[[torch.Tensor], Sequence[torch.Tensor]] | None = None) -> Run:
    """A run from an embedding output [n, tokens, hidden], with the slopes of `numbers` of its last hidden state, if given."""
    layers, leaves = list[dict[str, torch.Tensor]](), list[dict[str, torch.Tensor]]()

    def watch(name: str, activation: torch.Tensor) -> torch.Tensor:
        if name == "hidden":
            layers.append({})
            leaves.append({})
        layers[-1][name] = activation.detach()
        if numbers is None:
            return activation
        leaves[-1][name] = torch.zeros_like(activation, requires_grad=True)
        return activation + leaves[-1][name]

    def attend(heads: Heads) -> torch.Tensor:
        return watch("context", replace(heads, **{part: watch(part, getattr(heads, part)) for part in PARTS}).context())

    for layer in model.layers:
        watched = {"mid": layer.family.attention_norm, "added": layer.family.out_of_neurons}
        changes = {path: partial(watch, name) for name, path in watched.items() if path}
        hidden = attending.answer_with(attend, partial(layer.with_outputs, watch("hidden", hidden), changes))
    hidden = watch("hidden", hidden)
    every = [leaf for parts in leaves for leaf in parts.values()]
    each = (torch.autograd.grad(number, every, retain_graph=True) for number in (numbers(hidden) if numbers else ()))
    slopes = map(torch.stack, zip(*each, strict=True))
    return Run(layers, [{name: next(slopes) for name in parts} for parts in leaves] if numbers else [])


def estimate(
    model: Explorer, readers: Sequence[torch.Tensor], mine: Run, theirs: Run, along: Run, at: tuple[int, int]
) -> torch.Tensor:
    """To first order, what each edge of `mine` changes in `theirs`, in one item: [slopes, senders, receivers].

    `readers` are those of each layer. Slopes and LayerNorms are those of the run `along`; `at` is the number of the item in the
    two runs, and in that one. Changes of all senders pass the LayerNorms in place, [tokens, senders, hidden].
    """
    own, other = at
    first, heads = mine.layers[0]["hidden"][own] - theirs.layers[0]["hidden"][own], theirs.layers[0]["context"].shape[1]
    senders, columns = 1 + len(model.layers) * (heads + 1), list[torch.Tensor]()
    stream = torch.empty(len(first), senders, first.shape[-1])
    stream[:, 0] = first

    def meet(count: int, slopes: torch.Tensor) -> None:
        """A column for each receiver that the first senders meet, from its slopes [slopes, receivers, tokens, hidden]."""
        found = (stream[:, :count] @ slopes.permute(2, 0, 1, 3).flatten(1, 2).mT).sum(0).unflatten(1, slopes.shape[:2])
        columns.append(torch.nn.functional.pad(found, (0, 0, 0, 0, 0, senders - count)))

    layers = zip(model.layers, readers, mine.layers, theirs.layers, along.layers, along.slopes, strict=False)
    for number, (layer, matrix, one, two, here, slopes) in enumerate(layers):
        given, count = {name: slope[:, other] for name, slope in slopes.items()}, 1 + number * (heads + 1)
        meet(count, torch.einsum("khts,hsd->khtd", torch.cat([given[part] for part in PARTS], -1), matrix))
        after_attention, last = _norms(layer)
        stream[:, count : count + heads] = _outputs(layer, one["context"][own] - two["context"][own])
        attended = here["hidden"][other] + _attended(layer, here["context"][other, None])[0]
        _pass(after_attention, attended, stream, count + heads)
        meet(count + heads, (given["mid"] - given["added"])[:, None])  # less what the residual connection passes on
        stream[:, count + heads] = one["added"][own] - two["added"][own]
        _pass(last, here["mid"][other] + here["added"][other], stream, count + heads + 1)
    meet(senders, along.slopes[-1]["hidden"][:, other, None])
    return torch.cat(columns, 2).transpose(0, 1)


def vectors_with(batch: Batch, mine: Run, theirs: Run, edges: Sequence[Sequence[int]]) -> torch.Tensor:
    """The last vectors that are read, [edges, n, hidden], in `theirs` when one edge, (sender, receiver), is that of `mine`."""
    layers, found = batch.question.model.layers, list[torch.Tensor]()
    for sender, receiver in edges:
        number, head = divmod(receiver, batch.question.model.capabilities.heads + 1)
        states = _reached(layers[: number + 1], mine, theirs, sender)
        is_answer = number == len(layers)
        received = states[-1] if is_answer else _received(layers[number], theirs.layers[number], states[-3:-1], head)
        found.append(batch.finish(number if is_answer else number + 1, received[None]))
    return torch.cat(found)


def _received(layer: Layer, here: dict[str, torch.Tensor], sent: Sequence[torch.Tensor], head: int) -> torch.Tensor:
    """What a layer gives, [n, tokens, hidden], when one of its heads, or else its feed-forward block, reads what is `sent`.

    `sent` is what its heads and what its feed-forward block would read, `here` the layer in the unchanged run.
    """
    if head < here["context"].shape[1]:
        attend = partial(attend_with, layer.heads(sent[0]), PARTS, [head])
        return attending.answer_with(attend, partial(layer, here["hidden"]))
    fed, (norm, neurons) = list[torch.Tensor](), (layer.family.attention_norm, layer.family.out_of_neurons)
    layer.with_outputs(here["hidden"], {norm: lambda _: sent[1], neurons: fed.append})
    return layer.end(here["mid"] + fed[0])


def _reached(layers: Sequence[Layer], mine: Run, theirs: Run, sender: int) -> list[torch.Tensor]:
    """What heads and feed-forward blocks would read by turns, when one component alone sends what it does in `mine`."""
    hidden, states, heads = (theirs if sender else mine).of("hidden")[0], [], theirs.layers[0]["context"].shape[1]
    at, head = divmod(sender - 1, heads + 1)
    for number, (layer, own, other) in enumerate(zip(layers, mine.layers, theirs.layers, strict=False)):
        sends, context = number == at, other["context"]
        if sends and head < heads:
            context = torch.where((torch.arange(heads) == head)[:, None, None], own["context"], context)
        mid = _norms(layer)[0](hidden + _attended(layer, context))
        states += [hidden, mid]
        hidden = layer.end(mid + (own if sends and head == heads else other)["added"])
    return [*states, hidden]


def _norms(layer: Layer) -> tuple[torch.nn.LayerNorm, torch.nn.LayerNorm]:
    """The norms after attention and at the end, which `require_edges` has made sure of."""
    after_attention, last = layer.attention_norm, layer.last_norm
    assert after_attention is not None and last is not None  # noqa: PT018
    return after_attention, last


def _attended(layer: Layer, context: torch.Tensor) -> torch.Tensor:
    """What attention adds, [n, tokens, hidden]."""
    return layer.attention_dense(context.transpose(1, 2).flatten(2))


def _outputs(layer: Layer, context: torch.Tensor) -> torch.Tensor:
    """What each head adds, [tokens, heads, hidden], from its context [heads, tokens, head_size]."""
    weights = layer.attention_dense.weight.unflatten(1, (len(context), -1))  # [hidden, heads, head_size]
    return torch.einsum("hts,dhs->thd", context, weights)


def readers_of(layer: Layer) -> torch.Tensor:
    """What the layer makes of each unit vector: queries, keys and values of each head, [heads, 3 · head_size, hidden]."""
    size = layer.attention_dense.out_features
    units, zeros = layer.heads(torch.eye(size)[None]), layer.heads(torch.zeros(1, 1, size))
    return torch.cat([(getattr(units, part) - getattr(zeros, part))[0] for part in PARTS], -1).transpose(1, 2).contiguous()


def _pass(norm: torch.nn.LayerNorm, total: torch.Tensor, stream: torch.Tensor, count: int) -> None:
    """Change the changes of a sum [tokens, hidden] by the first `count` senders to those after its LayerNorm, to first order."""
    normal, _, divided = torch.native_layer_norm(total, norm.normalized_shape, None, None, norm.eps)
    _put_through(stream.numpy(), normal.numpy(), (norm.weight.detach() * divided).numpy(), count)


@compile_with("float32[:,:,::1]", "float32[:,::1]", "float32[:,::1]", "int64")
def _put_through(stream: np.ndarray, normal: np.ndarray, scale: np.ndarray, count: int) -> None:
    """Subtract from changes [tokens, senders, hidden] their mean and their part along the normalized sum, and scale them.

    In one go over a tensor that no cache holds: as products of matrices it would be read and written five times.
    """
    tokens, _, width = stream.shape
    for token in range(tokens):
        for sender in range(count):
            mean = along = np.float32(0)
            for place in range(width):
                mean += stream[token, sender, place]
                along += stream[token, sender, place] * normal[token, place]
            mean, along = mean / np.float32(width), along / np.float32(width)
            for place in range(width):
                rest = stream[token, sender, place] - mean - along * normal[token, place]
                stream[token, sender, place] = rest * scale[token, place]
