"""BERT's two losses, computed only at the positions to be predicted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.core.engine import torch, transformers
from explorer.pretraining.batches import Batch
from explorer.text.masking import IGNORED


@dataclass(frozen=True)
class Predictions:
    """The model's output for one batch.

    The chosen positions of all rows are concatenated; next_labels is None when the inputs have no text B.
    """

    mlm_logits: torch.Tensor  # [chosen, vocabulary]
    mlm_labels: torch.Tensor  # [chosen] the original ids
    next_logits: torch.Tensor  # [batch, 2]
    next_labels: torch.Tensor | None  # [batch]
    hidden_states: torch.Tensor  # [batch, tokens, hidden] of the last layer
    read: torch.Tensor  # [chosen, tokens] the input ids of the row of each chosen position

    def losses(self) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Mean cross-entropy in nats of the masked words and, with a text B, of the next sentence."""
        mlm = torch.nn.functional.cross_entropy(self.mlm_logits.float(), self.mlm_labels)
        if self.next_labels is None:
            return mlm, None
        return mlm, torch.nn.functional.cross_entropy(self.next_logits.float(), self.next_labels)

    def copying(self, content: torch.Tensor) -> torch.Tensor:
        """The unlikelihood loss of copying, in nats: the probability of content words of the input other than the masked one.

        -log(1 - p) averaged over the chosen positions, where p sums over the content words (`content` [vocabulary]) of the row
        (Welleck et al. 2020, 'Neural text generation with unlikelihood training', who penalize words generated before).
        """
        logits = self.mlm_logits.float()
        shares = (logits.gather(1, self.read) - logits.logsumexp(1, keepdim=True)).exp()  # [chosen, tokens]
        again = (self.read[:, :, None] == self.read[:, None, :]).tril(-1).any(2)  # a word that occurs twice counts once
        wrong = content[self.read] & (self.read != self.mlm_labels[:, None]) & ~again
        return -torch.log1p(-(shares * wrong).sum(1).clamp(max=1 - 1e-6)).mean()


def predict(model: transformers.BertForPreTraining, batch: Batch) -> Predictions:
    """Run the encoder once, and its two heads only where they are needed.

    The decoder of the masked-LM head is as large as the word embeddings (30,522 × hidden), so it runs at the chosen positions
    only: 15 % of the pieces, and less than 15 % of the time and memory.
    """
    device = model.device
    input_ids = torch.from_numpy(batch.input_ids).to(device)  # [batch, tokens]
    padded = not batch.attention_mask.all()
    output = model.bert(
        input_ids=input_ids,
        token_type_ids=torch.from_numpy(batch.token_type_ids).to(device),
        # Without padding no mask is needed, and attention without a mask is faster.
        attention_mask=torch.from_numpy(batch.attention_mask).to(device) if padded else None,
    )
    # Computed on the CPU: on the GPU it would force a synchronization.
    chosen = np.flatnonzero(batch.labels != IGNORED)
    labels = torch.from_numpy(batch.labels.ravel()[chosen]).to(device)  # [chosen]
    places = torch.from_numpy(chosen).to(device)
    hidden = output.last_hidden_state.flatten(0, 1)[places]  # [chosen, hidden]
    read = input_ids[places // input_ids.shape[1]]  # [chosen, tokens]
    next_logits = model.cls.seq_relationship(output.pooler_output)
    next_labels = None if batch.next_labels is None else torch.from_numpy(batch.next_labels).to(device)
    states = output.last_hidden_state
    return Predictions(model.cls.predictions(hidden), labels, next_logits, next_labels, states, read)
