"""What the model does across many sentences."""

from typing import Any

from explorer.api.arguments import explorer_for
from explorer.api.callers import while_wanted
from explorer.base.limits import HITS
from explorer.text import limits
from explorer.text.corpus import built_in


def corpus() -> dict[str, Any]:
    """The corpus that ships with the app: its sentences and tokens (words and signs) counted, its licence, tags and relations."""
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
    """The tokens of the built-in corpus that are nearest to one of the input, by cosine (-1 to 1) at a hidden state.

    0 is the embedding output, -1 the last layer. The summary counts the hits by part of speech, token and next word.
    """
    from explorer.corpus.search import Query, search_in_steps

    explorer = explorer_for(model)
    layer = limits.hidden_state_index(layer, explorer.capabilities.layers)
    limit = limits.check_integer(limit, "the limit", 1, HITS.most)
    trace = explorer.trace(text_a, text_b)
    token = limits.check_integer(token, "the token", 0, trace.kept - 1)
    found = while_wanted(search_in_steps(Query(trace, token, layer), built_in(), limit))
    told = ("token", "position", "cosine", "tag", "relation")
    hits = [{"sentence": hit.sentence.text} | {name: getattr(hit, name) for name in told} for hit in found.hits]
    return {"hits": hits, "summary": {name: found.counts(name) for name in ("tag", "token", "next")}}


ENDPOINTS = (corpus, search)
