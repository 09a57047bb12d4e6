"""Short descriptions of the tags and relations of Universal Dependencies (universaldependencies.org, version 2)."""

from functools import cache

from explorer.core.paths import ASSETS


@cache
def _meanings() -> dict[str, str]:
    lines = (ASSETS / "corpus" / "dependencies.tsv").read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def meaning(name: str) -> str:
    """The description of a tag or relation, or that of its main type for a subtype without one; '' if unknown."""
    return _meanings().get(name) or _meanings().get(name.partition(":")[0], "")


def plain(name: str) -> str:
    """The description of a tag or a relation, 'passive subject' for nsubj:pass; the name itself if unknown."""
    return meaning(name) or name


def spell_out(name: str) -> str:
    """A tag or a relation with its description, 'passive subject (nsubj:pass)'; the name alone if unknown."""
    told = plain(name)
    return f"{told} ({name})" if told != name else name
