"""One vector a text, for many texts: what projection, similarity and training start from.

Three things make it fast: texts of alike length share a batch, so that little is padding; a batch is bounded by its
tokens rather than its rows; and many texts are read in bfloat16 where the processor multiplies it natively. What was
read once is kept, for every hidden state on the way, so that another layer of the same texts costs nothing.
"""

import functools
import threading
from collections.abc import Generator, Sequence
from weakref import WeakKeyDictionary

import numpy as np
import torch

from explorer.base.cache import RecentArrays
from explorer.base.errors import InputError
from explorer.base.steps import finished
from explorer.model.explorer import Explorer
from explorer.text import limits

POOLINGS = ("cls", "mean", "pooler")
ANY_TOKEN = "any token"
PRECISIONS = ("auto", "exact", "fast")
BATCH_SIZE = 64
BATCH_TOKENS = 1024  # padding included; more overflows the processor's cache, fewer leaves its cores idle
FAST_FROM = 256  # texts: fewer are read in a moment anyway
CACHE_BYTES = 256 * 2**20  # for each model: all layers of 5,000 texts of a BERT-base are 200 MB

_one_batch = threading.Lock()  # two who read the same texts at the same time share the work, batch by batch
_caches: WeakKeyDictionary[Explorer, RecentArrays] = (
    WeakKeyDictionary()
)  # a model that is gone takes its features along


def features(
    model: Explorer, texts: Sequence[str], layer: int = -1, pooling: str = "mean", precision: str = "auto"
) -> np.ndarray:
    """[texts, hidden] float32: each text read by itself, cut to what the model takes.

    `layer` is a hidden state, 0 to the number of layers, -1 the last. `pooling`: "cls" is the vector of the first
    token, "mean" the mean over all tokens with [CLS] and [SEP], "pooler" tanh(dense([CLS])) of the last layer.
    `precision`: "exact" multiplies in float32, "fast" in bfloat16 where the processor can (cosine to the exact
    vectors at least 0.999), "auto" is exact for fewer than FAST_FROM texts. Raises InputError or CapabilityError.
    """
    return finished(features_in_steps(model, texts, layer, pooling, precision))


def features_in_steps(
    model: Explorer, texts: Sequence[str], layer: int = -1, pooling: str = "mean", precision: str = "auto"
) -> Generator[float, None, np.ndarray]:
    """Like `features`, for those who show progress or may stop: yields the share done, 0 to 1, after every batch."""
    index = limits.hidden_state_index(layer, model.capabilities.layers)
    if pooling == "pooler" and index != model.capabilities.layers:
        raise InputError("The pooler reads the last layer only; choose the last layer, or another pooling.")
    rows = yield from _read(model, texts, index, pooling, precision)
    vectors = np.stack([row[index] for row in rows])
    return _apply_pooler(model, vectors) if pooling == "pooler" else vectors


def layer_features_in_steps(
    model: Explorer, texts: Sequence[str], pooling: str = "mean", precision: str = "auto"
) -> Generator[float, None, np.ndarray]:
    """[layers + 1, texts, hidden] float32: every hidden state of `features`, from one pass; yields like it.

    The pooler reads the last layer only: with it the first axis has one entry.
    """
    rows = yield from _read(model, texts, model.capabilities.layers, pooling, precision)
    if pooling == "pooler":
        return _apply_pooler(model, np.stack([row[-1] for row in rows]))[None]
    return np.stack(rows, axis=1)


def reference_states(model: Explorer, texts: Sequence[str]) -> np.ndarray:
    """[layers + 1, texts, hidden] float32: one token of each text, taken blindly and always the same one.

    Tokens that have nothing to do with each other: what their vectors share, those of any two tokens share.
    """
    return np.stack(finished(_read(model, texts, model.capabilities.layers, ANY_TOKEN, "auto")), axis=1)


def forget() -> None:
    """Drop what is kept of every model."""
    _caches.clear()


@functools.cache
def bfloat16_is_fast() -> bool:
    """Whether the processor multiplies bfloat16 natively (AVX512-BF16, AMX); elsewhere it is slower than float32."""
    processor = torch.cpu.get_capabilities()
    return any(processor.get(feature, False) for feature in ("avx512_bf16", "amx_bf16"))


def _read(
    model: Explorer, texts: Sequence[str], top: int, pooling: str, precision: str
) -> Generator[float, None, list[np.ndarray]]:
    """For each text an array [top + 1 or more, hidden]: the pooled hidden states, "cls" where the pooler is asked."""
    texts = limits.check_texts(texts)
    limits.check_choice(pooling, "pooling", (*POOLINGS, ANY_TOKEN) if pooling == ANY_TOKEN else POOLINGS)
    limits.check_choice(precision, "the precision", PRECISIONS)
    if pooling == "pooler":
        model.require("pooler")
        pooling = "cls"
    few = precision == "auto" and len(texts) < FAST_FROM
    fast = precision != "exact" and not few and bfloat16_is_fast()

    kept = _caches.setdefault(model, RecentArrays(CACHE_BYTES))
    found = {text: kept.get((text, pooling, fast)) for text in texts}
    missing = [text for text, rows in found.items() if rows is None or len(rows) <= top]
    done = len(found) - len(missing)
    if done:
        yield done / len(found)
    ids = dict(zip(missing, model.encode_many(missing), strict=True)) if missing else {}
    for batch in _batches(ids):
        with _one_batch:
            found |= {text: kept.get((text, pooling, fast)) for text in batch}
            left = [text for text in batch if found[text] is None or len(found[text]) <= top]
            states = _states([ids[text] for text in left], model, top, pooling, fast) if left else ()
            for text, rows in zip(left, states, strict=True):
                found[text] = rows.copy()  # a view would keep its whole batch in memory
                kept.put((text, pooling, fast), found[text])
        done += len(batch)
        yield done / len(found)
    return [found[text] for text in texts]


def _batches(ids: dict[str, tuple[int, ...]]) -> list[list[str]]:
    """The texts cut into batches of alike length, none with more than BATCH_SIZE rows or BATCH_TOKENS tokens."""
    batches: list[list[str]] = []
    for text in sorted(ids, key=lambda text: len(ids[text])):
        if not batches or len(batches[-1]) >= min(BATCH_SIZE, BATCH_TOKENS // len(ids[text])):
            batches.append([])
        batches[-1].append(text)
    return batches


@torch.inference_mode()
def _states(ids: list[tuple[int, ...]], model: Explorer, top: int, pooling: str, fast: bool) -> np.ndarray:
    """[batch, top + 1, hidden] float32: the pooled vectors of hidden states 0 to `top`."""
    lengths = torch.tensor([len(row) for row in ids])
    real = torch.arange(int(lengths.max()))[None, :] < lengths[:, None]  # [batch, tokens]
    padded = torch.full(real.shape, model.tokenizer.pad_token_id)
    padded[real] = torch.tensor([token for row in ids for token in row])
    mask = None if bool(real.all()) else real[:, None, None, :]  # over [batch, heads, query, key]

    chosen = [1 + sum(row) % (len(row) - 2) if pooling == ANY_TOKEN else 0 for row in ids]  # position 0 is [CLS]

    def pool(hidden: torch.Tensor) -> torch.Tensor:  # [batch, tokens, hidden] -> [batch, hidden]
        hidden = hidden.float()
        if pooling == "mean":
            return (hidden * real[..., None]).sum(1) / lengths[:, None]
        return hidden[range(len(ids)), chosen]

    with torch.autocast("cpu", torch.bfloat16, enabled=fast):
        hidden = model.embed(padded, torch.tensor(0))  # [batch, tokens, hidden]
        pooled = [pool(hidden)]
        for layer in model.layers[:top]:
            hidden = layer(hidden, mask)
            pooled.append(pool(hidden))
    return torch.stack(pooled, dim=1).numpy()


@torch.inference_mode()
def _apply_pooler(model: Explorer, vectors: np.ndarray) -> np.ndarray:
    """The pooler's output [texts, hidden] for the [CLS] vectors [texts, hidden] of the last layer."""
    return model.pool(torch.from_numpy(vectors)[:, None]).numpy()
