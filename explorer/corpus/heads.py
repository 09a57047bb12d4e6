"""Heads and neurons: the atlas of heads, and what drives a neuron, across a corpus."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from typing import Any

from explorer.core.cache import OnceCache
from explorer.core.limits import QUERY
from explorer.core.steps import map_steps
from explorer.corpus import atlas_words
from explorer.corpus.atlas_look import AtlasLook
from explorer.corpus.compute.atlas import head_atlas_in_steps, known_atlas, mapped_in_steps
from explorer.corpus.compute.atlas_evidence import LEVEL
from explorer.corpus.compute.head_families import FAMILY_RULE
from explorer.corpus.compute.neurons import CorpusNeurons, Telling, corpus_neurons_in_steps, find_telling_in_steps
from explorer.corpus.neuron_look import look_at
from explorer.corpus.source import CorpusView, Look
from explorer.text import limits
from explorer.ui.layout import col, row
from explorer.ui.settings import choice, number, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, button, caption, chart, check, note, part, select, sentence

HEAD, NEURON = "Head", "Neuron"
HOW = ("help", "neurons", "check")  # how the pictures are made
COST = 1.5  # of an atlas, relative to forward passes alone

_telling: OnceCache[Hashable, Telling] = OnceCache(64)


def _is_neuron(view: Any) -> bool:
    return view.unit == NEURON


class Heads(CorpusView):
    """The habits of every head, or one neuron, with the sentences in which they are strongest."""

    name, question = "corpus/heads", "What does a head or neuron do?"
    layout = (
        row("unit", "neuron", "by_word"),
        row(
            col("grid", "map", "tags", "promotes", "suppresses", "problem", "promoting", "driven", width=5),
            col("habit", "hits", "stop", "progress", "note", "links", "tree", "about", "offsets", "relations", *HOW, width=6),
        ),
    )
    unit: str = choice((HEAD, NEURON), "Show", menu=True, elem_classes="inline")
    neuron: int = number(
        0,
        "Neuron (0: the app chooses)",
        low=0,
        high=lambda model: model.neurons,
        box=True,
        heard="submit",
        when=_is_neuron,
        elem_classes="inline",
    )
    by_word: str = text(
        "",
        "Find neurons by word",
        limit=QUERY,
        heard="submit",
        placeholder="A word, then Enter",
        max_lines=1,
        when=_is_neuron,
        elem_classes="inline",
    )
    grid = part("head_grid", marks=True, optional=True)
    map = part("text_map", height=380, optional=True)
    tags = chart("From part of speech to part of speech", height=400, optional=True)
    promotes = part("strips", height=290, optional=True)
    suppresses = part("strips", height=290, optional=True)
    problem = sentence(optional=True)
    promoting = part("strips", height=290, optional=True)
    driven = part("strips", height=290, optional=True)
    habit = sentence(answer=True, optional=True)
    hits = part("strips", height=240)
    stop = button("Stop", visible=False)
    progress = part("meter")
    about = sentence(classes="caption")
    check = check()
    note = note("Click a word: its sentence becomes the input.")
    tree = chart("Parse tree and head", height=340, optional=True)
    links = sentence(classes="caption", optional=True)
    offsets = chart("Mean weight by relative position", height=240, optional=True)
    relations = part("strips", height=320, sortable=True, optional=True)
    help = caption(
        "Each picture is a head's mean weight by relative position, with [CLS] and [SEP] at the edges. The bar below has the "
        f"colour of its family: clusters of similar profiles (Ward 1963), named after their mean. {FAMILY_RULE}. The map shows "
        "the same profiles by UMAP. Relations: the share of words whose strongest link is their syntactic head, beside the "
        "best fixed offset (Clark et al. 2019, section 4). Bold relations are better by sign-flip tests over sentences, "
        f"corrected for all heads, relations and directions (Benjamini and Hochberg 1995, q at most {LEVEL * 100:.0f}%). "
        "The 95% intervals (Wilson 1927) treat words as independent and are too narrow. In the tree, arcs on the left come "
        "with the corpus (Universal Dependencies, version 2), and the model never reads them. Arcs on the right are the "
        "strongest links of the head. Coloured arcs are in both."
    )
    neurons = caption(
        "A neuron is active where a token's vector fits its row of W₁. It then adds its column *w* of W₂ to that vector (Geva et "
        "al. 2021). The promoted words are that column, read by the masked-LM head as a hidden state: "
        "½ (head(LayerNorm(*w*)) − head(LayerNorm(−*w*))), in logits. They come from the weights alone: *Inside a head*, *The "
        "whole layer* shows how much an answer changes without the neuron."
    )

    def first(self, subject: Subject) -> Subject:
        """Select the head that follows a relation best, or the last layer but one, where neurons are clearest."""
        if subject.chosen.picked:
            return subject
        if self.unit == NEURON:
            return subject.select(layer=max(1, subject.model.capabilities.layers - 1), picked=False)
        found = self.look_up(subject)
        best = found and atlas_words.best_of(found.atlas)
        return subject.select(layer=best[0] + 1, head=best[1] + 1, picked=False) if best else subject

    def passes(self, subject: Subject) -> float:
        return (1 if self.unit == NEURON else COST) * super().passes(subject)

    def key(self, subject: Subject) -> Hashable:
        """The cache key, for a neuron with the layer; None without a corpus."""
        if self.corpus is None:
            return None
        own = (subject.selection.attention_layer, self.neuron, self.by_word.strip()) if self.unit == NEURON else ()
        return self.name, str(subject.model.checkpoint), self.unit, own, self.corpus.key

    def look_up(self, subject: Subject) -> Any | None:
        """The atlas if it is in memory or ships with the app, and has its map; or the cached neuron."""
        if self.unit == NEURON or self.corpus is None:
            return super().look_up(subject)
        found = known_atlas(subject.model, self.corpus)
        return AtlasLook(self.corpus, found) if found is not None and len(found.points) else None

    def work(self, subject: Subject) -> Generator[tuple[str, float | None], None, Look]:
        """Read the corpus, unless it was read before. Raises InputError."""
        model, corpus = subject.model, self.chosen
        if self.unit == HEAD:
            atlas = yield from self.reading(head_atlas_in_steps(model, corpus))
            mapping = mapped_in_steps(model, corpus, atlas)
            return AtlasLook(corpus, (yield from map_steps(mapping, lambda share: ("Drawing the map of the heads.", share))))
        every = yield from self.reading(corpus_neurons_in_steps(model, corpus))
        layer = subject.selection.attention_layer
        chosen = Telling(self.neuron - 1, None) if self.neuron else (yield from self._telling(subject, every, layer))
        return self.remember(subject, look_at(model, corpus, every, layer, chosen, self.by_word.strip()))

    def on_grid(self, subject: Subject, index: list[int]) -> Change:
        """Select another head: [layer, head], zero-based."""
        layer, head = limits.check_cell(index)
        return select(layer=layer + 1, head=head + 1)

    def on_map(self, subject: Subject, index: object) -> Change:
        """Select another head by its index among all, layer by layer."""
        layer, head = divmod(limits.check_place(index), subject.model.capabilities.heads)
        return select(layer=layer + 1, head=head + 1)

    def on_promoting(self, subject: Subject, index: object) -> Change:
        """Open a neuron by its index among all, layer by layer."""
        has = subject.model.capabilities
        layer, neuron = divmod(limits.check_integer(index, "the neuron", 0, has.layers * has.neurons - 1), has.neurons)
        return Change({"layer": layer + 1}, {"neuron": neuron + 1})

    on_driven = on_promoting

    def _telling(self, subject: Subject, every: CorpusNeurons, layer: int) -> Generator[tuple[str, float], None, Telling]:
        """The neuron of a layer that the view opens with."""
        key = str(subject.model.checkpoint), self.chosen.key, layer
        if (known := _telling.peek(key)) is None:
            steps = find_telling_in_steps(subject.model, every, layer)
            known = yield from map_steps(steps, lambda share: (f"Looking for a telling neuron: {share:.0%}", share))
            _telling.put(key, known)
        return known
