"""The corpus of the tab, and the base classes of its views."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from typing import Any, TypeVar

from explorer.core.cache import OnceCache, weight
from explorer.core.errors import InputError
from explorer.core.limits import RESULTS_MEGABYTES
from explorer.core.steps import map_steps
from explorer.corpus.compute.occurrences import Occurrence
from explorer.corpus.compute.search import InContext
from explorer.text import limits
from explorer.text.corpora import CORPUS_FILE_TYPES, Corpus, built_in, read_corpus
from explorer.ui.long_view import LongView
from explorer.ui.settings import choice, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, props

BUILT_IN, FILE = "Starter sentences", "A file of yours"
SENSES = ("light", "bank", "play", "it")  # words of several senses, some of which the corpus contains
CHOOSE = "Text, CSV or CoNLL-U…"
NO_FILE = "Choose a file: a sentence a line, a table with a column of texts, or a treebank in CoNLL-U."
BESIDE = 80  # characters of a sentence shown on each side of a word
PIECES = 1.3  # tokens per word, including [CLS] and [SEP] of each sentence
COMPUTED = ("strips", "bars", "chart", "ranking", "check")  # kinds of parts that are empty without a corpus

Found = TypeVar("Found")


def words_of_several_senses(corpus: Corpus) -> list[str]:
    """Those of SENSES that occur in a corpus more than once."""
    return [word for word in SENSES if corpus.share("token", word) * corpus.words > 1.5]


def senses_to_click(corpus: Corpus | None) -> Content:
    """The words of several senses as the part `senses`; nothing if the corpus contains none of them."""
    words = words_of_several_senses(corpus) if corpus else []
    return {"senses": {"label": "Words with several senses:", "chips": words}} if words else {}


def clicked_sense(corpus: Corpus, index: object) -> str:
    """The clicked word of several senses. Raises InputError."""
    words = words_of_several_senses(corpus)
    return words[limits.check_integer(index, "the word", 0, len(words) - 1)]


def _is_file(view: Any) -> bool:
    return view.source == FILE


class CorpusView(LongView):
    """The base of views of a corpus: the built-in one, or an uploaded one."""

    name, question = "corpus", ""
    source: str = choice((BUILT_IN, FILE), "Corpus", menu=True, elem_classes="inline")
    file: Corpus | None = upload(label=CHOOSE, types=CORPUS_FILE_TYPES, read=read_corpus, as_button=True, when=_is_file)

    @property
    def corpus(self) -> Corpus | None:
        """The corpus; None while there is no file."""
        return built_in() if self.source == BUILT_IN else self.file

    @property
    def chosen(self) -> Corpus:
        """The corpus. Raises InputError while there is no file."""
        if self.corpus is None:
            raise InputError(NO_FILE)
        return self.corpus

    def one_reading(self, subject: Subject) -> float:
        """The cost of reading the corpus once, in passes of the input. Raises InputError while there is no file."""
        return PIECES * self.chosen.words / subject.trace.kept

    def waiting(self, subject: Subject) -> Content:
        """Keep what is shown; without a file, a sentence asks for one."""
        if self.corpus:
            return {}
        nothing = {name: None for name, one in self.parts.items() if one.kind in COMPUTED and not one.optional}
        return {**nothing, "about": NO_FILE}

    def on_file(self, subject: Subject, file: Corpus | None) -> Change:
        """A file was uploaded. Raises InputError when it was removed."""
        if file is None:
            raise InputError(NO_FILE)
        return Change(settings={"source": FILE}, content={"file": props(label=f"{CHOOSE} ({file.name[:40]})")})


_found: OnceCache[Hashable, Any] = OnceCache(RESULTS_MEGABYTES.bytes, weight)


class LookUp(CorpusView):
    """The base of views that look something up in a corpus, with a cache of the results."""

    def passes(self, subject: Subject) -> float:
        """The cost of reading the corpus, in passes of the input; 0 if the result is cached."""
        corpus = self.corpus
        return 0 if corpus is None or self.looked_up(subject) else self.one_reading(subject)

    def looked_up(self, subject: Subject) -> Any | None:
        """The cached result, or None."""
        return None if self.corpus is None else _found.peek(self.kept_as(subject))

    def kept_as(self, subject: Subject) -> Hashable:
        """The cache key of the result, which may depend on less than what is shown."""
        return self.key(subject)

    def remember(self, subject: Subject, found: Found) -> Found:
        """Cache a result, and return it."""
        _found.put(self.kept_as(subject), found)
        return found

    def result(self, subject: Subject) -> Any:
        """The result, cached or computed now."""
        return self.looked_up(subject) or super().result(subject)

    def reading(self, steps: Generator[float, None, Found]) -> Generator[tuple[str, float], None, Found]:
        """Run the reading of the corpus, and yield its progress."""
        doing = f"Reading {len(self.chosen.sentences):,} sentences, once for this model"
        return (yield from map_steps(steps, lambda share: (f"{doing}: {share:.0%}", share)))


def cut(one: InContext | Occurrence) -> tuple[str, str]:
    """The text before a word and after it, cut to the nearest BESIDE characters."""
    before = one.before if len(one.before) <= BESIDE else f"…{one.before[-BESIDE:]}"
    after = one.after if len(one.after) <= BESIDE else f"{one.after[:BESIDE]}…"
    return before, after
