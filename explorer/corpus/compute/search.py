"""Search by meaning: the tokens of a corpus most similar to a token of the input, by hidden state or by head output.

Hoover et al. 2020, exBERT. The search is exact: all vectors are compared in float32.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.core.steps import map_steps
from explorer.corpus.compute.file import Pieces
from explorer.corpus.compute.reading import ADDED, CorpusStates, CorpusTokens, corpus_states_in_steps, vectors_in_steps
from explorer.text.corpora import Corpus
from explorer.text.tagged import Sentence

BLOCK = 2**14  # tokens converted to float32 at a time
BEGIN, END = "(begin)", "(end)"  # stand for the word before the first and after the last one of a sentence
SPECIAL = "(special)"  # the tag of a token that the tokenizer added
READING = 0.8  # the share of the progress that goes to reading the hidden states, before head outputs


@dataclass(frozen=True)
class Query:
    """What is searched for: a token (zero-based) of an input, by hidden state `layer` or by the output of a `head` there.

    With a head, head and layer are zero-based, and the vector is the head output before W_O: the weighted sum of the values.
    """

    trace: Trace
    token: int
    layer: int
    head: int | None = None

    @property
    def model(self) -> Explorer:
        """The model of the trace, which also reads the corpus. Raises TypeError if it cannot read texts."""
        if not isinstance(self.trace.model, Explorer):
            raise TypeError("a search needs a model that reads texts")
        return self.trace.model


@dataclass  # not frozen: a search makes many, in a third of the time
class Hit:
    """A token of the corpus in its sentence, with what is known about its word; unknown fields are ''."""

    sentence: Sentence
    position: int | None  # index of the token in its sentence, [CLS] being 0; None for the whole sentence
    token: str
    word: str
    tag: str
    relation: str
    before: str  # the text of its sentence up to the word
    after: str
    previous: str  # the neighboring words, in lower case
    next: str
    score: float = 0.0  # the reason for the hit: a cosine, or an activation
    target: str = ""  # for a head: the word or token it attends to most, its tag, and its distance in words (offset)
    target_tag: str = ""
    offset: int | None = None

    @classmethod
    def of(cls, sentence: Sentence, word: int | None, position: int | None, token: str, score: float) -> Hit:
        """A token of a word (zero-based) of a sentence; None for [CLS], at position 0, or [SEP]."""
        words, text = sentence.words, sentence.text
        if word is None:
            first = position == 0
            around = ("", text, BEGIN, words[0].lower()) if first else (text, "", words[-1].lower(), END)
            return cls(sentence, position, token, token, SPECIAL, "", *around, score)
        start, named = sentence.starts[word], words[word]
        tag = sentence.tags[word] if sentence.tags else ""
        relation = sentence.relations[word] if sentence.relations else ""
        previous = words[word - 1].lower() if word else BEGIN
        after = words[word + 1].lower() if word + 1 < len(words) else END
        texts = text[:start], text[start + len(named) :]
        return cls(sentence, position, token, named, tag, relation, *texts, previous, after, score)


@dataclass(frozen=True)
class Found:
    """The hits of a search, nearest first."""

    corpus: Corpus = field(repr=False)
    hits: tuple[Hit, ...]
    searched: int  # number of tokens searched

    def counts(self, what: str) -> dict[str, int]:
        """How often each value of a field occurs among the hits, most frequent first; empty values do not count."""
        counted = Counter(str(value) for hit in self.hits if (value := getattr(hit, what)) not in ("", None))
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def search_in_steps(query: Query, corpus: Corpus, limit: int) -> Generator[float, None, Found]:
    """The `limit` nearest tokens of a corpus; yields the share of the reading done, 0 to 1. Raises InputError.

    [CLS] and [SEP] are left out unless the query is one of them.
    """
    model = query.model
    states = yield from corpus_states_in_steps(model, corpus, [query.layer])
    if query.head is None:
        vectors = states.at(query.layer)
    else:
        contexts = yield from corpus_contexts_in_steps(model, corpus, query.layer)
        vectors = contexts[query.head]
    special = query.trace.encoding.sequences[query.token] < 0
    allowed = None if special else states.tokens.word != ADDED
    rows, cosines = nearest_rows(vectors, vector_of(query), limit, allowed)
    looked = None if query.head is None else _looked_at(model, states, query, rows)
    hits = hits_of(model, corpus, states.tokens, rows, cosines)
    for hit, row, place in zip(hits, rows.tolist(), looked or (), strict=False):
        _aim(hit, model, states.tokens, row, place)
    return Found(corpus, hits, len(vectors) if allowed is None else int(allowed.sum()))


def corpus_contexts_in_steps(model: Explorer, corpus: Corpus, layer: int) -> Generator[float, None, np.ndarray]:
    """Head outputs [heads, tokens, head_size] of a layer (zero-based) before W_O: for each token the weighted sum of the values.

    In the precision of the hidden states. Yields the share done, 0 to 1. Raises InputError.
    """
    states = yield from map_steps(corpus_states_in_steps(model, corpus, [layer]), lambda share: READING * share)
    heads = model.layers[layer].heads

    @inference_mode
    def read(rows: np.ndarray) -> list[tuple[int, Pieces]]:
        context = heads(*states.pad(layer, rows)).context()
        return [(head, states.tokens.unpad(context[:, head], rows)) for head in range(context.shape[1])]

    first = inference_mode(lambda: heads(*states.pad(layer, np.array([0]))).value)()
    shape = first.shape[1], len(states.tokens), first.shape[-1]
    steps = vectors_in_steps(model, corpus, ("contexts", layer), shape, states.states.dtype, read)
    return (yield from map_steps(steps, lambda share: READING + (1 - READING) * share))


@inference_mode
def vector_of(query: Query) -> np.ndarray:
    """The vector of the query: the hidden state of its token [hidden], or the head output there [head_size], float32."""
    if query.head is None:
        return query.trace.hidden_states[query.layer, query.token]
    return query.trace.heads(query.layer).context(slice(query.token, query.token + 1))[0, query.head, 0].numpy()


@inference_mode
def cosines_to(query: Query, hits: Sequence[Hit]) -> np.ndarray:
    """[hits] the cosines of a query to hits whose sentences are read again, in float32."""
    model, row = query.model, torch.arange(len(hits))
    encodings = [model.encode(hit.sentence.text) for hit in hits]
    padded = model.pad([(encoding.ids, encoding.segments) for encoding in encodings])
    hidden = next(islice(model.run_padded(padded), query.layer, None))
    places = [hit.position for hit in hits]
    if query.head is None:
        there = hidden[row, places]
    else:
        there = model.layers[query.layer].heads(hidden, padded.mask).context()[row, query.head, places]
    return torch.cosine_similarity(there.float(), torch.tensor(vector_of(query)), dim=-1).numpy()


def nearest_rows(
    vectors: np.ndarray, vector: np.ndarray, limit: int, allowed: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of vectors [n, size] with the largest cosines to one vector, and these cosines, in falling order.

    On a tie the first rows win. `allowed` [n] bool says which rows count.
    """
    unit = torch.nn.functional.normalize(torch.tensor(vector), dim=0, eps=1e-12)
    cosines = torch.empty(len(vectors))
    for start in range(0, len(vectors), BLOCK):
        block = torch.from_numpy(vectors[start : start + BLOCK]).float()
        cosines[start : start + BLOCK] = (block @ unit) / block.norm(dim=1).clamp_min(1e-12)
    found = cosines.numpy() if allowed is None else np.where(allowed, cosines.numpy(), -np.inf)
    rows = np.argsort(-found, kind="stable")[: min(limit, len(found) if allowed is None else int(allowed.sum()))]
    return rows, found[rows]


@inference_mode
def _looked_at(model: Explorer, states: CorpusStates, query: Query, rows: np.ndarray) -> list[int]:
    """For each row, the position in its sentence to which the head attends most."""
    tokens = states.tokens
    sentences, place = np.unique(tokens.sentence[rows], return_inverse=True)
    strongest = []
    for start in range(0, len(sentences), 32):
        hidden, real = states.pad(query.layer, sentences[start : start + 32])
        weights = model.layers[query.layer].heads(hidden, real).weights()[:, query.head]  # [batch, query, key]
        strongest += list(weights.argmax(-1).numpy())
    return [int(strongest[one][position]) for one, position in zip(place, tokens.position[rows], strict=True)]


def hits_of(model: Explorer, corpus: Corpus, tokens: CorpusTokens, rows: np.ndarray, scores: np.ndarray) -> tuple[Hit, ...]:
    """The tokens of a corpus with indices `rows`, each with its score."""
    found = []
    for row, piece, score in zip(rows.tolist(), model.pieces(tokens.ids[rows].tolist()), scores.tolist(), strict=True):
        sentence, word = corpus.sentences[tokens.sentence[row]], int(tokens.word[row])
        found.append(Hit.of(sentence, None if word == ADDED else word, int(tokens.position[row]), piece, score))
    return tuple(found)


def _aim(hit: Hit, model: Explorer, tokens: CorpusTokens, row: int, place: int) -> None:
    """Add the token at `place` in the row's sentence, to which a head attends from the hit."""
    looked = int(tokens.starts[tokens.sentence[row]]) + place
    word, other = int(tokens.word[row]), int(tokens.word[looked])
    if other == ADDED:
        hit.target, hit.target_tag = model.pieces([int(tokens.ids[looked])])[0], SPECIAL
        return
    hit.target = hit.sentence.words[other].lower()
    hit.target_tag = hit.sentence.tags[other] if hit.sentence.tags else ""
    hit.offset = None if word == ADDED else other - word
