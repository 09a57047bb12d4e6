"""Experiments: one question asked of many sentences, with intervals and a test on sentences that were not looked at."""

from explorer.experiments.heads import HeadsDecide
from explorer.experiments.origins import CueOver, CutOver, LikelihoodOver, RoutesOver
from explorer.experiments.places import AttendsOver, LensOver, Patched
from explorer.experiments.saved import SavedRuns
from explorer.experiments.suites import Suites
from explorer.ui.tabs import Tab

TAB = Tab(
    "experiments",
    "Experiments",
    "What holds over many sentences?",
    {
        "Which heads decide": [[HeadsDecide]],
        "Patching": [[Patched]],
        "Lens": [[LensOver]],
        "Attention": [[AttendsOver]],
        "Cut links": [[CutOver]],
        "Routes": [[RoutesOver]],
        "Attribution": [[CueOver]],
        "Likelihood": [[LikelihoodOver]],
        "Saved runs": [[SavedRuns]],
        "Test suites": [[Suites]],
    },
    steppers=("layer", "head"),
    without_steppers=("Test suites", "Lens", "Routes", "Attribution", "Likelihood", "Saved runs"),
)
