"""One pass over a corpus with every seventh token masked: how surprised the model is, and how often its first guess is right.

That is about the share of pre-training (Devlin et al. 2019, section 3.1). Masking each token alone would take a pass per token.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import Encoded
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.corpus.compute.reading import ADDED, CorpusTokens, tokens_of
from explorer.text.corpora import Corpus

EVERY = 7

_read: OnceCache[tuple[object, ...], HiddenTokens] = OnceCache(8)


@dataclass(frozen=True)
class HiddenTokens:
    """The masked tokens of a corpus, in order; all arrays are [masked tokens].

    `rows` are their indices among all tokens of the corpus, `bits` is -log2 of the probability of the original token, `right`
    says whether it was the model's first guess.
    """

    tokens: CorpusTokens
    rows: np.ndarray
    bits: np.ndarray
    right: np.ndarray

    def by_sentence(self) -> np.ndarray:
        """[sentences] the mean bits of the masked tokens of each sentence, in which at least one is masked."""
        sentence = self.tokens.sentence[self.rows]
        counts = np.bincount(sentence, minlength=len(self.tokens.lengths))
        return np.bincount(sentence, self.bits, minlength=len(counts)) / np.maximum(counts, 1)


def hidden_rows(tokens: CorpusTokens) -> np.ndarray:
    """Indices of every seventh token of each sentence, starting at a different one from sentence to sentence; always the same."""
    real = np.maximum(tokens.lengths - 2, 1)  # without [CLS] and [SEP]
    first = 1 + np.arange(len(real)) % np.minimum(EVERY, real)
    return np.flatnonzero((tokens.word != ADDED) & (tokens.position % EVERY == first[tokens.sentence] % EVERY))


def known(model: Explorer, corpus: Corpus) -> HiddenTokens | None:
    """The result of an earlier pass, if it is in memory."""
    return _read.peek((model.checkpoint, corpus.key))


def hide_in_steps(model: Explorer, corpus: Corpus) -> Generator[float, None, HiddenTokens]:
    """Mask every seventh token and predict them; yields the share done, 0 to 1.

    Raises CapabilityError without a masked-LM head, and InputError.
    """
    model.require("fill_mask")
    if (there := known(model, corpus)) is not None:
        return there
    tokens = tokens_of(model, corpus)
    rows = hidden_rows(tokens)
    ids = tokens.ids.copy()
    ids[rows] = model.mask_id
    read = replace(tokens, ids=ids)
    is_hidden = np.zeros(len(ids), dtype=bool)
    is_hidden[rows] = True
    bits, right = np.empty(len(ids), np.float32), np.empty(len(ids), bool)
    batches = tokens.batches()
    for number, batch in enumerate(batches):
        yield number / len(batches)
        places = [np.arange(tokens.starts[row], tokens.starts[row + 1]) for row in batch]
        asked = np.concatenate([place[is_hidden[place]] for place in places])
        where = torch.from_numpy(is_hidden[np.concatenate(places)])
        bits[asked], right[asked] = _ask(model, read.encoded(batch), where, tokens.ids[asked])
    found = HiddenTokens(tokens, rows, bits[rows], right[rows])
    _read.put((model.checkpoint, corpus.key), found)
    yield 1.0
    return found


@inference_mode
def _ask(model: Explorer, encoded: list[Encoded], where: torch.Tensor, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For the masked tokens (`where`, bool [tokens]) of a batch: the bits of the original tokens `wanted`, and the hits.

    A hit is a first guess that is right. A [MASK] that the text itself contains is not among them.
    """
    padded = model.pad(encoded)
    *_, hidden = model.run_padded(padded)
    logits = model.masked_lm(hidden[padded.real][where])
    asked = torch.from_numpy(wanted).long()[:, None]
    log_probabilities = logits.log_softmax(-1).gather(1, asked)[:, 0]
    return (-log_probabilities / np.log(2)).numpy(), (logits.argmax(-1) == asked[:, 0]).numpy()
