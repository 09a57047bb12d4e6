"""Results about all hidden states over a corpus: a check of their vectors, and their similarity."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from explorer.core.errors import InputError
from explorer.core.steps import map_steps
from explorer.corpus.compute.layer_similarity import cka_in_steps
from explorer.corpus.compute.word_states import WordStates, words_alone, words_of_both
from explorer.corpus.source import Look, Untold
from explorer.text.corpora import Corpus
from explorer.ui.pictures.hidden import layers_heatmap
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, matches

READ_ALONE = 10  # sentences run again alone for the check
TOLERANCE = 0.01  # of a vector's length: hidden states are kept in half precision
CKA = (
    "Linear CKA (Kornblith et al. 2019, section 3) over {words:,} words, each the mean of its pieces. It is 1 where words are "
    "arranged the same in both spaces, however these are turned or scaled, and 0 where the arrangements share nothing. The "
    "unbiased estimator (Song et al. 2012) may fall a little below 0."
)
ANOTHER = "To compare another model by its id or folder, first open it in the model box."


@dataclass(frozen=True)
class LayersLook(Look):
    """A result about the words of a corpus at every hidden state; the selected one is 0 for the embedding output."""

    corpus: Corpus = field(repr=False)
    words: WordStates = field(repr=False)

    def check(self, subject: Subject) -> dict[str, str]:
        """Compare the words of the first sentences at the selected hidden state with those sentences run alone."""
        at = subject.selection.layer
        first = self.words.of_sentences(np.unique(self.words.sentence)[:READ_ALONE])
        kept, alone = first.at(at), words_alone(subject.model, self.corpus, first, at)
        apart = np.linalg.norm(kept - alone, axis=1) / np.linalg.norm(alone, axis=1).clip(1e-12)
        what = f"hidden state {at} of {len(first)} words is the same when their sentences are read alone, in full precision"
        return matches(float(apart.max(initial=0)), what, TOLERANCE)


@dataclass(frozen=True)
class Similar(LayersLook):
    """CKA [hidden states here, hidden states of the other] over words that both models read; `other` is '' for one model."""

    other: str
    cka: np.ndarray = field(repr=False)

    def show(self, subject: Subject) -> Content:
        about = CKA.format(words=len(self.words))
        if self.other:
            pairs = ", ".join(f"{row} ~ {best}" for row, best in enumerate(self.cka.argmax(axis=1).tolist()))
            about += f" Rows are hidden states of this model. The most similar one of {self.other[:80]} to each is: {pairs}."
        else:
            about += f" {ANOTHER}"
        return {"picture": layers_heatmap(self.cka, not self.other, subject.selection.layer), "about": about}

    def finding(self, subject: Subject) -> Finding:
        """For one model the layer that changes most; for two the most similar hidden states."""
        if self.other:
            here, there = np.unravel_index(int(self.cka.argmax()), self.cka.shape)
            text = (
                f"Hidden states {here} of this model and {there} of the other are the most similar ({self.cka[here, there]:.2f})"
            )
            best = int(self.cka[-1].argmax())
            return Finding(f"{text}; the last one is most similar to {best} of the other ({self.cka[-1, best]:.2f}), by CKA.")
        steps = np.diag(self.cka, 1)
        least, most = int(steps.argmin()), int(steps.argmax())
        text = f"Layer {least + 1} changes the arrangement of words most: CKA {steps[least]:.2f} between its input and output"
        if len(steps) > 1:
            text += f"; layer {most + 1} least ({steps[most]:.2f})"
        return Finding(f"{text}. The first and the last hidden state have {self.cka[0, -1]:.2f}.")


def similarity_in_steps(
    corpus: Corpus, here: WordStates, there: WordStates, other: str
) -> Generator[tuple[str, float], None, Similar | Untold]:
    """Compare all hidden states of `here` with all of `there`; yields a sentence and the share done."""
    if other:
        here, there = words_of_both(here, there)
    try:
        steps = map_steps(cka_in_steps(here, there), lambda share: (f"Comparing the layers: {share:.0%}", share))
        return Similar(corpus, here, other, (yield from steps))
    except InputError as error:
        return Untold(str(error))
