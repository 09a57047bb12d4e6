"""The frozen layers of a model, run once for all epochs, and copies of the layers above them, which are trained with a head."""

from __future__ import annotations

import copy
import functools
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import Encoded, features_in_steps
from explorer.bert.layer import Layer
from explorer.core.engine import no_grad, torch
from explorer.core.errors import InputError
from explorer.core.limits import TEXTS, TRAINING_MEGABYTES
from explorer.core.steps import finished
from explorer.text.encoding import Encoding
from explorer.text.lines import Pair
from explorer.training.examples import Split
from explorer.training.tagging import WordPlaces

BATCH_SIZE = 32
EVALUATION_BATCH = 64
EVERY_TOKEN = "tokens"  # a 'pooling' without pooling: every token keeps its vector
CUTS = (512, 256, 128, 64)  # tokens kept per text, the first that fits into the memory limit
PART = 1024  # texts whose features are read together: all hidden states of each are in memory meanwhile


@dataclass(frozen=True, eq=False)
class Ragged:
    """The hidden states of many texts without padding."""

    texts: list[torch.Tensor]  # [tokens, hidden] of each
    lengths: torch.Tensor  # [texts]

    def batch(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The texts `rows`, padded: hidden [batch, tokens, hidden] float32, and which tokens are real [batch, tokens]."""
        hidden = torch.nn.utils.rnn.pad_sequence([self.texts[row] for row in rows.tolist()], batch_first=True)
        return hidden.float(), torch.arange(hidden.shape[1]) < self.lengths[rows, None]

    def tokens(self, rows: torch.Tensor) -> torch.Tensor:
        """[all their tokens, hidden]: the texts `rows`, one after another."""
        return torch.cat([self.texts[row] for row in rows.tolist()])


@dataclass(frozen=True, eq=False)
class Prefix:
    """The output of the frozen layers for some examples.

    Batches are made of rows: texts, words, sentences, or questions on a text. What the head scores of them has one target each.
    """

    states: np.ndarray | Ragged  # [rows, hidden] that a head reads, or hidden states for layers to train or every token
    example: np.ndarray  # [rows] the index of the example to which a row belongs
    targets: np.ndarray  # the index, among the targets of all examples, of everything that is scored
    words: WordPlaces | None = None  # where rows are sentences and words are scored
    encodings: Sequence[Encoding] = ()  # of the rows, where they are questions with their texts

    def split(self, parts: Split) -> Split:
        """The rows of a split of the examples."""
        return Split(*(np.flatnonzero(np.isin(self.example, part)) for part in parts))

    def scored(self, rows: torch.Tensor) -> torch.Tensor:
        """The indices of what is scored of these rows."""
        return rows if self.words is None else self.words.words(rows)

    def select(self, given: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """[scored, hidden]: what the head reads, from what the layers above the frozen ones give for `rows`."""
        return given if self.words is None else self.words.pool(given, rows)

    def vectors(self, top: Top | None, rows: torch.Tensor) -> torch.Tensor:
        """[scored, hidden] float32: what the head reads of these rows, above the layers of `top` if there are any."""
        if not isinstance(self.states, Ragged):
            return torch.from_numpy(self.states)[rows]
        return self.select(evaluate(top, self.states, rows) if top else self.states.tokens(rows), rows)


def hidden_in_steps(model: Explorer, encoded: Sequence[Encoded], layer: int) -> Generator[float, None, Ragged]:
    """Hidden state `layer` (an index) of encoded texts, in batches of similar length; yields the share done after every batch.

    Texts are cut, all at the same length, when their hidden states would exceed the memory limit; raises InputError if that is
    not enough.
    """
    lengths = np.array([len(ids) for ids, _ in encoded])
    most = TRAINING_MEGABYTES.bytes / (4 * model.capabilities.hidden_size)
    cut = next((one for one in CUTS if np.minimum(lengths, one).sum() <= most), None)
    if cut is None:
        raise InputError(TRAINING_MEGABYTES.tell(len(lengths)))
    kept, order = np.minimum(lengths, cut), np.argsort(lengths, kind="stable")
    parts: list[torch.Tensor] = []
    for start in range(0, len(order), BATCH_SIZE):
        rows = order[start : start + BATCH_SIZE]
        padded = model.pad([shorten(encoded[row], cut) for row in rows])
        with torch.no_grad():
            hidden = next(islice(model.run_padded(padded), layer, None))
        parts += hidden[padded.real].split(kept[rows].tolist())  # [real tokens, hidden], text by text
        yield (start + len(rows)) / len(encoded)
    return Ragged([parts[place] for place in np.argsort(order)], torch.from_numpy(kept))


def shorten(text: Encoded, most: int) -> Encoded:
    """A text cut at so many tokens; the last one, [SEP], is kept."""
    ids, segments = text
    return text if len(ids) <= most else ((*ids[: most - 1], ids[-1]), (*segments[: most - 1], segments[-1]))


def text_features(model: Explorer, pairs: Sequence[Pair], layer: int, pooling: str) -> Generator[float, None, np.ndarray]:
    """[pairs, hidden] float32 features of pairs, as `features` has them; yields the share done, 0 to 1.

    More pairs than TEXTS are read part by part, and not cached.
    """
    if len(pairs) <= TEXTS.most:
        return (yield from features_in_steps(model, pairs, layer, pooling))
    parts = []
    for start in range(0, len(pairs), PART):
        yield start / len(pairs)
        parts.append(finished(features_in_steps(model, pairs[start : start + PART], layer, pooling, keep=False)))
    return np.concatenate(parts)


@functools.cache
def seeded_dropout() -> type[torch.nn.Module]:
    """Dropout with its own random generator, so that two simultaneous trainings do not affect each other.

    The class is created once torch is loaded.
    """

    class SeededDropout(torch.nn.Module):
        def __init__(self, p: float, generator: torch.Generator) -> None:
            super().__init__()
            self.p, self.generator = p, generator

        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            """Set a share `p` of the numbers to 0 and scale up the rest; in evaluation nothing changes."""
            if not self.training or not self.p:
                return hidden
            # One random byte per number: a 64-bit draw serves eight numbers, where bernoulli_() draws for each.
            draws = torch.empty(-(-hidden.numel() // 8), dtype=torch.int64)
            chance = draws.random_(-(2**63), None, generator=self.generator).view(torch.uint8)[: hidden.numel()]
            dropped = round(256 * self.p)
            return hidden * (chance.view(hidden.shape) >= dropped) * (256 / (256 - dropped))

    return SeededDropout


class Top:
    """A copy of the last layers below a head, and of the pooler if the head reads it."""

    def __init__(self, model: Explorer, layer: int, layers_trained: int, pooling: str) -> None:
        self.pooling = pooling
        trained = model.layers[layer - layers_trained : layer]
        self.module = torch.nn.Module()  # the names of the weights in files begin with these two attributes
        self.module.layers = torch.nn.ModuleList(copy.deepcopy(own.module) for own in trained)
        self.module.pooler = copy.deepcopy(model.pooler) if pooling == "pooler" else None
        self._like = replace(model.layers[0], module=torch.nn.Identity())  # a template of how this model's layers are run

    def __call__(self, hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """[batch, hidden] pooled vectors from the hidden states [batch, tokens, hidden] below the copied layers.

        With EVERY_TOKEN the vectors of all real tokens, text after text: [tokens, hidden].
        """
        if self.pooling in ("mean", EVERY_TOKEN):
            hidden = run_layers(self.own_layers, hidden, real)
            if self.pooling == EVERY_TOKEN:
                return hidden[real]
            return (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True)
        first = hidden[:, :1]
        if self.layers:
            *below, last = self.own_layers
            first = _first(last, run_layers(below, hidden, real), real)
        return first[:, 0] if self.pooler is None else self.pooler(first)

    @property
    def layers(self) -> torch.nn.ModuleList:
        """The copied layers, as modules of transformers."""
        return self.module.layers

    @property
    def pooler(self) -> torch.nn.Module | None:
        """The copied pooler, or None."""
        return self.module.pooler

    @property
    def own_layers(self) -> list[Layer]:
        """The copied layers in the form in which they are run."""
        return [replace(self._like, module=module) for module in self.layers]

    def start_training(self, generator: torch.Generator) -> None:
        """Unfreeze the weights, with dropout from `generator`; dropout of attention weights stays off, see `attending`."""
        self.module.requires_grad_(True).train()
        for parent in self.layers.modules():
            for name, child in parent.named_children():
                if isinstance(child, torch.nn.Dropout):
                    setattr(parent, name, seeded_dropout()(child.p, generator))

    def snapshot(self) -> Top:
        """A frozen copy for use."""
        taken = copy.copy(self)
        taken.module = copy.deepcopy(self.module)
        return taken.freeze()

    def freeze(self) -> Top:
        """Switch off dropout and gradients; returns itself."""
        self.module.eval().requires_grad_(False)
        return self

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        """The weights of the layers and of the pooler."""
        return self.module.parameters()


def run_layers(layers: Sequence[Layer], hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """The output [batch, tokens, hidden] of some layers, with padding masked."""
    mask = None if bool(real.all()) else real
    for layer in layers:
        hidden = layer(hidden, mask)
    return hidden


def _first(layer: Layer, hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """The output of a layer for the first token, [batch, 1, hidden]; the other tokens only give keys and values."""
    first = slice(0, 1)
    return layer.after_heads(layer.heads(hidden, real).context(first), hidden[:, first])


@no_grad
def evaluate(top: Top, states: Ragged, rows: torch.Tensor) -> torch.Tensor:
    """[rows, hidden] float32: the pooled vectors of the texts `rows`, in their order; for EVERY_TOKEN one row per token."""
    order = torch.argsort(states.lengths[rows], stable=True)
    found: list[torch.Tensor] = []
    for part in order.split(EVALUATION_BATCH):
        counts = states.lengths[rows[part]].tolist() if top.pooling == EVERY_TOKEN else 1
        found += top(*states.batch(rows[part])).split(counts)
    return torch.cat([found[place] for place in order.argsort().tolist()])
