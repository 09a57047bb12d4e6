"""What `explorer.ablate`, `.patch`, `.attribute` and `.routes` return: arrays, and the same as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.core.errors import InputError
from explorer.core.lazy import pandas

Head = tuple[int, int]
"""(layer, head), both counted from 1, as on the page."""

DIFFERENCE, PROBABILITY = "difference of logits", "probability"


@dataclass(frozen=True, eq=False)
class Ablation:
    """A prediction with heads set to zero.

    `target` names it, "are rather than is", and `unit` is DIFFERENCE (of the two logits, word minus foil) or, without a foil,
    PROBABILITY (0 to 1). `before` is with all heads. `after` is [layers, heads], one head off at a time and both counted from
    0, or a single number [] where heads were off together.
    """

    target: str
    unit: str
    before: float
    after: np.ndarray

    @property
    def effects(self) -> np.ndarray:
        """`after` less `before`: negative where a head helps the word."""
        return self.after - self.before

    @property
    def table(self) -> pandas.DataFrame:
        """A row for each head, both counted from 1, the lowest effect first; or one row for heads off together."""
        if self.after.ndim == 0:
            return pandas.DataFrame({"after": [float(self.after)], "effect": [float(self.effects)]})
        layer, head = np.indices(self.after.shape).reshape(2, -1) + 1
        rows = {"layer": layer, "head": head, "after": self.after.ravel(), "effect": self.effects.ravel()}
        return pandas.DataFrame(rows).sort_values("effect", kind="stable", ignore_index=True)


@dataclass(frozen=True, eq=False)
class Patching:
    """A prediction in a corrupted run, with one hidden state at a time taken from the clean run.

    `clean` and `corrupted` are that of the whole runs, and `patched` [hidden states, tokens] that after each patch, in `unit`;
    hidden state 0 is the embedding output.
    """

    target: str
    unit: str
    tokens: tuple[str, ...]  # of the clean run
    clean: float
    corrupted: float
    patched: np.ndarray

    @property
    def recovery(self) -> np.ndarray:
        """How much of the way back to the clean run each patch goes: 0 for the corrupted run, 1 for the clean one.

        Raises InputError where both runs predict the same.
        """
        if self.clean == self.corrupted:
            raise InputError("Both texts give the same prediction, so there is nothing to recover. Change another word.")
        return (self.patched - self.corrupted) / (self.clean - self.corrupted)

    @property
    def table(self) -> pandas.DataFrame:
        state, position = np.indices(self.patched.shape).reshape(2, -1)
        rows = {"hidden_state": state, "position": position, "token": [self.tokens[place] for place in position]}
        return pandas.DataFrame({**rows, "patched": self.patched.ravel(), "recovery": self.recovery.ravel()})


@dataclass(frozen=True, eq=False)
class Attributed:
    """A score for each token [tokens], in units of the word's logit, or of its difference to the foil's.

    `delta` is what the sum of integrated gradients misses of the change from the baseline; None for other methods.
    """

    target: str
    method: str
    tokens: tuple[str, ...]
    scores: np.ndarray
    delta: float | None

    @property
    def table(self) -> pandas.DataFrame:
        return pandas.DataFrame({"position": range(len(self.tokens)), "token": self.tokens, "score": self.scores})


@dataclass(frozen=True, eq=False)
class Routes:
    """How the last hidden state of the token at `position` is mixed from the input's tokens, layer by layer.

    `mixing` is [layers, query, key]: the share of each token in an attention block's output (ALTI, Ferrando et al. 2022), rows
    sum to 1. `sources` [tokens] is what follows for the whole network: the share that comes from each token of the input, which
    sums to 1. `strongest` are (layer from 1, query, key, share) in falling order.
    """

    position: int
    tokens: tuple[str, ...]
    mixing: np.ndarray
    sources: np.ndarray
    strongest: tuple[tuple[int, int, int, float], ...]

    @property
    def table(self) -> pandas.DataFrame:
        rows = [(layer, query, self.tokens[query], key, self.tokens[key], share) for layer, query, key, share in self.strongest]
        return pandas.DataFrame(rows, columns=["layer", "query_position", "query", "key_position", "key", "share"])
