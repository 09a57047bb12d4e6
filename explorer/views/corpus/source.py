"""Which corpus the views of the tab are about."""

from typing import Any

from explorer.base.errors import InputError
from explorer.text.corpus import CORPUS_FILE_TYPES, Corpus, built_in, read_corpus
from explorer.views.settings import choice, upload
from explorer.views.subject import Subject
from explorer.views.view import Change, LongView, props

BUILT_IN, FILE = "English Web Treebank", "A file of yours"
CHOOSE = "Text, CSV or CoNLL-U…"
NO_FILE = "Choose a file: a sentence a line, a table with a column of texts, or a treebank in CoNLL-U."


def _is_file(view: Any) -> bool:
    return view.source == FILE


class CorpusView(LongView):
    """What is seen of a corpus: the built-in one, or one that a person brings."""

    name, question = "corpus", ""
    source: str = choice((BUILT_IN, FILE), "Corpus")
    file: Corpus | None = upload(label=CHOOSE, types=CORPUS_FILE_TYPES, read=read_corpus, as_button=True, when=_is_file)

    @property
    def corpus(self) -> Corpus | None:
        """The corpus, None while there is no file."""
        return built_in() if self.source == BUILT_IN else self.file

    def on_file(self, subject: Subject, file: Corpus | None) -> Change:
        """A file was read. Raises InputError when none was."""
        if file is None:
            raise InputError(NO_FILE)
        return Change(settings={"source": FILE}, content={"file": props(label=f"{CHOOSE} ({file.name[:40]})")})
