"""Experiments: one question asked of many sentences, with intervals and a test on sentences that were not looked at."""

from typing import Any

from explorer.experiments.compute.heads import HEADS_OFF, ZERO
from explorer.experiments.new import FILE, NewExperiment
from explorer.experiments.saved import SavedRuns
from explorer.experiments.suites import Suites
from explorer.techniques.targets import piece_of
from explorer.ui.programs import Values, as_typed, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Moved, Tab

FORMER = {
    "which-heads-decide": HEADS_OFF,
    **{name: name for name in ("attention", "patching", "lens", "attribution", "likelihood")},
    **{"cut-links": "cut", "routes": "attention"},
}
"""The questions by the names that links had for them when each was a choice of its own."""
ITEMS = ("source", "typed", "asks", "how", "seed", "place")  # by which items are chosen


def heads(view: Any, subject: Subject) -> Values:
    """The items, if they have words and do not come from a file, which stays on the page."""
    if (
        view.asks != HEADS_OFF
        or view.chosen_way != ZERO
        or view.source == FILE
        or view.refusal(subject)
        or not all(item.word and item.foil for item in view.items)
    ):
        return None

    def named(word: str) -> str:
        return str(subject.model.tokenizer.convert_ids_to_tokens(piece_of(subject.model, word)[0]))

    rows = []
    for item in view.items:
        text_a, text_b = as_typed(subject, item.text_a, item.text_b)
        rows.append((text_a, text_b or None, named(item.word), named(item.foil)))
    return {"items": rows}


TAB = Tab(
    "experiments",
    "Experiments",
    "What decides between two words?",
    {"New experiment": [[NewExperiment]], "Test suites": [[Suites]], "Saved runs": [[SavedRuns]]},
    reads_texts=False,
    steppers=("layer", "head"),
    without_steppers=("Test suites", "Saved runs"),
    moved={
        choice: Moved(
            "All questions are in New experiment now, in the menu Measure.",
            "experiments",
            "new-experiment",
            {"asks": asks} if asks != HEADS_OFF else {},
        )
        for choice, asks in FORMER.items()
    },
    programs={"experiments/new": program("heads", *ITEMS, values=heads)},
)
