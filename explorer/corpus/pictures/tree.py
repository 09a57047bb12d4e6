"""A parse tree as arcs beside the words, and on their other side the links of an attention head."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.text.corpora import ROOT, CorpusSentence
from explorer.text.dependencies import plain, spelled
from explorer.ui.pictures.stepped import Arrow, Box, Step, stepped

WIDTH, ROW, TOP = 400, 26, 24
WORDS, WORD = 196, 96  # where the words begin, and their width


@dataclass(frozen=True)
class Compared:
    """The links of a head beside the tree: for each word the one of its link, and the words whose link is in the tree.

    `forward`: a word's link is what it looks at; else what looks at it. -1 for none.
    """

    head: str
    linked: Sequence[int]
    right: Sequence[int]
    forward: bool
    told: str  # how many are right, in a sentence


def drawn_tree(one: CorpusSentence, compared: Compared) -> dict[str, Any]:
    """The drawing with its steps: the arcs of the tree at the left of the words, those of the head at the right."""
    alt = f"The parse tree of “{one.text}” as arcs from words to those that depend on them; at the right {compared.head}."
    boxes = [*_titles(compared.head), *_rows(one)]
    arrows = [*_tree(one), *_links(compared)]
    return stepped((WIDTH, TOP + ROW * len(one.words)), boxes, arrows, [*_walk(one), *_beside(one, compared)], alt)


def _titles(head: str) -> Iterator[Box]:
    yield Box("tree", 0, 0, WORDS, 18, "parse tree", "title")
    yield Box("head", WORDS + WORD - 10, 0, WIDTH - WORDS - WORD + 10, 18, head, "title")


def _rows(one: CorpusSentence) -> Iterator[Box]:
    for row, (word, relation) in enumerate(zip(one.words, one.relations, strict=True)):
        yield Box(f"is.{row}", 0, TOP + ROW * row, 116, 20, plain(relation), "note")
        yield Box(f"word.{row}", WORDS, TOP + ROW * row, WORD, 20, word, "word")


def _arc(name: str, start: int, end: int, count: int, side: int) -> Arrow:
    """An arc from a word to another, at the left of them (`side` −1) or at the right (1); the farther, the wider."""
    x = WORDS - 1 if side < 0 else WORDS + WORD + 1
    down = 3 if end > start else -3  # so that what leaves a word and what arrives there do not meet
    middles = [TOP + ROW * row + 10 for row in (start, end)]
    return Arrow(name, (x, middles[0] + down), (x, middles[1] - down), side * (12 + 56 * abs(end - start) / max(count - 1, 1)))


def _tree(one: CorpusSentence) -> Iterator[Arrow]:
    for word, head in enumerate(one.heads):
        if head != ROOT:
            yield _arc(f"tree.{word}", head, word, len(one.words), -1)


def _links(compared: Compared) -> Iterator[Arrow]:
    """From what is looked at to the word that looks, as what is taken goes."""
    for word, other in enumerate(compared.linked):
        if other >= 0:
            start, end = (other, word) if compared.forward else (word, other)
            yield _arc(f"link.{word}", start, end, len(compared.linked), 1)


def _walk(one: CorpusSentence) -> Iterator[Step]:
    """The whole tree, then each word."""
    arcs = [f"tree.{word}" for word, head in enumerate(one.heads) if head != ROOT]
    roots = [word for word, head in enumerate(one.heads) if head == ROOT]
    yield Step(
        f"“{one.words[roots[0]]}” is the main word. Every other word depends on one, its syntactic head, from which an arc leads "
        "to it. The tree comes with the corpus; the model never sees it.",
        [*arcs, *(f"word.{word}" for word in roots)],
        title="The tree",
    )
    for word, head in enumerate(one.heads):
        if head != ROOT:
            told = f"“{one.words[word]}” depends on “{one.words[head]}”: {spelled(one.relations[word])}."
            yield Step(told, [f"tree.{word}", f"word.{word}", f"word.{head}", f"is.{word}"])


def _beside(one: CorpusSentence, compared: Compared) -> Iterator[Step]:
    links = [f"link.{word}" for word, other in enumerate(compared.linked) if other >= 0]
    way = "from the one that it looks at most" if compared.forward else "to the one that looks at it most"
    yield Step(f"Now {compared.head}, which learned from plain text: an arc for each word, {way}.", links, title="The head")
    both = [name for word in compared.right for name in (f"tree.{word}", f"link.{word}", f"is.{word}")]
    yield Step(compared.told, both, title="Both")
