"""One word in many contexts: its contextual vectors, compared with a static one."""

import csv
import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.layer_maps import LayerMaps
from explorer.analysis.projection import MapSettings
from explorer.analysis.similarity import Agreement, Nearest, cosine_matrix, count_told_apart
from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.core.limits import COMPARED
from explorer.core.paths import EXAMPLES
from explorer.hidden_states.layers import anisotropy, layer_name
from explorer.text.limits import check_place, check_texts
from explorer.text.lines import around, read_lines
from explorer.ui.layout import col, row
from explorer.ui.pictures.maps import number_classes
from explorer.ui.pictures.state_lines import context_lines
from explorer.ui.pictures.text_map import Frame, TextMap, draw_map
from explorer.ui.settings import choice, text
from explorer.ui.subject import Subject
from explorer.ui.telling import share_with_interval
from explorer.ui.view import Change, Content, Finding, View, caption, chart, heading, part, props, select, sentence

ABOVE = "A and B above"
FIRST = "bank"
MOST_CONTROLS = 2
AROUND = 30  # letters of a use's sentence on each side


@dataclass(frozen=True)
class Contexts:
    """A word's vectors [layers + 1, contexts, hidden], with the text and the sense of each context.

    `uses` are the words as they are written there, `around` what comes before and after each.
    """

    word: str
    vectors: np.ndarray
    texts: list[str]
    senses: list[str]
    uses: list[str]
    around: list[tuple[str, str]]


@functools.cache
def senses() -> dict[str, str]:
    """Built-in examples: for each word its sentences, one per line, with the sense after a |."""
    with (EXAMPLES / "senses.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    words = dict.fromkeys(row["word"] for row in rows)
    return {w: "\n".join(f"{row['text']} | {row['label']}" for row in rows if row["word"] == w) for w in words}


def within_and_between(occurrences: np.ndarray, senses: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Two [layers + 1]: the mean cosine of a word's vectors in the same sense, and in different senses (Ethayarajh 2019).

    `occurrences` is [layers + 1, contexts, hidden], with one sense for each context; NaN where there are no such pairs.
    """
    named = np.array(list(senses))
    same, itself = named[:, None] == named[None, :], np.eye(len(named), dtype=bool)
    matrices = np.stack([cosine_matrix(vectors) for vectors in occurrences])  # [layers + 1, contexts, contexts]
    none = np.full(len(matrices), np.nan)
    within, between = (matrices[:, pairs].mean(axis=1) if pairs.any() else none for pairs in (same & ~itself, ~same))
    return within, between


def find_word(text: str, word: str, offsets: Sequence[tuple[int, int]], as_read: Callable[[str], str] = str) -> list[list[int]]:
    """The zero-based tokens of every occurrence of a whole word in the part of a text that is read, ignoring case.

    `offsets` are the characters [start, end) of each token of that text; other tokens have (0, 0). Both are compared letter by
    letter as a model reads them. Raises InputError for no word, and for a very long one.
    """
    wanted = unicodedata.normalize("NFC", word.strip()) if isinstance(word, str) else ""
    if not wanted or len(wanted) > 100:
        raise InputError("Give a word of at most 100 characters that occurs in the texts.")
    matches = re.finditer(rf"(?<!\w){re.escape(as_read(wanted))}(?!\w)", as_read(text), re.IGNORECASE)
    found = (
        [i for i, (start, end) in enumerate(offsets) if start < end and start < match.end() and end > match.start()]
        for match in matches
    )
    return [tokens for tokens in found if tokens]


def repeated_words(texts: Sequence[str], as_read: Callable[[str], str] = str) -> list[str]:
    """The words that occur at least twice in the texts as a model reads them, whatever their case, in order of occurrence."""
    counts = Counter(re.findall(r"[^\W_]+", as_read(" ".join(texts)).casefold()))
    return [word for word, count in counts.items() if count > 1]


def comparable_words(model: Explorer, texts: Sequence[str]) -> list[str]:
    """The words that occur at least twice, with those of one to three letters last."""
    return sorted(repeated_words(texts, model.as_read), key=lambda word: (len(word) < 4, len(word) < 3))


def contexts_of(model: Explorer, texts: Sequence[str], labels: Sequence[str], word: str) -> Contexts:
    """Every occurrence of the word in the texts, each text run alone. Raises InputError when there are fewer than two."""
    found = []
    for given, label in zip(texts, labels, strict=True):
        trace = model.trace(given)
        for tokens in find_word(given, word, trace.encoding.offsets, model.as_read):
            start, end = trace.encoding.offsets[tokens[0]][0], trace.encoding.offsets[tokens[-1]][1]
            vectors = trace.hidden_states[:, tokens].mean(axis=1)
            found.append((vectors, given, label, given[start:end], around(given, start, end, AROUND)))
    if len(found) < 2:
        raise InputError(f"The word {word.strip()[:40]!r} occurs fewer than twice here. Choose other sentences or another word.")
    vectors, *rest = map(list, zip(*found, strict=True))
    return Contexts(word, np.stack(vectors, axis=1), *rest)


class OneWord(View):
    name, question = "hidden/word", "How much does context change a word's vector?"
    layout = (row(col("map", "source", "word", width=4), col("title", "lines", "help", width=3)),)
    source: str = choice([*senses(), ABOVE], "Sentences", default=FIRST, menu=True, elem_classes="inline")
    word: str = choice([FIRST], "Word", menu=True, free=True, elem_classes="inline")
    title = heading("**Similarity of the word's vectors**, by layer")
    lines = chart("Cosine between the contexts, by layer", height=380)
    help = caption(
        "The mean cosine between the word's vectors in its contexts, at every hidden state. With senses, one line is for "
        "contexts of one sense, another for contexts of two. Where these lines part, the model distinguishes the senses. A "
        "static vector would be the flat line at 1. Controls are other words that occur in several of the sentences."
    )
    map = part("text_map", height=380)
    contexts: str = text(
        senses()[FIRST], "One per line: sentence\u00a0|\u00a0sense", lines=8, max_lines=8, when=lambda view: view.source != ABOVE
    )
    problem = sentence()

    def compute(self, subject: Subject) -> Content:
        texts: list[str] = []
        try:
            texts, _ = self.read_texts(subject)
            found = self.find(subject)
        except InputError as error:
            words = props(choices=comparable_words(subject.model, texts))
            return {"word": words, "lines": None, "map": None, "problem": {"text": str(error), "kind": "error"}}
        return {
            "word": props(choices=comparable_words(subject.model, texts), value=found.word),
            "lines": self._lines(subject, found, texts),
            "map": _map(found, subject.selection.layer),
            "problem": "",
        }

    def finding(self, subject: Subject) -> Finding | None:
        """How well the selected layer separates the senses of the word."""
        try:
            contexts = self.find(subject)
        except InputError:
            return None
        at, number, word = subject.selection.layer, len(contexts.texts), contexts.word
        if len(set(contexts.senses)) < 2:
            alike = within_and_between(contexts.vectors, contexts.senses)[0]
            where = f"before any layer and of {alike[at]:.2f} in {layer_name(at)}"
            return Finding(f"The vectors of “{word}” have a cosine of {alike[0]:.2f} {where}.")
        found = Agreement.of(Nearest.of(contexts.vectors[at]), contexts.senses)
        nearest = f"{found.right} of {number} uses of “{word}” lie nearest to their own sense"
        beside = f"by chance {found.shuffled:.1f} would (senses shuffled, p = {found.p:.3f})"
        return Finding(f"In {layer_name(at)}, {nearest}; {beside}.")

    def on_map_frame(self, subject: Subject, index: object) -> Change:
        return select(layer=check_place(index))

    def on_source(self, subject: Subject, source: str) -> Change:
        sentences = senses().get(source, self.contexts)
        box = props(value=sentences, visible=source != ABOVE)
        return Change(settings={"contexts": sentences, "word": ""}, content={"contexts": box})

    def read_texts(self, subject: Subject) -> tuple[list[str], list[str]]:
        """The sentences, and the sense of each. Raises InputError."""
        if self.source == ABOVE:
            texts = [given for given in (subject.text_a, subject.text_b) if given.strip()]
            return texts, [""] * len(texts)
        texts, labels = read_lines(self.contexts)
        return check_texts(texts, COMPARED), labels

    def find(self, subject: Subject) -> Contexts:
        """The contexts of the chosen word, or of the first that can be compared. Raises InputError."""
        texts, labels = self.read_texts(subject)
        words = comparable_words(subject.model, texts)
        word = self.word or (self.source if self.source in words else "".join(words[:1]))
        return contexts_of(subject.model, texts, labels, word)

    def _lines(self, subject: Subject, found: Contexts, texts: list[str]) -> object:
        """The word's own lines, in two senses and in one if there are several, beside those of other words."""
        model, word, unnamed = subject.model, found.word, [""] * len(texts)
        others = [other for other in repeated_words(texts, model.as_read) if other != model.as_read(word.strip()).casefold()]
        same = [contexts_of(model, texts, unnamed, other) for other in others[:MOST_CONTROLS]]
        controls = [(one.word, within_and_between(one.vectors, one.senses)[0]) for one in same]
        within, between = within_and_between(found.vectors, found.senses)
        is_one = np.isnan(between).all()
        lines = [(f"‘{word}’, two senses", between), (f"‘{word}’" if is_one else f"‘{word}’, one sense", within)]
        lines = [line for line in lines if not np.isnan(line[1]).any()]
        return context_lines(lines, word, controls, anisotropy(model))


def _map(contexts: Contexts, at: int) -> dict[str, Any]:
    """The uses of the word as points that glide through the layers, each written with what is around it."""
    maps, (labels, classes) = LayerMaps(contexts.vectors, MapSettings()), number_classes(contexts.senses)
    frames, number = [], len(contexts.texts)
    for layer, vectors in enumerate(contexts.vectors):
        text = f"Hidden state {layer} of {len(contexts.vectors) - 1}"
        if len(classes) > 1:
            right = count_told_apart(vectors, contexts.senses)
            text += f": {right} of {number} nearest to their own sense ({share_with_interval(right, number)})"
        frames.append(Frame(text, maps.at(layer).points))
    drawn = TextMap(
        texts=contexts.uses,
        contexts=contexts.around,
        places=maps.at(at).points,
        labels=labels,
        classes=classes,
        notes=contexts.texts,
        even=True,
        hulls=len(classes) if len(classes) > 1 else 0,
        frames=frames,
        frame=at,
        glides=True,
    )
    return draw_map(drawn, f"A map of {number} uses of a word, one point per use, in {layer_name(at)}.")
