"""The network of a loaded checkpoint: its parts and weights under one interface for all families, and what they compute."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter

import numpy as np

from explorer.bert import copies, devices
from explorer.bert.checkpoints import Checkpoint
from explorer.bert.families import REPLACED
from explorer.bert.layer import Layer
from explorer.bert.own_head import OwnHead, own_head
from explorer.bert.weights import read_model, read_tokenizer
from explorer.core.engine import inference_mode, torch, transformers
from explorer.core.errors import CapabilityError, ModelError
from explorer.core.limits import TOKENS
from explorer.text.encoding import Encoding
from explorer.text.masking import ordinary_ids
from explorer.text.pieces import shown, writing_of


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of a model, found from its configuration and the weights in its file."""

    layers: int
    heads: int
    neurons: int  # of a layer's feed-forward block; 0 if a layer has several such blocks
    hidden_size: int
    vocab_size: int
    parameters: int
    max_tokens: int
    fill_mask: bool  # has a masked-LM head
    next_sentence: bool  # has a head for pairs, and a pooler
    replaced: bool  # has a head that recognizes replaced pieces
    segments: bool  # distinguishes text A from text B
    positions: bool  # has a table of positions
    pooler: bool
    own_layers: bool  # every layer has its own weights
    own_head: str = ""  # the task of any other head, one of those in `families`


LACKS = {
    "fill_mask": "has no masked-language-model head: its file holds no weights for one, so it cannot fill a blank",
    "next_sentence": "has no next-sentence head: its file holds no weights for one, so it cannot tell if B follows A",
    "replaced": "has no head that tells which pieces were replaced: only the discriminator of ELECTRA has one",
    "pooler": "has no pooler: its file holds no weights for one",
    "segments": "was trained without segments, so it cannot tell A from B",
    "positions": "has no vectors for positions: each layer turns queries and keys by their place (rotary positions)",
    "neurons": "has several feed-forward parts in each layer, each behind a bottleneck: their neurons are not told one by one",
    "own_head": "has no head of its own: it was not fine-tuned for a task",
    "own_layers": "has one set of weights for all its layers, so the top ones cannot be trained by themselves",
}


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
        """This batch on a device."""
        return self if self.ids.device == device else Padded(*(getattr(self, one.name).to(device) for one in fields(self)))

    @cached_property
    def mask(self) -> torch.Tensor | None:
        """`real` as a mask for the layers, None if there is no padding."""
        return None if bool(self.real.all()) else self.real


class Network:
    """The modules of a BERT and its vocabulary, in evaluation mode, never changed and safe to share among threads."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.name = checkpoint.name
        self.from_hub = checkpoint.from_hub
        self.family = checkpoint.family
        opened = read_model(checkpoint)
        self.module = opened.module
        self.tokenizer = read_tokenizer(checkpoint, self.module.config.vocab_size)
        self.mask_id: int = self.tokenizer.mask_token_id
        self.writing = writing_of(self.tokenizer.get_vocab())
        self._name_parts()
        self.embeddings_norm = attrgetter(self.family.embeddings_norm)(self._embeddings)  # over the sum of the rows of the tables
        # The embeddings of pieces, positions and segments: [vocabulary, width], [positions, width] and [segments, width] float32,
        # read-only views; width is that of the embeddings.
        self.word_table = _read_only(attrgetter(self.family.word_embeddings)(self._embeddings).weight)
        self.segment_table = self._table(self.family.segment_embeddings)
        # RoBERTa and its relatives count positions from the id of [PAD]: the rows up to there are never used.
        self.first_position: int = getattr(self._embeddings, "padding_idx", -1) + 1
        self._position_table = self._table(self.family.position_embeddings)
        self._pooler = self._find_pooler(opened.missing)
        self.own_head = own_head(checkpoint, self.module.config, opened.entries, self._pooler)
        self._weights = {name: weight for name, weight in self.module.named_parameters() if name not in opened.missing}
        self._weights |= dict(self.own_head.module.named_parameters()) if self.own_head else {}
        self.ignored = tuple(sorted(opened.unread - self._weights.keys()))  # weights of the file that nothing here uses
        self.capabilities = self._capabilities(opened.missing)
        self.device_error = 0.0  # the difference between passes on the device and on the processor
        self._runner = self._on_device()

    def _name_parts(self) -> None:
        self.encoder = attrgetter(self.family.encoder)(self.module)
        self.layers = [self._layer(module) for module in self._layer_modules(self.encoder)]
        self._embeddings = attrgetter(self.family.embeddings)(self.encoder)

    def _on_device(self) -> Network | None:
        """A copy on the device for forward passes, None for the processor. Raises ModelError if it computes something else."""
        if (device := devices.chosen()) == torch.device("cpu"):
            return None
        runner = copy.copy(self)
        runner.module = copy.deepcopy(self.module).to(device)
        runner._name_parts()
        ids = self.tokenizer("One sentence, to see that both agree.")["input_ids"]
        padded = self.pad([(ids, [0] * len(ids))])
        with torch.inference_mode():
            (*_, here), (*_, there) = self._run_padded(padded), runner._run_padded(padded.to(device))
        self.device_error = devices.difference(there, here)
        if not self.device_error < devices.TOLERANCE:
            raise ModelError(f"{device} computes other hidden states for {self.name} than the processor; start without --device.")
        return runner

    @property
    def device(self) -> torch.device:
        """The device of forward passes; everything derived from them is computed on the processor."""
        return devices.chosen() if self._runner else torch.device("cpu")

    def require(self, capability: str) -> None:
        """Raise CapabilityError, with the reason, unless the model has the capability."""
        if why := self.why_not(capability):
            raise CapabilityError(why)

    def why_not(self, capability: str) -> str:
        """A sentence on why the model lacks a capability; '' if it has it."""
        return "" if getattr(self.capabilities, capability) else f"{self.name} {LACKS[capability]}."

    def task_head(self) -> OwnHead:
        """The head that the model was fine-tuned with. Raises CapabilityError without one."""
        if self.own_head is None:
            raise CapabilityError(f"{self.name} {LACKS['own_head']}.")
        return self.own_head

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

    def embedded_words(self, encoding: Encoding) -> torch.Tensor:
        """The part of the embedding sum that comes from the pieces, before positions and segments: [tokens, width].

        These are rows of the word table, except in families that first mix a piece with its neighbors.
        """
        ids = torch.tensor([encoding.ids])
        if not self.family.word_transformation:
            return attrgetter(self.family.word_embeddings)(self._embeddings)(ids)[0]
        embeddings = copies.of(self._embeddings)
        found: list[torch.Tensor] = []
        mixing = attrgetter(self.family.word_transformation)(embeddings)
        mixing.register_forward_hook(lambda module, read, made: found.append(made[0]))
        embeddings(input_ids=ids)
        return found[0] if found else attrgetter(self.family.word_embeddings)(embeddings)(ids)[0]

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

    def hidden_states(self, encoding: Encoding) -> torch.Tensor:
        """One forward pass: [layers + 1, tokens, hidden], of which 0 is the embedding output."""
        return self.hidden_states_of([encoding])[0]

    @inference_mode
    def hidden_states_of(self, encodings: Sequence[Encoding]) -> list[torch.Tensor]:
        """One forward pass over several encodings: [layers + 1, tokens, hidden] each, within 1e-5 of a pass over it alone."""
        padded, size = self.pad([(one.ids, one.segments) for one in encodings]), self.capabilities.hidden_size
        states = [torch.empty((len(self.layers) + 1, one.kept, size)) for one in encodings]
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
        hidden = self.embed_padded(padded)
        yield hidden
        for layer in self.layers:
            hidden = layer(hidden, padded.mask)
            yield hidden

    def neurons_padded(self, padded: Padded) -> Iterator[torch.Tensor]:
        """The neurons' activations in each layer in turn, after the activation function and, in some families, the gate.

        [batch, tokens, neurons] each, float32, on the processor. Raises CapabilityError.
        """
        self.require("neurons")
        padded, network = padded.to(self.device), self._runner or self
        hidden = network.embed_padded(padded)
        for layer in network.layers:
            hidden, activations = layer.with_neurons(hidden, padded.mask)
            yield activations.to("cpu", torch.float32)

    def embed_padded(self, padded: Padded) -> torch.Tensor:
        """Hidden state 0 of a batch, [batch, tokens, hidden]; text by text in families that mix a piece with its neighbors."""
        if not self.family.word_transformation:
            return self.embed(padded.ids, padded.segments)
        rows = zip(padded.ids, padded.segments, padded.lengths.tolist(), strict=True)
        alone = [self.embed(ids[None, :length], segments[None, :length])[0] for ids, segments, length in rows]
        return torch.nn.utils.rnn.pad_sequence(alone, batch_first=True)

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
        self.require("fill_mask")
        hidden = self.final(hidden)
        for part in self.family.masked_lm_head:
            hidden = attrgetter(part)(self.module)(hidden)
        return hidden

    def masked_lm_of(self, hidden: torch.Tensor, ids: Sequence[int]) -> torch.Tensor:
        """Like `masked_lm`, for a few pieces: [..., hidden] to [..., ids]. The rest of the vocabulary is not computed."""
        self.require("fill_mask")
        if self.family.model_type == "mobilebert":  # its output matrix has two parts
            return self.masked_lm(hidden)[..., list(ids)]
        module, hidden = copies.of(self.module), self.final(hidden)
        whole = module.get_output_embeddings()
        rows = torch.nn.Linear(whole.in_features, len(ids))
        rows.weight = torch.nn.Parameter(whole.weight[list(ids)], requires_grad=False)
        rows.bias = torch.nn.Parameter(whole.bias[list(ids)], requires_grad=False)
        module.set_output_embeddings(rows)
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
        """The names of the two outputs of the head for pairs: ALBERT's tells their order (Lan et al. 2020, section 3.1)."""
        return ("InOrder", "Swapped") if self.family.pair_order else ("IsNext", "NotNext")

    def replaced_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """The logits, [batch, tokens], that each piece was replaced, for last hidden states [batch, tokens, hidden]."""
        self.require("replaced")
        return attrgetter(self.family.replaced_head)(self.module)(self.final(hidden))

    # Weights

    @property
    def position_table(self) -> np.ndarray:
        """The learned vectors of all usable positions, [positions, width] float32. Raises CapabilityError."""
        self.require("positions")
        return self._position_table[self.first_position :]

    @property
    def pooler(self) -> torch.nn.Module:
        """tanh(dense([CLS])) of hidden states [batch, tokens, hidden]: [batch, hidden]. Raises CapabilityError without one."""
        self.require("pooler")
        return self._pooler

    @property
    def pooler_weights(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The weight [hidden, hidden] and the bias [hidden] of the pooler's dense layer, None if it has no such layer.

        Raises CapabilityError without a pooler.
        """
        dense = next((part for part in self.pooler.modules() if isinstance(part, torch.nn.Linear)), None)
        return None if dense is None else (_read_only(dense.weight), _read_only(dense.bias))

    def module_with(self, layers: Mapping[int, torch.nn.Module], pooler: torch.nn.Module | None) -> transformers.PreTrainedModel:
        """A copy of the whole model of transformers with other weights for some layers, by zero-based index, and the pooler."""
        module = copy.deepcopy(self.module)
        encoder = attrgetter(self.family.encoder)(module)
        for index, other in layers.items():
            self._layer_modules(encoder)[index].load_state_dict(other.state_dict())
        if pooler is not None:
            attrgetter(self.family.pooler)(encoder).load_state_dict(pooler.state_dict())
        return module

    def parameters_by_part(self) -> dict[str, int]:
        """The number of weights in the file for each part of the model; tied weights are counted once."""
        counts: Counter[str] = Counter()
        for name, parameter in self._weights.items():
            counts[self._part_name(name)] += parameter.numel()
        return counts

    def parameters_of(self, *paths: str) -> int:
        """The number of weights in the file below some of transformers' paths; tied weights count where they first occur."""
        prefixes = tuple(f"{path}." for path in paths if path)
        return sum(weight.numel() for name, weight in self._weights.items() if name.startswith(prefixes))

    @cached_property
    def layer_weights(self) -> list[dict[str, np.ndarray]]:
        """The weights of each layer by name, as read-only views; a single entry if all layers share them."""
        layers = self.layers[:1] if self.family.shared_layers else self.layers
        return [{name: _read_only(weight) for name, weight in layer.module.named_parameters()} for layer in layers]

    def multiplications(self, tokens: int) -> int:
        """Multiplications per token on the way through the layers, for `tokens` tokens: in the matrices, q·k and weight · v."""
        matrices = sum(
            part.weight.numel() for layer in self.layers for part in layer.module.modules() if isinstance(part, torch.nn.Linear)
        )
        width = sum(layer.attention_dense.in_features for layer in self.layers)  # of all heads side by side
        return matrices + 2 * width * tokens

    @cached_property
    def head_multiplications(self) -> int:
        """Multiplications per token in the matrices of the masked-LM head, 0 without one."""
        if not self.capabilities.fill_mask:
            return 0
        parts = [attrgetter(path)(self.module) for path in self.family.masked_lm_head]
        inside = [one for part in parts if isinstance(part, torch.nn.Module) for one in part.modules()]
        return sum(one.weight.numel() for one in inside if isinstance(one, torch.nn.Linear))

    # Vocabulary

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The piece of every id, in the order of the ids."""
        return tuple(self.pieces(list(range(self.capabilities.vocab_size))))

    @cached_property
    def ordinary_ids(self) -> np.ndarray:
        """The ids from which a replacement piece may be drawn: no special tokens."""
        return ordinary_ids(self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer))), self.tokenizer.all_special_ids)

    def pieces(self, ids: list[int]) -> list[str]:
        """The piece of each id, `[id]` for ids beyond the tokenizer's vocabulary, which some models have."""
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        return [f"[{id}]" if piece is None else shown(piece, self.writing) for id, piece in zip(ids, pieces, strict=True)]

    def mask_positions(self, encoding: Encoding) -> list[int]:
        """The zero-based positions of the masked tokens."""
        return [position for position, id in enumerate(encoding.ids) if id == self.mask_id]

    def visible_positions(self, encoding: Encoding) -> list[int]:
        """The zero-based positions of the texts' pieces, without [MASK]."""
        return [position for position in encoding.text_positions if encoding.ids[position] != self.mask_id]

    def _segments(self, segments: torch.Tensor, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """The segments argument of transformers, in the shape of the ids; empty for a model trained without segments."""
        return {"token_type_ids": segments.expand(ids.shape)} if len(self.segment_table) > 1 else {}

    def _table(self, path: str) -> np.ndarray:
        """The table at a path from the embeddings; one without rows if the family has none."""
        width = self.word_table.shape[1]
        return _read_only(attrgetter(path)(self._embeddings).weight) if path else np.empty((0, width), np.float32)

    def _find_pooler(self, missing: frozenset[str]) -> torch.nn.Module | None:
        family = self.family
        if not (family.pooler and _has(missing, f"{family.encoder}.{family.pooler}")):
            return None
        pooler = attrgetter(family.pooler)(self.encoder)
        return _pooler_class()(pooler) if isinstance(pooler, torch.nn.Linear) else pooler

    def _layer(self, module: torch.nn.Module) -> Layer:
        rotary = attrgetter(self.family.rotary)(self.encoder) if self.family.rotary else None
        return Layer(module, self.family, self.module.config, rotary)

    def _layer_modules(self, encoder: torch.nn.Module) -> list[torch.nn.Module]:
        """The layers of an encoder in the order in which they are run; those that share weights are the same module."""
        modules = attrgetter(self.family.layers)(encoder)
        if not self.family.shared_layers:
            return list(modules)
        count = encoder.config.num_hidden_layers
        groups = [modules[int(place / (count / len(modules)))] for place in range(count)]  # as transformers rounds
        return [layer for group in groups for layer in attrgetter(self.family.shared_layers)(group)]

    def _part_name(self, parameter: str) -> str:
        """'embeddings · word_embeddings', 'layer 3 · attention', 'pooler' or 'cls · predictions' for a weight's path."""
        names = parameter.removeprefix(f"{self.family.encoder}.").split(".")
        layers = self.family.layers.split(".")
        if names[: len(layers)] == layers:
            place, *inside = names[len(layers) :]
            if self.family.shared_layers:
                inside = inside[2:]
            name = "every layer" if self.family.shared_layers else f"layer {int(place) + 1}"
            return f"{name} · {'attention' if inside[0].startswith(('att', 'sa_')) else 'feed-forward'}"
        return " · ".join(names[:-1][: 1 if names[0] == self.family.pooler else 2])

    def _capabilities(self, missing: frozenset[str]) -> Capabilities:
        config, family, pooler = self.module.config, self.family, self._pooler is not None
        replaced = _has(missing, family.replaced_head)
        most = config.max_position_embeddings - (self.first_position if family.position_embeddings else 0)
        return Capabilities(
            layers=len(self.layers),
            heads=config.num_attention_heads,
            neurons=self.layers[0].neurons_dense.in_features if family.out_of_neurons else 0,
            hidden_size=config.hidden_size,
            vocab_size=config.vocab_size,
            parameters=sum(weight.numel() for weight in self._weights.values()),
            max_tokens=min(most, TOKENS.most),
            fill_mask=_has(missing, *family.masked_lm_head),
            next_sentence=pooler and _has(missing, family.pair_head),
            replaced=replaced,
            segments=len(self.segment_table) > 1,
            positions=bool(family.position_embeddings),
            pooler=pooler,
            own_layers=not family.shared_layers,
            own_head=self.own_head.task if self.own_head else REPLACED if replaced else "",
        )


def _has(missing: frozenset[str], *parts: str) -> bool:
    """Whether a family has these parts of the pre-training model, and its file all their weights."""
    return any(parts) and not any(key.startswith(f"{part}.") for key in missing for part in parts)


@functools.cache
def _pooler_class() -> type[torch.nn.Module]:
    """The class of poolers for families that have only the dense layer; created once torch is loaded."""

    class Pooler(torch.nn.Module):
        def __init__(self, dense: torch.nn.Linear) -> None:
            super().__init__()
            self.dense = dense

        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            """tanh(dense([CLS])) of [batch, tokens, hidden]: [batch, hidden]."""
            return self.dense(hidden[:, 0]).tanh()

    return Pooler


def _read_only(weight: torch.Tensor) -> np.ndarray:
    array = weight.detach().numpy().view()
    array.flags.writeable = False
    return array
