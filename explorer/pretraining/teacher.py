"""A sentence encoder whose knowledge of similar sentences the model keeps while it learns to predict words.

Pre-training on a small text makes the mean vectors of sentences lose what the encoder had learned elsewhere about meaning. On
single sentences the model is therefore also trained to reproduce, with pieces masked, the similarities that a frozen teacher
computes without masks: similarity-preserving distillation (Tung & Mori 2019), measured as linear CKA (Kornblith et al. 2019), so
that the vectors may rotate and scale as the heads need.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from explorer.core.engine import torch, transformers
from explorer.core.errors import ModelError
from explorer.pretraining.batches import Batch
from explorer.text.masking import IGNORED

LONGEST = 128  # pieces; the mean vector of more describes a text, not a sentence


class Teacher:
    """A frozen BERT encoder with the vocabulary of the model being trained."""

    def __init__(self, folder: str | Path, device: torch.device) -> None:
        """Load it from a folder or by its Hub name. Raises ModelError if it is not a BERT encoder."""
        try:
            encoder, report = transformers.BertModel.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(f"{folder} cannot be read as a BERT encoder to learn from.") from error
        if any(not name.startswith("pooler.") for name in report["missing_keys"]):
            raise ModelError(f"{folder} is not a BERT encoder to learn from.")
        self.encoder = encoder.eval().to(device)

    def distance(self, batch: Batch, hidden_states: torch.Tensor) -> torch.Tensor | None:
        """1 - linear CKA, 0..1, between the two models' sentence vectors; None unless the inputs are single sentences.

        hidden_states: [batch, tokens, hidden], the student's last layer on the masked batch.
        """
        if batch.next_labels is not None or batch.input_ids.shape[1] > LONGEST:
            return None
        device = self.encoder.device
        original = np.where(batch.labels == IGNORED, batch.input_ids, batch.labels)  # [batch, tokens], without masks
        attention_mask = torch.from_numpy(batch.attention_mask).to(device)
        with torch.no_grad():
            output = self.encoder(input_ids=torch.from_numpy(original).to(device), attention_mask=attention_mask)
            wanted = similarities(output.last_hidden_state, attention_mask)
        given = similarities(hidden_states, attention_mask)
        return 1 - (given * wanted).sum() / (given.norm() * wanted.norm())


def similarities(hidden_states: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """Dot products between the centred mean vectors of a batch: [batch, tokens, hidden] -> float32 [batch, batch]."""
    with torch.autocast(hidden_states.device.type, enabled=False):
        weights = attention_mask.unsqueeze(-1).float()
        vectors = (hidden_states.float() * weights).sum(dim=1) / weights.sum(dim=1)  # [batch, hidden]
        vectors = vectors - vectors.mean(dim=0)
        return vectors @ vectors.T
