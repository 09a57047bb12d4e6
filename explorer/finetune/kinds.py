"""The kinds of task: what each of them learns from, what its head reads, and which runs belong to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.bert.capabilities import Capabilities
from explorer.finetune.compute.answers import Answerer
from explorer.finetune.compute.predictor import Predictor
from explorer.finetune.compute.texts import Classifier, Regressor
from explorer.finetune.compute.words import Tagger
from explorer.ui.settings import choice

TEXTS, WORDS, ANSWERS = "texts", "words", "answers"
TYPED, READY, FILE, HUB = "Typed here", "Built in", "A file", "From the hub"
MIDDLE = 2 / 3  # where grammar and pairs are best read on the bundled model, and syntax in Jawahar et al. 2019


@dataclass(frozen=True)
class Kind:
    """A kind of task. The settings of a training are the same for all; each kind has its own defaults."""

    label: str
    heads: tuple[type[Predictor], ...]  # the first one when nothing is known of the examples
    sets: Mapping[str, str]  # titles of the built-in sets, by name
    opening: str  # the set to begin with
    sources: tuple[str, ...]
    pooling: tuple[str, str]  # for a head alone, and for a head on trained layers
    epochs: int = 0  # for a head alone, by default; 0: as many as the examples ask for
    depth: float = 1.0  # of the hidden state for a head alone, as a share of the layers
    trains_layers: bool = False  # by default, since a head alone learns next to nothing
    keeps_best: bool = False  # the epoch that scores best on the held-out examples, otherwise the last

    @property
    def poolings(self) -> tuple[str, ...]:
        return self.heads[0].poolings

    def has(self, run: str) -> bool:
        """Whether runs of this kind, as files name it, belong here."""
        return run in [head.kind for head in self.heads]

    def layer(self, model: Capabilities) -> int:
        """The hidden state that a head alone reads by default."""
        return round(self.depth * model.layers)


KINDS = {
    TEXTS: Kind(
        "A text or a pair",
        (Classifier, Regressor),
        {
            "sentiment": "Sentiment: positive, negative, neutral",
            "spam": "Spam or not",
            "questions": "Questions: what kind of answer?",
            "same_meaning": "Pairs: do both mean the same?",
            "entailment": "Entailment: does the second text follow from the first?",
            "grammar": "Grammar: is the sentence grammatical?",
            "similarity": "Similarity: how similar are both, from 0 to 5?",
        },
        "sentiment",
        (TYPED, READY, FILE, HUB),
        pooling=("mean", "cls"),
        keeps_best=True,
    ),
    WORDS: Kind(
        "Every word",
        (Tagger,),
        {"parts_of_speech": "Parts of speech", "names": "Names: persons, places, organisations, times"},
        "names",
        (READY, TYPED, FILE),
        pooling=("first", "first"),
        epochs=20,
        depth=MIDDLE,
    ),
    ANSWERS: Kind(
        "An answer in a text",
        (Answerer,),
        {"answers": "Answers: questions on short texts"},
        "answers",
        (READY, FILE),
        pooling=("cls", "cls"),  # as it is: every token is read
        trains_layers=True,
    ),
}


def of_kind(here: bool = False) -> Any:
    """Declare the setting that chooses the kind; one view has its control."""
    return choice([(kind.label, name) for name, kind in KINDS.items()], "Kind of task", here=here, container=False)


def sets() -> list[tuple[str, str]]:
    return [(title, name) for kind in KINDS.values() for name, title in kind.sets.items()]
