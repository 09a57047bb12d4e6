"""One layer of an encoder of any family: its output, and the inputs and outputs of its heads."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from explorer.bert import attending
from explorer.bert.attending import Heads
from explorer.bert.families import Family
from explorer.core.engine import torch, transformers

_MASKS = {  # in `masking_utils` of transformers
    "full_attention": "create_bidirectional_mask",
    "sliding_attention": "create_bidirectional_sliding_window_mask",
}


def shared_copy(module: torch.nn.Module) -> torch.nn.Module:
    """A copy that shares the module's weights: it takes almost no memory, and its hooks affect no other copy."""
    shared = copy.copy(module)
    parts = {name: part and shared_copy(part) for name, part in module._modules.items()}
    own = {"_modules": parts, "_parameters": dict(module._parameters), "_buffers": dict(module._buffers)}
    vars(shared).update(own, _forward_hooks=OrderedDict(), _forward_pre_hooks=OrderedDict())
    return shared


@dataclass(frozen=True)
class Layer:
    """A layer of transformers, unchanged; hidden states are [batch, tokens, hidden].

    `real` [batch, tokens] is false at padding, which is masked; None when there is none.
    """

    module: torch.nn.Module = field(repr=False)
    family: Family = field(repr=False)
    config: transformers.PreTrainedConfig = field(repr=False)
    rotary: torch.nn.Module | None = field(default=None, repr=False)

    def __call__(self, hidden: torch.Tensor, real: torch.Tensor | None = None) -> torch.Tensor:
        """The next hidden state, [batch, tokens, hidden]."""
        return self.module(hidden, **self._inputs(hidden, real))

    def heads(self, hidden: torch.Tensor, real: torch.Tensor | None = None) -> Heads:
        return attending.heads_in(lambda: self(hidden, real))

    def after_heads(self, context: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """The next hidden state with `context` [batch, heads, tokens, head_size] in place of the head outputs.

        `hidden`, [tokens, hidden] or with a batch axis, is the layer's input; it may be that of some tokens only.
        """
        hidden = hidden.expand(len(context), -1, -1)
        return attending.answer_with(lambda heads: context, lambda: self(hidden))

    def with_neurons(self, hidden: torch.Tensor, real: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """The next hidden state, and the activations of the neurons, [batch, tokens, neurons]: the input of W₂."""
        watched, read = replace(self, module=shared_copy(self.module)), []
        watched.neurons_dense.register_forward_pre_hook(lambda module, given: read.append(given[0]))
        return watched(hidden, real), read[0]

    def with_outputs(
        self, hidden: torch.Tensor, changes: Mapping[str, Callable[[torch.Tensor], torch.Tensor | None]]
    ) -> torch.Tensor:
        """The next hidden state when each module that `changes` names by its path gives the change of its output, if not None."""
        changed = replace(self, module=shared_copy(self.module))
        for path, change in changes.items():
            attrgetter(path)(changed.module).register_forward_hook(lambda module, given, output, change=change: change(output))
        return changed(hidden)

    @property
    def neurons_dense(self) -> torch.nn.Linear:
        """W₂ and its bias: one column per neuron."""
        return attrgetter(self.family.out_of_neurons)(self.module)

    def end(self, added: torch.Tensor) -> torch.Tensor:
        """The LayerNorm that ends the layer, applied to the sum [..., hidden] there; the sum itself if there is no such norm."""
        return self.last_norm(added) if self.last_norm else added

    @property
    def attention_norm(self) -> torch.nn.LayerNorm | None:
        return attrgetter(self.family.attention_norm)(self.module) if self.family.attention_norm else None

    @property
    def last_norm(self) -> torch.nn.LayerNorm | None:
        return attrgetter(self.family.last_norm)(self.module) if self.family.last_norm else None

    @property
    def attention_dense(self) -> torch.nn.Linear:
        """W_O with its bias, if it has one."""
        return attrgetter(self.family.attention_dense)(self.module)

    def _inputs(self, hidden: torch.Tensor, real: torch.Tensor | None) -> dict[str, Any]:
        if self.rotary is None:
            return {"attention_mask": None if real is None else real[:, None, None, :]}  # over [batch, heads, query, key]
        kind = self.module.attention_type
        places = torch.arange(hidden.shape[1], device=hidden.device)[None]
        attention_mask = None if real is None else real.long()
        make_mask = getattr(transformers.masking_utils, _MASKS[kind])
        return {
            "attention_mask": make_mask(config=self.config, inputs_embeds=hidden, attention_mask=attention_mask),
            "position_embeddings": self.rotary(hidden, places, kind),
        }
