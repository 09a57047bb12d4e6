"""What a loaded checkpoint computes, from ids to answers, under one interface for all families."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from operator import attrgetter

import numpy as np

from explorer.bert import devices
from explorer.bert.checkpoints import Checkpoint
from explorer.bert.layer import shared_copy
from explorer.bert.parts import Parts
from explorer.core.engine import inference_mode, torch, transformers
from explorer.core.errors import ModelError
from explorer.core.lazy import compile_with
from explorer.text.encoding import Encoding


@dataclass(frozen=True)
class Candidate:
    """One guess for a blank; `probability` is the softmax over the whole vocabulary, `logit` its input."""

    token: str
    id: int
    probability: float
    logit: float


@dataclass(frozen=True)
class MaskGuesses:
    """The best guesses for the [MASK] at one position, best first."""

    position: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Padded:
    """Several inputs as one batch, the shorter ones padded with [PAD]."""

    ids: torch.Tensor  # [batch, tokens]
    segments: torch.Tensor  # [batch, tokens]
    real: torch.Tensor  # [batch, tokens] bool: False at padding
    lengths: torch.Tensor  # [batch]

    def to(self, device: torch.device) -> Padded:
        return self if self.ids.device == device else Padded(*(getattr(self, entry.name).to(device) for entry in fields(self)))

    @cached_property
    def mask(self) -> torch.Tensor | None:
        """`real` as a mask for the layers, None without padding."""
        return None if bool(self.real.all()) else self.real


class Network(Parts):
    """A BERT and what it computes, never changed and safe to share among threads."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        self.device_error = 0.0  # the largest difference of a pass on the device, relative to the largest number on the processor
        self._runner = self._on_device()

    def _on_device(self) -> Network | None:
        """A copy on the device for forward passes, None for the processor. Raises ModelError if it computes something else."""
        if (device := devices.choose()) == torch.device("cpu"):
            return None
        runner = copy.copy(self)
        runner.module = copy.deepcopy(self.module).to(device)
        runner._name_parts()
        ids = self.tokenizer("One sentence, to see that both agree.")["input_ids"]
        padded = self.pad([(ids, [0] * len(ids))])
        with torch.inference_mode():
            (*_, here), (*_, there) = self._run_padded(padded), runner._run_padded(padded.to(device))
        self.device_error = float((there.cpu().float() - here).abs().max() / here.abs().max())
        if not self.device_error < devices.TOLERANCE:
            raise ModelError(f"{device} computes other hidden states for {self.name} than the processor. Start without --device.")
        return runner

    @property
    def device(self) -> torch.device:
        """The device of forward passes; everything derived from them is computed on the processor."""
        return devices.choose() if self._runner else torch.device("cpu")

    # From ids to the last hidden state

    def embed(self, ids: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        """Hidden state 0 of ids [batch, tokens], for segments that broadcast with them: [batch, tokens, hidden]."""
        return self.project(self._embeddings(input_ids=ids, **self._segments(segments, ids)))

    def embed_words(self, words: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        """Like `embed`, for word vectors [batch, tokens, hidden] in place of rows of the word table."""
        segments = self._segments(segments, words[..., 0])
        return self.project(self._embeddings(input_ids=None, inputs_embeds=words, **segments))

    def project(self, embedded: torch.Tensor) -> torch.Tensor:
        """The projection from the width of the embeddings to that of the layers, if it differs: [..., width] to [..., hidden]."""
        *above, name = self.family.projection.split(".")
        parent = attrgetter(".".join(above))(self.encoder) if above else self.encoder
        return getattr(parent, name)(embedded) if name and hasattr(parent, name) else embedded

    def embedded_positions(self, encoding: Encoding) -> torch.Tensor:
        """The part of the embedding sum that comes from the positions: [tokens, width].

        Raises CapabilityError without such a table.
        """
        self.require("positions")
        rows = np.arange(encoding.kept)
        if self.first_position:  # [PAD] has no position, even if it is typed
            ids = torch.tensor([encoding.ids])
            rows = self._embeddings.create_position_ids_from_input_ids(ids, self.first_position - 1)[0].numpy()
        return torch.from_numpy(self._position_table[rows])

    def run(self, hidden: torch.Tensor) -> torch.Tensor:
        """The last hidden state computed from hidden state 0, both [batch, tokens, hidden]."""
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden

    @inference_mode
    def hidden_states_of(self, encodings: Sequence[Encoding]) -> list[torch.Tensor]:
        """One forward pass over several encodings: [layers + 1, tokens, hidden] each, within 1e-5 of a pass over it alone.

        Hidden state 0 is the embedding output.
        """
        padded, size = self.pad([(encoding.ids, encoding.segments) for encoding in encodings]), self.capabilities.hidden_size
        states = [torch.empty((len(self.layers) + 1, encoding.kept, size)) for encoding in encodings]
        for index, hidden in enumerate(self.run_padded(padded)):
            for own, row in zip(states, hidden, strict=True):
                own[index] = row[: own.shape[1]]
        return states

    def run_padded(self, padded: Padded) -> Iterator[torch.Tensor]:
        """The hidden states of a batch in turn, from 0, the embedding output: [batch, tokens, hidden] each, float32.

        They are computed on the device and returned on the processor.
        """
        for hidden in (self._runner or self)._run_padded(padded.to(self.device)):
            yield hidden.to("cpu", torch.float32)

    def _run_padded(self, padded: Padded) -> Iterator[torch.Tensor]:
        hidden = self.embed(padded.ids, padded.segments)
        yield hidden
        for layer in self.layers:
            hidden = layer(hidden, padded.mask)
            yield hidden

    def neurons_padded(self, padded: Padded) -> Iterator[torch.Tensor]:
        """The neurons' activations in each layer in turn, after the activation function and, in some families, the gate.

        [batch, tokens, neurons] each, float32, on the processor.
        """
        padded, network = padded.to(self.device), self._runner or self
        hidden = network.embed(padded.ids, padded.segments)
        for layer in network.layers:
            hidden, activations = layer.with_neurons(hidden, padded.mask)
            yield activations.to("cpu", torch.float32)

    def pad(self, rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Padded:
        """The ids and segments of several inputs as one batch."""
        lengths = torch.tensor([len(ids) for ids, _ in rows])
        real = torch.arange(int(lengths.max())) < lengths[:, None]  # [batch, tokens]
        ids, segments = torch.full(real.shape, self.tokenizer.pad_token_id), torch.zeros(real.shape, dtype=torch.long)
        ids[real] = torch.tensor([id for row, _ in rows for id in row])
        segments[real] = torch.tensor([segment for _, row in rows for segment in row])
        return Padded(ids, segments, real, lengths)

    @inference_mode
    def own_outputs(self, encoding: Encoding, **labels: torch.Tensor) -> transformers.utils.ModelOutput:
        """The output of transformers' own forward pass, with its loss for labels: the reference that our numbers must match."""
        ids = torch.tensor([encoding.ids])
        return self.module(input_ids=ids, **self._segments(torch.tensor(encoding.segments), ids), **labels)

    @inference_mode
    def own_hidden(self, padded: Padded) -> torch.Tensor:
        """The hidden state that heads read, by transformers' own forward pass of the encoder: [batch, tokens, hidden]."""
        segments = self._segments(padded.segments, padded.ids)
        return self.encoder(input_ids=padded.ids, attention_mask=padded.real.long(), **segments).last_hidden_state

    def own_masked_lm(self, encoding: Encoding) -> torch.Tensor:
        """The logits of the masked-LM head by `own_outputs`: [tokens, vocabulary]. Raises CapabilityError."""
        self.require("fill_mask")
        outputs = self.own_outputs(encoding)
        return outputs["prediction_logits" if "prediction_logits" in outputs else "logits"][0]

    def own_pair(self, encoding: Encoding) -> torch.Tensor:
        """The logits of the head for pairs by `own_outputs`: [2]. Raises CapabilityError."""
        self.require("next_sentence")
        outputs = self.own_outputs(encoding)
        return outputs["sop_logits" if "sop_logits" in outputs else "seq_relationship_logits"][0]

    # From the last hidden state to answers

    def masked_lm(self, hidden: torch.Tensor) -> torch.Tensor:
        """The masked-LM head on last hidden states [..., hidden]: logits [..., vocabulary]."""
        return self._masked_lm(hidden, self.module)

    def masked_lm_of(self, hidden: torch.Tensor, ids: Sequence[int]) -> torch.Tensor:
        """Like `masked_lm`, for a few pieces: [..., hidden] to [..., ids]. The rest of the vocabulary is not computed."""
        self.require("fill_mask")
        module = shared_copy(self.module)
        whole = module.get_output_embeddings()
        rows = torch.nn.Linear(whole.in_features, len(ids))
        rows.weight = torch.nn.Parameter(whole.weight[list(ids)], requires_grad=False)
        rows.bias = torch.nn.Parameter(whole.bias[list(ids)], requires_grad=False)
        module.set_output_embeddings(rows)
        return self._masked_lm(hidden, module)

    def masked_lm_of_one(self, hidden: torch.Tensor) -> torch.Tensor:
        """Like `masked_lm`, for one vector: [hidden] to [vocabulary], within 1e-5, in less than half of the time."""
        self.require("fill_mask")
        return self._masked_lm(hidden, self._for_one)

    @cached_property
    def _for_one(self) -> torch.nn.Module:
        """The module with another product with the vocabulary; it shares all weights."""
        module = shared_copy(self.module)
        decoder = module.get_output_embeddings()
        decoder.forward = partial(_multiply, decoder)
        return module

    def _masked_lm(self, hidden: torch.Tensor, module: torch.nn.Module) -> torch.Tensor:
        self.require("fill_mask")
        hidden = self.final(hidden)
        for part in self.family.masked_lm_head:
            hidden = attrgetter(part)(module)(hidden)
        return hidden

    def final(self, hidden: torch.Tensor) -> torch.Tensor:
        """The input of heads for last hidden states [..., hidden]: these, or their final norm in families that have one."""
        return attrgetter(self.family.final_norm)(self.encoder)(hidden) if self.family.final_norm else hidden

    @inference_mode
    def guesses(self, hidden: torch.Tensor, positions: list[int], top_k: int) -> list[MaskGuesses]:
        """The `top_k` best pieces at each position, from its last hidden state: hidden [positions, hidden]."""
        logits = self.masked_lm(hidden)  # [positions, vocabulary]
        best, best_ids = logits.softmax(-1).topk(min(top_k, logits.shape[-1]), dim=-1)  # [masks, top_k] each
        best_logits = logits.gather(-1, best_ids)
        return [
            MaskGuesses(position, tuple(map(Candidate, self.pieces(ids), ids, shares, raw)))
            for position, ids, shares, raw in zip(positions, best_ids.tolist(), best.tolist(), best_logits.tolist(), strict=True)
        ]

    def next_sentence_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """The pooler and the head for pairs on last hidden states [batch, tokens, hidden]: [batch, 2], IsNext and NotNext.

        In families trained on sentence order they mean 'in order' and 'swapped'.
        """
        self.require("next_sentence")
        return attrgetter(self.family.pair_head)(self.module)(self.pooler(hidden))

    @property
    def pair_names(self) -> tuple[str, str]:
        """The names of the two outputs of the head for pairs; ALBERT's are about the order (Lan et al. 2020, section 3.1)."""
        return ("InOrder", "Swapped") if self.family.pair_order else ("IsNext", "NotNext")

    def replaced_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """The logits, [batch, tokens], that each piece was replaced, for last hidden states [batch, tokens, hidden]."""
        self.require("replaced")
        return attrgetter(self.family.replaced_head)(self.module)(self.final(hidden))

    def _segments(self, segments: torch.Tensor, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """The segments argument of transformers, in the shape of the ids; empty for a model trained without segments."""
        return {"token_type_ids": segments.expand(ids.shape)} if len(self.segment_table) > 1 else {}


def _multiply(dense: torch.nn.Linear, vector: torch.Tensor) -> torch.Tensor:
    """`dense` of one vector [in]: [out]. torch's own product reads the table at less than half of the memory's speed."""
    table, bias = dense.weight.detach(), dense.bias
    found = torch.zeros(dense.out_features) if bias is None else bias.detach().clone()
    _add_product(table.numpy(), vector.contiguous().numpy(), found.numpy())
    return found


@compile_with("float32[:,::1]", "float32[::1]", "float32[::1]")
def _add_product(table: np.ndarray, vector: np.ndarray, found: np.ndarray) -> None:
    """Add the product of `table` [out, in] and `vector` [in] to `found` [out]."""
    for row in range(len(found)):
        total = np.float32(0)
        for place in range(len(vector)):
            total += table[row, place] * vector[place]
        found[row] += total
