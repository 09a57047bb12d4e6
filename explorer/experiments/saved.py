"""Runs that were saved as files, opened again, two side by side."""

from typing import Any
from weakref import ref

import numpy as np

from explorer.bert import provenance
from explorer.core.cache import OnceCache
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.question import place_of
from explorer.experiments.compute.runs import Compared, compare_experiments, open_experiment
from explorer.experiments.compute.summary import LEVEL
from explorer.experiments.pictures import board, describe_q
from explorer.experiments.sentences import about, find, interval_of, of_items
from explorer.experiments.showing import RunView, find_clicked, place_in, show_nothing, show_run
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import sign
from explorer.ui.pictures.base import join_names
from explorer.ui.settings import upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, button, caption, chart, sentence, settle

PARTS = ("about", "board", "chosen", "interval", "beside")
SAME = 1e-5  # two numbers that differ by less are the same: a file has six digits
NOTHING = "Save a run in New experiment, then open its file here. Open a second file to compare both."
ONE = "Open a second run to compare it with the first."
CALLED = {"how": "how it was asked", "weights": "the weights", "items": "how many items", "explorer": "the app's version"}
_found: OnceCache[tuple["ref[Experiment]", "ref[Experiment]"], Compared] = OnceCache(16)  # without keeping the runs in memory


def _opens(label: str) -> Any:
    return upload(label=label, types=(".json",), read=open_experiment, as_button=True)


class SavedRuns(RunView):
    """What two files hold, and where they differ in the items of both."""

    name, question, nothing = "experiments/saved", "How do two saved runs differ?", NOTHING
    layout = (row("run", "other_run"), row(col(*PARTS, "hint", "describe", "methods"), col("other_about", "other_board", "each")))
    run: Experiment | None = _opens("Open a run")
    other_run: Experiment | None = _opens("Open another beside it")
    compared = sentence()
    describe = button("Methods text for a paper", visible=False)
    other_about = sentence(classes="caption")
    other_board = chart("The mean of every place in the other run", height=300, hides_empty=True)
    help = caption(
        "A file contains the items, every number, the question and their origin. Means, intervals and tests are computed again "
        "from the numbers, without the model. If two runs have the "
        "same question and items, each place shows the difference with its interval and q, by group. The correlation compares "
        "the ranks of the places' means (Spearman)."
    )

    @property
    def runs(self) -> list[Experiment]:
        return [run for run in (self.run, self.other_run) if run is not None]

    def compute(self, subject: Subject) -> Content:
        if not self.runs:
            return {**show_nothing(), "compared": NOTHING, "other_about": "", "other_board": None}
        first, *others = self.runs
        at = self._at(first)
        shown = show_run(first, at) | {"about": describe_run(first)}
        if not others:
            return {**shown, "compared": "", "other_about": ONE, "other_board": None}
        told = {"other_about": describe_run(others[0]), "other_board": board(others[0], self._at(others[0]))}
        return {**shown, **told, "compared": _compared(first, others[0])}

    def finding(self, subject: Subject) -> Finding | None:
        return Finding(find(self.runs[0]).text) if self.runs else None

    def found(self, subject: Subject) -> Experiment | None:
        return self.runs[0] if self.runs else None

    def on_other_board(self, subject: Subject, index: object) -> Change:
        return settle(place=find_clicked(self.other_run, index) if self.other_run else ())

    def _at(self, run: Experiment) -> tuple[int, ...]:
        """The place that is looked at: that which was clicked, else the one that the first run selected."""
        return place_in(run, self.place or self.runs[0].summary.selected)


def describe_run(run: Experiment) -> str:
    """The question, its items, and how the run was made."""
    made = run.provenance
    way = "" if len(run.question.ways) == 1 else f" ({made['how'].replace('_', ' ')})"
    return f"{run.question.menu}{way}, seed {made['seed']}. {about(run)} {provenance.describe(made)}"


def _compared(one: Experiment, other: Experiment) -> str:
    found = _found.get((ref(one), ref(other)), lambda: compare_experiments(one, other))  # not at every click
    if found.difference and found.largest < SAME and one.items == other.items:
        return f"Both runs have the same {of_items(found.items)}, and all numbers of one are those of the other."
    differ = [CALLED.get(name, f"the {name}") for name in found.changed]
    words = [f"The runs differ in {join_names(differ)}." if differ else "Both runs were made in the same way."]
    if found.correlation is not None:
        words.append(f"Over {one.summary.q.size} places their means have a rank correlation of {found.correlation:.2f}.")
    if (there := found.difference) is None:
        why = "their numbers are not of the same kind, or all of one group, so no difference is taken."
        return " ".join([*words, f"{found.items:,} items are in both; {why}"])
    order = np.lexsort((-np.abs(there.effects).ravel(), there.q.ravel()))  # the smallest q, and of several the largest mean
    at = place_of(int(order[0]), there.q)
    mean, low, high, q = there.at(at)
    return (
        f"{' '.join(words)} In the {of_items(found.items)} of both, {int((there.q < LEVEL).sum())} places differ (q below 0.05), "
        f"the clearest is {one.name_of(at)}, where the first run less the other is {sign(mean)} "
        f"({interval_of(low, high, there.groups)}, {describe_q(q)})."
    )
