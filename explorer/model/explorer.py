"""One loaded model: what every tab, endpoint and notebook asks."""

import os
import threading
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import torch

from explorer.base.cache import OnceCache
from explorer.base.errors import CapabilityError, InputError
from explorer.model import checkpoints
from explorer.model.checkpoints import Checkpoint, Report
from explorer.model.trace import Encoding, Trace
from explorer.model.weights import read_model, read_tokenizer
from explorer.text import limits

TRACE_CACHE_BYTES = 256 * 2**20
MODELS_KEPT = 3


@dataclass(frozen=True)
class Capabilities:
    """What a model can do, found out from its configuration and the weights in its file."""

    name: str
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
class NextSentence:
    """Whether B follows A. Index 0 of the model's output is IsNext: Devlin et al. 2019, section 3.1, task 2."""

    is_next: float
    not_next: float
    logits: tuple[float, float]  # (IsNext, NotNext)


_models: OnceCache[Checkpoint, "Explorer"] = OnceCache(MODELS_KEPT)


def load(name: str | os.PathLike[str] | None = None, report: Report | None = None) -> "Explorer":
    """The model called `name`: the bundled one, a folder, or an id on the hub such as google-bert/bert-base-uncased.

    Models stay loaded, a few at a time; asking again is free. `report(share, what)` is told how a download goes.
    Raises ModelError, in one sentence, when there is no such model or it cannot be read.
    """
    checkpoint = checkpoints.find(name, report)
    return _models.get(checkpoint, lambda: Explorer(checkpoint))


def loaded() -> list["Explorer"]:
    """The models in memory."""
    return _models.values()


class Explorer:
    """A BERT and its tokenizer, in evaluation mode, never changed after loading and safe to share among threads."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.name = checkpoint.name
        self.family = checkpoint.family
        self.module, missing = read_model(checkpoint)
        self.tokenizer = read_tokenizer(checkpoint, self.module.config.vocab_size)
        self._tokenizing = threading.Lock()  # to cut or not to cut is a state of the tokenizer
        self.mask_id: int = self.tokenizer.mask_token_id
        self.encoder = self._part(self.family.encoder)
        self.layers = attrgetter(self.family.layers)(self.encoder)
        self.capabilities = self._capabilities(missing)
        self._traces: OnceCache[tuple[str, str], Trace] = OnceCache(TRACE_CACHE_BYTES, cost=lambda trace: trace.nbytes)

    def encode(self, text_a: str, text_b: str = "") -> Encoding:
        """The ids the model reads for A, or for A and B, cut to what fits (the longer text gives way first).

        Raises InputError when a text is empty, too long, or nothing the tokenizer can see.
        """
        text_a = limits.check_text(text_a, "text A")
        text_b = limits.check_optional_text(text_b, "text B")
        pair = (text_a, text_b) if text_b else (text_a,)
        with self._tokenizing:
            total = len(self.tokenizer(*pair, truncation=False, verbose=False)["input_ids"])
            encoded = self.tokenizer(
                *pair,
                truncation="longest_first",
                max_length=self.capabilities.max_tokens,
                return_token_type_ids=True,
                return_offsets_mapping=True,
            )
        sequences = [-1 if sequence is None else sequence for sequence in encoded.sequence_ids()]
        if 0 not in sequences or (text_b and 1 not in sequences):
            raise InputError("One of the texts holds nothing that BERT can read; type at least one word.")
        ids = encoded["input_ids"]
        return Encoding(
            text_a=text_a,
            text_b=text_b,
            tokens=tuple(self.tokenizer.convert_ids_to_tokens(ids)),
            ids=tuple(ids),
            segments=tuple(encoded["token_type_ids"]) if self.capabilities.segments else (0,) * len(ids),
            positions=tuple(range(len(ids))),
            attention_mask=tuple(encoded["attention_mask"]),
            offsets=tuple((start, end) for start, end in encoded["offset_mapping"]),
            sequences=tuple(sequences),
            words=tuple(-1 if word is None else word for word in encoded.word_ids()),
            kept=len(ids),
            total=total,
        )

    def encode_many(self, texts: list[str]) -> list[tuple[int, ...]]:
        """The ids of each checked text, read by itself and cut to what fits; ten times as fast as `encode` on each.

        Raises InputError when one of them is nothing the tokenizer can see.
        """
        with self._tokenizing:
            encoded = self.tokenizer(texts, truncation=True, max_length=self.capabilities.max_tokens)["input_ids"]
            added = self.tokenizer.num_special_tokens_to_add()
        for ids, text in zip(encoded, texts, strict=True):
            if len(ids) <= added:
                raise InputError(f"A text holds nothing that BERT can read: {text[:40]!r}; give it at least one word.")
        return [tuple(ids) for ids in encoded]

    def trace(self, text_a: str, text_b: str = "") -> Trace:
        """One forward pass over A, or A and B. The same texts give the same Trace, computed once.

        Raises InputError when a text cannot be used.
        """
        text_a, text_b = limits.check_text(text_a, "text A"), limits.check_optional_text(text_b, "text B")
        return self._traces.get((text_a, text_b), lambda: self._run(self.encode(text_a, text_b)))

    def trace_of(self, encoding: Encoding) -> Trace:
        """One forward pass over an encoding that was changed by hand; it is not kept."""
        return self._run(encoding)

    @torch.inference_mode()
    def _run(self, encoding: Encoding) -> Trace:
        first = self.embed(torch.tensor([encoding.ids]), torch.tensor([encoding.segments]))  # [1, tokens, hidden]
        states = first.new_empty((len(self.layers) + 1, *first.shape[1:]))
        states[:1] = first
        for index, layer in enumerate(self.layers):
            states[index + 1 : index + 2] = layer(states[index : index + 1])
        return Trace(self, encoding, states)

    def embed(self, ids: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        """Hidden state 0 of ids and segments [batch, tokens]: [batch, tokens, hidden]."""
        embeddings = attrgetter(self.family.embeddings)(self.encoder)
        return embeddings(input_ids=ids, token_type_ids=segments if self.capabilities.segments else None)

    def layer_output(self, layer: int, hidden: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """What a layer (zero-based) makes of hidden [tokens, hidden] with attention weights [heads, query, key].

        Returns [tokens, hidden]: the next hidden state, when the weights are the layer's own.
        """
        value = self.self_attention(layer).value(hidden)  # [tokens, hidden]
        heads = value.unflatten(-1, (self.capabilities.heads, -1)).transpose(0, 1)  # [heads, tokens, head_size]
        return self.from_context(layer, (attention @ heads).transpose(0, 1).flatten(1), hidden)

    def from_context(self, layer: int, context: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """The rest of a layer (zero-based) after its heads: W_O, add & norm, feed-forward, add & norm.

        `context` [..., tokens, hidden] is what the heads gave, side by side; `hidden`, of a shape that broadcasts
        with it, is what the layer read. Returns the next hidden state, [..., tokens, hidden].
        """
        module = self.layers[layer]
        attended = attrgetter(self.family.attention_output)(module)(context, hidden)
        return attrgetter(self.family.output)(module)(attrgetter(self.family.intermediate)(module)(attended), attended)

    def run_from(self, layer: int, hidden: torch.Tensor) -> torch.Tensor:
        """The last hidden state when the layers from `layer` (zero-based) on read hidden [batch, tokens, hidden]."""
        for module in self.layers[layer:]:
            hidden = module(hidden)
        return hidden

    def self_attention(self, layer: int) -> torch.nn.Module:
        """The module of a layer (zero-based) that holds `query`, `key` and `value`."""
        return attrgetter(self.family.self_attention)(self.layers[layer])

    def queries_and_keys(self, layer: int, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The query and key vectors of every head of a layer (zero-based), for hidden [tokens, hidden].

        Returns two tensors [heads, tokens, head_size].
        """
        attention = self.self_attention(layer)
        heads = self.capabilities.heads

        def split(projected: torch.Tensor) -> torch.Tensor:  # [tokens, hidden] -> [heads, tokens, head_size]
            return projected.unflatten(-1, (heads, -1)).transpose(0, 1)

        return split(attention.query(hidden)), split(attention.key(hidden))

    @torch.inference_mode()
    def fill_mask(self, text: str, text_b: str = "", top_k: int = 5) -> list[MaskGuesses]:
        """The `top_k` best guesses for each [MASK], in order of position.

        The head runs at the masked positions only. Each blank is guessed by itself, given all the others blank.
        Raises CapabilityError without a masked-LM head, InputError when there is no [MASK].
        """
        self.require("fill_mask")
        top_k = limits.check_integer(top_k, "top_k", 1, limits.MAX_TOP_K)
        trace = self.trace(text, text_b)
        positions = self.blanks(trace)
        return self.guesses(trace.states[-1][positions], positions, top_k)

    @torch.inference_mode()
    def guesses(self, hidden: torch.Tensor, positions: list[int], top_k: int) -> list[MaskGuesses]:
        """The `top_k` best pieces at each position, for its last hidden state: hidden [positions, hidden]."""
        logits = self.masked_lm(hidden)  # [positions, vocabulary]
        best, best_ids = logits.softmax(-1).topk(min(top_k, logits.shape[-1]), dim=-1)  # [masks, top_k] each
        best_logits = logits.gather(-1, best_ids)
        return [
            MaskGuesses(position, tuple(map(Candidate, self.pieces(ids), ids, shares, raw)))
            for position, ids, shares, raw in zip(
                positions, best_ids.tolist(), best.tolist(), best_logits.tolist(), strict=True
            )
        ]

    def blanks(self, trace: Trace) -> list[int]:
        """Where the [MASK]s are. Raises CapabilityError without a masked-LM head, InputError when there is none."""
        self.require("fill_mask")
        mask = self.tokenizer.mask_token
        if not trace.mask_positions and mask in trace.text_a + trace.text_b:
            raise InputError(f"Every {mask} comes after the {trace.kept} tokens that fit; shorten the text.")
        if not trace.mask_positions:
            raise InputError(f"There is no {mask} in the text; type one where a word should be guessed.")
        return trace.mask_positions

    def masked_lm(self, hidden: torch.Tensor) -> torch.Tensor:
        """The masked-LM head on last hidden states [..., hidden]: logits [..., vocabulary]."""
        self.require("fill_mask")
        return self._part(self.family.masked_lm_head)(hidden)

    def next_sentence_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """The pooler and the next-sentence head on last hidden states [batch, tokens, hidden].

        Returns [batch, 2]: IsNext, NotNext. Only the first token is read.
        """
        self.require("next_sentence")
        return self._part(self.family.next_sentence_head)(self.pool(hidden))

    def pieces(self, ids: list[int]) -> list[str]:
        """The piece of each id; some models have more output rows than their tokenizer has pieces."""
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        return [f"[{id}]" if piece is None else piece for id, piece in zip(ids, pieces, strict=True)]

    @torch.inference_mode()
    def next_sentence(self, text_a: str, text_b: str) -> NextSentence:
        """How likely B is the sentence that follows A.

        Raises CapabilityError without a next-sentence head, InputError when a text is missing.
        """
        self.require("next_sentence")
        trace = self.trace(text_a, limits.check_text(text_b, "text B"))
        logits = self.next_sentence_logits(trace.states[-1:])[0]  # [2]
        is_next, not_next = logits.softmax(-1).tolist()
        return NextSentence(is_next, not_next, (float(logits[0]), float(logits[1])))

    def pool(self, hidden: torch.Tensor) -> torch.Tensor:
        """The pooled vector, tanh(dense([CLS])), of last hidden states [batch, tokens, hidden]: [batch, hidden]."""
        self.require("pooler")
        return attrgetter(self.family.pooler)(self.encoder)(hidden)

    def require(self, capability: str) -> None:
        """Raise CapabilityError, with the reason, unless the model can do it."""
        if not getattr(self.capabilities, capability):
            raise CapabilityError(f"{self.name} {LACKS[capability]}.")

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The piece of every id, in order of the ids."""
        return tuple(self.pieces(list(range(self.capabilities.vocab_size))))

    def parameters_by_part(self) -> dict[str, int]:
        """How many weights each part of the model has, tied weights counted once."""
        seen: set[int] = set()
        counts: dict[str, int] = {}
        for name, parameter in self.module.named_parameters():
            if id(parameter) not in seen:
                seen.add(id(parameter))
                part = self._part_name(name)
                counts[part] = counts.get(part, 0) + parameter.numel()
        return counts

    def _part_name(self, parameter: str) -> str:
        """'embeddings · word_embeddings', 'layer 3 · attention', 'pooler' or 'cls · predictions' for a weight's path."""
        names = parameter.removeprefix(f"{self.family.encoder}.").split(".")
        layers = self.family.layers.split(".")
        if names[: len(layers)] == layers:
            inside = names[len(layers) + 1]
            return f"layer {int(names[len(layers)]) + 1} · {'attention' if inside == 'attention' else 'feed-forward'}"
        return " · ".join(names[:-1][: 1 if names[0] == self.family.pooler else 2])

    def _part(self, path: str) -> torch.nn.Module:
        return attrgetter(path)(self.module)

    def _capabilities(self, missing: set[str]) -> Capabilities:
        config = self.module.config
        pooler = not _lacks(missing, f"{self.family.encoder}.{self.family.pooler}")
        return Capabilities(
            name=self.name,
            layers=config.num_hidden_layers,
            heads=config.num_attention_heads,
            hidden_size=config.hidden_size,
            vocab_size=config.vocab_size,
            parameters=sum(parameter.numel() for parameter in self.module.parameters()),
            max_tokens=config.max_position_embeddings,
            fill_mask=not _lacks(missing, self.family.masked_lm_head),
            next_sentence=pooler and not _lacks(missing, self.family.next_sentence_head),
            segments=config.type_vocab_size > 1,
            pooler=pooler,
        )


LACKS = {
    "fill_mask": "has no masked-language-model head: its file holds no weights for one, so it cannot fill a blank",
    "next_sentence": "has no next-sentence head: its file holds no weights for one, so it cannot tell if B follows A",
    "pooler": "has no pooler: its file holds no weights for one",
    "segments": "was trained without segments, so it cannot tell A from B",
}


def _lacks(missing: set[str], part: str) -> bool:
    return any(key.startswith(f"{part}.") for key in missing)
