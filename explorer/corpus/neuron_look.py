"""One neuron of a feed-forward block: its top-activating tokens, the words it promotes, and the neurons of a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.corpus.compute.neurons import PROMOTED, READ, CorpusNeurons, Scored, Telling, drivers, driving_pieces, firing_on
from explorer.corpus.hits import Active, hit_lines
from explorer.techniques.neurons import Promoted, find_promoted, find_promoting, piece_weights
from explorer.techniques.targets import piece_of
from explorer.text.corpora import Corpus
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.base import join_names, shorten
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, Why

LINES = 20  # top-activating tokens of a neuron
WORDS = 10  # promoted, and suppressed ones
NEURONS = 10  # found by a word
QUOTED = 3  # words of each kind in the finding
UNITS = (
    "Click a neuron to open it. Deviations: how far its mean activation at the word, in the first {} sentences with the word, is "
    "above that at all tokens, in standard deviations."
)


@dataclass(frozen=True)
class NeuronLook(Active):
    """The neuron, and the neurons found by a word."""

    active: float  # the share of tokens with an activation above 0
    promoted: Promoted | None  # None without a masked-LM head
    shared: tuple[int, int]  # the number of different top-activating words, and how many of these are among the most promoted
    median: float | None  # of the latter number, over all neurons of the layer; None for a neuron that a person chose
    word: str
    promoting: tuple[Scored, ...]
    driven: tuple[Scored, ...]
    problems: tuple[str, ...]

    def show(self, subject: Subject) -> Content:
        words, shown = self.promoted, super().show(subject)
        found = bool(self.driven or self.promoting)
        about = [
            str(shown["about"]),
            f"The activation is above 0 at {whole_percent(self.active)} of them.",
            "" if words else f"{subject.model.why_not('fill_mask')} So the words that its neurons promote are unknown.",
            UNITS.format(READ) if found else "",
        ]
        tables = {
            "promotes": words and _weigh("promotes", words.promotes),
            "suppresses": words and _weigh("suppresses", words.suppresses),
            "promoting": _table(subject, f"promote “{self.word}”", "weight", self.promoting),
            "driven": _table(subject, f"most active at “{self.word}”", "deviations", self.driven),
        }
        known = {name: table for name, table in tables.items() if table}
        problem = {"problem": " ".join(self.problems)} if self.problems else {}
        return {"hits": hit_lines(self, tagged=False), "about": " ".join(filter(None, about)), **known, **problem}

    def finding(self, subject: Subject) -> Finding | None:
        if not self.found.hits:
            return None
        text = f"{self.called.capitalize()} is most active at {_quote([hit.word.lower() for hit in self.found.hits])}"
        if self.promoted:
            different, among = self.shared
            pieces = f"of the {different} different words that drive it most, {among} {'is' if among == 1 else 'are'}"
            said = [piece for piece, _ in self.promoted.promotes]
            text += f", and promotes {_quote(said)}: {pieces} among the 100 that it promotes most"
        if self.median is not None:
            every = f"{subject.model.capabilities.neurons:,} neurons in this layer"
            text += f". No other of the {every} has more such words; the median is {self.median:g}"
        return Finding(f"{text}.", Why("inside-head", "The whole layer", {"layer": self.layer + 1}))


def look_at(model: Explorer, corpus: Corpus, every: CorpusNeurons, layer: int, chosen: Telling, by_word: str) -> NeuronLook:
    """The look of a neuron of a layer (both zero-based), and of the neurons of a word ('' for none)."""
    neuron, words, shared = chosen.neuron, None, (0, 0)
    if model.capabilities.fill_mask:
        words = find_promoted(model, layer, neuron, WORDS)
        most = piece_weights(model, layer, [neuron])[0].argsort()[-PROMOTED:]
        pieces = driving_pieces(model, every, layer, neuron)
        shared = len(pieces), len(pieces & set(most.tolist()))
    return NeuronLook(
        drivers(model, corpus, every, layer, neuron, LINES),
        LINES,
        "activation",
        layer,
        neuron,
        float(every.active[layer, neuron]),
        words,
        shared,
        chosen.median,
        shorten(by_word, 24),
        *_by_word(model, corpus, every, by_word),
        form=".2f",
    )


def _by_word(
    model: Explorer, corpus: Corpus, every: CorpusNeurons, word: str
) -> tuple[tuple[Scored, ...], tuple[Scored, ...], tuple[str, ...]]:
    """The neurons that promote the word most, those most active at it, and errors for what is not known."""
    most: tuple[Scored, ...] = ()
    driven: tuple[Scored, ...] = ()
    problems: list[str] = []
    if word and model.capabilities.fill_mask:
        try:
            most = find_promoting(model, piece_of(model, word)[0], NEURONS)
        except InputError as error:
            problems.append(str(error))
    if word:
        try:
            driven = firing_on(model, corpus, every, word, NEURONS)
        except InputError as error:
            problems.append(str(error))
    return most, driven, tuple(problems)


def _quote(words: Sequence[str]) -> str:
    """The first different words in quotes: '“a”, “b” and “c”'."""
    return join_names([f"“{word}”" for word in list(dict.fromkeys(words))[:QUOTED]])


def _weigh(title: str, words: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """Words with a bar for the size of their weight."""
    rows = [Row((word, abs(weight), weight)) for word, weight in words]
    return _bars(title, "weight", "+.2f", rows, f"Words that it {title} most")


def _table(subject: Subject, title: str, unit: str, scored: Sequence[Scored]) -> dict[str, Any] | None:
    """A table of neurons, which opens the one that is clicked; None without any."""
    each = subject.model.capabilities.neurons
    rows = [
        Row((f"layer {layer + 1} · {neuron + 1}", max(score, 0.0), score), layer * each + neuron)
        for layer, neuron, score in scored
    ]
    return _bars(title, unit, ".2f", rows, f"Neurons: {title}") if rows else None


def _bars(title: str, unit: str, form: str, rows: Sequence[Row], label: str) -> dict[str, Any]:
    columns = [Column(title, "name"), Column("", "bar", top=max(row.cells[1] for row in rows)), Column(unit, "number", form=form)]
    return strip_table(columns, rows, label, "neuron" if rows[0].token is not None else "")
