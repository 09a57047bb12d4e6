"""A concept erased from hidden states in many items, beside what a probe finds and what else is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from explorer.bert.network import Network
from explorer.core.engine import torch
from explorer.experiments.compute.concepts import Known, OfConcept
from explorer.experiments.compute.patching import round_off
from explorer.experiments.compute.question import STATES, Axis, Group, Measured, ReadItem, numbered, own_states
from explorer.techniques.leace import Eraser, fit_erasers
from explorer.training.head import Head
from explorer.training.probe import fit_head
from explorer.training.settings import TrainingSettings

ROLES = ("token read", "every token")
RANDOM = 16  # subspaces of the null
OTHERS = 4  # tokens of an item whose guesses are compared


@dataclass(frozen=True)
class Erased:
    """What was fitted to one half at one state and role: two erasers, and probes of vectors before and after erasure."""

    own: Eraser
    random: Eraser
    before: Head
    after: Head


@dataclass(frozen=True)
class Erases(OfConcept):
    """The logit difference with a concept erased from a hidden state less that without, [hidden states, ROLES].

    LEACE (Belrose et al. 2023) takes away the least that leaves a linear classifier nothing: from the token that is read, or from
    every token. The null erases one of RANDOM random subspaces of the same rank. "probe before" and "probe after" are whether a
    logistic regression of the token's vector (of the mean of all) finds the class of the item's word, 0 or 1; "KL" is the mean
    divergence, in nats, of the guesses at OTHERS other tokens.
    """

    name = "erase"
    also = ("probe before", "probe after", "KL")
    _fits: dict[tuple[int, int, int], Erased] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.model.capabilities.layers + 1, len(ROLES))

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        """Hidden states from 0, and roles."""
        return *numbered(shape[:1], STATES), Axis("tokens", ROLES)

    @property
    def copies(self) -> int:
        """Each role, with the concept and with a random subspace erased."""
        return 2 * len(ROLES)

    @property
    def passes(self) -> float:
        """A run from every state for each copy, and guesses at other tokens."""
        return 2 + self.copies * (self.shape[0] / 2 + OTHERS / 2)

    def _fit(self, half: int, known: Known) -> None:
        counts = torch.tensor([part.shape[1] for part in known.tokens])
        for state in range(self.shape[0]):
            every = torch.cat([part[state] for part in known.tokens])
            means = torch.stack([part[state].mean(0) for part in known.tokens])
            given = (known.read[state], known.labels, known.read[state]), (every, known.labels.repeat_interleave(counts), means)
            for role, (vectors, labels, probed) in enumerate(given):
                own, random = fit_erasers(vectors, labels, RANDOM, self.seed)
                probes = (
                    fit_head(one.numpy(), known.labels.numpy(), len(self._classes), TrainingSettings())
                    for one in (probed, own(probed))
                )
                self._fits[half, state, role] = Erased(own, random, *probes)

    def measure(self, group: Group) -> Measured:
        """Every state and role."""
        states = own_states(self.model, group)
        words, before = self.before(states, group)
        others = [self._others(item) for item in group.items]
        logs = _guesses(self.model, states[-1], others)  # [n, OTHERS, vocabulary]
        found = torch.empty(2 + len(self.also), len(group.items), *self.shape)
        for state, hidden in enumerate(states):
            for role in range(len(ROLES)):
                fits = [self._fits[1 - self._half[item.number], state, role] for item in group.items]
                copies = torch.stack([hidden, hidden])  # the concept erased, and a random subspace
                for row, (item, fit) in enumerate(zip(group.items, fits, strict=True)):
                    at = [item.place] if role == 0 else slice(None)
                    copies[0, row, at] = fit.own(hidden[row, at])
                    copies[1, row, at] = self._one(fit.random, item)(hidden[row, at])
                last = copies.flatten(0, 1)
                for layer in self.model.layers[state:]:
                    last = layer(last)
                last = last.unflatten(0, copies.shape[:2])
                changes = self.target.differences(last[:, group.rows, group.places], words) - before
                after = _guesses(self.model, last[0], others)
                found[:2, :, state, role] = changes
                found[2:4, :, state, role] = self._probed(group, hidden, fits, role)
                found[4, :, state, role] = (logs.exp() * (logs - after)).sum(-1).mean(-1)
        values, nulls, *also = found
        return Measured(words, before, values, round_off(values, nulls), also=also)

    def _probed(self, group: Group, hidden: torch.Tensor, fits: Sequence[Erased], role: int) -> torch.Tensor:
        """Whether the probe before and after erasure finds the class, 1 or 0: [2, n]."""
        vectors = hidden[group.rows, group.places] if role == 0 else hidden.mean(1)
        hits = torch.empty(2, len(fits))
        for row, (item, fit) in enumerate(zip(group.items, fits, strict=True)):
            label = self._classes.index(self.class_of(item.item.word))
            own = vectors[row : row + 1]
            for which, (probe, one) in enumerate(((fit.before, own), (fit.after, fit.own(own)))):
                hits[which, row] = float(probe.outputs(one.numpy()).argmax() == label)
        return hits

    def _one(self, random: Eraser, item: ReadItem) -> Eraser:
        """One of the random subspaces."""
        which = int(self.random(item).integers(RANDOM))
        return Eraser(random.mean, random.left[which], random.right[which])

    def _others(self, item: ReadItem) -> list[int]:
        """Tokens of an item besides that which is read and the first and last, at random; a token may be drawn again."""
        there = [at for at in range(1, len(item.ids) - 1) if at != item.place] or [0]
        return self.random(item).choice(there, OTHERS).tolist()


def _guesses(model: Network, hidden: torch.Tensor, places: Sequence[Sequence[int]]) -> torch.Tensor:
    """The log-probabilities at some tokens, [n, OTHERS, vocabulary], from last hidden states [n, tokens, hidden]."""
    at = torch.tensor(places)
    return model.masked_lm(hidden[torch.arange(len(at))[:, None], at].flatten(0, 1)).log_softmax(-1).unflatten(0, at.shape)
