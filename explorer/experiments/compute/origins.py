"""Where an answer comes from, in many items: the share that the routes find, and which attribution finds the marked word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.bert.trace import Trace
from explorer.core.engine import torch
from explorer.experiments.compute.question import Axis, Group, Measured, OfMarked, OverStates, ReadItem, own_states
from explorer.experiments.compute.targets import WORD
from explorer.techniques.attribution import OCCLUSION, attribute, occlusion_of
from explorer.techniques.routes import place_shares
from explorer.techniques.run_mixing import mixing
from explorer.techniques.targets import Target

METHODS = {
    "gradient × input": ("gradient_x_input", "pad"),
    "integrated gradients from [PAD]": ("integrated_gradients", "pad"),
    "integrated gradients from [MASK]": ("integrated_gradients", "mask"),
    "integrated gradients from the mean": ("integrated_gradients", "mean"),
    "occlusion": (OCCLUSION, "pad"),
}
"""The methods, and the baseline of each (only integrated gradients read it)."""
FOIL, ALONE = "foil", "word"
STEPS = 20  # of integrated gradients: enough for who is first, if not for the sum


@dataclass(frozen=True)
class ComesFrom(OfMarked, OverStates):
    """The share of the last vector of the token that is read that comes from the marked word, at every hidden state: 0 to 1.

    By the routes (ALTI, Ferrando et al. 2022): of pieces of a word the sum. The null is the share of another word of the item,
    drawn at random.
    """

    name = "routes"
    ways = ("mixing",)

    @property
    def passes(self) -> float:
        """Its attention blocks are taken apart, and items are read one by one: measured, not counted."""
        return 8

    def measure(self, group: Group) -> Measured:
        """Item by item."""
        words, before = self.before(own_states(self.model, group), group)
        values, nulls = np.empty((2, len(group.items), *self.shape), dtype=np.float32)
        for row, item in enumerate(group.items):
            shares = place_shares(mixing(self.model.trace(item.item.text_a, item.item.text_b)).shares, item.place)
            values[row] = shares[:, list(item.marks[0])].sum(1)
            nulls[row] = shares[:, list(self.another_word(item))].sum(1)
        return Measured(words, before, torch.from_numpy(values), torch.from_numpy(nulls))


@dataclass(frozen=True)
class FindsCue(OfMarked):
    """Whether a method of attribution gives the marked word the highest score of all words, 1 or 0: [methods].

    The scores are for the difference of the logits of word and foil ("foil"), or for the logit of the word alone ("word"). The
    score of a word is the sum of those of its pieces; occlusion hides all of them together, since each is easily guessed from the
    others. The null is what a random word would find: 1 / words.
    """

    name = "attribution"
    is_hit = True
    ways = (FOIL, ALONE)
    targets = (WORD,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(METHODS),)

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        return (Axis("method", tuple(METHODS)),)

    @property
    def passes(self) -> float:
        """A pass back counts as two; occlusion takes one for each word."""
        return 10 + 3 * 3 * STEPS

    def measure(self, group: Group) -> Measured:
        """Item by item."""
        words, before = self.before(own_states(self.model, group), group)
        found = [self._found(item, *pair) for item, pair in zip(group.items, words.tolist(), strict=True)]
        chance = torch.tensor([[1 / (1 + len(item.others))] * len(METHODS) for item in group.items])
        return Measured(words, before, torch.tensor(found), chance)

    def _found(self, item: ReadItem, word: int, foil: int) -> list[float]:
        """1 for each method that ranks the marked word first."""
        trace = self.model.trace(item.item.text_a, item.item.text_b)
        target = Target("fill_mask", item.place, word, "", foil if self.way == FOIL else None)
        words = [item.marks[0], *item.others]
        with torch.inference_mode(False):  # the methods need gradients
            scores = [_of_words(trace, target, words, *method) for method in METHODS.values()]
        return [float((parts[0] > parts[1:]).all()) for parts in scores]


def _of_words(trace: Trace, target: Target, words: Sequence[Sequence[int]], method: str, baseline: str) -> np.ndarray:
    """The score of each word by a method: [words]."""
    if method == OCCLUSION:
        return occlusion_of(trace, target, words)
    scores = attribute(trace, target, method, STEPS, baseline).scores
    return np.array([scores[list(word)].sum() for word in words])
