"""A corpus: many sentences, with parts of speech and syntax if the source has them. Plain data, without a model."""

import functools
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import LINES, MEGABYTE, TABLE_MEGABYTES
from explorer.core.paths import ASSETS
from explorer.text.characters import decode
from explorer.text.tagged import LINE_END, Sentence, is_conllu, layout_of, read_sentences

TAGGED_TYPES = (".conllu", ".conll", ".bio", ".iob")
BUILT_IN = "the English Web Treebank and plain ones of our own"
LICENCE = "CC BY-SA 4.0"


@dataclass(frozen=True)
class Corpus:
    """Sentences, of a corpus without repeats. `licence` is '' except for the built-in one; `about` says how a file was read."""

    name: str
    sentences: tuple[Sentence, ...]
    licence: str = ""
    about: str = ""

    @functools.cached_property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.sentences]

    @functools.cached_property
    def words(self) -> int:
        return sum(len(sentence.words) for sentence in self.sentences)

    @functools.cached_property
    def nbytes(self) -> int:
        """The bytes that it takes in memory, about, for caches: adding up its million of strings would take a second."""
        return sum(500 + 2 * len(sentence.text) + 200 * len(sentence.words) for sentence in self.sentences)

    @functools.cached_property
    def tags(self) -> list[str]:
        return sorted(self._counts["tag"])

    @functools.cached_property
    def relations(self) -> list[str]:
        return sorted(self._counts["relation"])

    def share(self, what: str, value: str) -> float:
        """The share of all words, 0 to 1, with this "tag" or "relation"; for any other `what`, the share of the word itself."""
        return self._counts[what if what in ("tag", "relation") else "word"][value] / max(1, self.words)

    @functools.cached_property
    def _counts(self) -> dict[str, Counter[str]]:
        return {
            "tag": Counter(chain.from_iterable(sentence.tags for sentence in self.sentences)),
            "relation": Counter(chain.from_iterable(sentence.relations for sentence in self.sentences)),
            "word": Counter(word.lower() for sentence in self.sentences for word in sentence.words),
        }

    @property
    def counted(self) -> str:
        """The number of sentences, the name and the licence if there is one: '800 sentences of ... (CC BY-SA 4.0)'."""
        licence = f" ({self.licence})" if self.licence else ""
        return f"{plural(len(self.sentences), 'sentence')} of {self.name}{licence}"

    @functools.cached_property
    def key(self) -> str:
        digest = hashlib.sha256()
        for sentence in self.sentences:
            digest.update(repr(sentence).encode())
        return digest.hexdigest()[:32]

    def places(self, word: str, searched: Callable[[str], str] = str.casefold) -> list[tuple[int, int]]:
        """The occurrences of a word, as `searched` writes it: (sentence, word), zero-based. Raises InputError for none."""
        wanted = searched(word.strip())
        words = ((row, at, own) for row, sentence in enumerate(self.sentences) for at, own in enumerate(sentence.words))
        found = [(row, at) for row, at, own in words if searched(own) == wanted]
        if not found:
            raise InputError(f"The word {word.strip()[:40]!r} does not occur in this corpus. Choose another word.")
        return found

    def __hash__(self) -> int:
        return hash(self.key)


@functools.cache
def built_in() -> Corpus:
    """The corpus that ships with the app, with parts of speech and syntax: see assets/corpus/README.md."""
    lines = (ASSETS / "corpus" / "sentences.conllu").read_text("utf-8").split("\n")
    return Corpus(BUILT_IN, tuple(read_sentences(lines)), LICENCE)


@apart
def read_tagged(path: Path) -> Corpus:
    """The sentences of a file in CoNLL-U or CoNLL, each word with a tag. Raises InputError naming the first invalid line."""
    TABLE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    text, encoding = decode(path.read_bytes())
    lines = LINE_END.split(text)
    LINES.check(len(lines))
    if not (found := Corpus(path.name, tuple(read_sentences(lines, tagged=True)))).sentences:
        raise InputError("The file is empty. Write one word and its tag per line, and a blank line between sentences.")
    how = "CoNLL-U (universal parts of speech)" if is_conllu(lines) else f"CoNLL (tags: column {layout_of(lines).tag + 1})"
    return replace(found, about=f"{len(found.sentences):,} sentences with {found.words:,} words, {how}, {encoding}.")


def plural(number: int, what: str) -> str:
    """'1 word' or '2,000 words'."""
    return f"{number:,} {what}{'s' * (number != 1)}"
