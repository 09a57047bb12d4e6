"""The lens in many items: at which hidden state the word is ahead of the foil."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from explorer.core.engine import torch
from explorer.experiments.compute.question import Group, Measured, OverStates, own_states
from explorer.experiments.compute.summary import Place, first_to_stay
from explorer.experiments.compute.targets import WORD
from explorer.techniques.lens import translate
from explorer.techniques.tuned_lens import RAW, TUNED, require_tuned_lens


@dataclass(frozen=True)
class LensWins(OverStates):
    """The logit difference at the blank as the masked-LM head reads it from every hidden state, [hidden states].

    "raw" is nostalgebraist's logit lens (2020), "tuned" maps each state first to where the head expects it (Belrose et al. 2023).
    """

    name = "lens"
    ways = (RAW, TUNED)
    targets = (WORD,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.way == TUNED:
            require_tuned_lens(self.model)

    @classmethod
    def pick(cls, way: str) -> Callable[[np.ndarray], Place]:
        """The first hidden state from which on the word stays ahead."""
        return first_to_stay

    def measure(self, group: Group) -> Measured:
        """Every hidden state."""
        states = own_states(self.model, group)
        words, before = self.before(states, group)
        vectors = torch.stack([state[group.rows, group.places] for state in states])  # [hidden states, n, hidden]
        tuned = require_tuned_lens(self.model) if self.way == TUNED else None
        return Measured(words, before, self.target.differences(translate(vectors, tuned), words).T)
