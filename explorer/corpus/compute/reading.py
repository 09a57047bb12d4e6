"""A corpus as a model reads it: its tokens, each with its word, and their hidden states in a memory-mapped file.

A corpus is read once per model. The file is named after both, is found again after a restart, and a pass that was stopped is
continued. All hidden states are computed together if they fit on the disk, else only those requested.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from explorer.bert.batcher import BATCH_TOKENS
from explorer.bert.checkpoints import Checkpoint
from explorer.bert.explorer import Explorer, Span
from explorer.bert.features import BATCH_SIZE, Encoded
from explorer.bert.readings import key_of, when_free
from explorer.core.cache import OnceCache, weight
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.core.limits import CORPUS_STATES_MEGABYTES, MEGABYTE, RESULTS_MEGABYTES
from explorer.corpus.compute.file import Pieces, VectorFile
from explorer.text.corpora import Corpus
from explorer.text.tagged import Sentence

ADDED = -1  # the word of a token that the tokenizer added
HALF, SINGLE = np.dtype("<f2"), np.dtype("<f4")
TOGETHER = 256  # sentences tokenized at once
LARGE = 1024.0  # hidden states beyond it are kept as float32: float16 ends at 65,504 and has three digits


@dataclass(frozen=True)
class CorpusTokens:
    """All tokens of a corpus as a model reads them, sentence after sentence, each with its [CLS] and [SEP].

    `ids`, `sentence`, `position` (in its sentence) and `word` (the zero-based word of its sentence, ADDED for none) are
    [tokens] int32; the tokens of sentence i are `starts[i]` to `starts[i + 1]`. Long sentences are cut to what the model takes.
    """

    ids: np.ndarray
    sentence: np.ndarray
    position: np.ndarray
    word: np.ndarray
    starts: np.ndarray  # [sentences + 1]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def lengths(self) -> np.ndarray:
        """[sentences] the number of tokens of each."""
        return np.diff(self.starts)

    def encode(self, sentences: Iterable[int]) -> list[Encoded]:
        """The ids and segments of some sentences, as the model takes them."""
        ids = (tuple(self.ids[self.starts[row] : self.starts[row + 1]].tolist()) for row in sentences)
        return [(text, (0,) * len(text)) for text in ids]

    def unpad(self, vectors: torch.Tensor, sentences: np.ndarray) -> Pieces:
        """Vectors [batch, tokens, size] of some sentences without padding, as a `VectorFile` takes them."""
        starts, lengths = self.starts[sentences].tolist(), self.lengths[sentences].tolist()
        return [(start, one[:length].numpy()) for start, one, length in zip(starts, vectors, lengths, strict=True)]

    def batches(self) -> list[np.ndarray]:
        """Indices of sentences of similar length, in batches of at most BATCH_SIZE sentences and BATCH_TOKENS tokens."""
        batches: list[list[int]] = []
        lengths = self.lengths
        for row in np.argsort(lengths, kind="stable").tolist():
            if not batches or len(batches[-1]) >= min(BATCH_SIZE, BATCH_TOKENS // int(lengths[row])):
                batches.append([])
            batches[-1].append(row)
        return [np.array(batch) for batch in batches]


@dataclass(frozen=True)
class CorpusStates:
    """Hidden states of all tokens of a corpus; `layers` are their indices, 0 being the embeddings."""

    tokens: CorpusTokens
    layers: tuple[int, ...]
    states: np.ndarray = field(repr=False)  # [layers, tokens, hidden] float16 or float32; only what is accessed is loaded

    def at(self, layer: int) -> np.ndarray:
        """[tokens, hidden] hidden state `layer`; treat it as read-only."""
        return self.states[self.layers.index(layer)]

    def pad(self, layer: int, sentences: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Hidden state `layer` of some sentences, [batch, tokens, hidden] float32, and which tokens are real, [batch, tokens].

        These are the arguments of `model.layers[layer].heads`. Padding is 0.
        """
        lengths = self.tokens.lengths[sentences]
        places = np.arange(lengths.max())
        real = places < lengths[:, None]
        hidden = np.zeros((*real.shape, self.states.shape[-1]), np.float32)
        hidden[real] = self.at(layer)[(self.tokens.starts[sentences][:, None] + places)[real]]
        return torch.from_numpy(hidden), torch.from_numpy(real)


_tokens: OnceCache[tuple[Checkpoint, str], CorpusTokens] = OnceCache(4)
_dtypes: OnceCache[tuple[Checkpoint, str], np.dtype] = OnceCache(4)
_opened: OnceCache[tuple[object, ...], tuple[np.ndarray, Path]] = OnceCache(RESULTS_MEGABYTES.bytes, weight)


def tokens_of(model: Explorer, corpus: Corpus) -> CorpusTokens:
    """How a model tokenizes a corpus (cached). Raises InputError for a sentence that it cannot read."""
    return _tokens.get((model.checkpoint, corpus.key), lambda: _cut(model, corpus))


def is_read(model: Explorer, corpus: Corpus, layer: int) -> bool:
    """Whether hidden state `layer` of a corpus is in memory, so that no computation is needed."""
    key = model.checkpoint, corpus.key
    if (tokens := _tokens.peek(key)) is None or (dtype := _dtypes.peek(key)) is None:
        return False
    layers = _together(model, len(tokens), dtype, [layer])
    return _opened.peek((*key, "corpus", layers, dtype.str)) is not None


def corpus_states_in_steps(model: Explorer, corpus: Corpus, layers: Sequence[int]) -> Generator[float, None, CorpusStates]:
    """Hidden states `layers` (indices, at least one) of a corpus, and others that come with them; yields the share done, 0 to 1.

    Raises InputError when the file would exceed the limit on the disk.
    """
    tokens = tokens_of(model, corpus)
    dtype = _dtypes.get((model.checkpoint, corpus.key), lambda: _dtype_for(model, tokens))
    layers = _together(model, len(tokens), dtype, layers)
    shape = len(layers), len(tokens), model.capabilities.hidden_size
    states = yield from vectors_in_steps(
        model, corpus, ("corpus", layers), shape, dtype, lambda rows: _states(model, tokens, rows, layers)
    )
    return CorpusStates(tokens, layers, states)


def vectors_in_steps(
    model: Explorer,
    corpus: Corpus,
    how: Sequence[object],
    shape: tuple[int, int, int],
    dtype: np.dtype,
    read: Callable[[np.ndarray], Iterable[tuple[int, Pieces]]],
) -> Generator[float, None, np.ndarray]:
    """Vectors of a corpus [layers or heads, tokens, size] in a file, named by `how`; see `VectorFile.fill`."""
    key = model.checkpoint, corpus.key, *how, dtype.str
    if known := _opened.peek(key):
        with contextlib.suppress(OSError):
            os.utime(known[1])  # mark as used, so that it is not the next to be deleted
        return known[0]

    def fill(folder: Path) -> Generator[float, None, VectorFile]:
        file = VectorFile(folder, shape, dtype)
        yield from file.fill(tokens_of(model, corpus).batches(), read)
        return file

    size = int(np.prod(shape)) * dtype.itemsize
    file = yield from when_free(key_of(model, corpus.texts, *how, dtype.str), size, fill)
    found = file.open()
    _opened.put(key, (found, file.folder))
    return found


def _cut(model: Explorer, corpus: Corpus) -> CorpusTokens:
    """Tokenize a corpus, TOGETHER sentences at a time: the tokenizer's result takes far more memory than the kept ids."""
    ids, words = [], []
    for start in range(0, len(corpus.sentences), TOGETHER):
        some = corpus.sentences[start : start + TOGETHER]
        read = model.encode_many_with_spans([sentence.text for sentence in some])
        ids += [np.array(row, np.int32) for row, _ in read]
        words += [_words(one, spans) for one, (_, spans) in zip(some, read, strict=True)]
    lengths = np.array([len(row) for row in ids])
    starts = np.concatenate([[0], lengths.cumsum()])
    sentence = np.repeat(np.arange(len(ids), dtype=np.int32), lengths)
    position = np.concatenate([np.arange(length, dtype=np.int32) for length in lengths])
    return CorpusTokens(np.concatenate(ids), sentence, position, np.concatenate(words), starts)


def _words(sentence: Sentence, spans: Sequence[Span | None]) -> np.ndarray:
    """[tokens] int32 the word in which each token begins, ADDED for those that the tokenizer added."""
    # A token that is only the space before a word belongs to that word.
    begins = [0 if span is None else span[1] if sentence.text[slice(*span)].isspace() else span[0] for span in spans]
    words = np.searchsorted(sentence.starts, begins, side="right") - 1
    words[[span is None for span in spans]] = ADDED
    return words.astype(np.int32)


def _together(model: Explorer, tokens: int, dtype: np.dtype, asked: Sequence[int]) -> tuple[int, ...]:
    """The hidden states to compute in one pass: all if they fit on the disk, else those requested. Raises InputError."""
    one = tokens * model.capabilities.hidden_size * dtype.itemsize
    every = tuple(range(model.capabilities.layers + 1))
    if one * len(every) <= CORPUS_STATES_MEGABYTES.bytes:
        return every
    if one * len(set(asked)) > CORPUS_STATES_MEGABYTES.bytes:
        raise InputError(CORPUS_STATES_MEGABYTES.tell(round(one * len(set(asked)) / MEGABYTE)))
    return tuple(sorted(set(asked)))


def _dtype_for(model: Explorer, tokens: CorpusTokens) -> np.dtype:
    """float16, or float32 where the first sentence has values of LARGE or more: some families do not normalize hidden states."""
    with torch.inference_mode():
        largest = max(float(hidden.abs().max()) for hidden in model.run_padded(model.pad(tokens.encode([0]))))
    return HALF if largest < LARGE else SINGLE


@inference_mode
def _states(model: Explorer, tokens: CorpusTokens, rows: np.ndarray, layers: Sequence[int]) -> list[tuple[int, Pieces]]:
    """Hidden states `layers` of some sentences (`rows`), each with its place among them."""
    states = list(islice(model.run_padded(model.pad(tokens.encode(rows))), layers[-1] + 1))
    return [(place, tokens.unpad(states[layer], rows)) for place, layer in enumerate(layers)]
