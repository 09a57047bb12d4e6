"""Edges between the components of an encoder: what one adds, as far as one later component reads it.

A component is the embedding output, a head, a feed-forward block ("MLP") or the answer, which reads the last hidden state. Here a
LayerNorm follows every sum (Vaswani et al. 2017), so an edge leads through each LayerNorm between its sender and its receiver,
and nothing else: all other components keep what they give. Only the receiver reads the change, and all after it is computed again.
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

PARTS = ("query", "key", "value")


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
class LayerRun:
    """What a layer reads and computes: `context` [n, heads, tokens, head_size], else [n, tokens, hidden].

    `mid` is what the feed-forward block reads, and `added` what it adds.
    """

    hidden: torch.Tensor
    context: torch.Tensor
    mid: torch.Tensor
    added: torch.Tensor


@dataclass(frozen=True)
class Run:
    """A run by layer, and the slopes [slopes, n, ...] of some numbers by five activations of each layer and by the last one.

    The five are queries, keys, values, what the feed-forward block reads, and what it adds.
    """

    layers: Sequence[LayerRun]
    slopes: Sequence[torch.Tensor]


def require_edges(model: Explorer) -> None:
    """Raise CapabilityError for a model in which norms do not follow the sums."""
    if any(None in (layer.attention_norm, layer.last_norm) for layer in model.layers):
        raise CapabilityError(f"{model.name} has no LayerNorm after each sum, which edges lead through here; patch its heads.")


def run(model: Explorer, hidden: torch.Tensor, numbers: Callable[[torch.Tensor], Sequence[torch.Tensor]] | None = None) -> Run:
    """A run from an embedding output [n, tokens, hidden], with the slopes of `numbers` of its last hidden state, if given."""
    leaves, layers = list[torch.Tensor](), list[LayerRun]()

    def watch(activation: torch.Tensor) -> torch.Tensor:
        leaves.append(torch.zeros_like(activation, requires_grad=numbers is not None))
        return activation + leaves[-1]

    for layer in model.layers:
        hidden, seen = _watched(layer, hidden, watch)
        layers.append(seen)
    hidden = watch(hidden)
    return Run(layers, slopes_by(leaves, numbers(hidden)) if numbers else [])


def slopes_by(leaves: Sequence[torch.Tensor], numbers: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The gradients of some numbers by each leaf, [numbers, ...]."""
    each = (torch.autograd.grad(number, leaves, retain_graph=True) for number in numbers)
    return [torch.stack(parts) for parts in zip(*each, strict=True)]


def _watched(layer: Layer, hidden: torch.Tensor, watch: Callable[[torch.Tensor], torch.Tensor]) -> tuple[torch.Tensor, LayerRun]:
    seen: dict[str, torch.Tensor] = {"hidden": hidden.detach()}

    def attend(heads: Heads) -> torch.Tensor:
        context = replace(heads, **{part: watch(getattr(heads, part)) for part in PARTS}).context()
        seen["context"] = context.detach()
        return context

    def keep(name: str, activation: torch.Tensor) -> torch.Tensor:
        seen[name] = activation.detach()
        return watch(activation)

    changes = {layer.family.attention_norm: partial(keep, "mid"), layer.family.out_of_neurons: partial(keep, "added")}
    after = attending.answer_with(attend, lambda: layer.with_outputs(hidden, changes))
    return after, LayerRun(**seen)


def estimate(model: Explorer, mine: Run, theirs: Run, along: Run, parts: Sequence[str] = PARTS) -> torch.Tensor:
    """To first order, what each edge of `mine` changes in `theirs`: [slopes, n, senders, receivers].

    The slopes and the LayerNorms are those of the run `along`. Heads receive as some `parts`: queries, keys or values.
    """
    stream, columns = (mine.layers[0].hidden - theirs.layers[0].hidden)[None], []  # [senders, n, tokens, hidden]
    for number, (layer, own, other, here) in enumerate(zip(model.layers, mine.layers, theirs.layers, along.layers, strict=True)):
        *read, after_norm, after_neurons = along.slopes[5 * number : 5 * number + 5]
        given = zip(PARTS, read, _readers(layer), strict=True)
        columns.append(_meet(stream, sum(torch.einsum("knhts,hsd->khntd", *both) for part, *both in given if part in parts)))
        sent = _outputs(layer, own.context - other.context)
        stream = _through(layer.attention_norm, here.hidden + _attended(layer, here.context), torch.cat([stream, sent]))
        columns.append(_meet(stream, (after_norm - after_neurons)[:, None]))  # less what the residual connection passes on
        stream = torch.cat([stream, (own.added - other.added)[None]])
        stream = _through(layer.last_norm, here.mid + here.added, stream)
    columns.append(_meet(stream, along.slopes[-1][:, None]))
    padded = [torch.nn.functional.pad(column, (0, 0, 0, len(stream) - column.shape[2])) for column in columns]
    return torch.cat(padded, -1)


def vectors_with(batch: Batch, mine: Run, theirs: Run, edge: tuple[int, int], parts: Sequence[str] = PARTS) -> torch.Tensor:
    """The last vectors that are read, [n, hidden], in `theirs` when one edge, (sender, receiver), is that of `mine`."""
    (sender, receiver), layers = edge, batch.question.model.layers
    states = _reached(layers, mine, theirs, sender)
    number, head = divmod(receiver, theirs.layers[0].context.shape[1] + 1)
    if number == len(layers):
        return batch.read(states[-1])
    layer, here, heads = layers[number], theirs.layers[number], theirs.layers[number].context.shape[1]
    if head == heads:
        fed = list[torch.Tensor]()
        changes = {
            layer.family.attention_norm: lambda _: states[2 * number + 1],
            layer.family.out_of_neurons: partial(_keep, fed),
        }
        layer.with_outputs(here.hidden, changes)
        after = layer.last_norm(here.mid + fed[0])
    else:
        sent, receives = layer.heads(states[2 * number]), torch.arange(heads) == head
        after = attending.answer_with(partial(receive, sent, parts, receives), partial(layer, here.hidden))
    return batch.finish(number + 1, after[None])[0]


def receive(sent: Heads, parts: Sequence[str], receives: torch.Tensor, heads: Heads) -> torch.Tensor:
    """The contexts when some heads, [heads] bool, read queries, keys or values that were `sent`."""
    given = {part: torch.where(receives[:, None, None], getattr(sent, part), getattr(heads, part)) for part in parts}
    return replace(heads, **given).context()


def _reached(layers: Sequence[Layer], mine: Run, theirs: Run, sender: int) -> list[torch.Tensor]:
    """What heads and feed-forward blocks would read by turns, when one component alone sends what it does in `mine`."""
    hidden, states = (theirs if sender else mine).layers[0].hidden, []
    at, head = divmod(sender - 1, theirs.layers[0].context.shape[1] + 1)
    for number, (layer, own, other) in enumerate(zip(layers, mine.layers, theirs.layers, strict=True)):
        sends, context, heads = number == at, other.context, other.context.shape[1]
        if sends and head < heads:
            context = torch.where((torch.arange(heads) == head)[:, None, None], own.context, context)
        mid = layer.attention_norm(hidden + _attended(layer, context))
        states += [hidden, mid]
        hidden = layer.last_norm(mid + (own.added if sends and head == heads else other.added))
    return [*states, hidden]


def _keep(seen: list[torch.Tensor], activation: torch.Tensor) -> torch.Tensor:
    seen.append(activation)
    return activation


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
    """Changes [senders, n, tokens, hidden] times slopes [slopes, receivers, n, tokens, hidden]: [slopes, n, senders, receivers]."""
    return torch.einsum("sntd,krntd->knsr", stream, slopes)
