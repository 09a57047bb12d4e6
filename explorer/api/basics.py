"""One endpoint for every part of the model."""

from typing import Any

from explorer.analysis.projection import METHODS, MapSettings, project
from explorer.api.arguments import explorer_for, masks_of
from explorer.model import checkpoints
from explorer.model.explorer import loaded
from explorer.model.families import ANSWER, LABELS, TAGS
from explorer.model.features import features
from explorer.techniques import own_head as head
from explorer.text import limits

MOST_ANSWERS = 5


def models() -> dict[str, Any]:
    """The default model and the loaded models of the Hub, with their capabilities; models that visitors trained are not listed.

    Returns:
        `default`, and `models` with `name`, `layers`, `heads`, `hidden_size`, `vocab_size`, `parameters`, `fill_mask`,
        `next_sentence`, `segments`.
    """
    default = explorer_for("")
    known = [model for model in loaded() if model.from_hub or model.name == checkpoints.BUNDLED]
    every = {model.name: model.capabilities for model in [default, *known]}
    fields = ("layers", "heads", "hidden_size", "vocab_size", "parameters", "fill_mask", "next_sentence", "segments")
    return {
        "default": default.name,
        "models": [{"name": name} | {field: getattr(each, field) for field in fields} for name, each in every.items()],
    }


def tokens(text_a: str, text_b: str = "", model: str = "") -> dict[str, Any]:
    """The input as the model reads it; offsets are characters [start, end) of the text each token came from.

    Returns:
        `tokens`, `ids`, `segments`, `positions`, `attention_mask`, `offsets`, `kept`, `total`.
    """
    encoding = explorer_for(model).encode(text_a, text_b)
    lists = {name: list(getattr(encoding, name)) for name in ("tokens", "ids", "segments", "positions", "attention_mask")}
    return lists | {"offsets": [list(span) for span in encoding.offsets], "kept": encoding.kept, "total": encoding.total}


def attention(text_a: str, text_b: str = "", layer: int = 1, head: int = 1, model: str = "") -> dict[str, Any]:
    """The attention weights of one head: one row per query token, each summing to 1.

    Returns:
        `tokens`, `weights` (one row a query).
    """
    explorer = explorer_for(model)
    capabilities = explorer.capabilities
    layer, head = limits.layer_index(layer, capabilities.layers), limits.head_index(head, capabilities.heads)
    trace = explorer.trace(text_a, text_b)
    return {"tokens": list(trace.tokens), "weights": trace.attention(layer)[head].tolist()}


def hidden_states(text_a: str, text_b: str = "", layer: int = 1, model: str = "") -> dict[str, Any]:
    """The vector of every token after a layer; 0 is the embedding output, -1 the last layer.

    Returns:
        `tokens`, `vectors`.
    """
    explorer = explorer_for(model)
    index = limits.hidden_state_index(layer, explorer.capabilities.layers)
    trace = explorer.trace(text_a, text_b)
    return {"tokens": list(trace.tokens), "vectors": trace.hidden_states[index].tolist()}


def fill_mask(text: str, text_b: str = "", top_k: int = 5, model: str = "") -> dict[str, Any]:
    """The best guesses for every [MASK], with probabilities over the whole vocabulary.

    Returns:
        `masks`: `position`, `candidates` with `token`, `id`, `probability`.
    """
    return {"masks": masks_of(explorer_for(model).fill_mask(text, text_b, top_k))}


def next_sentence(text_a: str, text_b: str, model: str = "") -> dict[str, Any]:
    """The probability that B is the sentence after A, and that it is not.

    Returns:
        `is_next`, `not_next` (of ALBERT: in order, swapped).
    """
    answer = explorer_for(model).next_sentence(text_a, text_b)
    return {"is_next": answer.is_next, "not_next": answer.not_next}


def own_head(text_a: str, text_b: str = "", model: str = "") -> dict[str, Any]:
    """The output of a fine-tuned checkpoint's own head: the share of each label, the tag of each token, or the best answers in B.

    For a discriminator, how likely each piece was replaced. Shares are from 0 to 1; a regression gives its number.

    Returns:
        `task`, `tokens`, `labels` and `shares`: of every label, of every token's tag, of the best answers in B, or of every piece
        having been replaced.
    """
    explorer = explorer_for(model)
    explorer.require("own_head")
    trace, task = explorer.trace(text_a, text_b), explorer.capabilities.own_head
    said: dict[str, Any] = {"task": task, "tokens": list(trace.tokens)}
    if task == LABELS:
        found = head.labels(trace)
        return said | {"labels": list(found.labels), "shares": found.shares.tolist()}
    if task == TAGS:
        tags, shares = head.tags(trace)
        return said | {"labels": [tags[place] for place in shares.argmax(-1)], "shares": shares.max(-1).tolist()}
    if task == ANSWER:
        spans = head.answers(trace, MOST_ANSWERS)
        return said | {"labels": [span.text for span in spans], "shares": [span.share for span in spans]}
    return said | {"labels": [], "shares": head.replaced(trace).tolist()}


def projection(
    texts: list[str],
    method: str = "pca",
    layer: int = -1,
    pooling: str = "mean",
    dimensions: int = 2,
    model: str = "",
    neighbors: int = 15,
    min_dist: float = 0.1,
    seed: int = 0,
) -> dict[str, Any]:
    """A point for every text: method "pca", "umap" or "tsne", pooling "cls", "mean" or "pooler", 2 or 3 dimensions.

    UMAP reads `neighbors` and `min_dist`; t-SNE's perplexity is a third of `neighbors`; both measure by cosine. The
    trustworthiness, 0 to 1, says how far neighbours on the map are neighbours by cosine, for every method (Venna & Kaski 2001).

    Returns:
        `points`, `explained_variance` (a share for each axis, or null for UMAP and t-SNE), `trustworthiness` (null below 3 texts,
        or when all are the same).
    """
    settings = MapSettings(
        method=limits.check_choice(method, "the method", METHODS),
        dimensions=limits.check_integer(dimensions, "the number of dimensions", 2, 3),
        neighbors=limits.check_integer(neighbors, "the number of neighbors", 2, 200),
        min_dist=limits.check_number(min_dist, "min_dist", 0, 0.99),
        seed=limits.check_integer(seed, "the seed", 0, 2**31 - 1),
    )
    found = project(features(explorer_for(model), texts, layer, pooling), settings)
    shares = None if found.explained_variance is None else found.explained_variance.tolist()
    return {"points": found.points.tolist(), "explained_variance": shares, "trustworthiness": found.trustworthiness}


ENDPOINTS = (models, tokens, attention, hidden_states, fill_mask, next_sentence, own_head, projection)
