"""The corpus of the tab, and the base classes of its views and of their results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from explorer.core.cache import OnceCache, weight
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, RESULTS_MEGABYTES
from explorer.core.scheduling import FETCHING
from explorer.core.steps import map_steps
from explorer.text import corpora
from explorer.text.characters import has_visible_characters
from explorer.text.corpora import TEXT_COLUMNS, Corpus, Source, built_in, table_of_text
from explorer.text.tables import Table
from explorer.training.columns import guess_columns
from explorer.training.hub_data import EXAMPLE, fetch_data_set
from explorer.ui.long_view import LongView
from explorer.ui.settings import choice, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, NewInput, props, runs_as

BUILT_IN, PASTED, FILE, HUB = "Starter sentences", "Pasted text", "Your files", "From the hub"
SENSES = ("light", "bank", "play", "it")  # words of several senses, some of which the corpus contains
CHOOSE = "Texts, CSV or CoNLL-U…"
NO_FILE = "Paste a text, choose files (texts, a table with a column of texts, a treebank in CoNLL-U), or name a data set."
PIECES = 1.3  # tokens per word, including [CLS] and [SEP] of each sentence
COMPUTED = ("strips", "bars", "chart", "check")  # kinds of parts that are empty without a corpus
OUTDATED = "The list belongs to an earlier search. Wait for the new one."

Found = TypeVar("Found")


def words_of_several_senses(corpus: Corpus) -> list[str]:
    """Those of SENSES that occur in a corpus more than once."""
    return [word for word in SENSES if corpus.share("token", word) * corpus.words > 1.5]


def text_column_of(table: Table) -> str:
    """The column of the texts, guessed as for examples to learn from."""
    return TEXT_COLUMNS[0] if table.columns == TEXT_COLUMNS else guess_columns(table).text


@lru_cache(maxsize=4)
def corpus_of(source: Source, column: str = "") -> Corpus:
    """The sentences of a source; of a table, of `column` or its column of texts. Raises InputError naming the first wrong row."""
    if isinstance(source, Corpus):
        return source
    column = column if column in source.columns else text_column_of(source)
    how = "split at line ends and final marks" if source.columns == TEXT_COLUMNS else f"column {column!r}"
    return corpora.corpus_from(source.name, corpora.sentences_of(source.column(column)), how)


class Look(ABC):
    """A result, and how a choice shows it for the page's selection."""

    @abstractmethod
    def show(self, subject: Subject) -> Content:
        """Pictures, tables and a sentence about them; what another result of the choice shows is left out."""

    def finding(self, subject: Subject) -> Finding | None:
        """The most telling fact."""
        return None

    def check(self, subject: Subject) -> dict[str, str] | None:
        """A check of the result by another computation."""
        return None

    def open(self, subject: Subject, index: object) -> NewInput:
        """The sentence of a listed hit as the input. Raises InputError."""
        raise InputError(OUTDATED)


@dataclass(frozen=True)
class Untold(Look):
    """A result that could not be computed, with the reason."""

    why: str

    def show(self, subject: Subject) -> Content:
        return {"about": self.why}


_found: OnceCache[Hashable, Any] = OnceCache(RESULTS_MEGABYTES.bytes, weight)


def _is_file(view: Any) -> bool:
    return view.source == FILE


def _has_columns(view: Any) -> bool:
    return view.source in (FILE, HUB) and isinstance(view.file, Table) and len(view.file.columns) > 1


class CorpusView(LongView):
    """The base of the views of a corpus: the built-in one or an uploaded one. Results are cached."""

    name, question = "corpus", ""
    source: str = choice((BUILT_IN, PASTED, FILE, HUB), "Corpus", menu=True, elem_classes="inline")
    file: Source | None = upload(
        label=CHOOSE,
        types=corpora.CORPUS_FILE_TYPES,
        read=corpora.read_sources,
        as_button=True,
        file_count="multiple",
        when=_is_file,
    )
    column: str = choice([], "Column", menu=True, free=True, default="", linked=False, when=_has_columns, elem_classes="inline")
    data_set: str = text(
        "",
        "Data set on the hub",
        heard="submit",
        max_lines=1,
        placeholder=f"{EXAMPLE}, then Enter",
        linked=False,
        when=lambda view: view.source == HUB,
        elem_classes="inline",
    )
    pasted: str = text(
        "",
        "Your text",
        limit=BOX_CHARACTERS,
        heard="submit blur",
        lines=3,
        max_lines=8,
        placeholder="Paste a text: the app splits it into sentences.",
        when=lambda view: view.source == PASTED,
    )

    @property
    def corpus(self) -> Corpus | None:
        """The corpus; None until a file is chosen."""
        if self.source == PASTED:
            return corpus_of(table_of_text(self.pasted, PASTED)) if has_visible_characters(self.pasted) else None
        if self.source == BUILT_IN:
            return built_in()
        fetched = self.file is not None and self.file.name == self.data_set.strip()
        return None if self.file is None or (self.source == HUB and not fetched) else corpus_of(self.file, self.column)

    @property
    def chosen(self) -> Corpus:
        """The corpus. Raises InputError until a file is chosen."""
        if self.corpus is None:
            raise InputError(NO_FILE)
        return self.corpus

    def passes(self, subject: Subject) -> float:
        """The cost of reading the corpus, in passes of the input; 0 if the result is cached."""
        corpus = self.corpus
        return 0 if corpus is None or self.look_up(subject) else PIECES * corpus.words / subject.trace.kept

    def look_up(self, subject: Subject) -> Any | None:
        """The cached result, or None."""
        return None if self.corpus is None else _found.peek(self.result_key(subject))

    def result_key(self, subject: Subject) -> Hashable:
        """The cache key of the result, which may depend on less than the content."""
        return self.key(subject)

    def remember(self, subject: Subject, found: Found) -> Found:
        """Cache a result, and return it."""
        _found.put(self.result_key(subject), found)
        return found

    def result(self, subject: Subject) -> Any:
        """The result, cached or computed now."""
        return self.look_up(subject) or super().result(subject)

    def draw(self, subject: Subject, found: Look) -> Content:
        return {"check": found.check(subject), **found.show(subject)}

    def finding(self, subject: Subject) -> Finding | None:
        found = self.look_up(subject)
        return found and found.finding(subject)

    def reading(self, steps: Generator[float, None, Found]) -> Generator[tuple[str, float], None, Found]:
        """Run the reading of the corpus, and yield its progress."""
        doing = f"Reading {len(self.chosen.sentences):,} sentences, once for this model"
        return (yield from map_steps(steps, lambda share: (f"{doing}: {share:.0%}", share)))

    def waiting(self, subject: Subject) -> Content:
        """Keep the content; without a file, a sentence asks for one."""
        if self.corpus:
            return {}
        nothing = {name: None for name, one in self.parts.items() if one.kind in COMPUTED and not one.optional}
        return {**nothing, "about": NO_FILE}

    def on_hits(self, subject: Subject, index: object) -> NewInput:
        """Make the sentence of a hit the input, and select its token. Raises InputError."""
        if (found := self.look_up(subject)) is None:
            raise InputError(OUTDATED)
        return found.open(subject, index)

    @runs_as(FETCHING)
    def on_data_set(self, subject: Subject, _: Any) -> Generator[Content, None, Change]:
        """Fetch the first rows of a data set, whose column of texts is the corpus. Raises InputError."""
        table = yield from map_steps(fetch_data_set(self.data_set), lambda doing: {"about": doing})
        table = replace(table, name=self.data_set.strip())
        corpus_of(table)
        columns = {"column": props(choices=list(table.columns))}
        return Change({}, {"file": table, "column": text_column_of(table)}, columns)

    def on_file(self, subject: Subject, file: Source | None) -> Change:
        """Files were uploaded. Raises InputError when they were removed, or have no sentences."""
        if file is None:
            raise InputError(NO_FILE)
        corpus_of(file)
        content = {"file": props(label=f"{CHOOSE} ({file.name[:40]})")}
        if not isinstance(file, Table):
            return Change({}, {"source": FILE}, content)
        content["column"] = props(choices=list(file.columns))
        return Change({}, {"source": FILE, "column": text_column_of(file)}, content)
