"""All occurrences of a word in a corpus, with their vectors at every hidden state that was read."""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from explorer.analysis.similarity import directions
from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.corpus.compute.reading import CorpusStates, corpus_states_in_steps
from explorer.corpus.compute.search import Hit, hits_of
from explorer.text.corpora import Corpus

MOST = 1_000  # occurrences read at most


@dataclass(frozen=True)
class Occurrences:
    """A word's occurrences and their vectors [layers, occurrences, hidden] float32, each the mean over the word's pieces."""

    word: str
    hits: tuple[Hit, ...]  # the first piece of each
    rows: tuple[np.ndarray, ...] = field(repr=False)  # of each, the tokens of all its pieces, as indices in the corpus
    total: int  # occurrences in the corpus; at most MOST are read
    states: np.ndarray = field(repr=False)
    read: CorpusStates = field(repr=False)

    def at(self, layer: int) -> np.ndarray:
        """[occurrences, hidden] the vectors of hidden state `layer`."""
        return self.states[self.read.layers.index(layer)]

    def cosines(self, layer: int, place: int) -> np.ndarray:
        """[occurrences] the cosines of all occurrences to one of them."""
        unit = directions(self.at(layer))
        return np.asarray(unit @ unit[place])


def occurrences_in_steps(model: Explorer, corpus: Corpus, word: str, layer: int) -> Generator[float, None, Occurrences]:
    """The occurrences of a word, whatever its case; hidden state `layer` is among those read. Yields the share done, 0 to 1.

    Raises InputError when the word does not occur, or none of its occurrences has a token of its own.
    """
    places = corpus.places(word, model.as_searched)
    read = yield from corpus_states_in_steps(model, corpus, [layer])
    tokens, rows = read.tokens, []
    for index, at in places[:MOST]:
        start = int(tokens.starts[index])
        own = start + np.flatnonzero(tokens.word[start : tokens.starts[index + 1]] == at)
        if len(own):  # else it was cut off
            rows.append(own)
    if not rows:
        why = "its sentences are cut off before it, or it is inside a [MASK] or another special token"
        raise InputError(f"The word {word.strip()[:40]!r} has no token of its own here: {why}. Choose another word.")
    states = np.stack([read.states[:, own].astype(np.float32).mean(axis=1) for own in rows], axis=1)
    first = np.array([own[0] for own in rows])
    hits = hits_of(model, corpus, tokens, first, np.ones(len(first)))
    return Occurrences(word.strip().lower(), hits, tuple(rows), len(places), states, read)


def vector_alone(model: Explorer, found: Occurrences, place: int, layer: int) -> np.ndarray:
    """[hidden] the vector of an occurrence when its sentence is run alone, in full precision."""
    positions = found.read.tokens.position[found.rows[place]]
    return model.trace(found.hits[place].sentence.text).hidden_states[layer][positions].mean(axis=0)


def usual_word(corpus: Corpus) -> str:
    """The most frequent word, of letters if there is one."""
    counts = Counter(word.lower() for sentence in corpus.sentences for word in sentence.words)
    return max(counts, key=lambda word: (word.isalpha(), counts[word]))
