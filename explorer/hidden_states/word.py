"""One word in many contexts: its contextual vectors, compared with a static one."""

import csv
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.projection import LayerMaps, MapSettings, principal_components
from explorer.analysis.similarity import Agreement, Nearest, cosines
from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.core.limits import COMPARED
from explorer.core.paths import EXAMPLES
from explorer.hidden_states.compute import anisotropy, find_word, repeated_words, self_similarity, within_and_between
from explorer.hidden_states.layers import layer_name
from explorer.text.limits import check_place, check_texts
from explorer.text.lines import around, read_lines
from explorer.ui.layout import col, row
from explorer.ui.pictures.state_lines import context_lines
from explorer.ui.pictures.text_map import Frame, TextMap, draw_map
from explorer.ui.settings import choice, text
from explorer.ui.subject import Subject
from explorer.ui.telling import share_with_interval
from explorer.ui.view import Change, Content, Finding, View, caption, chart, heading, part, props, prose, select, sentence

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

    def describe_nearest(self, layer: int) -> str:
        """How many uses have a nearest neighbour of their own sense in a hidden state, with the interval of that share."""
        name, number = f"Hidden state {layer} of {len(self.vectors) - 1}", len(self.texts)
        if len(set(self.senses)) < 2:
            return name
        right = round(Nearest.of(self.vectors[layer]).agree(self.senses))
        return f"{name}: {right} of {number} nearest to their own sense ({share_with_interval(right, number)})"


@functools.cache
def senses() -> dict[str, str]:
    """Built-in examples: for each word its sentences, one per line, with the sense after a |."""
    with (EXAMPLES / "senses.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    words = dict.fromkeys(row["word"] for row in rows)
    return {w: "\n".join(f"{row['text']} | {row['label']}" for row in rows if row["word"] == w) for w in words}


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
    """The similarity of a word's vectors across its contexts, layer by layer, and a map of them."""

    name, question = "hidden/word", "How much does context change a word's vector?"
    layout = (row(col("map", "source", "word", "about", width=4), col("title", "lines", "help", width=3)),)
    source: str = choice([*senses(), ABOVE], "Sentences", default=FIRST, menu=True, elem_classes="inline")
    word: str = choice([FIRST], "Word", menu=True, free=True, elem_classes="inline")
    title = heading("**Similarity of the word's vectors**, by layer")
    lines = chart("Cosine between the contexts, by layer", height=380)
    help = caption(
        "The mean cosine between the word's vectors in its contexts, at every hidden state. With senses, one line is for "
        "contexts of one sense, another for contexts of two. Where these lines part, the model distinguishes the senses. A "
        "static vector would be the same in all sentences: the flat line at 1. Controls are other words that occur in several "
        "of the sentences."
    )
    map = part("text_map", height=380)
    about = prose(classes="caption", answer=True)
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
            choices = props(choices=comparable_words(subject.model, texts))
            problem = {"text": str(error), "kind": "error"}
            return {"word": choices, "lines": None, "map": None, "about": "", "problem": problem}
        return {
            "word": props(choices=comparable_words(subject.model, texts), value=found.word),
            "lines": self._lines(subject, found, texts),
            "map": _map(found, subject.selection.layer),
            "about": _about(subject, found),
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
            alike = self_similarity(contexts.vectors)[[0, at]]
            where = f"before any layer and of {alike[1]:.2f} in {layer_name(at)}"
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
        first = self.source if self.source in words else next(iter(words), "")
        return contexts_of(subject.model, texts, labels, self.word or first)

    def _lines(self, subject: Subject, contexts: Contexts, texts: list[str]) -> object:
        word, random = contexts.word, anisotropy(subject.model)
        within, between = within_and_between(contexts.vectors, contexts.senses)
        controls: list[tuple[str, np.ndarray]] = []
        as_read = subject.model.as_read
        for other in repeated_words(texts, as_read):
            if other != as_read(word.strip()).casefold() and len(controls) < MOST_CONTROLS:
                same = contexts_of(subject.model, texts, [""] * len(texts), other)
                controls.append((other, self_similarity(same.vectors)))
        if np.isnan(between).all():
            named = [(f"‘{word}’", within)]
        else:
            named = [(f"‘{word}’, two senses", between), (f"‘{word}’, one sense", within)]
        named = [line for line in named if not np.isnan(line[1]).any()]
        return context_lines(named, word, controls, random)


def _map(contexts: Contexts, at: int) -> dict[str, Any]:
    """The uses of the word as points that glide through the layers, each written with what is around it."""
    maps, senses = LayerMaps(contexts.vectors, MapSettings()), list(dict.fromkeys(contexts.senses))
    places = [maps.at(layer).points for layer in range(len(contexts.vectors))]
    drawn = TextMap(
        texts=contexts.uses,
        contexts=contexts.around,
        places=places[at],
        labels=[senses.index(sense) for sense in contexts.senses],
        classes=senses,
        notes=contexts.texts,
        even=True,
        hulls=len(senses) if len(senses) > 1 else 0,
        frames=[Frame(contexts.describe_nearest(layer), where) for layer, where in enumerate(places)],
        frame=at,
        glides=True,
    )
    return draw_map(drawn, f"A map of {len(contexts.texts)} uses of a word, one point per use, in {layer_name(at)}.")


def _about(subject: Subject, contexts: Contexts) -> str:
    at = subject.selection.layer
    vectors = contexts.vectors[at]
    share = float(principal_components(vectors, 2)[1].sum())
    alike = self_similarity(vectors[None])[0]
    random = anisotropy(subject.model)[at]
    lead = f"One point per sentence, in {layer_name(at)}: the two directions of most variance hold {share:.0%} of it. "
    if len(vectors) == 2:
        lead += f"The cosine between the two is {cosines(vectors[0], vectors[1]):.2f}. "
    return lead + (
        f"Self-similarity {alike:.2f} (mean cosine of the contexts), minus the {random:.2f} of random tokens: "
        f"**{alike - random:.2f}** (Ethayarajh 2019)."
    )
