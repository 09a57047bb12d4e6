"""The parts of a loaded checkpoint under one interface for all families: its modules, weights and vocabulary."""

from __future__ import annotations

import copy
import functools
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from operator import attrgetter

import numpy as np

from explorer.bert.capabilities import LACKS, Capabilities
from explorer.bert.checkpoints import Checkpoint
from explorer.bert.families import REPLACED, find_class
from explorer.bert.layer import Layer
from explorer.bert.own_head import OwnHead, own_head
from explorer.bert.tokenizer import casing, normalizer_of, read_tokenizer
from explorer.bert.weights import read_model
from explorer.core.engine import LOCK, torch, transformers
from explorer.core.errors import CapabilityError
from explorer.core.limits import TOKENS
from explorer.text.encoding import Encoding
from explorer.text.pieces import show_piece, writing_of


class Parts:
    """The modules, weights and vocabulary of a BERT, in evaluation mode and never changed."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.name = checkpoint.name
        self.from_hub = checkpoint.from_hub
        self.family = checkpoint.family
        opened = read_model(checkpoint)
        self.module = opened.module
        self.tokenizer = read_tokenizer(checkpoint, self.module.config)
        self.mask_id: int = self.tokenizer.mask_token_id
        vocabulary = self.tokenizer.get_vocab()
        self.writing = writing_of(vocabulary)
        self.casing = casing(self.tokenizer, vocabulary, self.writing)  # a sentence if they do not fit each other
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
        self._saved_from = find_class(opened.entries.get("architectures"))
        self.capabilities = self._capabilities(opened.missing)

    def _name_parts(self) -> None:
        self.encoder = attrgetter(self.family.encoder)(self.module)
        self.layers = [self._layer(module) for module in self._layer_modules(self.encoder)]
        self._embeddings = attrgetter(self.family.embeddings)(self.encoder)

    def require(self, capability: str) -> None:
        """Raise CapabilityError, with the reason, unless the model has the capability."""
        if why := self.why_not(capability):
            raise CapabilityError(why)

    def why_not(self, capability: str) -> str:
        """A sentence on why the model lacks a capability; '' if it has it."""
        if getattr(self.capabilities, capability):
            return ""
        return self.unread_head if capability == "own_head" and self.unread_head else f"{self.name} {LACKS[capability]}."

    @property
    def unread_head(self) -> str:
        """A sentence on a head in the file that nothing here reads; '' without one."""
        inside = (f"{self.family.encoder}.", "pooler.")  # some families are read without the pooler of their encoder
        names = [name for name in self.ignored if not name.startswith(inside) and name.isprintable()]
        if not names or self.own_head:
            return ""
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return (
            f"{self.name} has a head that BERT Explorer does not read ({names[0][:40]}{more} of {self._saved_from[:40]!a}); "
            "it reads heads for labels, tags and answers."
        )

    def task_head(self) -> OwnHead:
        """The head that the model was fine-tuned with. Raises CapabilityError without one."""
        if self.own_head is None:
            raise CapabilityError(self.unread_head or f"{self.name} {LACKS['own_head']}.")
        return self.own_head

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
        inside = [module for part in parts if isinstance(part, torch.nn.Module) for module in part.modules()]
        return sum(module.weight.numel() for module in inside if isinstance(module, torch.nn.Linear))

    # Vocabulary

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The piece of every id, in the order of the ids."""
        return tuple(self.pieces(list(range(self.capabilities.vocab_size))))

    @cached_property
    def ordinary_ids(self) -> np.ndarray:
        """The ids from which a replacement piece may be drawn: no special tokens, nor BERT's reserved '[unused42]'.

        BERT drew from everything; but a piece that no text contains is too easily recognized.
        """
        tokens, special = self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer))), set(self.tokenizer.all_special_ids)
        return np.array([i for i, token in enumerate(tokens) if i not in special and not token.startswith("[unused")])

    @cached_property
    def _read_letter(self) -> Callable[[str], str]:
        """A function from a letter to that as which the tokenizer reads it; one that it reads as none or several is unchanged."""
        normalize = normalizer_of(self.tokenizer)
        return functools.lru_cache(4_096)(lambda letter: made if len(made := normalize(letter)) == 1 else letter)

    def as_read(self, text: str) -> str:
        """The text with each letter as the tokenizer reads it, at the same place: 'cafe' for 'café' where accents are dropped."""
        return text if text.isascii() else "".join(map(self._read_letter, text))

    def as_searched(self, text: str) -> str:
        """The text as searches compare it: in small letters, as the tokenizer reads them, however their accents are written."""
        return self.as_read(unicodedata.normalize("NFC", text)).casefold()

    def pieces(self, ids: list[int]) -> list[str]:
        """The piece of each id, `[id]` for ids beyond the tokenizer's vocabulary, which some models have."""
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        return [f"[{id}]" if piece is None else show_piece(piece, self.writing) for id, piece in zip(ids, pieces, strict=True)]

    def mask_positions(self, encoding: Encoding) -> list[int]:
        """The zero-based positions of the masked tokens."""
        return [position for position, id in enumerate(encoding.ids) if id == self.mask_id]

    def visible_positions(self, encoding: Encoding) -> list[int]:
        """The zero-based positions of the texts' pieces, without [MASK]."""
        return [position for position in encoding.text_positions if encoding.ids[position] != self.mask_id]

    def _table(self, path: str) -> np.ndarray:
        """The table at a path from the embeddings; one without rows if the family has none."""
        width = self.word_table.shape[1]
        return _read_only(attrgetter(path)(self._embeddings).weight) if path else np.empty((0, width), np.float32)

    def _find_pooler(self, missing: frozenset[str]) -> torch.nn.Module | None:
        family = self.family
        if not (family.pooler and _has(missing, f"{family.encoder}.{family.pooler}")):
            return None
        pooler = attrgetter(family.pooler)(self.encoder)
        if isinstance(pooler, torch.nn.Linear):  # some families have only the dense layer
            with LOCK, torch.device("meta"):
                whole = transformers.models.bert.modeling_bert.BertPooler(self.module.config)
            whole.dense = pooler
            return whole
        return pooler

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
            neurons=self.layers[0].neurons_dense.in_features,
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


def _read_only(weight: torch.Tensor) -> np.ndarray:
    array = weight.detach().numpy().view()
    array.flags.writeable = False
    return array
