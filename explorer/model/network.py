"""The network of one loaded checkpoint: its parts, one way to each of its weights, and what they compute."""

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import numpy as np
import torch
import transformers

from explorer.base.errors import CapabilityError
from explorer.base.limits import TOKENS
from explorer.model.checkpoints import Checkpoint
from explorer.model.layer import Layer
from explorer.model.weights import read_model, read_tokenizer
from explorer.text.encoding import Encoding


@dataclass(frozen=True)
class Capabilities:
    """What a model can do, found out from its configuration and the weights in its file."""

    layers: int
    heads: int
    hidden_size: int
    vocab_size: int
    parameters: int
    max_tokens: int
    fill_mask: bool  # has a masked-LM head
    next_sentence: bool  # has a next-sentence head and a pooler
    segments: bool  # tells text A from text B
    pooler: bool


LACKS = {
    "fill_mask": "has no masked-language-model head: its file holds no weights for one, so it cannot fill a blank",
    "next_sentence": "has no next-sentence head: its file holds no weights for one, so it cannot tell if B follows A",
    "pooler": "has no pooler: its file holds no weights for one",
    "segments": "was trained without segments, so it cannot tell A from B",
}


@dataclass(frozen=True)
class Candidate:
    """One guess for a blank; `probability` is the softmax over the whole vocabulary, `logit` what went in."""

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
    """Several inputs in one batch, the shorter ones filled up with [PAD]."""

    ids: torch.Tensor  # [batch, tokens]
    segments: torch.Tensor  # [batch, tokens]
    real: torch.Tensor  # [batch, tokens] bool: False where there is padding
    lengths: torch.Tensor  # [batch]
    attention_mask: torch.Tensor | None  # over [batch, heads, query, key]; None where all are of one length


class Network:
    """The modules of a BERT and its vocabulary, in evaluation mode, never changed and safe to share among threads."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.name = checkpoint.name
        self.from_hub = checkpoint.from_hub
        self.family = checkpoint.family
        self.module, missing = read_model(checkpoint)
        self.tokenizer = read_tokenizer(checkpoint, self.module.config.vocab_size)
        self.mask_id: int = self.tokenizer.mask_token_id
        self.encoder = attrgetter(self.family.encoder)(self.module)
        self.layers = attrgetter(self.family.layers)(self.encoder)
        self._embeddings = attrgetter(self.family.embeddings)(self.encoder)
        self.embeddings_norm = attrgetter(self.family.embeddings_norm)(self._embeddings)  # over the sum of the three
        # What a piece is before it has any context, and what was learned for every position, and for A and B: [vocabulary,
        # hidden], [positions, hidden] and [segments, hidden] float32, read-only, not copies.
        tables = self.family.word_embeddings, self.family.position_embeddings, self.family.segment_embeddings
        self.word_table, self.position_table, self.segment_table = (
            _read_only(attrgetter(table)(self._embeddings).weight) for table in tables
        )
        self.capabilities = self._capabilities(missing)

    def require(self, capability: str) -> None:
        """Raise CapabilityError, with the reason, unless the model can do it."""
        if not getattr(self.capabilities, capability):
            raise CapabilityError(f"{self.name} {LACKS[capability]}.")

    # From ids to the last hidden state

    def embed(self, ids: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        """Hidden state 0 of ids [batch, tokens], for segments that broadcast with them: [batch, tokens, hidden]."""
        return self._embeddings(input_ids=ids, token_type_ids=self.token_types(segments, ids))

    def embed_words(self, words: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        """The same for word vectors [batch, tokens, hidden] in the place of rows of the word table."""
        return self._embeddings(inputs_embeds=words, token_type_ids=self.token_types(segments, words[..., 0]))

    def token_types(self, segments: torch.Tensor, ids: torch.Tensor) -> torch.Tensor | None:
        """What transformers wants as `token_type_ids`: segments of the shape of the ids, None without segments."""
        return segments.expand(ids.shape) if self.capabilities.segments else None

    def layer(self, index: int) -> Layer:
        """The parts of a layer (zero-based)."""
        return Layer(self.layers[index], self.family, self.capabilities.heads)

    def run(self, hidden: torch.Tensor) -> torch.Tensor:
        """The last hidden state when all layers read hidden state 0: [batch, tokens, hidden] both."""
        for module in self.layers:
            hidden = module(hidden)
        return hidden

    def hidden_states(self, encoding: Encoding) -> torch.Tensor:
        """One forward pass: [layers + 1, tokens, hidden], of which 0 is the embedding output."""
        return self.hidden_states_of([encoding])[0]

    @torch.inference_mode()
    def hidden_states_of(self, encodings: Sequence[Encoding]) -> list[torch.Tensor]:
        """One forward pass over several: [layers + 1, tokens, hidden] for each, within 1e-5 of what it is alone."""
        padded, size = self.pad([(one.ids, one.segments) for one in encodings]), self.capabilities.hidden_size
        states = [torch.empty((len(self.layers) + 1, one.kept, size)) for one in encodings]
        for index, hidden in enumerate(self.run_padded(padded)):
            for own, row in zip(states, hidden, strict=True):
                own[index] = row[: own.shape[1]]
        return states

    def run_padded(self, padded: "Padded") -> Iterator[torch.Tensor]:
        """Every hidden state of a batch in turn, from 0, the embedding output: [batch, tokens, hidden] each."""
        hidden = self.embed(padded.ids, padded.segments)
        yield hidden
        for layer in self.layers:
            hidden = layer(hidden, padded.attention_mask)
            yield hidden

    def pad(self, rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> "Padded":
        """The ids and segments of several inputs as one batch."""
        lengths = torch.tensor([len(ids) for ids, _ in rows])
        real = torch.arange(int(lengths.max())) < lengths[:, None]  # [batch, tokens]
        ids, segments = torch.full(real.shape, self.tokenizer.pad_token_id), torch.zeros(real.shape, dtype=torch.long)
        ids[real] = torch.tensor([id for row, _ in rows for id in row])
        segments[real] = torch.tensor([segment for _, row in rows for segment in row])
        return Padded(ids, segments, real, lengths, None if bool(real.all()) else real[:, None, None, :])

    @torch.inference_mode()
    def own_hidden(self, encoding: Encoding) -> torch.Tensor:
        """The last hidden state [tokens, hidden] by transformers' own forward pass: what ours has to match."""
        ids = torch.tensor([encoding.ids])
        types = self.token_types(torch.tensor(encoding.segments), ids)
        return self.encoder(input_ids=ids, token_type_ids=types).last_hidden_state[0]

    # From the last hidden state to answers

    def masked_lm(self, hidden: torch.Tensor) -> torch.Tensor:
        """The masked-LM head on last hidden states [..., hidden]: logits [..., vocabulary]."""
        self.require("fill_mask")
        return attrgetter(self.family.masked_lm_head)(self.module)(hidden)

    @torch.inference_mode()
    def guesses(self, hidden: torch.Tensor, positions: list[int], top_k: int) -> list[MaskGuesses]:
        """The `top_k` best pieces at each position, for its last hidden state: hidden [positions, hidden]."""
        logits = self.masked_lm(hidden)  # [positions, vocabulary]
        best, best_ids = logits.softmax(-1).topk(min(top_k, logits.shape[-1]), dim=-1)  # [masks, top_k] each
        best_logits = logits.gather(-1, best_ids)
        return [
            MaskGuesses(position, tuple(map(Candidate, self.pieces(ids), ids, shares, raw)))
            for position, ids, shares, raw in zip(positions, best_ids.tolist(), best.tolist(), best_logits.tolist(), strict=True)
        ]

    def next_sentence_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """The pooler and the next-sentence head on hidden states [batch, tokens, hidden]: [batch, 2], IsNext and NotNext."""
        self.require("next_sentence")
        return attrgetter(self.family.next_sentence_head)(self.module)(self.pooler(hidden))

    # Weights

    @property
    def pooler(self) -> torch.nn.Module:
        """tanh(dense([CLS])) of hidden states [batch, tokens, hidden]: [batch, hidden]. Raises CapabilityError without one."""
        self.require("pooler")
        return attrgetter(self.family.pooler)(self.encoder)

    @property
    def pooler_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """The weight [hidden, hidden] and the bias [hidden] of the pooler's dense layer. Raises CapabilityError."""
        dense = next(part for part in self.pooler.modules() if isinstance(part, torch.nn.Linear))
        return _read_only(dense.weight), _read_only(dense.bias)

    def module_with(self, layers: Mapping[int, torch.nn.Module], pooler: torch.nn.Module | None) -> transformers.PreTrainedModel:
        """A copy of the whole model of transformers with the weights of other layers, by zero-based index, and pooler."""
        module = copy.deepcopy(self.module)
        encoder = attrgetter(self.family.encoder)(module)
        for index, other in layers.items():
            attrgetter(self.family.layers)(encoder)[index].load_state_dict(other.state_dict())
        if pooler is not None:
            attrgetter(self.family.pooler)(encoder).load_state_dict(pooler.state_dict())
        return module

    def parameters_by_part(self) -> dict[str, int]:
        """How many weights each part of the model has, tied weights counted once."""
        counts: Counter[str] = Counter()
        for name, parameter in self.module.named_parameters():  # which names tied weights once
            counts[self._part_name(name)] += parameter.numel()
        return counts

    # Vocabulary

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The piece of every id, in order of the ids."""
        return tuple(self.pieces(list(range(self.capabilities.vocab_size))))

    def pieces(self, ids: list[int]) -> list[str]:
        """The piece of each id; some models have more output rows than their tokenizer has pieces."""
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        return [f"[{id}]" if piece is None else piece for id, piece in zip(ids, pieces, strict=True)]

    def mask_positions(self, encoding: Encoding) -> list[int]:
        """The zero-based positions of the masked tokens."""
        return [position for position, id in enumerate(encoding.ids) if id == self.mask_id]

    def visible_positions(self, encoding: Encoding) -> list[int]:
        """The zero-based positions of the pieces of the texts that are no [MASK]."""
        return [position for position in encoding.text_positions if encoding.ids[position] != self.mask_id]

    def _part_name(self, parameter: str) -> str:
        """'embeddings · word_embeddings', 'layer 3 · attention', 'pooler' or 'cls · predictions' for a weight's path."""
        names = parameter.removeprefix(f"{self.family.encoder}.").split(".")
        layers = self.family.layers.split(".")
        if names[: len(layers)] == layers:
            inside = names[len(layers) + 1]
            return f"layer {int(names[len(layers)]) + 1} · {'attention' if inside == 'attention' else 'feed-forward'}"
        return " · ".join(names[:-1][: 1 if names[0] == self.family.pooler else 2])

    def _capabilities(self, missing: set[str]) -> Capabilities:
        config = self.module.config

        def has(part: str) -> bool:
            return not any(key.startswith(f"{part}.") for key in missing)

        pooler = has(f"{self.family.encoder}.{self.family.pooler}")
        return Capabilities(
            layers=config.num_hidden_layers,
            heads=config.num_attention_heads,
            hidden_size=config.hidden_size,
            vocab_size=config.vocab_size,
            parameters=sum(parameter.numel() for parameter in self.module.parameters()),
            max_tokens=min(config.max_position_embeddings, TOKENS.most),
            fill_mask=has(self.family.masked_lm_head),
            next_sentence=pooler and has(self.family.next_sentence_head),
            segments=config.type_vocab_size > 1,
            pooler=pooler,
        )


def _read_only(weight: torch.Tensor) -> np.ndarray:
    array = weight.detach().numpy().view()
    array.flags.writeable = False
    return array
