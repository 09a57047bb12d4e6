"""Questions that change nothing: the lens, routes, attribution, and which of two texts is more likely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from explorer.bert.trace import Trace
from explorer.core.engine import torch
from explorer.core.steps import finished
from explorer.experiments.compute.heads import MARKED
from explorer.experiments.compute.question import STATES, Axis, Batch, Measured, OfMarked, Question, ReadItem, Unusable, place_of
from explorer.experiments.compute.summary import Place
from explorer.experiments.compute.targets import WORD
from explorer.techniques.ablation import Run
from explorer.techniques.attribution import OCCLUSION, attribute, occlusion_of
from explorer.techniques.lens import RAW, TUNED, require_tuned_lens, translate
from explorer.techniques.pseudo_likelihood import ORIGINAL, WORD_L2R, Hidden, answers_in_steps, hide_each
from explorer.techniques.routes import mixing, place_shares
from explorer.techniques.targets import Target

METHODS = {
    "gradient × input": ("gradient_x_input", "pad"),
    "integrated gradients from [PAD]": ("integrated_gradients", "pad"),
    "integrated gradients from [MASK]": ("integrated_gradients", "mask"),
    "integrated gradients from the mean": ("integrated_gradients", "mean"),
    "occlusion": (OCCLUSION, "pad"),
}
"""The methods, and the baseline of each (only integrated gradients read it)."""
STEPS = 20  # of integrated gradients: enough for who is first, if not for the sum
ALONE = "pseudo_likelihood"  # each piece
PARTS = Axis("pieces", ("the blank", "the other pieces", "all pieces"))


class LensWins(Question):
    """The logit difference at the blank as the masked-LM head reads it from every hidden state, [hidden states]."""

    name, menu = "lens", "From which layer on is the word ahead? (lens)"
    unit, beside, each = "logit difference", "the mean of all states", ("in the end", "{}")
    how = "Lens"
    ways: ClassVar[Mapping[str, str]] = {RAW: "raw", TUNED: "tuned"}
    help = (
        "The masked-LM head reads the hidden state of the blank after every layer: above 0 the word is ahead of the foil. The "
        "*tuned* lens first maps each state to where the head expects it (Belrose et al. 2023). The selected state is the first "
        "from which on the mean stays above 0 in one half of the items."
    )
    finding = (
        "From hidden state {state} on the word is ahead of the foil in {on}; in the other {other} it is ahead there by {size} "
        "({by_size}){doubt}."
    )
    targets, places = (WORD,), (STATES,)

    def set_up(self) -> None:
        self._tuned = require_tuned_lens(self.model) if self.way == TUNED else None

    @classmethod
    def pick(cls, way: str, means: np.ndarray) -> Place:
        """The first hidden state from which on every mean is above 0; the last one if it is not."""
        below = np.flatnonzero(means.ravel() <= 0)
        return place_of(min(int(below[-1]) + 1 if len(below) else 0, means.size - 1), means)

    def measure(self, batch: Batch) -> Measured:
        return Measured(batch.differences(translate(batch.read(torch.stack(batch.states)), self._tuned)).T)


class ComesFrom(OfMarked):
    """The share of the last vector of the token that is read that comes from the marked word, at every hidden state: 0 to 1."""

    name, menu = "routes", "How much comes from the marked word? (routes)"
    unit, beside, each = "share", "another word", ("logit difference", "share at {}")
    how = "Shares by"
    ways: ClassVar[Mapping[str, str]] = {"mixing": "ALTI"}
    help = (
        f"{MARKED}The routes (ALTI, Ferrando et al. 2022) give the share of the last vector of the blank that comes from each "
        "token of a hidden state, as in *Overview*. The null is the share of another word of the same item. A share says what "
        "is mixed in, not what it does to the answer."
    )
    finding = (
        "{share} ({by_share}) of the last vector comes from the marked word in {items}, counted at {place}; from another word, "
        "drawn at random, {random_share}{doubt}."
    )
    is_share, places, passes = True, (STATES,), 1  # measured: items are read one by one

    def measure(self, batch: Batch) -> Measured:
        found = torch.empty(2, len(batch.items), *self.shape)
        for row, item in enumerate(batch.items):
            run = Run(self.model.trace(item.item.text_a, item.item.text_b))
            shares = place_shares(mixing(run).shares, item.place)
            for which, word in enumerate((item.marks[0], self.another_word(item))):
                found[which, row] = torch.from_numpy(shares[:, list(word)].sum(1))
        return Measured(*found)


class FindsCue(OfMarked):
    """Whether a method of attribution gives the marked word the highest score of all words, 1 or 0: [methods].

    Occlusion hides all pieces of a word together, since each is easily guessed from the others.
    """

    name, menu = "attribution", "Which method finds the word that decides? (attribution)"
    unit, beside, each = "share of items", "a random word", ("logit difference", "first")
    how = "Scores for"
    ways: ClassVar[Mapping[str, str]] = {"foil": "word rather than foil", "word": "the word alone"}
    help = (
        f"{MARKED}In how many items does the marked word, the one that decides by the grammar, get the highest score of all "
        "words? The scores are those of *Attribution*, summed over the pieces of a word (occlusion hides them together). The "
        "null is what a random word would find."
    )
    finding = (
        "{Place}, the best on {on}, ranks the marked word first in {share} ({by_share}) of the other {other}; a random word is "
        "it in {random_share}{doubt}."
    )
    is_share, is_hit, targets = True, True, (WORD,)
    places, passes = (Axis("method", tuple(METHODS)),), 2 * STEPS  # a pass back counts as two

    def measure(self, batch: Batch) -> Measured:
        found = [self._found(item, *pair) for item, pair in zip(batch.items, batch.words.tolist(), strict=True)]
        chance = torch.tensor([[1 / (1 + len(item.others))] * len(METHODS) for item in batch.items])
        return Measured(torch.tensor(found), chance)

    def _found(self, item: ReadItem, word: int, foil: int) -> list[float]:
        """1 for each method that ranks the marked word first."""
        trace = self.model.trace(item.item.text_a, item.item.text_b)
        target = Target("fill_mask", item.place, word, "", foil if self.way == "foil" else None)
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


class Likelihood(Question):
    """The log-likelihood of the text with the word less that with the foil, in nats: [PARTS]."""

    name, menu = "likelihood", "Which text is more likely? (likelihood)"
    unit, beside, each = "log-likelihood difference (nats)", "the mean of the three", ("the blank", "{}")
    how = "Each piece is hidden"
    ways: ClassVar[Mapping[str, str]] = {WORD_L2R: "with the rest of its word", ALONE: "alone"}
    help = (
        "The log-probabilities of all pieces are summed, each hidden with the later pieces of its word (Kauf & Ivanova 2023); "
        "hidden alone (Salazar et al. 2020), rare words of many pieces look too probable. Above 0 the text with the word is more "
        "likely. *The other pieces* leaves out the blank, as Nangia et al. 2020 do, so that the frequency of the two words does "
        "not count."
    )
    finding = "Counting {place}, the text with the word is more likely by {size} nats in {items} ({by_size}){doubt}."
    targets, places, passes = (WORD,), (PARTS,), 13  # for each piece of both texts, of about ten

    def usable(self, item: ReadItem) -> None:
        """One blank can be filled."""
        if item.ids.count(self.model.mask_id) > 1:
            raise Unusable("it has a second blank, which nothing fills.")

    def measure(self, batch: Batch) -> Measured:
        special, likelihood = {*self.model.tokenizer.all_special_ids}, WORD_L2R if self.way == WORD_L2R else ORIGINAL
        asked: list[Hidden] = []
        for row, (item, pair) in enumerate(zip(batch.items, batch.words.tolist(), strict=True)):
            encoding = self.model.encode(item.item.text_a, item.item.text_b)
            places = [at for at, id in enumerate(item.ids) if at != item.place and id not in special]
            for filler, sign in zip(pair, (1, -1), strict=True):
                filled = replace(encoding, ids=(*item.ids[: item.place], filler, *item.ids[item.place + 1 :]))
                asked += hide_each(row, filled, places, likelihood, sign)
        others = torch.from_numpy(finished(answers_in_steps(self.model, asked, len(batch.items)))).float()
        return Measured(torch.stack([batch.before, others, batch.before + others], 1))
