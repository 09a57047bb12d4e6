"""Short descriptions of the tags and relations of Universal Dependencies (universaldependencies.org, version 2)."""

TAGS = {
    "ADJ": "adjective",
    "ADP": "preposition",
    "ADV": "adverb",
    "AUX": "auxiliary",
    "CCONJ": "conjunction",
    "DET": "determiner",
    "INTJ": "interjection",
    "NOUN": "noun",
    "NUM": "number",
    "PART": "particle",
    "PRON": "pronoun",
    "PROPN": "name",
    "PUNCT": "punctuation",
    "SCONJ": "subordinator",
    "SYM": "symbol",
    "VERB": "verb",
    "X": "other",
}
RELATIONS = {
    "acl": "clause of a noun",
    "acl:relcl": "relative clause",
    "advcl": "adverbial clause",
    "advmod": "adverb",
    "amod": "adjective of a noun",
    "appos": "apposition",
    "aux": "auxiliary verb",
    "aux:pass": "passive auxiliary",
    "case": "preposition",
    "cc": "and, or, but",
    "ccomp": "clause as a complement",
    "clf": "classifier",
    "compound": "compound",
    "compound:prt": "particle of a verb",
    "conj": "second conjunct",
    "cop": "copula",
    "csubj": "clause as a subject",
    "dep": "unspecified",
    "det": "determiner",
    "discourse": "interjection",
    "dislocated": "dislocated element",
    "expl": "expletive",
    "fixed": "fixed expression",
    "flat": "part of a name",
    "goeswith": "rest of a split word",
    "iobj": "indirect object",
    "list": "item of a list",
    "mark": "begins a clause",
    "nmod": "noun of a noun",
    "nmod:poss": "possessor",
    "nsubj": "subject of a verb",
    "nsubj:pass": "passive subject",
    "nummod": "number",
    "obj": "object of a verb",
    "obl": "other noun of a verb",
    "orphan": "rest of an ellipsis",
    "parataxis": "loosely added clause",
    "punct": "punctuation",
    "root": "main word",
    "reparandum": "corrected in speech",
    "vocative": "who is addressed",
    "xcomp": "complement, no subject",
}


def meaning(relation: str) -> str:
    """The description of a relation, or that of its main type for a subtype without one; '' if unknown."""
    return RELATIONS.get(relation) or RELATIONS.get(relation.partition(":")[0], "")


def plain(name: str) -> str:
    """The description of a tag or a relation, 'passive subject' for nsubj:pass; the name itself if unknown."""
    return TAGS.get(name) or meaning(name) or name


def spelled(name: str) -> str:
    """A tag or a relation with its description, 'passive subject (nsubj:pass)'; the name alone if unknown."""
    told = plain(name)
    return f"{told} ({name})" if told != name else name
