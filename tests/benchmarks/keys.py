"""A key typed in a card of Fine-tune: from the changed sentence to the new map, the server's part."""

import itertools
from collections.abc import Iterator

import explorer
from explorer.bert.features import features_in_steps
from explorer.core.steps import finished
from explorer.finetune.cards import STARTER
from explorer.finetune.examples import ExamplesView
from explorer.finetune.outcome import Outcome
from explorer.finetune.try_it import TryIt
from explorer.ui.subject import Subject
from tests.benchmarks import Comparison, side_by_side

ROUNDS = 15
WANTED = "at most 2"  # 300 ms where the eighteen sentences are read in 150


def run() -> Iterator[Comparison]:
    """A key beside reading the eighteen sentences once: the head, all leave-one-out heads, the map and its words."""
    model, letters = explorer.load(), itertools.count()
    subject = Subject(model.name, "", "")
    pairs = ExamplesView().labelled().pairs

    def key() -> object:
        (name, (first, *others)), *cards = STARTER
        view = ExamplesView(classes=((name, (f"{first} {next(letters)}", *others)), *cards))
        shown = view.compute(subject)
        given = {"classes": view.classes, "run": shown["run"], "of": shown["of"]}
        Outcome(**given).compute(subject)
        return TryIt(**given).compute(subject)["map"]

    def read() -> object:
        return finished(features_in_steps(model, pairs, keep=False))

    key()
    ours, theirs = side_by_side(key, read, ROUNDS)
    yield Comparison("key-to-map", "a key in a card", "reading its 18 sentences", ours, theirs, "s", WANTED)
