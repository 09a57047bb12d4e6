"""Experiments: one question asked of many sentences, with intervals and a test on sentences that were not looked at."""

from explorer.experiments.compute.heads import HEADS_OFF
from explorer.experiments.new import NewExperiment
from explorer.experiments.saved import SavedRuns
from explorer.experiments.suites import Suites
from explorer.ui.tabs import Moved, Tab

FORMER = {
    "which-heads-decide": HEADS_OFF,
    **{name: name for name in ("attention", "patching", "lens", "attribution", "likelihood")},
    "cut-links": "cut",
}
"""The questions by the names that links had for them when each was a choice of its own."""

TAB = Tab(
    "experiments",
    "Experiments",
    "What decides between two words?",
    {"New experiment": [[NewExperiment]], "Test suites": [[Suites]], "Saved runs": [[SavedRuns]]},
    reads_texts=False,
    steppers=("layer", "head"),
    without_steppers=("Test suites", "Saved runs"),
    moved={
        "routes": Moved("The Overview shows routes, of one sentence at a time.", "overview"),
        **{
            choice: Moved(
                "All questions are in New experiment now, in the menu Measure.",
                "experiments",
                "new-experiment",
                {"asks": asks} if asks != HEADS_OFF else {},
            )
            for choice, asks in FORMER.items()
        },
    },
)
