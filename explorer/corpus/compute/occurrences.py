"""All occurrences of a word in a corpus, with their vectors at every hidden state that was read, and their neighbors."""

from collections import Counter, defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from explorer.analysis.similarity import nearest
from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.corpus.compute.reading import ADDED, CorpusStates, corpus_states_in_steps
from explorer.corpus.compute.search import lengths_of, nearest_rows
from explorer.techniques.targets import piece_of
from explorer.text.corpora import Corpus, CorpusSentence

MOST = 1_000  # occurrences read at most
LOOKED_AT = 400  # nearest tokens among which different words are looked for
OFTEN = 30  # occurrences that make a word a candidate for `telling_word`


@dataclass(frozen=True)
class Occurrence:
    """A word at one place of a sentence."""

    sentence: CorpusSentence
    index: int  # of the sentence in its corpus
    word: int  # zero-based, of its sentence
    position: int  # of its first token, [CLS] being 0

    @property
    def tag(self) -> str:
        """Its part of speech, '' if unknown."""
        return self.sentence.tags[self.word] if self.sentence.tags else ""

    @property
    def before(self) -> str:
        """The text of its sentence before it."""
        return self.sentence.text[: self.sentence.starts[self.word]]

    @property
    def written(self) -> str:
        """The word as written in its sentence."""
        return self.sentence.words[self.word]

    @property
    def after(self) -> str:
        """The text of its sentence after it."""
        return self.sentence.text[self.sentence.starts[self.word] + len(self.written) :]


@dataclass(frozen=True)
class Occurrences:
    """A word's occurrences and their vectors [layers, occurrences, hidden] float32, each the mean over the word's pieces."""

    word: str
    occurrences: tuple[Occurrence, ...]
    total: int  # occurrences in the corpus; at most MOST are read
    states: np.ndarray = field(repr=False)
    read: CorpusStates = field(repr=False)

    def at(self, layer: int) -> np.ndarray:
        """[occurrences, hidden] the vectors of hidden state `layer`."""
        return self.states[self.read.layers.index(layer)]


def occurrences_in_steps(model: Explorer, corpus: Corpus, word: str, layer: int) -> Generator[float, None, Occurrences]:
    """The occurrences of a word, whatever its case; hidden state `layer` is among those read. Yields the share done, 0 to 1.

    Raises InputError when the word does not occur, or none of its occurrences has a token of its own.
    """
    places = corpus.places(word, model.searched)
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
    """[hidden] the vector of an occurrence when its sentence is run alone, in full precision."""
    one, tokens = found.occurrences[place], found.read.tokens
    rows = tokens.starts[one.index] + np.arange(tokens.lengths[one.index])
    there = tokens.word[rows] == one.word
    return model.trace(one.sentence.text).hidden_states[layer][there].mean(axis=0)


def contextual_neighbors(corpus: Corpus, found: Occurrences, layer: int, place: int, limit: int) -> list[tuple[str, float]]:
    """The other words of the corpus nearest to one occurrence, in lower case, each with its largest cosine."""
    tokens, vectors = found.read.tokens, found.read.at(layer)
    rows, cosines = nearest_rows(vectors, lengths_of(vectors), found.at(layer)[place], LOOKED_AT, tokens.word != ADDED)
    best: dict[str, float] = {}
    for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True):
        word = corpus.sentences[tokens.sentence[row]].words[tokens.word[row]].lower()
        if word != found.word and len(best) < limit:
            best.setdefault(word, cosine)
    return list(best.items())


def static_neighbors(model: Explorer, word: str, limit: int) -> list[tuple[str, float]]:
    """The pieces whose word embeddings are nearest to a word's, by cosine. Raises InputError for a word of several pieces."""
    id, _ = piece_of(model, word)
    return [(model.vocabulary[row], cosine) for row, cosine in nearest(model.word_table, id, limit)]


def telling_word(corpus: Corpus) -> str:
    """The word with OFTEN occurrences that is most evenly divided between parts of speech; without any, the most frequent."""
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
    """The share of the second most frequent value, 0 to 0.5."""
    ranked = counts.most_common(2)
    return ranked[1][1] / counts.total() if len(ranked) > 1 else 0.0
