"""The top layers that are trained with a head: copies of the model's, run on the hidden states below them."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from explorer.bert.explorer import Explorer
from explorer.bert.layer import Layer
from explorer.core.engine import torch
from explorer.finetune.compute.prefix import EVERY_TOKEN


@functools.cache
def _dropout_class() -> type[torch.nn.Module]:
    """The class of `seeded_dropout`; created once torch is loaded."""

    class SeededDropout(torch.nn.Module):
        def __init__(self, p: float, generator: torch.Generator) -> None:
            super().__init__()
            self.p, self.generator = p, generator

        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            """Set a share `p` of the numbers to 0 and scale up the rest; in evaluation nothing changes."""
            if not self.training or not self.p:
                return hidden
            # One random byte per number: a 64-bit draw serves eight numbers, where bernoulli_() draws for each.
            draws = torch.empty(-(-hidden.numel() // 8), dtype=torch.int64)
            chance = draws.random_(-(2**63), None, generator=self.generator).view(torch.uint8)[: hidden.numel()]
            dropped = round(256 * self.p)
            return hidden * (chance.view(hidden.shape) >= dropped) * (256 / (256 - dropped))

    return SeededDropout


def seeded_dropout(p: float, generator: torch.Generator) -> torch.nn.Module:
    """Dropout with its own random generator, so that two simultaneous trainings do not affect each other."""
    return _dropout_class()(p, generator)


class Top:
    """A copy of the last layers below a head, and of the pooler if the head reads it."""

    def __init__(self, model: Explorer, layer: int, layers_trained: int, pooling: str) -> None:
        self.pooling = pooling
        trained = model.layers[layer - layers_trained : layer]
        self.module = torch.nn.Module()  # the names of the weights in files begin with these two attributes
        self.module.layers = torch.nn.ModuleList(copy.deepcopy(own.module) for own in trained)
        self.module.pooler = copy.deepcopy(model.pooler) if pooling == "pooler" else None
        self._like = replace(model.layers[0], module=torch.nn.Identity())  # a template of how this model's layers are run

    def __call__(self, hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """[batch, hidden] pooled vectors from the hidden states [batch, tokens, hidden] below the copied layers.

        With EVERY_TOKEN the vectors of all real tokens, text after text: [tokens, hidden].
        """
        if self.pooling in ("mean", EVERY_TOKEN):
            hidden = run_layers(self.own_layers, hidden, real)
            return pool_mean(hidden, real) if self.pooling == "mean" else hidden[real]
        first = hidden[:, :1]
        if self.layers:
            *below, last = self.own_layers
            first = _first(last, run_layers(below, hidden, real), real)
        return first[:, 0] if self.pooler is None else self.pooler(first)

    @property
    def layers(self) -> torch.nn.ModuleList:
        """The copied layers, as modules of transformers."""
        return self.module.layers

    @property
    def pooler(self) -> torch.nn.Module | None:
        """The copied pooler, or None."""
        return self.module.pooler

    @property
    def own_layers(self) -> list[Layer]:
        """The copied layers in the form in which they are run."""
        return [replace(self._like, module=module) for module in self.layers]

    def start_training(self, generator: torch.Generator) -> None:
        """Unfreeze the weights, with dropout from `generator`; dropout of attention weights stays off, see `attending`."""
        self.module.requires_grad_(True).train()
        for parent in self.layers.modules():
            for name, child in parent.named_children():
                if isinstance(child, torch.nn.Dropout):
                    setattr(parent, name, seeded_dropout(child.p, generator))

    def snapshot(self) -> Top:
        """A frozen copy for use."""
        generators = [module.generator for module in self.module.modules() if isinstance(module, _dropout_class())]
        taken = copy.copy(self)
        taken.module = copy.deepcopy(self.module, {id(generator): generator for generator in generators})
        return taken.freeze()

    def freeze(self) -> Top:
        """Switch off dropout and gradients; returns itself."""
        self.module.eval().requires_grad_(False)
        return self

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        """The weights of the layers and of the pooler."""
        return self.module.parameters()


def run_layers(layers: Sequence[Layer], hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """The output [batch, tokens, hidden] of some layers, with padding masked."""
    mask = None if bool(real.all()) else real
    for layer in layers:
        hidden = layer(hidden, mask)
    return hidden


def pool_mean(hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """[batch, hidden]: the mean of all real tokens."""
    return (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True)


def _first(layer: Layer, hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """The output of a layer for the first token, [batch, 1, hidden]; the other tokens only give keys and values."""
    first = slice(0, 1)
    return layer.after_heads(layer.heads(hidden, real).context(first), hidden[:, first])
