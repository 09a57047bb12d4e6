"""What an item is judged by: two words at its first blank, IsNext against NotNext, or two labels of a fine-tuned head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.families import LABELS
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


class Target:
    """A head of the model, two of its classes, and the token whose last hidden state it reads.

    - "word": two pieces of the vocabulary at the first blank, by the masked-LM head.
    - "next_sentence": IsNext against NotNext, or the outputs of another family's head for pairs; an item has text A and B.
    - "label": two labels of a checkpoint that was fine-tuned to label texts; word and foil are their names.
    """

    def __init__(self, model: Explorer, name: str) -> None:
        """Raises InputError for another name, and CapabilityError without the head."""
        self.model, self.name = model, limits.check_choice(name, "the target", TARGETS)
        self._id_of = cache(lambda word: piece_of(model, word)[0])
        self._labels: Sequence[str] = ()  # of another head than that of masked words
        self._head: Callable[[torch.Tensor], torch.Tensor]
        if name == WORD:
            model.require("fill_mask")
        elif name == NEXT_SENTENCE:
            model.require("next_sentence")
            self._labels, self._head = model.pair_names, model.next_sentence_logits
        else:
            head = model.task_head()
            self._labels, self._head = head.labels, lambda vectors: head.logits(model.final(vectors))
            if head.task != LABELS or len(head.labels) < 2:
                raise CapabilityError(f"{model.name} was not fine-tuned to give texts one of several labels.")
            if getattr(head.module.config, "classifier_pooling", "cls") != "cls":
                raise CapabilityError(f"{model.name} reads its label from all tokens, so nothing less can be computed for it.")

    def classes(self, item: Item) -> tuple[int, int]:
        """The classes of word and foil, UNKNOWN where the model chooses.

        Raises InputError for an unknown one, the same one twice, and a second sentence that is missing.
        """
        if self.name == NEXT_SENTENCE:
            if not item.text_b:
                raise InputError("The second sentence is missing: an item of next sentence is text A and text B.")
            return 0, 1
        word, foil = (self._class_of(name) if name else UNKNOWN for name in (item.word, item.foil))
        if word == foil != UNKNOWN:
            raise InputError(f"The word and the foil are the same {self.name}. Give two different ones.")
        return word, foil

    def _class_of(self, name: str) -> int:
        if self.name == WORD:
            return self._id_of(name)
        return self._labels.index(limits.check_choice(name, "the label", self._labels))

    def names(self, ids: list[int]) -> list[str]:
        return self.model.pieces(ids) if self.name == WORD else [self._labels[id] for id in ids]

    @cached_property
    def whole_words(self) -> np.ndarray:
        """The ids of pieces that are words of letters, in order, of which other pairs may be drawn at random."""
        pieces, writing = self.model.vocabulary, self.model.writing
        ids = [id for id in self.model.ordinary_ids.tolist() if begins_a_word(pieces[id], writing) and bare(pieces[id]).isalpha()]
        return np.array(ids)

    def place(self, ids: tuple[int, ...]) -> int:
        """The token that is read: the first blank, or the first token. Raises InputError without a blank."""
        if self.name != WORD:
            return 0
        if self.model.mask_id not in ids:
            raise InputError(f"There is no {MASK} among the {len(ids)} tokens that are read. Type it, and not ___, for the word.")
        return ids.index(self.model.mask_id)

    def logits(self, vectors: torch.Tensor, ids: list[int] | None = None) -> torch.Tensor:
        """The logits of all classes, or of some, [..., classes], from last hidden states [..., hidden]."""
        if self.name == WORD:
            return self.model.masked_lm(vectors) if ids is None else self.model.masked_lm_of(vectors, ids)
        every = self._head(vectors.flatten(0, -2)[:, None]).unflatten(0, vectors.shape[:-1])
        return every if ids is None else every[..., ids]

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
        logits = self.logits(vectors, ids.tolist())  # [..., n, ids]
        flat = place.flatten(1)
        own = logits.gather(-1, flat.expand(*logits.shape[:-1], flat.shape[1])).unflatten(-1, words.shape[1:])
        return own[..., 0] - own[..., 1]
