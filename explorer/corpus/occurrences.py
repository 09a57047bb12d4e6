"""A word wherever it occurs in a corpus, with its vector at every hidden state that was read, and what is near it."""

from collections import Counter, defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from explorer.analysis.similarity import nearest
from explorer.base.errors import InputError
from explorer.corpus.reading import ADDED, CorpusStates, corpus_states_in_steps
from explorer.corpus.search import lengths_of, nearest_rows
from explorer.model.explorer import Explorer
from explorer.techniques.targets import piece_of
from explorer.text.corpus import Corpus, CorpusSentence

MOST = 1_000  # occurrences that are looked at
LOOKED_AT = 400  # tokens of which the nearest other words are taken
OFTEN = 30  # occurrences of a word that tells something


@dataclass(frozen=True)
class Occurrence:
    """A word in its sentence."""

    sentence: CorpusSentence
    index: int  # of the sentence in its corpus
    word: int  # zero-based, of its sentence
    position: int  # of its first token, [CLS] being 0

    @property
    def tag(self) -> str:
        """Its part of speech, '' where it is not known."""
        return self.sentence.tags[self.word] if self.sentence.tags else ""

    @property
    def before(self) -> str:
        """The text of its sentence up to it."""
        return self.sentence.text[: self.sentence.starts[self.word]]

    @property
    def written(self) -> str:
        """As it stands in its sentence."""
        return self.sentence.words[self.word]

    @property
    def after(self) -> str:
        """The rest of the text."""
        return self.sentence.text[self.sentence.starts[self.word] + len(self.written) :]


@dataclass(frozen=True)
class Occurrences:
    """A word's occurrences and their vectors, [layers, occurrences, hidden] float32: the mean of the word's pieces."""

    word: str
    occurrences: tuple[Occurrence, ...]
    total: int  # there may be more than are looked at
    states: np.ndarray = field(repr=False)
    read: CorpusStates = field(repr=False)

    def at(self, layer: int) -> np.ndarray:
        """[occurrences, hidden] the vectors of hidden state `layer`."""
        return self.states[self.read.layers.index(layer)]


def occurrences_in_steps(model: Explorer, corpus: Corpus, word: str, layer: int) -> Generator[float, None, Occurrences]:
    """A word, whatever its case, in a corpus; at least hidden state `layer` is read. Yields the share done, 0 to 1.

    Raises InputError when it does not occur.
    """
    places = corpus.places(word)
    read = yield from corpus_states_in_steps(model, corpus, [layer])
    tokens, found, rows = read.tokens, [], []
    for index, at in places[:MOST]:
        start = int(tokens.starts[index])
        own = start + np.flatnonzero(tokens.word[start : tokens.starts[index + 1]] == at)
        if len(own):  # else it was cut off
            found.append(Occurrence(corpus.sentences[index], index, at, int(tokens.position[own[0]])))
            rows.append(own)
    if not rows:
        why = "its sentences are cut off before it, or it is inside a [MASK] or the like"
        raise InputError(f"The word {word.strip()[:40]!r} has no token of its own here: {why}; choose another one.")
    states = np.stack([read.states[:, own].astype(np.float32).mean(axis=1) for own in rows], axis=1)
    return Occurrences(word.strip().lower(), tuple(found), len(places), states, read)


def vector_alone(model: Explorer, found: Occurrences, place: int, layer: int) -> np.ndarray:
    """[hidden] what an occurrence's vector is when its sentence is read by itself, in full precision."""
    one, tokens = found.occurrences[place], found.read.tokens
    rows = tokens.starts[one.index] + np.arange(tokens.lengths[one.index])
    there = tokens.word[rows] == one.word
    return model.trace(one.sentence.text).hidden_states[layer][there].mean(axis=0)


def contextual_neighbors(corpus: Corpus, found: Occurrences, layer: int, place: int, limit: int) -> list[tuple[str, float]]:
    """The other words of the corpus nearest to one occurrence, each once with its largest cosine, in lower case."""
    tokens, vectors = found.read.tokens, found.read.at(layer)
    rows, cosines = nearest_rows(vectors, lengths_of(vectors), found.at(layer)[place], LOOKED_AT, tokens.word != ADDED)
    best: dict[str, float] = {}
    for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True):
        word = corpus.sentences[tokens.sentence[row]].words[tokens.word[row]].lower()
        if word != found.word and len(best) < limit:
            best.setdefault(word, cosine)
    return list(best.items())


def static_neighbors(model: Explorer, word: str, limit: int) -> list[tuple[str, float]]:
    """The pieces whose rows of the word table are nearest to a word's, by cosine. Raises InputError for a word of several."""
    id, _ = piece_of(model, word)
    return [(model.vocabulary[row], cosine) for row, cosine in nearest(model.word_table, id, limit)]


def telling_word(corpus: Corpus) -> str:
    """The word, among those that occur OFTEN, whose parts of speech are most evenly many; without any the most frequent."""
    tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in corpus.sentences:
        known = sentence.tags or ("",) * len(sentence.words)
        for word, tag in zip(sentence.words, known, strict=True):
            tags[word.lower()][tag] += 1
    often = {word: counts for word, counts in tags.items() if word.isalpha() and counts.total() >= OFTEN}
    if not often:
        return max(tags, key=lambda word: (word.isalpha(), tags[word].total()))
    return max(often, key=lambda word: _second(often[word]))


def _second(counts: Counter[str]) -> float:
    """The share of the second most frequent value."""
    ranked = counts.most_common(2)
    return ranked[1][1] / counts.total() if len(ranked) > 1 else 0.0
