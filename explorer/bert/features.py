"""Features: one vector per text, for many texts, used by projection, similarity and training.

Texts of similar length share a batch, to save padding; batches are limited by tokens. All hidden states up to the one requested
are cached.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Sequence
from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np

from explorer.bert.batcher import BATCH_TOKENS
from explorer.bert.explorer import Explorer
from explorer.bert.network import Network
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.core.limits import CACHE_MEGABYTES
from explorer.core.steps import in_one_call
from explorer.text import limits
from explorer.text.lines import Pair

ANY_TOKEN, LAST_FOUR = "any token", "last4"
POOLINGS = ("cls", "mean", "pooler", LAST_FOUR)
BATCH_SIZE = 64

Encoded = tuple[tuple[int, ...], tuple[int, ...]]
"""The ids of a text or pair, and their segments."""
Batch = dict[str | Pair, Encoded]
"""Texts and pairs with their ids and segments."""

_one_batch = threading.Lock()  # two callers with the same texts share the work, batch by batch
_caches: WeakKeyDictionary[Explorer, OnceCache] = WeakKeyDictionary()  # features are dropped with their model


def features_in_steps(
    model: Explorer, texts: Sequence[str | Pair], layer: int = -1, pooling: str = "mean", keep: bool = True
) -> Generator[float, None, np.ndarray]:
    """[texts, hidden] float32: the vector of each text or pair, read alone and cut to what the model takes.

    `layer` is a hidden state, 0 to the number of layers, -1 the last. `pooling`: "cls" is the vector of the first token, "mean"
    the mean over all tokens including [CLS] and [SEP], "pooler" tanh(dense([CLS])) of the last layer, "last4" the means of the
    last four hidden states up to `layer` side by side, [texts, 4 · hidden] (Devlin et al. 2019, 5.3). Yields the share done, 0
    to 1, after every batch. The vectors are cached unless `keep` is false. Raises InputError or CapabilityError.
    """
    index = limits.hidden_state_index(layer, model.capabilities.layers)
    if pooling == "pooler" and index != model.capabilities.layers:
        raise InputError("The pooler reads the last layer only. Choose the last layer, or another pooling.")
    rows = yield from _read(model, texts, index, pooling, keep)
    if pooling == LAST_FOUR:
        return np.stack([row[max(0, index - 3) : index + 1].reshape(-1) for row in rows])  # fewer than four near the bottom
    vectors = np.stack([row[index] for row in rows])
    return _apply_pooler(model, vectors) if pooling == "pooler" else vectors


features = in_one_call(features_in_steps)


def layer_features_in_steps(
    model: Explorer, texts: Sequence[str | Pair], pooling: str = "mean"
) -> Generator[float, None, np.ndarray]:
    """[layers + 1, texts, hidden] float32: every hidden state of `features`, from one pass; yields like it.

    The pooler reads the last layer only: with it the first axis has one entry. "last4" is the same as "mean" here. ANY_TOKEN
    takes one token per text, always the same one, chosen without looking: what the vectors of these tokens share, those of any
    tokens share.
    """
    rows = yield from _read(model, texts, model.capabilities.layers, pooling)
    if pooling == "pooler":
        return _apply_pooler(model, np.stack([row[-1] for row in rows]))[None]
    return np.stack(rows, axis=1)


def _read(
    model: Explorer, texts: Sequence[str | Pair], top: int, pooling: str, keep: bool = True
) -> Generator[float, None, list[np.ndarray]]:
    """For each text an array [top + 1 or more, hidden] of pooled hidden states, with "cls" for the pooler."""
    texts = _check_texts(texts)
    if pooling != ANY_TOKEN:
        limits.check_choice(pooling, "pooling", POOLINGS)
    if pooling == "pooler":
        model.require("pooler")
        pooling = "cls"
    if pooling == LAST_FOUR:
        pooling = "mean"

    empty: OnceCache = OnceCache(CACHE_MEGABYTES.bytes, cost=lambda rows: rows.nbytes)
    kept = _caches.setdefault(model, empty) if keep else empty
    found = _peek(kept, texts, top, pooling)
    missing = [text for text in dict.fromkeys(texts) if text not in found]
    done, work = len(found), len(found) + len(missing)
    if done and missing:
        yield done / work
    encoded = dict(zip(missing, encode(model, missing), strict=True))
    for batch in _batches(encoded):
        found |= _read_batch(model, kept, batch, top, pooling)
        done += len(batch)
        yield done / work
    return [found[text] for text in texts]


def _peek(kept: OnceCache, texts: Iterable[str | Pair], top: int, pooling: str) -> dict[str | Pair, np.ndarray]:
    """The cached arrays of some texts that go up to hidden state `top`."""
    found = {text: kept.peek((text, pooling)) for text in texts}
    return {text: rows for text, rows in found.items() if rows is not None and len(rows) > top}


def _read_batch(model: Explorer, kept: OnceCache, batch: Batch, top: int, pooling: str) -> dict[str | Pair, np.ndarray]:
    """For each text of a batch an array [top + 1 or more, hidden], which is cached."""
    with _one_batch:
        found = _peek(kept, batch, top, pooling)
        left = {text: ids for text, ids in batch.items() if text not in found}
        states = pool(model, list(left.values()), top, pooling) if left else ()
        for text, rows in zip(left, states, strict=True):
            found[text] = rows.copy()  # a view would keep the whole batch
            found[text].flags.writeable = False  # the cached array itself is returned to callers
            kept.put((text, pooling), found[text])
        return found


@inference_mode
def pool(network: Network, encoded: list[Encoded], top: int, pooling: str) -> np.ndarray:
    """[batch, top + 1, hidden] float32: the pooled vectors of hidden states 0 to `top`, from one forward pass."""
    padded = network.pad(encoded)
    chosen = [1 + sum(row) % (len(row) - 2) if pooling == ANY_TOKEN else 0 for row, _ in encoded]  # position 0 is [CLS]

    def pool(hidden: torch.Tensor) -> torch.Tensor:  # [batch, tokens, hidden] -> [batch, hidden]
        if pooling == "mean":
            return (hidden * padded.real[..., None]).sum(1) / padded.lengths[:, None]
        return hidden[range(len(encoded)), chosen]

    states = [pool(hidden) for hidden in islice(network.run_padded(padded), top + 1)]
    return torch.stack(states, dim=1).numpy()


def _check_texts(texts: object) -> list[str | Pair]:
    """The texts and pairs, checked; a pair without a second text becomes its first. Raises InputError."""
    if not isinstance(texts, Sequence) or isinstance(texts, str):
        return [*limits.check_texts(texts)]
    firsts = limits.check_texts([text[0] if isinstance(text, tuple) else text for text in texts])
    return [
        (first, text[1]) if isinstance(text, tuple) and limits.check_optional_text(text[1], "a second text") else first
        for first, text in zip(firsts, texts, strict=True)
    ]


def encode(model: Explorer, texts: Sequence[str | Pair]) -> list[Encoded]:
    """Ids and segments of each checked text or pair; single texts are encoded together, which is much faster."""
    pairs = [text if isinstance(text, tuple) else (text, "") for text in texts]
    single = [first for first, second in pairs if not second]
    ids = iter(model.encode_many(single) if single else ())
    found: list[Encoded] = []
    for first, second in pairs:
        if second:
            encoding = model.encode(first, second)
            found.append((encoding.ids, encoding.segments))
        else:
            row = next(ids)
            found.append((row, (0,) * len(row)))
    return found


def _batches(encoded: Batch) -> list[Batch]:
    """The texts in batches of similar length, of at most BATCH_SIZE rows and BATCH_TOKENS tokens."""
    batches: list[Batch] = []
    for text, (ids, segments) in sorted(encoded.items(), key=lambda one: len(one[1][0])):
        if not batches or len(batches[-1]) >= min(BATCH_SIZE, BATCH_TOKENS // len(ids)):
            batches.append({})
        batches[-1][text] = ids, segments
    return batches


@inference_mode
def _apply_pooler(model: Explorer, vectors: np.ndarray) -> np.ndarray:
    """The pooler's output [texts, hidden] for the [CLS] vectors [texts, hidden] of the last layer."""
    return model.pooler(torch.from_numpy(vectors)[:, None]).numpy()
