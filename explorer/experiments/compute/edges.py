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

from explorer.bert import attending
from explorer.bert.attending import Heads
from explorer.bert.explorer import Explorer
from explorer.bert.layer import Layer
from explorer.core.engine import torch
from explorer.core.errors import CapabilityError
from explorer.experiments.compute.question import Axis, Batch
from explorer.techniques.edits import PARTS, attend_with


@dataclass(frozen=True)
class Components(Axis):
    """Components by name: "5.11" is layer 5, head 11; `ends` is the one that no layer has, and comes first if it sends."""

    ends: str = ""

    def counted(self, count: int, heads: int = 0) -> Axis:
        """All of them, in the order in which they are computed."""
        layers = range(1, 1 + (count - 1) // (heads + 1))
        inside = [name for at in layers for name in (*(f"{at}.{head}" for head in range(1, heads + 1)), f"MLP {at}")]
        return replace(self, labels=[self.ends, *inside] if self.name == SENDERS.name else [*inside, self.ends])


SENDERS, RECEIVERS = Components("sender", ends="embeddings"), Components("receiver", ends="answer")


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
        leaves[-1][name] = torch.zeros_like(activation, requires_grad=numbers is not None)
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


def estimate(model: Explorer, mine: Run, theirs: Run, along: Run, parts: Sequence[str] = PARTS) -> torch.Tensor:
    """To first order, what each edge of `mine` changes in `theirs`: [slopes, n, senders, receivers].

    The slopes and the LayerNorms are those of the run `along`. Heads receive as some `parts`: queries, keys or values.
    """
    apart = {
        name: [a - b for a, b in zip(mine.of(name), theirs.of(name), strict=True)] for name in ("hidden", "context", "added")
    }
    stream, columns = apart["hidden"][0][None], []  # [senders, n, tokens, hidden]
    for number, (layer, here, slopes) in enumerate(zip(model.layers, along.layers, along.slopes, strict=False)):
        given = zip(PARTS, _readers(layer), strict=True)
        read = sum(torch.einsum("knhts,hsd->khntd", slopes[part], matrix) for part, matrix in given if part in parts)
        columns.append(_meet(stream, read))
        stream = torch.cat([stream, _outputs(layer, apart["context"][number])])
        after_attention, last = _norms(layer)
        stream = _through(after_attention, here["hidden"] + _attended(layer, here["context"]), stream)
        columns.append(_meet(stream, (slopes["mid"] - slopes["added"])[:, None]))  # less what the residual connection passes on
        stream = torch.cat([stream, apart["added"][number][None]])
        stream = _through(last, here["mid"] + here["added"], stream)
    columns.append(_meet(stream, along.slopes[-1]["hidden"][:, None]))
    padded = [torch.nn.functional.pad(column, (0, 0, 0, len(stream) - column.shape[2])) for column in columns]
    return torch.cat(padded, -1)


def vectors_with(batch: Batch, mine: Run, theirs: Run, edge: tuple[int, int], parts: Sequence[str] = PARTS) -> torch.Tensor:
    """The last vectors that are read, [n, hidden], in `theirs` when one edge, (sender, receiver), is that of `mine`."""
    (sender, receiver), layers, has = edge, batch.question.model.layers, batch.question.model.capabilities
    states = _reached(layers, mine, theirs, sender)
    number, head = divmod(receiver, has.heads + 1)
    if number == has.layers:
        return batch.read(states[-1])
    layer, here = layers[number], theirs.layers[number]
    if head == has.heads:
        fed, (norm, neurons) = list[torch.Tensor](), (layer.family.attention_norm, layer.family.out_of_neurons)
        layer.with_outputs(here["hidden"], {norm: lambda _: states[2 * number + 1], neurons: partial(keep, fed)})
        after = layer.end(here["mid"] + fed[0])
    else:
        sent = layer.heads(states[2 * number])
        after = attending.answer_with(partial(attend_with, sent, parts, [head]), partial(layer, here["hidden"]))
    return batch.finish(number + 1, after[None])[0]


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


def keep(seen: list[torch.Tensor], activation: torch.Tensor) -> torch.Tensor:
    """Add an activation to those that were seen, and change nothing."""
    seen.append(activation)
    return activation


def _norms(layer: Layer) -> tuple[torch.nn.LayerNorm, torch.nn.LayerNorm]:
    """The norms after attention and at the end, which `require_edges` has made sure of."""
    after_attention, last = layer.attention_norm, layer.last_norm
    assert after_attention is not None and last is not None  # noqa: PT018
    return after_attention, last


def _attended(layer: Layer, context: torch.Tensor) -> torch.Tensor:
    """What attention adds, [n, tokens, hidden]."""
    return layer.attention_dense(context.transpose(1, 2).flatten(2))


def _outputs(layer: Layer, context: torch.Tensor) -> torch.Tensor:
    """What each head adds, [heads, n, tokens, hidden]."""
    weights = layer.attention_dense.weight.unflatten(1, (context.shape[1], -1))  # [hidden, heads, head_size]
    return torch.einsum("nhts,dhs->hntd", context, weights)


def _readers(layer: Layer) -> list[torch.Tensor]:
    """The matrices of queries, keys and values, [heads, head_size, hidden]: what the layer makes of each unit vector."""
    size = layer.attention_dense.out_features
    units, zeros = layer.heads(torch.eye(size)[None]), layer.heads(torch.zeros(1, 1, size))
    return [(getattr(units, part) - getattr(zeros, part))[0].transpose(1, 2) for part in PARTS]


def _through(norm: torch.nn.LayerNorm, total: torch.Tensor, stream: torch.Tensor) -> torch.Tensor:
    """Changes [senders, n, tokens, hidden] of a sum [n, tokens, hidden] after its LayerNorm, to first order."""
    normal = torch.nn.functional.layer_norm(total, norm.normalized_shape, eps=norm.eps)
    spread = (total.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    centred = stream - stream.mean(-1, keepdim=True)
    return norm.weight / spread * (centred - normal * (normal * stream).mean(-1, keepdim=True))


def _meet(stream: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
    """Changes [senders, n, tokens, hidden] by slopes [slopes, receivers, n, tokens, hidden]: [slopes, n, senders, receivers]."""
    return torch.einsum("sntd,krntd->knsr", stream, slopes)
