"""How likely whole sentences are, in many items: the one with the word beside the one with its foil."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.core.engine import torch
from explorer.experiments.compute.question import Axis, Group, Measured, Question, ReadItem, Unusable, own_states
from explorer.experiments.compute.targets import WORD
from explorer.techniques.pseudo_likelihood import ORIGINAL, WORD_L2R, hidden_too, log_likelihood

PARTS = ("the blank", "the other pieces", "all pieces")


@dataclass(frozen=True)
class Likelihood(Question):
    """The log-likelihood of the text with the word less that with the foil, in nats: [the blank, the other pieces, all pieces].

    Every piece is hidden in turn, with the later pieces of its word (Kauf & Ivanova 2023) or, by "pseudo_likelihood", alone
    (Salazar et al. 2020, section 2), and the logarithms of the probabilities are summed. The other pieces alone are what Nangia
    et al. 2020 count: how probable the rest is, given the word.
    """

    name = "likelihood"
    ways = (WORD_L2R, "pseudo_likelihood")
    targets = (WORD,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(PARTS),)

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        return (Axis("pieces", PARTS),)

    @property
    def passes(self) -> float:
        """One for each piece of both texts, of about ten, and as much again for the logits of the vocabulary."""
        return 40

    def usable(self, item: ReadItem) -> None:
        """One blank can be filled."""
        if item.ids.count(self.model.mask_id) > 1:
            raise Unusable("it has a second blank, which nothing fills.")

    def measure(self, group: Group) -> Measured:
        """Item by item."""
        words, before = self.before(own_states(self.model, group), group)
        others = torch.tensor([self._others(item, *pair) for item, pair in zip(group.items, words.tolist(), strict=True)])
        return Measured(words, before, torch.stack([before, others, before + others], 1))

    def _others(self, item: ReadItem, word: int, foil: int) -> float:
        """The log-likelihood of all pieces but the word, given it, less the same for the foil."""
        special = {*self.model.tokenizer.all_special_ids}
        places = [at for at, id in enumerate(item.ids) if at != item.place and id not in special]
        before, after = item.ids[: item.place], item.ids[item.place + 1 :]
        likelihood = WORD_L2R if self.way == WORD_L2R else ORIGINAL
        also = hidden_too(self.model.encode(item.item.text_a, item.item.text_b), likelihood)
        with_word, with_foil = (
            log_likelihood(self.model, (*before, filler, *after), item.segments, places, also) for filler in (word, foil)
        )
        return with_word - with_foil
