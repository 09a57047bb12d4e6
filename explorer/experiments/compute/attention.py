"""The attention of every head from one marked word to another, in many items."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.core.engine import torch
from explorer.experiments.compute.question import NOWHERE, Group, Measured, Question, ReadItem, Unusable, own_states
from explorer.experiments.compute.targets import WORD


@dataclass(frozen=True)
class Attends(Question):
    """The weight with which a marked word looks at another in every head, 0 to 1: [layers, heads].

    With two marks the first looks at the second ("forward") or the second at the first ("backward"); with one, the blank looks
    at it, or is looked at. Pieces of a word that looks are averaged, those of one that is looked
    at are summed. Each is compared with the mean weight on the other words of the item, for as many pieces.
    """

    name = "attention"
    ways = ("forward", "backward")
    targets = (WORD,)
    needs_marks = True
    has_nulls = True
    reads_words = False

    def usable(self, item: ReadItem) -> None:
        """An item needs a marked word, and another word to compare it with."""
        marked(item)
        if len(item.marks) == 1 and item.place == NOWHERE:
            raise Unusable("it has one marked word and no blank; mark a second word.")
        if not item.others:
            raise Unusable("it has no other word to compare the marked one with.")

    def measure(self, group: Group) -> Measured:
        """Every layer."""
        states = own_states(self.model, group)
        ends = [self._ends(one) for one in group.items]
        values, nulls = torch.empty(2, len(ends), *self.shape)
        for layer, hidden in enumerate(states[:-1]):
            weights = self.model.layers[layer].heads(hidden).weights()  # [n, heads, query, key]
            for row, (queries, keys) in enumerate(ends):
                looks = weights[row][:, list(queries)].mean(1)  # [heads, key]
                others = [token for word in group.items[row].others for token in word]
                values[row, layer] = looks[:, list(keys)].sum(1)
                nulls[row, layer] = looks[:, others].mean(1) * len(keys)
        names = [[one.ids[queries[0]], one.ids[keys[0]]] for one, (queries, keys) in zip(group.items, ends, strict=True)]
        return Measured(torch.tensor(names), torch.zeros(len(ends)), values, nulls)

    def _ends(self, item: ReadItem) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The tokens that look, and those that are looked at."""
        first, second = item.marks[:2] if len(item.marks) > 1 else ((item.place,), item.marks[0])
        return (first, second) if self.way == self.ways[0] else (second, first)


def marked(item: ReadItem) -> tuple[int, ...]:
    """The tokens of the first marked word. Raises Unusable without one."""
    if not item.marks:
        raise Unusable("it has no marked word; put stars around one, as in *key*.")
    return item.marks[0]
