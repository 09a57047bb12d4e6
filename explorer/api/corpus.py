"""What the model does across many sentences."""

from typing import Any

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


ENDPOINTS = (corpus,)
