"""What every view shows of one pair of sentences, computed once per process for all tests that look at it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import explorer
from explorer.tabs import VIEWS
from explorer.ui.subject import Selection, Subject
from explorer.ui.view import Content, View
from tests.choices import declared
from tests.corpora import few_read
from tests.families import write_family, write_tuned

A, B = "the man went to the [MASK] store </script><b>.", "he bought a [MASK] of milk."
SELECTION = Selection(layer=4, head=7, token=3, picked=True)
OTHER = {"other_b": "she sold a [MASK] of milk.", "words_from": "Typed here"}  # what is built in takes seconds to learn
OWN_HEADS = {
    "own-head/labels": "ForSequenceClassification",
    "own-head/tags": "ForTokenClassification",
    "own-head/answer": "ForQuestionAnswering",
}


@dataclass(frozen=True)
class Shown:
    """A view as the page reads its controls, its input, and all that it shows of it."""

    view: View
    subject: Subject
    content: Content


class Contents:
    """`contents["fill-mask/lens"]` is a `Shown`: of the bundled model, or of a tiny one with the head that a view needs.

    The views of the corpus, suites and experiments read a few items, as `few_sentences` does.
    """

    def __init__(self, bundled: Any, new_folder: Callable[[str], Path]) -> None:
        self.subject = Subject.of(bundled.trace(A, B), SELECTION)
        self._new_folder, self._shown = new_folder, {}

    def __getitem__(self, name: str) -> Shown:
        if name not in self._shown:
            subject = self._with_own_head(name) if name.startswith("own-head/") else self.subject
            view = opened(name, subject, **{key: value for key, value in OTHER.items() if key in VIEWS[name].settings})
            with few_read():
                self._shown[name] = Shown(view, subject, view.compute(subject))
        return self._shown[name]

    def _with_own_head(self, name: str) -> Subject:
        folder, head = self._new_folder("tuned") / "model", OWN_HEADS.get(name)
        write_tuned(folder, "bert", head) if head else write_family(folder, "electra-discriminator")
        return Subject.of(explorer.load(str(folder)).trace(A, B))


def opened(name: str, subject: Subject, **settings: Any) -> View:
    """A view as the page reads its controls, for the model of an input."""
    kind = VIEWS[name]
    return kind.read(declared(kind) | settings, subject.model.capabilities)
