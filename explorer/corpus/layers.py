"""Layers: what each hidden state contains about the words of a corpus, and how similar hidden states are."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from contextlib import suppress

from explorer.bert import checkpoints
from explorer.core.errors import ModelError
from explorer.corpus.compute.word_states import WordStates, word_states_in_steps
from explorer.corpus.layer_looks import similarity_in_steps
from explorer.corpus.layer_probe import RELATION, TAG, probe_in_steps
from explorer.corpus.source import CorpusView, Look, Untold
from explorer.text import limits
from explorer.ui.layout import col, row
from explorer.ui.settings import choice
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, button, chart, check, note, part, props, select, sentence

PROBE, SIMILARITY = "Probe", "Similarity"
MEASURES = [("what a probe reads", PROBE), ("similarity of layers (CKA)", SIMILARITY)]
THIS = ("this model itself", "")
WAITING = "Each hidden state is measured in turn; a probe is a small classifier that is trained on them. The picture follows."


class Layers(CorpusView):
    """Every hidden state over a whole corpus: a linear probe, or CKA (Kornblith et al. 2019; Song et al. 2012)."""

    name, question = "corpus/layers", "What does each layer know about words?"
    layout = (
        row("look_at", "probed", "compared"),
        row(col("picture", "stop", "progress", "about", "note", "check", width=2), col("by_class")),
    )
    look_at: str = choice(MEASURES, "Measure", menu=True, elem_classes="inline")
    probed: str = choice((TAG, RELATION), "Probe for", menu=True, when=lambda view: view.look_at == PROBE, elem_classes="inline")
    compared: str = choice(
        [THIS],
        "Compare with",
        menu=True,
        free=True,
        default="",
        when=lambda view: view.look_at == SIMILARITY,
        elem_classes="inline",
    )
    picture = chart("All hidden states", height=420, optional=True)
    stop = button("Stop", visible=False)
    progress = part("meter")
    about = sentence(classes="caption")
    check = check()
    note = note("Click a hidden state to choose it: the dotted line, or the outlined row, is at the chosen one.")
    by_class = part("bars", optional=True)

    def first(self, subject: Subject) -> Subject:
        return subject if subject.chosen.picked else subject.select(layer=subject.model.capabilities.layers, picked=False)

    def passes(self, subject: Subject) -> float:
        """The cost of reading the corpus, by two models if another one is compared."""
        both = 2 if self.look_at == SIMILARITY and (self.compared or "").strip() else 1
        return both * super().passes(subject)

    def result_key(self, subject: Subject) -> Hashable:
        """The cache key of the result: the model, the corpus, and what is computed; None without a corpus."""
        if self.corpus is None:
            return None
        own = self.probed if self.look_at == PROBE else self.compared
        if self.look_at == SIMILARITY:
            with suppress(ModelError):  # a missing model is reported by work()
                own = (other := self._other(subject)) and str(checkpoints.find(other))
        return self.name, str(subject.model.checkpoint), self.corpus.key, self.look_at, own

    def key(self, subject: Subject) -> Hashable:
        """The cache key of the content: that of the result, and the selected hidden state."""
        return self.corpus and (self.result_key(subject), subject.selection.layer)

    def waiting(self, subject: Subject) -> Content:
        """Keep the pictures if the new result is in memory; otherwise clear them, as they answer another question."""
        waiting = {**super().waiting(subject), "compared": props(choices=_models(subject))}
        if self.corpus and self.look_up(subject):
            return waiting | {"picture": props(), "by_class": props()}
        return {"about": WAITING, "check": None, **waiting}

    def work(self, subject: Subject) -> Generator[tuple[str, float], None, Look]:
        """Read the corpus, unless it was read before, and compute the result. Raises InputError and ModelError."""
        if found := self.look_up(subject):
            return found
        look: Look
        corpus, words = self.chosen, (yield from self._words(subject))
        if self.look_at == PROBE:
            look = yield from probe_in_steps(corpus, words, self.probed)
        else:
            try:
                other = self._other(subject)
            except ModelError as error:
                return Untold(str(error))
            there = (yield from self._words(subject.read_by(other))) if other else words
            look = yield from similarity_in_steps(corpus, words, there, other)
        return self.remember(subject, look)

    def draw(self, subject: Subject, found: Look) -> Content:
        return {**super().draw(subject, found), "compared": props(choices=_models(subject))}

    def on_picture(self, subject: Subject, index: object) -> Change:
        """Select another hidden state: a point of a line, or the row of a cell."""
        row = limits.check_cell(index)[0] if isinstance(index, list | tuple) else limits.check_place(index)
        return select(layer=min(row, subject.model.capabilities.layers))

    def _words(self, subject: Subject) -> Generator[tuple[str, float], None, WordStates]:
        return (yield from self.reading(word_states_in_steps(subject.model, self.chosen)))

    def _other(self, subject: Subject) -> str:
        """The other model, '' for none. Raises ModelError for one that is not on this machine."""
        name = subject.read_by(self.compared or "").model_name
        return "" if checkpoints.find(name) == subject.model.checkpoint else name


def _models(subject: Subject) -> list[tuple[str, str]]:
    """Models to compare: this model, and others that can be opened without a request."""
    return [THIS, *((name, name) for name in subject.other_models)]
