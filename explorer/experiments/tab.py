"""Experiments: one question asked of many sentences, with intervals and a test on sentences that were not looked at."""

from typing import Any

from explorer.experiments.heads import HeadsDecide
from explorer.experiments.origins import CueOver, CutOver, LikelihoodOver, RoutesOver
from explorer.experiments.places import AttendsOver, LensOver, Patched
from explorer.experiments.saved import SavedRuns
from explorer.experiments.source import FILE
from explorer.experiments.suites import Suites
from explorer.techniques.targets import piece_of
from explorer.ui.programs import Values, as_typed, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Tab

ITEMS = ("source", "typed", "template", "pairs", "longest", "mark", "seed", "place")  # settings by which they are chosen


def heads(view: Any, subject: Subject) -> Values:
    """The items, if they have words and do not come from a file, which stays on the page."""
    if view.source == FILE or view.refusal(subject) or not all(item.word and item.foil for item in view.items_of(subject.model)):
        return None

    def named(word: str) -> str:
        return str(subject.model.tokenizer.convert_ids_to_tokens(piece_of(subject.model, word)[0]))

    rows = []
    for item in view.items_of(subject.model):
        text_a, text_b = as_typed(subject, item.text_a, item.text_b)
        rows.append((text_a, text_b or None, named(item.word), named(item.foil)))
    return {"items": rows}


TAB = Tab(
    "experiments",
    "Experiments",
    "What holds over many sentences?",
    {
        "Which heads decide": [[HeadsDecide]],
        "Attention": [[AttendsOver]],
        "Test suites": [[Suites]],
        "Patching": [[Patched]],
        "Lens": [[LensOver]],
        "Cut links": [[CutOver]],
        "Routes": [[RoutesOver]],
        "Attribution": [[CueOver]],
        "Likelihood": [[LikelihoodOver]],
        "Saved runs": [[SavedRuns]],
    },
    reads_texts=False,
    steppers=("layer", "head"),
    without_steppers=("Test suites", "Lens", "Routes", "Attribution", "Likelihood", "Saved runs"),
    programs={"experiments/heads": program("heads", *ITEMS, values=heads)},
)
