"""The similarity of hidden states, within a model or between two."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from explorer.core.errors import InputError
from explorer.core.steps import finished, map_steps
from explorer.corpus.compute.layer_similarity import FEWEST, cka_in_steps
from explorer.corpus.compute.word_states import WordStates, words_alone, words_of_both
from explorer.corpus.layer_looks import READ_ALONE, Look, Untold
from explorer.corpus.pictures.layers import Line, layer_lines
from explorer.text.corpora import Corpus
from explorer.ui.pictures.hidden import layers_heatmap
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, matches

ABOUT = (
    "Linear CKA (Kornblith et al. 2019, section 3) over {words:,} words, each the mean of its pieces: 1 where the words stand to "
    "each other alike in both spaces, however these are turned or scaled, 0 where they have nothing in common. It is the "
    "unbiased estimator (Song et al. 2012), so that a few words do not look alike, and may fall a little below 0."
)
ANOTHER = "Another model to compare with is chosen or typed, an id or a folder; it must have been opened once in the model box."


@dataclass(frozen=True)
class Similar(Look):
    """CKA [hidden states here, hidden states there] over words that both models read; `other` is '' for a single model."""

    corpus: Corpus = field(repr=False)
    here: WordStates = field(repr=False)
    there: WordStates = field(repr=False)
    other: str
    cka: np.ndarray = field(repr=False)

    def shown(self, at: int) -> Content:
        """The whole matrix, and the row of the selected hidden state."""
        about = ABOUT.format(words=len(self.here))
        if self.other:
            pairs = ", ".join(f"{row} ~ {best}" for row, best in enumerate(self.cka.argmax(axis=1).tolist()))
            about += f" The rows are those here; in {self.other[:80]} the hidden state most like each is: {pairs}."
        else:
            about += f" {ANOTHER}"
        here, there = (" here", " there") if self.other else ("", "")
        unit = f"CKA with hidden state {at}{here}"
        row, least = self.cka[at], min(0.0, float(self.cka.min()))
        return {
            "picture": layers_heatmap(self.cka, not self.other, at),
            "about": about,
            "detail": layer_lines(
                [Line("CKA", row)], unit, None if self.other else at, (least - 0.02, 1.02), title=f"hidden state{there}"
            ),
        }

    def finding(self, at: int) -> Finding:
        """For one model the layer that changes most; for two the most similar hidden states."""
        if self.other:
            here, there = np.unravel_index(int(self.cka.argmax()), self.cka.shape)
            text = f"Hidden state {here} here and {there} there are most alike (CKA {self.cka[here, there]:.2f})"
            best = int(self.cka[-1].argmax())
            return Finding(f"{text}; the last one here is most like {best} there ({self.cka[-1, best]:.2f}).")
        steps = np.diag(self.cka, 1)
        least, most = int(steps.argmin()), int(steps.argmax())
        text = (
            f"Layer {least + 1} changes what words have in common most: CKA {steps[least]:.2f} between what it reads and writes"
        )
        if len(steps) > 1:
            text += f"; layer {most + 1} least ({steps[most]:.2f})"
        return Finding(f"{text}. The first and the last hidden state have {self.cka[0, -1]:.2f}.")

    def check(self, subject: Subject, at: int) -> dict[str, str] | None:
        """Check one cell over the first sentences: CKA from products of features, and from all pairs of words run alone."""
        row = self.cka[at].copy()
        if not self.other:
            row[at] = -np.inf
        column = int(row.argmax())
        first = np.unique(self.here.sentence)[:READ_ALONE]
        sides = self.here.of_sentences(first), self.there.of_sentences(first)
        if len(sides[0]) < FEWEST:
            return None
        quick = finished(cka_in_steps(*(side.only_state(one) for side, one in zip(sides, (at, column), strict=True))))
        models = subject.model, subject.read_by(self.other).model
        vectors = [
            words_alone(model, self.corpus, side, one)
            for model, side, one in zip(models, sides, (at, column), strict=True)
        ]  # fmt: skip
        where = f"hidden states {at} and {column} over the {len(sides[0])} words of the first sentences"
        what = f"{where} have the same CKA when these are read alone, in full precision, and compared pair by pair"
        return matches(abs(float(quick[0, 0]) - by_pairs(*vectors)), what, 0.02)


def by_pairs(here: np.ndarray, there: np.ndarray) -> float:
    """Unbiased linear CKA of vectors [words, hidden] and others [words, width], from their Gram matrices (Song et al. 2012)."""
    grams = [side.astype(np.float64) @ side.T.astype(np.float64) for side in (here, there)]
    for gram in grams:
        np.fill_diagonal(gram, 0)
    n, (one, other) = len(here), grams

    def shared(left: np.ndarray, right: np.ndarray) -> float:
        sums = left.sum() * right.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (left.sum(axis=0) @ right.sum(axis=0))
        return float((left * right).sum() + sums)

    return shared(one, other) / max(np.sqrt(shared(one, one) * shared(other, other)), 1e-12)


def similarity_in_steps(
    corpus: Corpus, here: WordStates, there: WordStates, other: str
) -> Generator[tuple[str, float], None, Similar | Untold]:
    """Compare all hidden states here with all there; yields a sentence and the share done."""
    if other:
        here, there = words_of_both(here, there)
    try:
        steps = map_steps(cka_in_steps(here, there), lambda share: (f"Comparing the layers: {share:.0%}", share))
        return Similar(corpus, here, there, other, (yield from steps))
    except InputError as error:
        return Untold(str(error))
