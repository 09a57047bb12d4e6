"""Every head switched off by itself in many inputs: what becomes of the logit of one word less that of another in their blanks.

Inputs of one length are read together, once. Their hidden states are kept while every head is taken away in turn: each run
restarts from the layer of the head, and is finished for the blank only.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import encode
from explorer.bert.network import Network
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.experiments.compute.items import Item
from explorer.techniques.targets import batches, piece_of
from explorer.text.encoding import MASK

ZERO, MEAN, RESAMPLE = "zero", "mean", "resample"
WAYS = (ZERO, MEAN, RESAMPLE)
TOKENS_READ = 1024
"""Tokens of a batch with one row for each input and head: enough to keep two cores busy, few enough for the caches."""
UNKNOWN = -1  # in the place of a word that the model chooses

Part = tuple[float, np.ndarray]
"""The share done, 0 to 1, and rows of `measured`."""


@dataclass(frozen=True)
class Question:
    """An item as the model reads it: its blank, a position, and the ids of word and foil, UNKNOWN where the model chooses."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    blank: int
    word: int
    foil: int


@dataclass(frozen=True)
class _Group:
    """Questions of one length, their blanks [n], and the ids of word and foil [n, 2]."""

    questions: Sequence[Question]
    blanks: torch.Tensor
    words: torch.Tensor

    @classmethod
    def of(cls, questions: Sequence[Question]) -> _Group:
        """From the questions."""
        blanks, words = [one.blank for one in questions], [(one.word, one.foil) for one in questions]
        return cls(questions, torch.tensor(blanks), torch.tensor(words))

    @property
    def rows(self) -> torch.Tensor:
        """[n] the number of each."""
        return torch.arange(len(self.questions))


@dataclass(frozen=True, eq=False)
class HeadChanges:
    """What switching heads off changes, by item: arrays that begin with [items].

    `words` [items, 2] are the ids of word and foil, `before` [items] their logit difference with all heads, and `changes`
    [items, layers, heads] the difference without a head less that: negative where the head helps the word.
    """

    words: np.ndarray
    before: np.ndarray
    changes: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, layers: int, heads: int) -> HeadChanges:
        """From rows of `measured`."""
        return cls(rows[:, :2].astype(np.int64), rows[:, 2], rows[:, 3:].reshape(len(rows), layers, heads))


def width(model: Network) -> int:
    """How many numbers a row of `measured` has."""
    return 3 + model.capabilities.layers * model.capabilities.heads


def questions_of(model: Explorer, items: Sequence[Item]) -> list[Question]:
    """Every item as the model reads it.

    Raises CapabilityError without a masked-LM head, and InputError naming an item that has no blank, a word that is not one
    piece, or the same word twice.
    """
    model.require("fill_mask")
    encoded = encode(model, [(one.text_a, one.text_b) if one.text_b else one.text_a for one in items])
    known: dict[str, int] = {"": UNKNOWN}
    return [
        _question(model, item, *read, known, number) for number, (item, read) in enumerate(zip(items, encoded, strict=True), 1)
    ]


def in_order(questions: Sequence[Question]) -> list[int]:
    """The numbers of questions in the order in which they are read, the shortest first."""
    return sorted(range(len(questions)), key=lambda number: len(questions[number].ids))


@inference_mode
def measured(
    model: Network, questions: Sequence[Question], how: str = ZERO, seed: int = 0, done: int = 0
) -> Generator[Part, None, None]:
    """Measure questions in the order of `in_order`, from number `done` on; yields parts as they come, first perhaps empty ones.

    A row [3 + layers · heads] float32 has the ids of word and foil, their logit difference (word minus foil, at the blank) with
    all heads, and for each head the difference without it less that. Without a head means that its context, the weighted sum of
    values before W_O, is replaced at every token, each head by itself (Michel et al. 2019 mask there):

    - "zero": by zeros;
    - "mean": by its mean over all tokens of all items, special tokens too;
    - "resample": by that of another item, drawn by lot: [CLS], blank and last token take the place of each other, and tokens
      between them that of the token at the nearest relative position there (Chan et al. 2022 resample whole activations so).
    """
    order = in_order(questions)
    mean = None
    if how == MEAN and done < len(order):
        mean = yield from _mean_contexts(model, [questions[number] for number in order])
    donors = _donors(len(order), seed) if how == RESAMPLE else None
    work = np.cumsum([0, *(len(questions[number].ids) for number in order)])
    heads = model.capabilities.heads
    for batch in _grouped([len(questions[number].ids) for number in order], done, heads):
        group = _Group.of([questions[number] for number in order[batch]])
        others = [questions[donors[number]] for number in order[batch]] if donors is not None else None
        yield float(work[batch.stop] / work[-1]), _measure(model, group, mean, others)


def _question(
    model: Explorer, item: Item, ids: tuple[int, ...], segments: tuple[int, ...], known: dict[str, int], number: int
) -> Question:
    """One item; `known` are the ids of words so far."""
    if model.mask_id not in ids:
        raise InputError(
            f"Item {number} has no {MASK} among the {len(ids)} tokens that are read; type one where its word belongs."
        )
    for named in (item.word, item.foil):
        if named not in known:
            try:
                known[named], _ = piece_of(model, named)
            except InputError as error:
                raise InputError(f"{str(error).rstrip('.')} (item {number}).") from error
    word, foil = known[item.word], known[item.foil]
    if word == foil != UNKNOWN:
        raise InputError(f"Item {number} has the same word as word and as foil; give it two.")
    return Question(ids, segments, ids.index(model.mask_id), word, foil)


def _grouped(lengths: Sequence[int], done: int, heads: int) -> Generator[slice, None, None]:
    """Slices of alike lengths, none with more than TOKENS_READ tokens in `heads` copies."""
    start = done
    while start < len(lengths):
        most = max(1, TOKENS_READ // (heads * lengths[start]))
        stop = start + 1
        while stop < len(lengths) and stop - start < most and lengths[stop] == lengths[start]:
            stop += 1
        yield slice(start, stop)
        start = stop


def _states(model: Network, questions: Sequence[Question]) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Every hidden state of some questions, [n, tokens, hidden] each, and where they have tokens: [n, tokens] bool."""
    padded = model.pad([(one.ids, one.segments) for one in questions])
    return list(model.run_padded(padded)), padded.real


def _measure(model: Network, group: _Group, mean: torch.Tensor | None, others: Sequence[Question] | None) -> np.ndarray:
    """The rows of a group."""
    states, _ = _states(model, group.questions)
    given = _given_by(model, group, others) if others is not None else None
    layers, heads, rows = model.capabilities.layers, model.capabilities.heads, group.rows
    found = torch.empty((layers * heads + 1, len(rows), states[0].shape[-1]))  # the vectors at the blanks
    found[0] = states[-1][rows, group.blanks]
    for layer in range(layers):
        instead = given[layer] if given is not None else torch.zeros(()) if mean is None else mean[layer][None, :, None]
        without = _without_heads(model, group, layer, states[layer], instead)
        found[1 + layer * heads : 1 + (layer + 1) * heads] = without
    words = _words(model, group.words, found[0])
    differences = _differences(model, found, words)  # [1 + layers · heads, n]
    differences[1:] -= differences[0].clone()
    return np.concatenate([words.numpy(), differences.T.numpy()], axis=1, dtype=np.float32)


def _without_heads(model: Network, group: _Group, layer: int, hidden: torch.Tensor, instead: torch.Tensor) -> torch.Tensor:
    """The last hidden states of the blanks [heads, n, hidden] without each head of a layer, for what the layer reads.

    `instead` replaces a head's context, over [n, heads, tokens, head_size].
    """
    last, rows, heads = layer == model.capabilities.layers - 1, group.rows, model.capabilities.heads
    given = model.layers[layer].heads(hidden)
    if last:  # above its attention only the blank matters
        context, hidden = given.context_at(group.blanks), hidden[rows, group.blanks][:, None]
        instead = instead[rows, :, group.blanks][:, :, None] if instead.dim() and instead.shape[-2] > 1 else instead
    else:
        context = given.context()
    off = torch.eye(heads, dtype=torch.bool)[:, None, :, None, None]  # [heads, 1, heads, 1, 1]: one head off in each
    found = []
    for batch in batches(heads, len(rows) * hidden.shape[1]):
        copies = batch.stop - batch.start
        changed = torch.where(off[batch], instead, context).flatten(0, 1)  # [copies · n, heads, tokens, head_size]
        output = model.layers[layer].after_heads(changed, hidden.repeat(copies, 1, 1))
        vectors = output[:, 0] if last else _last_vectors(model, layer + 1, output, group.blanks.repeat(copies))
        found.append(vectors.unflatten(0, (copies, len(rows))))
    return torch.cat(found)


def _last_vectors(model: Network, layer: int, hidden: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The last hidden state [batch, hidden] of the token at `places` [batch] of each input; `hidden` is what `layer` reads."""
    for below in model.layers[layer:-1]:
        hidden = below(hidden)
    final = model.layers[-1]
    context, own = final.heads(hidden).context_at(places), hidden[torch.arange(len(places)), places][:, None]
    return final.after_heads(context, own)[:, 0]


def _words(model: Network, words: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """The ids of word and foil [n, 2], chosen by the model from its last hidden states [n, hidden] where they are UNKNOWN."""
    open_ = (words == UNKNOWN).any(1)
    if not open_.any():
        return words
    words = words.clone()
    best = model.masked_lm(vectors[open_]).topk(2).indices  # [open, 2]
    for row, guesses in zip(open_.nonzero()[:, 0].tolist(), best.tolist(), strict=True):
        word, foil = words[row].tolist()
        word = word if word != UNKNOWN else next(guess for guess in guesses if guess != foil)
        foil = foil if foil != UNKNOWN else next(guess for guess in guesses if guess != word)
        words[row] = torch.tensor((word, foil))
    return words


def _differences(model: Network, vectors: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    """The logit of the word less that of the foil, [..., n], for last hidden states [..., n, hidden] and ids [n, 2]."""
    ids, place = words.unique(return_inverse=True)
    logits = model.masked_lm_of(vectors, ids.tolist())  # [..., n, ids]
    own = logits.gather(-1, place.expand(*logits.shape[:-1], 2))
    return own[..., 0] - own[..., 1]


# ---- What replaces a head's context.


def _mean_contexts(model: Network, questions: Sequence[Question]) -> Generator[Part, None, torch.Tensor]:
    """The mean context of every head over all tokens of questions, [layers, heads, head_size]; yields empty parts."""
    nothing = np.empty((0, width(model)), np.float32)
    sums: list[torch.Tensor] = [torch.zeros(()) for _ in model.layers]
    tokens = 0
    for batch in _grouped([len(one.ids) for one in questions], 0, 1):
        states, _ = _states(model, questions[batch])
        for layer, hidden in enumerate(states[:-1]):
            sums[layer] = sums[layer] + model.layers[layer].heads(hidden).context().double().sum((0, 2))
        tokens += states[0].shape[0] * states[0].shape[1]
        yield 0.0, nothing
    return (torch.stack(sums) / tokens).float()


def _donors(count: int, seed: int) -> np.ndarray:
    """For each item another one, by lot: each is taken once."""
    order = np.random.default_rng(seed).permutation(count)
    found = np.empty(count, dtype=np.int64)
    found[order] = np.roll(order, -1)
    return found


def _given_by(model: Network, group: _Group, others: Sequence[Question]) -> list[torch.Tensor]:
    """The context that other questions give in the place of a group's, by layer: [n, heads, tokens, head_size]."""
    states, real = _states(model, others)
    places = torch.stack([_counterparts(own, other) for own, other in zip(group.questions, others, strict=True)])
    found = []
    for layer, hidden in enumerate(states[:-1]):
        heads = model.layers[layer].heads(hidden, None if bool(real.all()) else real)
        rows = group.rows[:, None]
        found.append(heads.context().transpose(1, 2)[rows, places].transpose(1, 2))
    return found


def _counterparts(own: Question, other: Question) -> torch.Tensor:
    """For each token of a question the one of another: first, blank and last by each other, the rest in proportion."""
    ends, others = ([0, one.blank, len(one.ids) - 1] for one in (own, other))
    return torch.from_numpy(np.rint(np.interp(np.arange(len(own.ids)), ends, others)).astype(np.int64))
