"""The masked-LM head applied after every layer, to see when the final prediction arises: the raw (logit) lens and the tuned one.

The raw lens reads every hidden state with a head that was trained for the last one. The tuned lens (Belrose et al. 2023,
'Eliciting Latent Predictions from Transformers with the Tuned Lens', section 3) first brings it to where that head expects it, by
a map per state. The maps are fitted for one model's weights (`assets/lens/fit.py`), and are of no use for any other.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import safetensors

from explorer.bert.network import Network
from explorer.bert.provenance import weights_hash
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import CapabilityError
from explorer.core.paths import ASSETS
from explorer.techniques.targets import AT_ONCE

FILE = ASSETS / "lens" / "tuned.safetensors"  # made by `python -m assets.lens.fit`
WEIGHT, BIAS, ABOUT = "weight", "bias", "about"
RAW, TUNED = READINGS = ("raw", "tuned")
NONE = "A tuned lens fits the weights of one model, and only the bundled model has one. Choose the raw lens."


class Lens(NamedTuple):
    """The head's first guesses from each hidden state (0: embeddings) at some positions: [hidden states, positions] each.

    `probabilities` are from 0 to 1, and `final_ranks` are the ranks of the last state's first guess, from 1.
    """

    positions: tuple[int, ...]
    ids: np.ndarray
    probabilities: np.ndarray
    final_ranks: np.ndarray


@inference_mode
def lens(trace: Trace, positions: Sequence[int], tuned: TunedLens | None = None) -> Lens:
    """Apply the masked-LM head to the hidden states of `positions`, as if each were the last.

    nostalgebraist's logit lens (2020), for BERT: the head has its own dense layer and LayerNorm, which were trained for the last
    state alone, so that early layers do not match it. A `tuned` lens maps each state to where the head expects it (Belrose et al.
    2023). Raises CapabilityError.
    """
    here = list(positions)
    final = torch.from_numpy(first_guesses(trace.model, trace.states[-1:, here])[0][0])
    return Lens(tuple(positions), *first_guesses(trace.model, translate(trace.states[:, here], tuned), final))


@inference_mode
def first_guesses(model: Network, states: torch.Tensor, wanted: torch.Tensor | None = None) -> list[np.ndarray]:
    """The first guess at every position of hidden states [states, tokens, hidden], such as those of a changed run.

    Returns ids and probabilities (0 to 1), [states, tokens] each; with the ids `wanted` [tokens] also their ranks, from 1.
    Raises CapabilityError.
    """
    places, rows = states.flatten(0, 1), []
    asked = None if wanted is None else wanted.repeat(len(states))[:, None]
    for start in range(0, len(places), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        logits = model.masked_lm(places[part])  # [places, vocabulary]
        best, ids = logits.max(-1)
        ranks = [] if asked is None else [(logits > logits.gather(-1, asked[part])).sum(-1) + 1]
        rows.append([ids, logits.sub_(best[:, None]).exp_().sum(-1).reciprocal(), *ranks])
    return [torch.cat(column).view(states.shape[:2]).numpy() for column in zip(*rows, strict=True)]


@inference_mode
def follow(trace: Trace, position: int, ids: Sequence[int], tuned: TunedLens | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Pieces at one position: their probabilities (0 to 1) and ranks (from 1), [hidden states, pieces] each."""
    logits = trace.model.masked_lm(translate(trace.states[:, position], tuned))  # [hidden states, vocabulary]
    chosen = logits[:, list(ids)]  # [hidden states, pieces]
    ranks = (logits[:, None] > chosen[..., None]).sum(-1) + 1
    return logits.softmax(-1)[:, list(ids)].numpy(), ranks.numpy()


def translate(states: torch.Tensor, tuned: TunedLens | None) -> torch.Tensor:
    """Hidden states [states, ..., hidden] as a lens gives them to the head; without a tuned one as they are."""
    return states if tuned is None else torch.stack([tuned.read(state, vectors) for state, vectors in enumerate(states)])


@inference_mode
def lens_error(trace: Trace, positions: Sequence[int]) -> float:
    """The largest difference between the logits of the lens at the last state and those of transformers' own forward pass."""
    model, positions = trace.model, list(positions)
    own = model.own_masked_lm(trace.encoding)[positions]
    return float((own - model.masked_lm(trace.states[-1][positions])).abs().max())


@dataclass(frozen=True, eq=False)
class TunedLens:
    """For every hidden state h but the last, the map to h + W h + b.

    `weight` [states - 1, hidden, hidden] and `bias` [states - 1, hidden] are float32, zero for the raw lens. `about` is its
    record: the SHA-256 of the model's `weights`, the numbers of sentences, and the divergences on those held out.
    """

    weight: torch.Tensor
    bias: torch.Tensor
    about: dict[str, Any] = field(default_factory=dict)

    def read(self, state: int, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors [..., hidden] of a hidden state (0: embeddings) as the masked-LM head reads them; the last one as it is."""
        if state == len(self.weight):
            return vectors
        return vectors + torch.nn.functional.linear(vectors, self.weight[state], self.bias[state])


def tuned_lens(model: Network) -> TunedLens | None:
    """The lens that comes with the app if it was fitted for this model's weights, else None."""
    found = model.capabilities.fill_mask and FILE.is_file() and _read_shipped()
    shape = (model.capabilities.layers, model.capabilities.hidden_size, model.capabilities.hidden_size)
    if not found or found.weight.shape != shape or found.about["weights"] != weights_hash(model.checkpoint):
        return None
    return found


def require_tuned_lens(model: Network) -> TunedLens:
    """The lens that comes with the app. Raises CapabilityError when it was not fitted for this model's weights."""
    if (found := tuned_lens(model)) is None:
        raise CapabilityError(NONE)
    return found


@functools.cache
def _read_shipped() -> TunedLens:
    with safetensors.safe_open(FILE, "numpy") as file:
        weight, bias = (torch.from_numpy(file.get_tensor(name)).float() for name in (WEIGHT, BIAS))
        return TunedLens(weight, bias, json.loads(file.metadata()[ABOUT]))
