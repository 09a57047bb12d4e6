"""Links between marked words, in every head of many items: how strong they are, and what the answer loses without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.core.engine import torch
from explorer.experiments.compute.heads_off import HeadsOff, without_heads
from explorer.experiments.compute.question import NOWHERE, Group, Measured, OfMarked, ReadItem, Unusable, own_states
from explorer.experiments.compute.targets import WORD

FORWARD, BACKWARD = DIRECTIONS = ("forward", "backward")
Link = tuple[tuple[int, ...], tuple[int, ...]]
"""The tokens that look, and those that are looked at."""


@dataclass(frozen=True)
class Attends(OfMarked):
    """The weight with which a marked word looks at another in every head, 0 to 1: [layers, heads].

    With two marks the first looks at the second ("forward") or the second at the first ("backward"); with one, the token that is
    read looks at it, or is looked at. Pieces of a word that looks are averaged, those of one that is looked at are summed. Each
    is compared with the same for another word of the item, drawn at random, in the place of the word that is looked at, or,
    backward, of the one that looks: it takes the place of a marked word, not that of the blank, which is not a word.
    """

    name = "attention"
    ways = DIRECTIONS
    targets = (WORD,)
    reads_words = False

    def usable(self, item: ReadItem) -> None:
        """An item with one mark needs a blank too."""
        super().usable(item)
        if len(item.marks) == 1 and item.place == NOWHERE:
            raise Unusable("it has one marked word and no blank; mark a second word.")

    def measure(self, group: Group) -> Measured:
        """Every layer."""
        states = own_states(self.model, group)
        links = [link(item, self.way) for item in group.items]
        drawn = [instead(*ends, self.another_word(one), self.way) for one, ends in zip(group.items, links, strict=True)]
        values, nulls = torch.empty(2, len(links), *self.shape)
        for layer, hidden in enumerate(states[:-1]):
            weights = self.model.layers[layer].heads(hidden).weights()  # [n, heads, query, key]
            for found, given in ((values, links), (nulls, drawn)):
                for row, (queries, keys) in enumerate(given):
                    found[row, layer] = weights[row][:, list(queries)].mean(1)[:, list(keys)].sum(1)
        names = [[one.ids[queries[0]], one.ids[keys[0]]] for one, (queries, keys) in zip(group.items, links, strict=True)]
        return Measured(torch.tensor(names), torch.zeros(len(links)), values, nulls)


@dataclass(frozen=True)
class CutLinks(OfMarked, HeadsOff):
    """The logit difference with one link of one head at zero less that with it, [layers, heads]: negative where it helps.

    The links are those of `Attends`, with two marks or one. The weights of all pieces of both words are zero in a head, and the
    rest of their rows stays (as with `routes`). Each is compared with a cut of the same head's link from the same word to another
    one of the item, drawn at random, or, backward, from that one to the same word.
    """

    name = "cut"
    ways = DIRECTIONS

    @property
    def passes(self) -> float:
        """Every head twice: with its link cut, and with another one."""
        return 2 * super().passes

    def measure(self, group: Group) -> Measured:
        """Every head, with the link cut and with another one."""
        states = own_states(self.model, group)
        words, before = self.before(states, group)
        links = [link(item, self.way) for item in group.items]
        drawn = [instead(*ends, self.another_word(one), self.way) for one, ends in zip(group.items, links, strict=True)]
        values, nulls = (
            (without_heads(self, group, words, states, self._cut(states, given)) - before).permute(2, 0, 1)
            for given in (links, drawn)
        )
        return Measured(words, before, values, nulls)

    def _cut(self, states: Sequence[torch.Tensor], links: Sequence[Link]) -> list[torch.Tensor]:
        """The contexts of every head, [n, heads, tokens, head_size] by layer, with one link of each item at zero."""
        found = []
        for layer, hidden in zip(self.model.layers, states[:-1], strict=True):
            heads = layer.heads(hidden)
            contexts, weights = heads.context(), heads.weights()
            for row, (queries, keys) in enumerate(links):
                lost = weights[row][:, list(queries)][..., list(keys)] @ heads.value[row][:, list(keys)]
                contexts[row][:, list(queries)] -= lost  # [heads, queries, head_size]
            found.append(contexts)
        return found


def link(item: ReadItem, way: str) -> Link:
    """From the first mark to the second, or from the token that is read to the only mark; in reverse if "backward"."""
    first, second = item.marks[:2] if len(item.marks) > 1 else ((item.place,), item.marks[0])
    return (first, second) if way == FORWARD else (second, first)


def instead(queries: tuple[int, ...], keys: tuple[int, ...], other: tuple[int, ...], way: str) -> Link:
    """A link with another word in the place of the marked one."""
    return (queries, other) if way == FORWARD else (other, keys)
