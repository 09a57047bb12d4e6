"""The top-activating tokens of each feed-forward neuron in a corpus.

All neurons of all layers are read in one pass, and the top tokens of each are kept in a small file. Geva et al. 2021,
'Transformer Feed-Forward Layers Are Key-Value Memories', section 3. [CLS] and [SEP] do not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.readings import key_of, when_free
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.limits import DRIVERS
from explorer.corpus.compute.file import read_arrays, write_arrays
from explorer.corpus.compute.reading import ADDED, CorpusTokens, tokens_of
from explorer.corpus.compute.search import Found, Hit, hits_of
from explorer.techniques.neurons import most_promoted_in_steps
from explorer.text.corpora import Corpus
from explorer.text.pieces import bare

FILE = "neurons.npz"
DRIVING, PROMOTED = 20, 100  # top-activating tokens, and promoted pieces, that are compared in `telling_in_steps`
READ = 64  # sentences in which `firing_on` reads a word
NOBODY = -1  # the row where the corpus has too few tokens


@dataclass(frozen=True)
class CorpusNeurons:
    """The activations of all neurons over a corpus.

    The largest `activations` and the `rows` of their tokens are [layers, neurons, DRIVERS.most]; `mean`, `deviation` and
    `active`, the share of tokens with an activation above 0, are [layers, neurons], over all `counted` tokens.
    """

    tokens: CorpusTokens = field(repr=False)
    activations: np.ndarray = field(repr=False)  # float32, in falling order
    rows: np.ndarray = field(repr=False)  # int32 indices of tokens of the corpus, NOBODY where there are no more
    mean: np.ndarray = field(repr=False)
    deviation: np.ndarray = field(repr=False)
    active: np.ndarray = field(repr=False)
    counted: int


Scored = tuple[int, int, float]
"""A neuron as (layer, neuron), zero-based, with a weight, or the deviations of its activation from its mean."""

_opened: OnceCache[tuple[object, ...], CorpusNeurons] = OnceCache(4)


def corpus_neurons_in_steps(model: Explorer, corpus: Corpus) -> Generator[float, None, CorpusNeurons]:
    """The activations of all neurons over a corpus; yields the share done, 0 to 1.

    Raises InputError.
    """
    key = model.checkpoint, corpus.key
    if (known := _opened.peek(key)) is not None:
        return known
    tokens = tokens_of(model, corpus)
    coming = 8 * model.capabilities.layers * model.capabilities.neurons * (DRIVERS.most + 3)

    def fill(folder: Path) -> Generator[float, None, CorpusNeurons]:
        if not (folder / FILE).exists():
            read = vars((yield from _read(model, tokens)))
            write_arrays(folder / FILE, {name: read[name] for name in read if name != "tokens"})
        kept = read_arrays(folder / FILE)
        return CorpusNeurons(tokens, **{**kept, "counted": int(kept["counted"])})

    found = yield from when_free(key_of(model, corpus.texts, "neurons, complete", DRIVERS.most), coming, fill)
    _opened.put(key, found)
    return found


def drivers(model: Explorer, corpus: Corpus, found: CorpusNeurons, layer: int, neuron: int, limit: int) -> Found:
    """The top-activating tokens of a neuron (layer and neuron zero-based), in falling order of activation after its function."""
    rows = found.rows[layer, neuron, :limit]
    rows = rows[rows != NOBODY]
    hits = hits_of(model, corpus, found.tokens, rows, found.activations[layer, neuron, : len(rows)])
    return Found(corpus, hits, found.counted)


@inference_mode
def activations_of(model: Explorer, driving: Sequence[Hit], layer: int, neuron: int) -> np.ndarray:
    """[hits] the activations at top-activating tokens when their sentences are read again, in float32."""
    encodings = [model.encode(driver.sentence.text) for driver in driving]
    padded = model.pad([(encoding.ids, encoding.segments) for encoding in encodings])
    activations = next(islice(model.neurons_padded(padded), layer, None))
    return activations[torch.arange(len(driving)), [driver.position for driver in driving], neuron].numpy()


def firing_on(model: Explorer, corpus: Corpus, found: CorpusNeurons, word: str, limit: int) -> tuple[Scored, ...]:
    """The neurons furthest above their mean at a word, in at most READ sentences with it, in standard deviations.

    Raises InputError.
    """
    places: defaultdict[int, list[int]] = defaultdict(list)
    for index, at in corpus.places(word, model.as_searched):
        places[index].append(at)
    holding = list(places.items())[:READ]
    mean = np.mean([_at_words(model, found.tokens, index, words) for index, words in holding], axis=0)
    deviations = (mean - found.mean) / np.maximum(found.deviation, 1e-6)  # [layers, neurons]
    order = np.argsort(-deviations, axis=None, kind="stable")[:limit]
    most = zip(*np.unravel_index(order, deviations.shape), strict=True)
    return tuple((int(la), int(ne), float(deviations[la, ne])) for la, ne in most)


@inference_mode
def _at_words(model: Explorer, tokens: CorpusTokens, sentence: int, words: list[int]) -> np.ndarray:
    """[layers, neurons] the mean activations over the tokens of some words of a sentence."""
    part = slice(tokens.starts[sentence], tokens.starts[sentence + 1])
    there = torch.from_numpy(np.isin(tokens.word[part], words))
    padded = model.pad(tokens.encoded([sentence]))
    return np.stack([layer[0][there].mean(0).numpy() for layer in model.neurons_padded(padded)])


class _Strongest:
    """The largest activations so far, and sums for means and deviations; all arrays are [layers, neurons, ...] but `sums`."""

    def __init__(self, layers: int, neurons: int) -> None:
        self.activations = torch.full((layers, neurons, DRIVERS.most), -torch.inf)
        self.rows = torch.full((layers, neurons, DRIVERS.most), NOBODY, dtype=torch.int32)
        self.sums = torch.zeros((3, layers, neurons), dtype=torch.float64)  # of activations and their squares; number above 0

    def add(self, layer: int, activations: torch.Tensor, rows: torch.Tensor) -> None:
        """Add the activations [tokens, neurons] of tokens with indices `rows` [tokens]."""
        sums = activations.sum(0), activations.square().sum(0), (activations > 0).sum(0)
        self.sums[:, layer] += torch.stack([layer.double() for layer in sums])
        stronger = int((activations > self.activations[layer, :, -1]).sum(0).max())  # new entries a neuron gets: fewer each time
        best, places = activations.topk(min(DRIVERS.most, stronger), dim=0)
        both = torch.cat([self.activations[layer], best.T], 1)
        known = torch.cat([self.rows[layer], rows[places.T]], 1)
        self.activations[layer], order = both.topk(DRIVERS.most, dim=1)
        self.rows[layer] = known.gather(1, order)

    def result(self, tokens: CorpusTokens) -> CorpusNeurons:
        """The result over all tokens."""
        counted = int((tokens.word != ADDED).sum())
        mean, square, active = (self.sums / max(1, counted)).numpy()
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
        return CorpusNeurons(tokens, self.activations.numpy(), self.rows.numpy(), mean, deviation, active, counted)


@inference_mode
def _read_batch(model: Explorer, tokens: CorpusTokens, rows: np.ndarray, into: _Strongest) -> None:
    """Add the activations of some sentences (`rows`)."""
    every = np.concatenate([np.arange(tokens.starts[row], tokens.starts[row + 1]) for row in rows])
    counts = torch.from_numpy(tokens.word[every] != ADDED)
    padded = model.pad(tokens.encoded(rows))
    kept = torch.from_numpy(every.astype(np.int32))[counts]
    for layer, activations in enumerate(model.neurons_padded(padded)):
        into.add(layer, activations[padded.real][counts], kept)


def _read(model: Explorer, tokens: CorpusTokens) -> Generator[float, None, CorpusNeurons]:
    """Read all batches; yields the share done."""
    batches, found = tokens.batches(), _Strongest(model.capabilities.layers, model.capabilities.neurons)
    for number, rows in enumerate(batches):
        yield number / len(batches)
        _read_batch(model, tokens, rows, found)
    yield 1.0
    return found.result(tokens)


class Telling(NamedTuple):
    """The neuron (zero-based) of a layer that stands out, and the median over all of them of what it was chosen by.

    That is the number of top-activating words among those promoted; the median is None without a masked-LM head.
    """

    neuron: int
    median: float | None


def telling_in_steps(model: Explorer, found: CorpusNeurons, layer: int) -> Generator[float, None, Telling]:
    """The neuron of a layer (zero-based) that best promotes what activates it; yields the share done.

    That is the one with the most of its top-activating words among the pieces it promotes; without a masked-LM head the one whose
    largest activation is furthest above its mean, in standard deviations.
    """
    if model.why_not("fill_mask"):
        lifted = found.activations[layer, :, 0] - found.mean[layer]
        return Telling(int(np.argmax(lifted / np.maximum(found.deviation[layer], 1e-6))), None)
    promoted = yield from most_promoted_in_steps(model, layer, PROMOTED)
    shared = [len(driving_pieces(model, found, layer, neuron) & set(ids)) for neuron, ids in enumerate(promoted.tolist())]
    return Telling(int(np.argmax(shared)), float(np.median(shared)))


def driving_pieces(model: Explorer, found: CorpusNeurons, layer: int, neuron: int) -> set[int]:
    """The ids of the different words among a neuron's DRIVING top-activating tokens, without punctuation and numbers."""
    rows = found.rows[layer, neuron, :DRIVING]
    ids = set(found.tokens.ids[rows[rows != NOBODY]].tolist())
    return {id for id in ids if bare(model.vocabulary[id]).isalpha()}
