"""Search and words: tokens of a corpus by meaning, by word, or by what a head or a neuron does."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from typing import Any

from explorer.analysis.projection import warm_umap
from explorer.core.errors import InputError
from explorer.core.limits import HITS, QUERY
from explorer.corpus.compute.neurons import corpus_neurons_in_steps, drivers
from explorer.corpus.compute.occurrences import occurrences_in_steps, usual_word
from explorer.corpus.compute.reading import is_read
from explorer.corpus.compute.search import Query, search_in_steps
from explorer.corpus.hits import Active, Nearest
from explorer.corpus.source import CorpusView, Look, words_of_several_senses
from explorer.corpus.uses import NAMES, uses_in_steps
from explorer.text import limits
from explorer.text.corpora import Corpus
from explorer.text.pieces import bare
from explorer.ui.layout import col, row
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.settings import choice, memory, number, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, NewInput, button, caption, check, note, part, read, sentence, settle

STATE, WORD, HEAD, NEURON = "Hidden state", "Word", "Head", "Neuron"
WAYS = [("meaning (hidden state)", STATE), ("word", WORD), ("output of a head", HEAD), ("activation of a neuron", NEURON)]
LISTED = 12  # sentences while the corpus is being read
DEPTH = 0.6  # share of the layers at which the page opens: there words differ more by meaning than by spelling


def check_picked(picked: object) -> int:
    """A valid index of an occurrence; the first for any other value."""
    return picked if type(picked) is int and picked >= 0 else 0


class Search(CorpusView):
    """Tokens of a corpus in their sentences, found in one of four ways, and what they have in common."""

    name, question = "corpus/search", "Which sentences are similar?"
    layout = (
        row("file", "column"),  # which all choices read
        row("compare", "word", "of_neuron", "senses"),
        row(col("hits", "stop", "progress", "about", "note", "help", "check", width=2), col("map", "common")),
    )
    compare: str = choice(WAYS, "Find by", menu=True, elem_classes="inline")
    word: str = text(
        "",
        "Word",
        limit=QUERY,
        heard="submit",
        placeholder="A word, then Enter",
        max_lines=1,
        when=lambda view: view.compare == WORD,
        elem_classes="inline",
    )
    of_neuron: int = number(
        1,
        "Neuron",
        low=1,
        high=lambda model: max(1, model.neurons),
        box=True,
        heard="submit",
        when=lambda view: view.compare == NEURON,
        elem_classes="inline",
    )
    senses = part("chips", optional=True)
    hits = part("strips", height=540)
    stop = button("Stop", visible=False)
    progress = part("meter")
    about = sentence(classes="caption")
    check = check()
    note = note("Click a word: its sentence becomes the input.")
    help = caption(
        "The bars are shares of the hits. By *meaning*: the cosine of the selected token's hidden state, or of a head's output "
        "for it, to that of every token of the corpus. By *word*: one point per occurrence, the mean of its pieces; click a "
        "point to sort the hits by their cosine to it. By *neuron*: its value after the activation function. Search after "
        "Hoover et al. 2020 (exBERT)."
    )
    common = part("bars", classes="long-names")
    map = part("text_map", height=360, optional=True)
    limit: int = number(50, "Hits", low=10, high=HITS.most, heard="release", more=True)
    map_by: str = choice([(name, key) for key, name in NAMES.items()], "Map", more=True, when=lambda view: view.compare == WORD)
    picked: int = memory(0, kept=check_picked)

    def first(self, subject: Subject) -> Subject:
        """Select a layer high enough for meaning to show, unless one was picked."""
        layers = subject.model.capabilities.layers
        return subject if subject.chosen.picked else subject.select(layer=max(1, round(DEPTH * layers)), picked=False)

    def passes(self, subject: Subject) -> float:
        """The cost of reading the corpus, in passes of the input; 0 if it was read already."""
        corpus, layer = self.corpus, self.query(subject).layer
        if corpus and self.compare in (STATE, HEAD, WORD) and is_read(subject.model, corpus, layer):
            return 0
        return super().passes(subject)

    def key(self, subject: Subject) -> Hashable:
        """The cache key of the hits; None without a corpus."""
        if self.corpus is None:
            return None
        query, chosen = self.query(subject), subject.selection
        asked: dict[str, tuple[Hashable, ...]] = {
            WORD: (chosen.layer, self._named(subject), self.map_by, self.picked),
            NEURON: (query.layer, self.of_neuron),
        }
        nearest = subject.text_a, subject.text_b, query.token, query.layer, query.head
        own = asked.get(self.compare, nearest)
        return self.name, str(subject.model.checkpoint), self.compare, own, self.limit, self.corpus.key

    def query(self, subject: Subject) -> Query:
        """The token and the space that are searched for; a neuron has the layer of the selected head."""
        chosen = subject.selection
        if self.compare in (HEAD, NEURON):
            return Query(subject.trace, subject.token, chosen.attention_layer, chosen.head_index)
        return Query(subject.trace, subject.token, chosen.layer)

    def work(self, subject: Subject) -> Generator[tuple[str, float], None, Look]:
        """Read the corpus, unless it was read before, and search it. Raises InputError."""
        return self.remember(subject, (yield from self._search(subject)))

    def _search(self, subject: Subject) -> Generator[tuple[str, float], None, Look]:
        model, corpus, query = subject.model, self.chosen, self.query(subject)
        if self.compare == WORD:
            of = yield from self.reading(occurrences_in_steps(model, corpus, self._named(subject), query.layer))
            place = min(self.picked, len(of.hits) - 1)
            return (yield from uses_in_steps(of, corpus, query.layer, self.map_by, place, self.limit))
        if self.compare == NEURON:
            every = yield from self.reading(corpus_neurons_in_steps(model, corpus))
            active = drivers(model, corpus, every, query.layer, self.of_neuron - 1, self.limit)
            return Active(active, self.limit, "activation", query.layer, self.of_neuron - 1, form=".2f")
        found = yield from self.reading(search_in_steps(query, corpus, self.limit))
        return Nearest(found, self.limit, "cosine", query)

    def waiting(self, subject: Subject) -> Content:
        """Until the corpus is read: sentences with the word itself, or if there are none the first ones."""
        shown, corpus = super().waiting(subject), self.corpus
        if corpus is None or not self.passes(subject):
            return shown
        word = self.word.strip() or bare(subject.trace.tokens[subject.token]).lower()
        try:
            rows = list(dict.fromkeys(row for row, _ in corpus.places(word, subject.model.as_searched)))
            listed = f"Sentences with “{word[:40]}” itself"
        except InputError:
            rows, listed = list(range(len(corpus.sentences))), "Some of the sentences"
        cells = [Row((corpus.texts[row], len(corpus.sentences[row].words))) for row in rows[:LISTED]]
        lines = strip_table([Column("sentence", "name"), Column("words", "number", form="d")], cells, "Sentences")
        begun = f"{listed}. Once all are read, the most similar come first."
        return {**shown, **self._senses(), "hits": lines, "common": None, "about": begun, "check": None}

    def draw(self, subject: Subject, found: Look) -> Content:
        return {**super().draw(subject, found), **self._senses()}

    def on_senses(self, subject: Subject, index: object) -> NewInput:
        """Make the first sentence with the word the input, and select the word. Raises InputError."""
        corpus, words = self.chosen, words_of_several_senses(self.chosen)
        place, at = corpus.places(words[limits.check_integer(index, "the word", 0, len(words) - 1)])[0]
        sentence = corpus.sentences[place]
        offsets = subject.model.encode(sentence.text).offsets
        starts = [token for token, span in enumerate(offsets) if span[1] > span[0] == sentence.starts[at]]
        return read(sentence.text, token=next(iter(starts), None))

    def on_map(self, subject: Subject, index: object) -> Change:
        return settle(picked=limits.check_place(index))

    def prepare(self) -> None:
        """Start to compile UMAP early, because its first map takes long."""
        if self.compare == WORD:
            warm_umap()

    def _senses(self) -> dict[str, Any]:
        """The words of several senses as the part `senses`; nothing if the corpus contains none of them."""
        by_token = self.compare in (STATE, HEAD) or (self.compare == WORD and not self.word)
        words = words_of_several_senses(self.corpus) if self.corpus and by_token else []
        return {"senses": {"label": "Words with several senses:", "chips": words}} if words else {}

    def _named(self, subject: Subject) -> str:
        """The word typed, else the selected one if it has several senses, else the first that does."""
        corpus: Corpus = self.chosen
        if word := self.word.strip().lower():
            return word
        several = words_of_several_senses(corpus)
        chosen = bare(subject.trace.tokens[subject.token]).lower()
        return chosen if chosen in several else next(iter(several), "") or usual_word(corpus)
