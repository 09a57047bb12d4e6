"""The task head of a fine-tuned checkpoint: transformers' own, applied to hidden states that were computed already."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from explorer.bert.checkpoints import Checkpoint
from explorer.bert.families import ANSWER, LABELS, find_class, task_of
from explorer.bert.weights import read_tensors
from explorer.core.engine import LOCK, torch, transformers


@dataclass(frozen=True)
class OwnHead:
    """A head for one task, with the names of transformers; `squash` turns its logits into shares."""

    task: str  # LABELS of a text or pair, TAGS of its tokens, or ANSWER: its start and end
    labels: tuple[str, ...]
    squash: str  # "softmax", "sigmoid" for labels that do not exclude each other and for a single one, "none" for a regression
    module: transformers.PreTrainedModel = field(repr=False)

    def logits(self, final: torch.Tensor) -> torch.Tensor:
        """[batch, labels], [batch, tokens, labels], or [batch, tokens, 2], start and end; `final` [batch, tokens, hidden]."""
        outputs = self.module(inputs_embeds=final)
        return torch.stack([outputs.start_logits, outputs.end_logits], -1) if self.task == ANSWER else outputs.logits

    def shares(self, logits: torch.Tensor) -> torch.Tensor:
        """Shares from 0 to 1 for the logits of labels or tags [..., labels]; a regression's numbers are returned unchanged."""
        return {"softmax": lambda: logits.softmax(-1), "sigmoid": logits.sigmoid, "none": lambda: logits}[self.squash]()


def _make_encoder(pooler: torch.nn.Module | None) -> torch.nn.Module:
    """A substitute for the encoder inside transformers' class: it returns the embeddings it is given as hidden states."""
    pool = None if pooler is None else pooler.forward  # not registered as a submodule: its weights belong to the network

    def forward(
        input_ids: None = None, *, inputs_embeds: torch.Tensor, **more: Any
    ) -> transformers.modeling_outputs.BaseModelOutputWithPooling:
        """The given hidden states [batch, tokens, hidden], and their pooled vector."""
        pooled = None if pool is None else pool(inputs_embeds)
        return transformers.modeling_outputs.BaseModelOutputWithPooling(inputs_embeds, pooled)

    module = torch.nn.Module()
    module.forward = forward
    return module


def own_head(
    checkpoint: Checkpoint, config: transformers.PreTrainedConfig, entries: dict[str, Any], pooler: torch.nn.Module | None
) -> OwnHead | None:
    """The head that the class named in config.json adds to an encoder; None if there is none, or no weights for it.

    `entries` are those of config.json. Raises ModelError when its weights do not fit.
    """
    name = find_class(entries.get("architectures"))
    task = task_of(name)
    kind = getattr(transformers, name, None) if task else None
    if kind is None or getattr(kind, "config_class", None) is not type(config):
        return None
    with LOCK, torch.device("meta"):
        module = kind(config)
    setattr(module, checkpoint.family.encoder, _make_encoder(pooler))
    tensors = read_tensors(checkpoint, {name: tuple(weight.shape) for name, weight in module.named_parameters()})
    if tensors is None:
        return None
    module.load_state_dict(tensors, assign=True)
    labels = (
        tuple(str(config.id2label.get(place, f"LABEL_{place}")) for place in range(config.num_labels)) if task != ANSWER else ()
    )
    squash = _squash(entries.get("problem_type"), config.num_labels) if task == LABELS else "softmax"
    return OwnHead(task, labels, squash, module.eval().requires_grad_(False))


def _squash(problem: object, labels: int) -> str:
    """The function of transformers' text-classification pipeline for a `problem_type` and a number of labels."""
    if problem == "regression":
        return "none"
    return "sigmoid" if problem == "multi_label_classification" or labels == 1 else "softmax"
