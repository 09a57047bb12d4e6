"""Lengths of vectors and angles between them at every hidden state, and whether frequent words have shorter vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from explorer.analysis.evaluation import spearman
from explorer.analysis.similarity import directions, norms
from explorer.core.steps import finished
from explorer.corpus.compute.spread import Spread, WordTypes, spread_in_steps
from explorer.corpus.compute.word_states import WordStates, tokens_alone
from explorer.corpus.layer_looks import READ_ALONE, Look
from explorer.corpus.pictures.layers import Line, frequency_points, layer_lines
from explorer.text.corpora import Corpus
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, Why, matches

ANGLES = (
    "First the mean cosine (−1 to 1) of two tokens of different sentences, over all pairs of {tokens:,} tokens: a layer's "
    "anisotropy (Ethayarajh 2019), 0 where vectors point everywhere alike. What a similarity says in a layer is how far it lies "
    "above that. Then the length of the vectors, the band from the first to the third quartile. [CLS] and [SEP] are left out."
)
OFTEN = (
    "First the rank correlation (Spearman, −1 to 1) of how often a word occurs and how long its vectors are, over {types:,} "
    "words, capitals aside, that have a letter. Then a point a word at the chosen hidden state: the mean length of the vectors "
    "of all its pieces wherever it occurs.{drawn} Of words that occur once or twice chance decides which is rarer."
)
COMMON, DRAWN = 1_000, 3_000  # the most frequent words are all drawn, and as many of the others as make up the second number
SEEN = 5  # occurrences: the check takes a word with at most so many
COUNTED = 3_000  # words whose ranks are counted for the check


@dataclass(frozen=True)
class Angles(Look):
    """Anisotropy, and lengths of vectors."""

    corpus: Corpus = field(repr=False)
    spread: Spread = field(repr=False)

    def shown(self, at: int) -> Content:
        """The mean cosine by hidden state, and the lengths."""
        spread = self.spread
        low, middle, high = spread.quartiles
        lines = [Line("mean", spread.mean, (low, high)), Line("median", middle)]
        least = min(0.0, float(np.nan_to_num(spread.cosine).min()))
        top = max(0.1, 1.15 * float(np.nan_to_num(spread.cosine).max()))
        return {
            "picture": layer_lines([Line("two tokens", spread.cosine)], "mean cosine, different sentences", at, (least, top)),
            "about": ANGLES.format(tokens=spread.norms.shape[1]),
            "detail": layer_lines(lines, "length of a vector", at, (0, 1.1 * float(high.max())), ".2f"),
        }

    def finding(self, at: int) -> Finding | None:
        cosine, mean = self.spread.cosine, self.spread.mean
        longest, shortest = int(mean.argmax()), int(mean.argmin())
        lengths = f"vectors are longest in hidden state {longest} ({mean[longest]:.1f} on average)"
        lengths += f" and shortest in {shortest} ({mean[shortest]:.1f})"
        if np.isnan(cosine).all():
            return Finding(f"In one sentence, {lengths}.")
        most, least = int(cosine.argmax()), int(cosine.argmin())
        text = (
            f"Two tokens of different sentences have a cosine of {cosine[most]:.2f} on average in hidden state {most}, the most"
        )
        text += f", and of {cosine[least]:.2f} in hidden state {least}, the least; {lengths}."
        return Finding(text, Why("hidden", "Layer by layer", {"layer": most}))

    def check(self, subject: Subject, at: int) -> dict[str, str]:
        """Check both numbers over the first sentences, run alone and compared pair by pair."""
        words = self.spread.words
        words = words.of_sentences(np.unique(words.sentence)[:READ_ALONE])
        quick = finished(spread_in_steps(words.only_state(at)))
        vectors = tokens_alone(subject.model, self.corpus, words, at)
        sentence = words.sentence[quick.word]
        apart = sentence[:, None] != sentence[None, :]
        unit = directions(vectors.astype(np.float64))
        error = abs(float(quick.mean[0]) / float(norms(vectors).mean()) - 1)
        if apart.any():
            error = max(error, abs(float(quick.cosine[0]) - float((unit @ unit.T)[apart].mean())))
        what = f"the {len(vectors)} tokens of the first sentences have the same mean length and cosine in hidden state {at}"
        return matches(error, f"{what} when these are read alone, in full precision, and taken pair by pair", 0.01)


@dataclass(frozen=True)
class Frequency(Look):
    """The frequency of words, and the lengths of their vectors."""

    corpus: Corpus = field(repr=False)
    words: WordStates = field(repr=False)
    found: WordTypes = field(repr=False)

    @cached_property
    def correlations(self) -> np.ndarray:
        """[layers + 1] Spearman's rank correlation of frequency and length, −1 to 1."""
        return np.array([spearman(self.found.counts, lengths) for lengths in self.found.norms])

    def shown(self, at: int) -> Content:
        """The correlation by hidden state, and all words at the selected one."""
        found, correlations = self.found, self.correlations
        rows = self._drawn()
        drawn = "" if len(rows) == len(found.types) else f" Of the rarer words {len(rows) - COMMON:,} are drawn at random."
        reach = max(0.2, 1.15 * float(np.abs(correlations).max(initial=0)))
        types = [found.types[row] for row in rows.tolist()]
        return {
            "picture": layer_lines([Line("all words", correlations)], "Spearman, how often and how long", at, (-reach, reach)),
            "about": OFTEN.format(types=len(found.types), drawn=drawn),
            "detail": frequency_points(types, found.counts[rows], found.norms[at, rows], at),
        }

    def finding(self, at: int) -> Finding | None:
        if len(self.found.types) < 3 or len(set(self.found.counts.tolist())) < 2:
            return None
        here, every = float(self.correlations[at]), self.correlations
        strongest = int(np.abs(every).argmax())
        text = f"In hidden state {at} {_told(here)} (Spearman {here:+.2f} over {len(self.found.types):,} words)"
        if strongest != at:
            text += (
                f"; it is strongest in hidden state {strongest}, where {_told(float(every[strongest]))} ({every[strongest]:+.2f})"
            )
        return Finding(f"{text}.".replace("-", "−"))

    def check(self, subject: Subject, at: int) -> dict[str, str] | None:
        """Check the length of one word with its sentences run alone, and the correlation with ranks that are counted."""
        found = self.found
        if not len(found.types):
            return None
        row = next((row for row, count in enumerate(found.counts.tolist()) if count <= SEEN), len(found.types) - 1)
        word = found.types[row]
        sentences = self.corpus.sentences
        where = zip(self.words.sentence.tolist(), self.words.word.tolist(), strict=True)
        own = np.array([place for place, (one, at_word) in enumerate(where) if sentences[one].words[at_word].casefold() == word])
        alone = float(norms(tokens_alone(subject.model, self.corpus, self.words.only(own), at)).mean())
        error = abs(float(found.norms[at, row]) / alone - 1)
        counts, lengths = found.counts[:COUNTED], found.norms[at, :COUNTED]
        one, other = _counted_ranks(counts), _counted_ranks(lengths)
        if one.std() and other.std():
            error = max(error, abs(float(np.corrcoef(one, other)[0, 1]) - spearman(counts, lengths)))
        times = f"{len(own)} time{'s' * (len(own) != 1)}"
        what = f"“{word[:40]}”, which occurs {times}, has the same length when its sentences are read alone, in full precision"
        return matches(error, f"{what}, and ranks that are counted out give the same correlation", 0.01)

    def _drawn(self) -> np.ndarray:
        """Indices of the words drawn, always the same."""
        every = np.arange(len(self.found.types))
        if len(every) <= DRAWN:
            return every
        rest = np.random.default_rng(0).choice(every[COMMON:], DRAWN - COMMON, replace=False)
        return np.concatenate([every[:COMMON], np.sort(rest)])


def _told(correlation: float) -> str:
    """A rank correlation in words."""
    if abs(correlation) < 0.1:
        return "frequent words have vectors about as long as rare ones"
    return f"frequent words have {'longer' if correlation > 0 else 'shorter'} vectors than rare ones"


def _counted_ranks(values: np.ndarray) -> np.ndarray:
    """[n] ranks: the number of smaller values, plus half of the equal ones."""
    return (values[:, None] > values).sum(axis=1) + 0.5 * (values[:, None] == values).sum(axis=1)
