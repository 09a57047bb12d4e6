"""Neurons of the feed-forward blocks: their top-activating tokens in a corpus, and the words they promote."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.limits import QUERY
from explorer.core.steps import map_steps
from explorer.corpus.compute.neurons import (
    PROMOTED,
    READ,
    CorpusNeurons,
    Driver,
    Telling,
    activations_of,
    corpus_neurons_in_steps,
    drivers,
    driving_pieces,
    firing_on,
    telling_in_steps,
)
from explorer.corpus.source import LookUp, cut
from explorer.techniques.neurons import Promoted, piece_weights, promoted, promoting
from explorer.techniques.targets import piece_of
from explorer.text import limits
from explorer.text.corpora import Corpus
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.base import join_names, shorten
from explorer.ui.pictures.strip_table import Column, Row, in_context, strip_table
from explorer.ui.settings import number, text
from explorer.ui.subject import Subject
from explorer.ui.view import (
    Change,
    Content,
    Finding,
    NewInput,
    Why,
    button,
    caption,
    check,
    max_error,
    part,
    read,
    sentence,
    verdict,
)

LINES = 20  # top-activating tokens of a neuron
WORDS = 10  # promoted, and suppressed ones
NEURONS = 10  # found by a word
TOLERANCE = 1e-4  # of the largest activation: a batch adds up in another order
QUOTED = 3  # words of each kind in the finding

UNITS = (
    "Layer and neuron; click one to open it. Deviations: how far its mean activation at the word, in the first {} sentences that "
    "have it, is above that at all tokens, in standard deviations."
)

Scored = tuple[int, int, float]
"""A neuron as (layer, neuron), zero-based, with the weight by which it promotes a word, or its deviations at that word."""


@dataclass(frozen=True)
class Shown:
    """The neuron shown (zero-based), and the neurons found by a word."""

    layer: int
    neuron: int
    corpus: CorpusNeurons
    drivers: tuple[Driver, ...]
    promoted: Promoted | None  # None without a masked-LM head
    shared: tuple[int, int]  # the number of different top-activating words, and how many of these are among the most promoted
    median: float | None  # of the latter number, over all neurons of the layer; None for a neuron that a person chose
    promoting: tuple[Scored, ...] = ()
    driven: tuple[Scored, ...] = ()
    problems: tuple[str, ...] = ()


_telling: OnceCache[Hashable, Telling] = OnceCache(64)


class Neurons(LookUp):
    """The top-activating tokens of a neuron in their sentences, the words it promotes, and neurons found by a word."""

    name, question = "corpus/neurons", "What does a neuron wait for, and what does it say?"
    layout = (
        row(
            col("hits", "stop", "progress", "about", "help", "check", "problem", row("promoting", "driven"), "units", width=7),
            col("neuron", "by_word", "promotes", "suppresses", "lacks", width=4),
        ),
    )
    neuron: int = number(
        0,
        "Neuron (0: the page chooses)",
        low=0,
        high=lambda model: model.neurons,
        box=True,
        heard="submit",
        elem_classes="inline",
    )
    by_word: str = text(
        "",
        "Find neurons by word",
        limit=QUERY,
        heard="submit",
        placeholder="A word, then Enter",
        max_lines=1,
        elem_classes="inline",
    )
    hits = part("strips", height=545)
    stop = button("Stop", visible=False)
    progress = part("meter")
    about = sentence(classes="caption")
    help = caption(
        "Click a word: its sentence becomes the input. A neuron is active where a token's vector fits its row of W₁, and then "
        "adds its column *w* of W₂ to it (Geva et al. 2021). What it promotes is that column, read by the masked-LM head as a "
        "hidden state of its own: ½ (head(LayerNorm(*w*)) − head(LayerNorm(−*w*))), in logits. That is read off the weights: how "
        "much an answer changes without the neuron is another question (*Inside a head*, *The whole layer*), and the lower the "
        "layer, the less the one tells about the other. The view opens with the neuron of the layer for which both lists have "
        "most words in common, which is no typical one."
    )
    check = check()
    promotes = part("strips", height=300)
    suppresses = part("strips", height=300)
    lacks = sentence(classes="caption")
    problem = sentence()
    promoting = part("strips", height=300, optional=True)
    driven = part("strips", height=300, optional=True)
    units = sentence(classes="caption")

    def first(self, subject: Subject) -> Subject:
        """Select the last layer but one, where neurons best promote what activates them."""
        layers = subject.model.capabilities.layers
        return subject if subject.chosen.picked else subject.select(layer=max(1, layers - 1), picked=False)

    def key(self, subject: Subject) -> Hashable:
        """The cache key; None without a corpus."""
        if self.corpus is None:
            return None
        where = subject.selection.attention_layer, self.neuron, self.by_word.strip()
        return self.name, str(subject.model.checkpoint), *where, self.corpus.key

    def work(self, subject: Subject) -> Generator[tuple[str, float], None, Shown]:
        """Read the corpus, unless it was read before; look up the neuron, and those of the word. Raises InputError."""
        found = yield from self.reading(corpus_neurons_in_steps(subject.model, self.chosen))
        return self.remember(subject, (yield from self._look(subject, found)))

    def draw(self, subject: Subject, found: Shown) -> Content:
        words = found.promoted
        return {
            "hits": _lines(found.drivers),
            "about": self._about(subject, found),
            "check": _check(subject, self.chosen, found),
            "promotes": words and _weighed("promotes", words.promotes),
            "suppresses": words and _weighed("suppresses", words.suppresses),
            "lacks": "" if words else f"{subject.model.why_not('fill_mask')} So nobody can tell which words its neurons promote.",
            "problem": " ".join(found.problems),
            "units": UNITS.format(READ) if found.driven or found.promoting else "",
            "promoting": _table(subject, f"promote “{self._word}”", "weight", found.promoting),
            "driven": _table(subject, f"most active at “{self._word}”", "deviations", found.driven),
        }

    def finding(self, subject: Subject) -> Finding | None:
        if not (shown := self.looked_up(subject)) or not shown.drivers:
            return None
        driving = list(dict.fromkeys(driver.word.lower() for driver in shown.drivers))
        text = f"Neuron {shown.neuron + 1} of layer {shown.layer + 1} is most active at {_quoted(driving)}"
        if shown.promoted:
            different, among = shown.shared
            pieces = f"of the {different} different words that drive it most, {among} {'is' if among == 1 else 'are'}"
            said = [piece for piece, _ in shown.promoted.promotes]
            text += f", and promotes {_quoted(said)}: {pieces} among the 100 that it promotes most"
        if shown.median is not None:
            every = f"{subject.model.capabilities.neurons:,} in this layer"
            text += f". It is the one of {every} with the most such words; the median is {shown.median:g}"
        return Finding(f"{text}.", Why("inside-head", "The whole layer", {"layer": shown.layer + 1}))

    def on_hits(self, subject: Subject, index: object) -> NewInput:
        drivers = self.result(subject).drivers
        driver = drivers[limits.check_integer(index, "the hit", 0, len(drivers) - 1)]
        return read(driver.sentence.text, token=driver.position)

    def on_promoting(self, subject: Subject, index: object) -> Change:
        has = subject.model.capabilities
        at = limits.check_integer(index, "the neuron", 0, has.layers * has.neurons - 1)
        return Change({"layer": at // has.neurons + 1}, {"neuron": at % has.neurons + 1})

    on_driven = on_promoting

    def _look(self, subject: Subject, found: CorpusNeurons) -> Generator[tuple[str, float], None, Shown]:
        model, corpus, layer = subject.model, self.chosen, subject.selection.attention_layer
        neuron, median = self.neuron - 1, None
        if not self.neuron:
            key = str(model.checkpoint), corpus.key, layer
            if (known := _telling.peek(key)) is None:
                steps = telling_in_steps(model, found, layer)
                known = yield from map_steps(steps, lambda share: (f"Looking for a telling neuron: {share:.0%}", share))
                _telling.put(key, known)
            neuron, median = known
        words, shared = None, (0, 0)
        if model.capabilities.fill_mask:
            words = promoted(model, layer, neuron, WORDS)
            most = piece_weights(model, layer, [neuron])[0].argsort()[-PROMOTED:]
            pieces = driving_pieces(model, found, layer, neuron)
            shared = len(pieces), len(pieces & set(most.tolist()))
        driving = drivers(model, corpus, found, layer, neuron, LINES)
        return Shown(layer, neuron, found, driving, words, shared, median, *self._by_word(subject, found))

    def _by_word(self, subject: Subject, found: CorpusNeurons) -> tuple[tuple[Scored, ...], tuple[Scored, ...], tuple[str, ...]]:
        """The neurons that promote the word most, those most active at it, and errors for what is not known."""
        word, model, problems = self.by_word.strip(), subject.model, []
        most: tuple[Scored, ...] = ()
        driven: tuple[Scored, ...] = ()
        if not word:
            return most, driven, ()
        if model.capabilities.fill_mask:
            try:
                most = promoting(model, piece_of(model, word)[0], NEURONS)
            except InputError as error:
                problems.append(str(error))
        try:
            firing = firing_on(model, self.chosen, found, word, NEURONS)
            driven = tuple((driver.layer, driver.neuron, driver.deviations) for driver in firing)
        except InputError as error:
            problems.append(str(error))
        return most, driven, tuple(problems)

    @property
    def _word(self) -> str:
        return shorten(self.by_word.strip(), 24)

    def _about(self, subject: Subject, found: Shown) -> str:
        corpus, has = self.chosen, subject.model.capabilities
        active = whole_percent(float(found.corpus.active[found.layer, found.neuron]))
        neuron = f"neuron {found.neuron + 1} of layer {found.layer + 1} (of {has.neurons:,})"
        lead = f"The tokens at which {neuron} is most active, after the activation function,"
        lead += f" of {found.corpus.counted:,} in {corpus.counted}."
        return f"{lead} It is above 0 at {active} of them. {corpus.about}".rstrip()


def _quoted(words: Sequence[str]) -> str:
    """The first words in quotes: '“a”, “b” and “c”'."""
    return join_names([f"“{word}”" for word in words[:QUOTED]])


def _lines(drivers: Sequence[Driver]) -> dict[str, Any] | None:
    """A row per token, with the word in the middle."""
    if not drivers:
        return None
    columns = [*in_context("word"), Column("activation", "number", form=".2f")]
    rows = [Row(_cells(driver), index) for index, driver in enumerate(drivers)]
    return strip_table(columns, rows, "The tokens that drive the neuron most", "hit")


def _cells(driver: Driver) -> list[Any]:
    before, after = cut(driver)
    return [before, driver.word, after, driver.activation]


def _weighed(title: str, words: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """Words with a bar for the size of their weight."""
    top = max(abs(weight) for _, weight in words)
    columns = [Column(title, "name"), Column("", "bar", top=top), Column("weight", "number", form="+.2f")]
    return strip_table(columns, [Row((word, abs(weight), weight)) for word, weight in words], f"Words that it {title} most")


def _table(subject: Subject, title: str, unit: str, scored: Sequence[Scored]) -> dict[str, Any] | None:
    """A table of neurons, which opens the one that is clicked."""
    if not scored:
        return None
    columns = [
        Column(title, "name"),
        Column("", "bar", top=max(score for _, _, score in scored)),
        Column(unit, "number", form=".2f"),
    ]
    each = subject.model.capabilities.neurons
    named = [(f"layer {layer + 1} · {neuron + 1}", layer * each + neuron, score) for layer, neuron, score in scored]
    rows = [Row((name, max(score, 0.0), score), place) for name, place, score in named]
    return strip_table(columns, rows, f"Neurons: {title}", "neuron")


def _check(subject: Subject, corpus: Corpus, found: Shown) -> dict[str, str] | None:
    """Check the activation of every token shown, with its sentence read again."""
    if not found.drivers:
        return None
    shown = np.array([driver.activation for driver in found.drivers])
    error = float(np.abs(activations_of(subject.model, found.drivers, found.layer, found.neuron) - shown).max())
    what = f"read again, the {len(shown)} sentences shown give the same activations"
    right = error <= TOLERANCE * max(1.0, float(np.abs(shown).max()))
    return verdict(right, f"{what}, {max_error(error)}")
