"""What an item is judged by: two words at its first blank, IsNext against NotNext, or two labels of a fine-tuned head."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache, cached_property
from typing import ClassVar

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.families import LABELS
from explorer.bert.network import Network
from explorer.core.engine import torch
from explorer.core.errors import CapabilityError, InputError
from explorer.experiments.compute.items import Item
from explorer.techniques.filling import begins_a_word
from explorer.techniques.targets import piece_of
from explorer.text import limits
from explorer.text.encoding import MASK
from explorer.text.pieces import bare

UNKNOWN = -1  # in the place of a word that the model chooses
WORD, NEXT_SENTENCE, LABEL = TARGETS = ("word", "next_sentence", "label")


class Target(ABC):
    """A head of the model, two of its classes, and the token whose last hidden state it reads."""

    name: ClassVar[str]

    def __init__(self, model: Explorer) -> None:
        """Raises CapabilityError without the head."""
        self.model: Network = model

    @cached_property
    def whole_words(self) -> np.ndarray:
        """The classes of which other pairs may be drawn at random; none if there are too few."""
        return np.empty(0, np.int64)

    @abstractmethod
    def class_of(self, name: str) -> int:
        """The class of a word or label. Raises InputError for an unknown one."""

    def classes(self, item: Item) -> tuple[int, int]:
        """The classes of word and foil, UNKNOWN where the model chooses. Raises InputError for an unknown one, or one twice."""
        word, foil = (self.class_of(name) if name else UNKNOWN for name in (item.word, item.foil))
        if word == foil != UNKNOWN:
            raise InputError(f"There is the same {self.name} as word and as foil; give it two.")
        return word, foil

    def place(self, ids: tuple[int, ...]) -> int:
        """The token that is read. Raises InputError where there is none."""
        return 0

    @abstractmethod
    def logits(self, vectors: torch.Tensor) -> torch.Tensor:
        """The logits of all classes, [n, classes], from last hidden states [n, hidden]."""

    def logits_of(self, vectors: torch.Tensor, ids: list[int]) -> torch.Tensor:
        """The logits of some classes, [..., ids], from last hidden states [..., hidden]."""
        return self.logits(vectors.flatten(0, -2)).unflatten(0, vectors.shape[:-1])[..., ids]

    @abstractmethod
    def names(self, ids: list[int]) -> list[str]:
        """The names of classes."""

    def chosen(self, words: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        """The classes of word and foil [n, 2], the model's best others from last hidden states [n, hidden] where UNKNOWN."""
        word, foil = words.T
        if (words == UNKNOWN).any():
            first, second = self.logits(vectors).topk(2).indices.T
            word = torch.where(word == UNKNOWN, torch.where(first == foil, second, first), word)
            foil = torch.where(foil == UNKNOWN, torch.where(first == word, second, first), foil)
        return torch.stack([word, foil], 1)

    def differences(self, vectors: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """The logit of the word less that of the foil, [..., n], for last hidden states [..., n, hidden] and classes [n, 2].

        For several pairs of classes, [n, pairs, 2], it is [..., n, pairs].
        """
        ids, place = words.unique(return_inverse=True)
        logits = self.logits_of(vectors, ids.tolist())  # [..., n, ids]
        flat = place.flatten(1)
        own = logits.gather(-1, flat.expand(*logits.shape[:-1], flat.shape[1])).unflatten(-1, words.shape[1:])
        return own[..., 0] - own[..., 1]


class Words(Target):
    """Two pieces of the vocabulary at the first blank, by the masked-LM head."""

    name = WORD

    def __init__(self, model: Explorer) -> None:
        """Raises CapabilityError without a masked-LM head."""
        model.require("fill_mask")
        super().__init__(model)
        self._id_of = cache(lambda word: piece_of(model, word)[0])

    def class_of(self, name: str) -> int:
        """Its id. Raises InputError for a word that is not one piece."""
        return self._id_of(name)

    def place(self, ids: tuple[int, ...]) -> int:
        if self.model.mask_id not in ids:
            raise InputError(f"There is no {MASK} among the {len(ids)} tokens that are read; type one where its word belongs.")
        return ids.index(self.model.mask_id)

    def logits(self, vectors: torch.Tensor) -> torch.Tensor:
        return self.model.masked_lm(vectors)

    def logits_of(self, vectors: torch.Tensor, ids: list[int]) -> torch.Tensor:
        """Of a few pieces; the rest of the vocabulary is not computed."""
        return self.model.masked_lm_of(vectors, ids)

    def names(self, ids: list[int]) -> list[str]:
        return self.model.pieces(ids)

    @cached_property
    def whole_words(self) -> np.ndarray:
        """The ids of pieces that are words of letters, in order."""
        pieces, writing = self.model.vocabulary, self.model.writing
        ids = [id for id in self.model.ordinary_ids.tolist() if begins_a_word(pieces[id], writing) and bare(pieces[id]).isalpha()]
        return np.array(ids)


class NextSentence(Target):
    """IsNext against NotNext, or the two outputs of another family's head for pairs; an item has text A and B."""

    name = NEXT_SENTENCE

    def __init__(self, model: Explorer) -> None:
        """Raises CapabilityError without a head for pairs."""
        model.require("next_sentence")
        super().__init__(model)

    def class_of(self, name: str) -> int:
        return self.model.pair_names.index(name)

    def classes(self, item: Item) -> tuple[int, int]:
        """Always the first output against the second. Raises InputError for an item that is not a pair."""
        if not item.text_b:
            raise InputError("The second sentence is missing: an item of next sentence is text A and text B.")
        return 0, 1

    def logits(self, vectors: torch.Tensor) -> torch.Tensor:
        return self.model.next_sentence_logits(vectors[:, None])

    def names(self, ids: list[int]) -> list[str]:
        return [self.model.pair_names[id] for id in ids]


class Labels(Target):
    """Two labels of a checkpoint that was fine-tuned to label texts; word and foil are their names."""

    name = LABEL

    def __init__(self, model: Explorer) -> None:
        """Raises CapabilityError without a head for at least two labels that reads the first token."""
        super().__init__(model)
        self._head = model.task_head()
        if self._head.task != LABELS or len(self._head.labels) < 2:
            raise CapabilityError(f"{model.name} was not fine-tuned to give texts one of several labels.")
        if getattr(self._head.module.config, "classifier_pooling", "cls") != "cls":
            raise CapabilityError(f"{model.name} reads its label from all tokens, so that nothing less can be computed for it.")

    def class_of(self, name: str) -> int:
        """Its number. Raises InputError for an unknown label."""
        return self._head.labels.index(limits.check_choice(name, "the label", self._head.labels))

    def logits(self, vectors: torch.Tensor) -> torch.Tensor:
        return self._head.logits(self.model.final(vectors[:, None]))

    def names(self, ids: list[int]) -> list[str]:
        return [self._head.labels[id] for id in ids]


_KINDS: dict[str, type[Target]] = {kind.name: kind for kind in (Words, NextSentence, Labels)}


def target_of(model: Explorer, name: str) -> Target:
    """The target of this name. Raises InputError for another name, and CapabilityError without its head."""
    return _KINDS[limits.check_choice(name, "the target", TARGETS)](model)
