"""Questions about heads: each switched off, one of its links cut, and how much it attends to a marked word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from explorer.core.engine import torch
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.question import ROUNDING, Batch, Measured, OfMarked, Question, ReadItem, Unusable
from explorer.experiments.compute.targets import UNKNOWN, WORD

HEADS_OFF = "heads_off"
ZERO, MEAN = "zero", "mean"
NOWHERE = -1  # the place of an item without a blank
FORWARD, BACKWARD = "forward", "backward"
MARKED = "An item needs a marked word, as in *The \\*keys\\* to the drawers*. "
LINKS: Mapping[str, str] = {FORWARD: "from the blank or the first mark", BACKWARD: "from the marked word or the second mark"}
Link = tuple[tuple[int, ...], tuple[int, ...]]
"""The tokens that look, and those that are looked at."""


class HeadsOff(Question):
    """The logit difference without each head less that with it, [layers, heads]: negative where the head helps the word.

    Its context before W_O is replaced at every token, each head separately: by zeros, or by its mean over all tokens of all items
    (special tokens too).
    """

    name, menu = HEADS_OFF, "Which heads decide? (heads off)"
    unit, beside, each = "change of the logit difference", "a random head", ("all heads", "without {}")
    how = "A head that is off outputs"
    ways: ClassVar[Mapping[str, str]] = {ZERO: "zeros", MEAN: "its mean over all items"}
    help = (
        "A head is off when its output before W_O is replaced at every token (Michel et al. 2019). The effect is the logit "
        "difference without the head minus that with it. One half of the groups selects the head with the lowest mean. A head "
        "that always prefers one word counts too, so balance the items."
    )
    finding = (
        "Without {place}, selected on {on}, the word's lead in the other {other} changes by {effect} of {before} "
        "({by_effect}){doubt}."
    )
    adds_before, below = True, "it helps the word"
    passes, copies = 1 / 3, 1  # a head alone needs, on average, less than half of the layers
    _means: Sequence[torch.Tensor] = ()  # [heads, head_size] by layer

    def prepare(self, items: Sequence[ReadItem]) -> Iterator[None]:
        """The mean contexts."""
        if self.way == MEAN:
            sums: list[torch.Tensor] = [torch.zeros(()) for _ in self.model.layers]
            for batch in self.batches(items, 1):
                contexts = batch.contexts(batch.states)
                sums = [total + context.double().sum((0, 2)) for total, context in zip(sums, contexts, strict=True)]
                yield
            self._means = [(total / sum(len(item.ids) for item in items)).float() for total in sums]

    def measure(self, batch: Batch) -> Measured:
        instead = [mean[None, :, None] for mean in self._means]  # over [n, heads, tokens, head_size]
        change = batch.differences(batch.with_contexts(batch.states, instead)) - batch.before
        return Measured(torch.where(change.abs() < ROUNDING, 0, change).permute(2, 0, 1))


class Attends(OfMarked):
    """The weight with which a marked word looks at another in every head, 0 to 1: [layers, heads]."""

    name, menu = "attention", "Which head attends to the marked word? (attention)"
    unit, beside, each = "attention weight", "another word", ("", "weight in {}")
    how = "The link"
    ways = LINKS
    help = (
        "The picture shows the weight from the first marked word to the second, as in *The \\*keys\\* to the drawers are "
        "\\*old\\**, or from the blank to the only one: the mean over queries, the sum over keys. In the null another word of "
        "the item takes the place of the marked one. Weights say what a head mixes in, not that the answer depends on it."
    )
    finding = (
        "{Place}, selected on {on}, looks there with {share} ({by_share}) of its weight in the other {other}; with another "
        "word in the place of the marked one it is {random_share}{doubt}."
    )
    is_share, targets = True, (WORD,)

    def read(self, item: Item, ids: tuple[int, ...]) -> tuple[int, int, int]:
        """The first blank, NOWHERE without one, since two marks are enough; no classes."""
        return ids.index(self.model.mask_id) if self.model.mask_id in ids else NOWHERE, UNKNOWN, UNKNOWN

    def usable(self, item: ReadItem) -> None:
        """An item with one mark needs a blank too."""
        super().usable(item)
        if len(item.marks) == 1 and item.place == NOWHERE:
            raise Unusable("it has one marked word and no blank; mark a second word.")

    def measure(self, batch: Batch) -> Measured:
        links, drawn = links_of(self, batch)
        found = torch.empty(2, len(links), *self.shape)
        for layer, hidden in enumerate(batch.states[:-1]):
            weights = self.model.layers[layer].heads(hidden).weights()  # [n, heads, query, key]
            for which, given in enumerate((links, drawn)):
                for row, (queries, keys) in enumerate(given):
                    found[which, row, layer] = weights[row][:, list(queries)].mean(1)[:, list(keys)].sum(1)
        ends = [[one.ids[queries[0]], one.ids[keys[0]]] for one, (queries, keys) in zip(batch.items, links, strict=True)]
        return Measured(found[0], found[1], before=torch.zeros(len(links)), words=torch.tensor(ends))


class CutLinks(OfMarked):
    """The logit difference with one link of one head at zero less that with it, [layers, heads]: negative where it helps.

    Links and nulls are those of `links_of`.
    """

    name, menu = "cut", "Which link does the answer need? (cut links)"
    unit, beside, each = "change of the logit difference", "another word's link", ("all links", "without it in {}")
    how = "The link"
    ways = LINKS
    help = (
        f"{MARKED}In one head at a time, the weight from the blank to that word is set to zero, or from the first of two marked "
        "words to the second; the rest of the row stays. Blue means that the link helps the word. The null cuts the link to "
        "another word in the same head."
    )
    finding = (
        "{Place}, selected on {on}: without its link the logit difference of the other {other} changes by {effect} "
        "({by_effect}){doubt}; without another word's link by {random}."
    )
    adds_before, below = True, "it helps the word"
    passes, copies = 2 / 3, 1  # every head twice: with its link cut, and with another one

    def measure(self, batch: Batch) -> Measured:
        after = [batch.differences(batch.with_contexts(batch.states, self._cut(batch, one))) for one in links_of(self, batch)]
        values, nulls = ((one - batch.before).permute(2, 0, 1) for one in after)
        return Measured(values, nulls)

    def _cut(self, batch: Batch, links: Sequence[Link]) -> list[torch.Tensor]:
        """The contexts of every head, [n, heads, tokens, head_size] by layer, with one link of each item at zero."""
        found = []
        for layer, hidden in zip(self.model.layers, batch.states[:-1], strict=True):
            heads = layer.heads(hidden)
            contexts, weights = heads.context(), heads.weights()
            for row, (queries, keys) in enumerate(links):
                lost = weights[row][:, list(queries)][..., list(keys)] @ heads.value[row][:, list(keys)]
                contexts[row][:, list(queries)] -= lost  # [heads, queries, head_size]
            found.append(contexts)
        return found


def links_of(question: OfMarked, batch: Batch) -> tuple[list[Link], list[Link]]:
    """From the first mark to the second, or from the token that is read to the only mark; and with another word instead.

    Backward all are reversed, and the other word takes the place of the marked one that looks, not that of the blank, which is
    not a word.
    """
    links, drawn = list[Link](), list[Link]()
    for item in batch.items:
        first, second = item.marks[:2] if len(item.marks) > 1 else ((item.place,), item.marks[0])
        other, step = question.another_word(item), 1 if question.way == FORWARD else -1
        for found, last in ((links, second), (drawn, other)):
            queries, keys = (first, last)[::step]
            found.append((queries, keys))
    return links, drawn
