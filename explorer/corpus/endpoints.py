"""Endpoints for the model across many sentences."""

from typing import Any

import numpy as np

from explorer.api.callers import run_while_wanted
from explorer.bert.explorer import load
from explorer.core.limits import DRIVERS, HITS
from explorer.corpus.compute.atlas import head_atlas_in_steps
from explorer.corpus.compute.attention_sums import OFFSETS
from explorer.corpus.compute.neurons import corpus_neurons_in_steps, drivers
from explorer.corpus.compute.search import Hit, Query, search_in_steps
from explorer.techniques.neurons import find_promoted
from explorer.text import limits
from explorer.text.corpora import built_in


def corpus() -> dict[str, Any]:
    """The corpus that ships with the app: how many sentences and tokens (words and signs), its licence, tags and relations.

    Returns:
        `name`, `sentences`, `tokens`, `licence`, `tags`, `relations`.
    """
    found = built_in()
    return {
        "name": found.name,
        "sentences": len(found.sentences),
        "tokens": found.words,
        "licence": found.licence,
        "tags": found.tags,
        "relations": found.relations,
    }


def search(text_a: str, token: int, text_b: str = "", layer: int = -1, limit: int = 50, model: str = "") -> dict[str, Any]:
    """The tokens of the built-in corpus nearest to a token of the input, by cosine (-1 to 1) at a hidden state.

    0 is the embedding output, -1 the last layer. The summary counts the hits by part of speech, token and next word.

    Returns:
        `hits`: `sentence`, `token`, `position`, `cosine`, `tag`, `relation`; `summary`: how many of each `tag`, `token` and
        `next` word.
    """
    explorer = load(model)
    layer = limits.hidden_state_index(layer, explorer.capabilities.layers)
    limit = limits.check_integer(limit, "the limit", 1, HITS.most)
    trace = explorer.trace(text_a, text_b)
    token = limits.check_integer(token, "the token", 0, trace.kept - 1)
    found = run_while_wanted(search_in_steps(Query(trace, token, layer), built_in(), limit))
    hits = [_placed(hit) | {"cosine": hit.score, "tag": hit.tag, "relation": hit.relation} for hit in found.hits]
    return {"hits": hits, "summary": {name: found.counts(name) for name in ("tag", "token", "next")}}


def _placed(hit: Hit) -> dict[str, Any]:
    return {"sentence": hit.sentence.text, "token": hit.token, "position": hit.position}


def head_atlas(model: str = "") -> dict[str, Any]:
    """The average behavior of every head in the built-in corpus, layers and heads from 1; shares and weights are from 0 to 1.

    `offsets`: the mean weight on the token at that offset from the query (negative: before it); `cls` and `sep`: the mean weight
    on [CLS] and [SEP]. `relations`: the share of words whose strongest link is to their syntactic head, beside that of the best
    fixed offset (Clark et al. 2019, section 4), and `q`, the false discovery rate at which it differs from that, corrected for
    all heads, relations and directions. `family` names what similar heads do. `evidence`: the number of `tests`, how many heads
    beat the offset for some relation, how many when words take over each other's links, how many after correction (q at most
    0.05), and how many pass in one half of the sentences and hold in the other.

    Returns:
        `heads`: `layer`, `head`, `offsets` (by relative position, from "-8" to "8"), `cls`, `sep`, `relations`: by name `share`,
        `baseline`, `baseline_offset` and `q`; `family`. `evidence`: `tests`, `beating`, `permuted` (a number for every draw),
        `corrected`, `passing`, `holding`.
    """
    found = run_while_wanted(head_atlas_in_steps(load(model), built_in()))
    named, best = found.relations.tolist(), found.best
    usual = list(zip(found.baselines.tolist(), found.baseline_offsets.tolist(), strict=True))

    def describe(layer: int, head: int) -> dict[str, Any]:
        q = found.q[layer, head, found.shares[layer, head].argmax(axis=0), np.arange(len(named))]
        shares = zip(named, best[layer, head].tolist(), usual, q.tolist(), strict=True)
        return {
            "layer": layer + 1,
            "head": head + 1,
            "offsets": dict(zip(map(str, OFFSETS), found.offsets[layer, head].tolist(), strict=True)),
            "cls": float(found.cls[layer, head]),
            "sep": float(found.sep[layer, head]),
            "relations": {
                name: {"share": share, "baseline": baseline, "baseline_offset": offset, "q": q}
                for name, share, (baseline, offset), q in shares
            },
            "family": str(found.families[layer, head]),
        }

    evidence = {
        "tests": found.q.size,
        "beating": int(found.beating.sum()),
        "permuted": found.permuted.tolist(),
        "corrected": int(found.significant.any(axis=-1).sum()),
        "passing": int(found.halves[0]),
        "holding": int(found.halves[1]),
    }
    return {"heads": [describe(*place) for place in np.ndindex(*found.cls.shape)], "evidence": evidence}


def neuron(layer: int, neuron: int, limit: int = 20, model: str = "") -> dict[str, Any]:
    """The top-activating tokens of a feed-forward neuron in the built-in corpus, and the words that it promotes and suppresses.

    Layer and neuron count from 1. The activation is taken after the activation function; the weights are logits of the neuron's
    column of W₂ in the masked-LM head: a model without such a head has none, and `lacks` says why.

    Returns:
        `hits` (`sentence`, `token`, `position`, `activation`), `promotes` and `suppresses` (`token`, `weight`), `lacks` without a
        masked-LM head.
    """
    explorer = load(model)
    layer = limits.layer_index(layer, explorer.capabilities.layers)
    neuron = limits.check_integer(neuron, "the neuron", 1, explorer.capabilities.neurons) - 1
    limit = limits.check_integer(limit, "the limit", 1, DRIVERS.most)
    found = run_while_wanted(corpus_neurons_in_steps(explorer, built_in()))
    driving = drivers(explorer, built_in(), found, layer, neuron, limit)
    hits = [_placed(hit) | {"activation": hit.score} for hit in driving.hits]
    if lacks := explorer.why_not("fill_mask"):
        return {"hits": hits, "promotes": [], "suppresses": [], "lacks": lacks}
    words = find_promoted(explorer, layer, neuron, limit)
    ways = {"promotes": words.promotes, "suppresses": words.suppresses}
    return {"hits": hits} | {way: [{"token": piece, "weight": weight} for piece, weight in ways[way]] for way in ways}


ENDPOINTS = (corpus, search, head_atlas, neuron)
