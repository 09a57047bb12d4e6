"""Items from the corpus that comes with the app: sentences in which one of two words stands, which becomes the blank."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from explorer.core.errors import InputError
from explorer.experiments.compute.items import Item, check_items
from explorer.text import limits
from explorer.text.corpora import ROOT, CorpusSentence, built_in
from explorer.text.encoding import MASK

NOTHING, SUBJECT, GOVERNOR = MARKS = ("", "subject", "head")
LONGEST, MOST_WORDS = 20, 60  # words of a sentence, by default and at most
MOST_ITEMS = 500  # of a pair: those spread over the whole corpus, as many of each word as there are
NO_PAIR = "Write pairs of words, such as is/are, was/were: a sentence with one of them is an item, and the other is the foil."
PAIR = re.compile(r"([^\s/,]+)\s*/\s*([^\s/,]+)")
ODD = re.compile(r"[*|\[\]]")  # characters that mark words or divide cells where items are typed


def corpus_items(pairs: str, longest: int = LONGEST, mark: str = NOTHING) -> tuple[Item, ...]:
    """The sentences of the built-in corpus of at most `longest` words that have one word of a pair, as 'is/are, was/were'.

    The word is the blank's word, the other one of its pair the foil. `mark` puts stars around its "subject", or around the word
    it depends on ("head"), by the corpus's Universal Dependencies; sentences without it are left out. Raises InputError for
    words that are not a pair, and where fewer than two sentences are found.
    """
    foils = _foils(pairs)
    limits.check_integer(longest, "the longest sentence", 2, MOST_WORDS)
    limits.check_choice(mark, "what is marked", MARKS)
    sentences = [
        sentence for sentence in built_in().sentences if len(sentence.words) <= longest and not ODD.search(sentence.text)
    ]
    found = [item for sentence in sentences for item in _items(sentence, foils, mark)]
    if len(found) < 2:
        raise InputError(
            f"The corpus has {len(found)} such sentences of at most {longest} words; take more common words, or longer ones."
        )
    chosen = np.unique(np.linspace(0, len(found) - 1, min(MOST_ITEMS, len(found))).round().astype(int))
    return check_items([found[at] for at in chosen.tolist()])


def _foils(pairs: str) -> dict[str, str]:
    """The foil of each word. Raises InputError."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in pairs.split(","))):
        if (words := PAIR.fullmatch(part.lower())) is None or words[1] == words[2]:
            raise InputError(f"{part[:40]!r} is not a pair. Write two words with / between, as in is/are.")
        found |= {words[1]: words[2], words[2]: words[1]}
    if not found:
        raise InputError(NO_PAIR)
    return found


def _items(sentence: CorpusSentence, foils: dict[str, str], mark: str) -> Iterator[Item]:
    """The item of a sentence with exactly one of the words."""
    there = [at for at, word in enumerate(sentence.words) if word.lower() in foils]
    if len(there) != 1 or not sentence.starts:
        return
    word, places = sentence.words[there[0]].lower(), {there[0]: MASK}
    if mark:
        if (marked := _marked(sentence, there[0], mark)) is None:
            return
        places[marked] = f"*{sentence.words[marked]}*"
    text = sentence.text
    for place in sorted(places, reverse=True):
        start = sentence.starts[place]
        text = text[:start] + places[place] + text[start + len(sentence.words[place]) :]
    yield Item(text, "", word, foils[word])


def _marked(sentence: CorpusSentence, at: int, mark: str) -> int | None:
    """The word to mark, zero-based; None for none."""
    if not mark or not sentence.heads:
        return None
    if mark == GOVERNOR:
        return None if sentence.heads[at] == ROOT else sentence.heads[at]
    owners = [at, *([sentence.heads[at]] if sentence.relations[at].split(":")[0] in ("cop", "aux") else [])]  # of a subject
    pairs = enumerate(zip(sentence.heads, sentence.relations, strict=True))
    return next((word for word, (head, relation) in pairs if head in owners and relation.split(":")[0] == "nsubj"), None)
