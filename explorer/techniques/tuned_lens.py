"""The tuned lens: what each hidden state already says, read after an affine map that was fitted for it.

Belrose et al. 2023, 'Eliciting Latent Predictions from Transformers with the Tuned Lens', section 3. The logit lens reads every
hidden state with a head that was trained for the last one; here a map per state first brings it to where that head expects it.
The maps are fitted for one model's weights (`assets/lens/fit.py`), and are of no use for any other.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors

from explorer.bert.network import Network
from explorer.bert.provenance import weights_hash
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import CapabilityError
from explorer.core.paths import ASSETS

FILE = ASSETS / "lens" / "tuned.safetensors"  # made by `python -m assets.lens.fit`
WEIGHT, BIAS, ABOUT = "weight", "bias", "about"
RAW, TUNED = READINGS = ("raw", "tuned")
NONE = "A tuned lens fits the weights of one model, and only the bundled model has one. Choose the raw lens."


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
    found = model.capabilities.fill_mask and _read_shipped()
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
def _read_shipped() -> TunedLens | None:
    return read_file(FILE) if FILE.is_file() else None


def read_file(path: Path) -> TunedLens:
    with safetensors.safe_open(path, "numpy") as file:
        weight, bias = (torch.from_numpy(file.get_tensor(name)).float() for name in (WEIGHT, BIAS))
        return TunedLens(weight, bias, json.loads(file.metadata()[ABOUT]))


@inference_mode
def divergences(model: Network, lens: TunedLens | None, states: torch.Tensor) -> torch.Tensor:
    """`each_divergence` of hidden states [states, tokens, hidden]: [states, tokens]."""
    return torch.stack([*each_divergence(model, lens, states)])


def each_divergence(model: Network, lens: TunedLens | None, states: torch.Tensor) -> Iterator[torch.Tensor]:
    """The divergence KL(last ‖ lens), in nats, of what the lens says from what the model says in the end: [tokens] per state.

    `states` are hidden states [states, tokens, hidden], one read at a time, because the vocabulary is large; without a lens raw.
    """
    with torch.no_grad():
        last = model.masked_lm(states[-1]).log_softmax(-1)  # [tokens, vocabulary]
        shares = last.exp()
    for state, vectors in enumerate(states):
        said = model.masked_lm(lens.read(state, vectors) if lens else vectors).log_softmax(-1)
        yield (shares * (last - said)).sum(-1)
