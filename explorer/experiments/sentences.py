"""The sentences about a run: its places by name, its finding, and the methods section of a paper.

The wording of findings is in the questions themselves: `finding`, a template with names of `facts`.
"""

import functools
import re
from collections.abc import Callable
from math import isnan

import numpy as np

from explorer.analysis.evaluation import spearman
from explorer.analysis.resampling import FEWEST_GROUPS
from explorer.core.paths import ASSETS
from explorer.experiments.compute.concepts import WORDS
from explorer.experiments.compute.estimating import EXACT
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.question import HEADS
from explorer.experiments.compute.runs import FEWEST_CHECKPOINTS, LEAST_PLACES, Checkpoints
from explorer.experiments.compute.summary import LEVEL, at_place
from explorer.experiments.pictures import describe_q
from explorer.ui.pictures.bars import SEEN, short_percent, sign
from explorer.ui.view import Finding, Why

TESTS = (
    " Items of one group are similar, so all inference is by group. Intervals: 95%, studentized bootstrap over groups (Efron & "
    "Tibshirani 1993). q: the larger p value of a sign-flip test and that bootstrap, corrected for all places (Benjamini & "
    "Hochberg 1995). Half of the groups select a place, and the other half test it."
)
FEW_GROUPS = 8  # below, a sentence warns
CITED = re.compile(r"\b[A-Z][a-z]+(?: et al\.| & [A-Z][a-z]+)? (?:19|20)\d\d\b")
PROGRAM = '''"""Compute a saved run again, and compare its numbers."""

import numpy as np

import explorer

run = explorer.open_experiment({name!r})
again = explorer.repeat(run)  # the same items, question, seed and model: {model}
print(explorer.compare_experiments(run, again).changed)  # versions or weights that are not those of the file
np.testing.assert_allclose(again.values, run.values, atol=1e-3)
np.testing.assert_allclose(again.summary.q, run.summary.q, atol=1e-3)
print(again.table)  # a row for each place
print(again.summary.held_out)
'''


def of_heads(found: Experiment) -> bool:
    return found.axes[-1].name == HEADS.name


def of_items(count: int) -> str:
    """A number of items, as "1 item" or "1,000 items"."""
    return "1 item" if count == 1 else f"{count:,} items"


def plain(value: float) -> str:
    return sign(value).removeprefix("+")


def interval_of(low: float, high: float, groups: int, written: Callable[[float], str] = sign) -> str:
    """An interval in words, or why there is none."""
    if isnan(low):
        return f"no interval from {groups} group{'s' * (groups != 1)}"
    return f"95% interval {written(low)} to {written(high)}"


def facts(found: Experiment) -> dict[str, object]:
    """What a finding may name of the selected place: on the half that it was not selected on, unless it says otherwise.

    `effect`, `size` (without +) and `share` are its mean, `by_effect`, `by_size` and `by_share` the interval, `random` and
    `random_share` what it is judged by; `doubt` is what a sentence adds where interval and test do not rule out 0.
    """
    held, at = found.summary.held_out, found.summary.selected
    place, how = found.name_of(at), found.provenance["how"]
    return {
        "place": place,
        "Place": place[:1].upper() + place[1:],
        "state": at[0],
        "on": of_items(len(found.items) - held.items),
        "other": held.items,
        "items": of_items(held.items),
        "before": plain(found.held_out_before),
        "effect": sign(held.effect),
        "size": plain(held.effect),
        "share": short_percent(held.effect),
        "by_effect": interval_of(held.low, held.high, held.groups),
        "by_size": interval_of(held.low, held.high, held.groups, plain),
        "by_share": interval_of(held.low, held.high, held.groups, short_percent),
        "random": sign(held.random),
        "random_share": short_percent(held.random),
        "beside": null_of(found) if found.nulls is None else f"for {null_of(found)}",
        "doubt": "" if held.is_sure else ", which is not certain",
        "concept": "the word" if how == WORDS else how,
        "receiver": f"the {found.question.ways.get(how)} of later heads",
        "Exact": _exact(found),
    }


def tell(found: Experiment) -> str:
    return found.question.finding.format_map(facts(found))


def find(found: Experiment) -> Finding:
    """What the selected place does on the items that it was not selected on."""
    if abs(found.summary.held_out.effect) < SEEN:
        nothing = "Nothing stands out: what {on} selected, the other {other} do not confirm ({by_size})."
        return Finding(nothing.format_map(facts(found)))
    why = None
    if of_heads(found):
        layer, head = found.summary.selected
        why = Why("attention", "One head", {"layer": layer + 1, "head": head + 1})
    return Finding(tell(found) + _over(found), why)


def null_of(found: Experiment) -> str:
    """What a run's chosen place is judged by, in words."""
    asked = found.question
    return asked.null if asked.null and found.nulls is not None else asked.beside


def _exact(found: Experiment) -> str:
    """What patching itself brings back at the selected place on the other half, where an estimate has it."""
    if EXACT not in found.also or found.sizes is None:
        return ""
    rows = found.held_out_rows
    exact = float(at_place(found.also[EXACT], found.summary.selected)[rows].sum() / found.sizes[rows].sum())
    return "It was not patched" if isnan(exact) else f"Patching it brings back {short_percent(exact)}"


def _over(found: Experiment) -> str:
    """The selected place over all checkpoints, each of which is one sample."""
    if not found.others:
        return ""
    every, at = Checkpoints.of([found, *found.others]), found.summary.selected
    mean, low, high, q = (float(getattr(every, name)[at]) for name in ("mean", "low", "high", "q"))
    count, same = len(every.runs), sum(run.summary.selected == at for run in every.runs)
    if count < FEWEST_CHECKPOINTS:
        return f" Its mean is {sign(mean)} over {count} checkpoints, too few for an interval; {same} of {count} select it."
    sure = "" if q < LEVEL and (low > 0 or high < 0) else ", which is not certain"
    ends = interval_of(low, high, count)
    return f" Over {count} checkpoints its mean is {sign(mean)} ({ends}){sure}; {same} of {count} select it."


def about(found: Experiment) -> str:
    """What the picture has, how well estimates rank places, and what a reader must know of the items."""
    summary, asked = found.summary, found.question
    told = (
        f"Mean {asked.unit} over {_in_groups(found)}. A dot: q below 0.05, "
        f"{int((summary.q < LEVEL).sum())} of {int(summary.tested.sum()):,}; {null_of(found)}: {sign(summary.random)}."
    )
    if asked.below:
        told += f" Blue: {asked.below}. Unchanged, the logit difference is {plain(float(found.before.mean()))}."
    told += agreement(found)
    if summary.held_out.groups < FEWEST_GROUPS or summary.groups < FEW_GROUPS:
        told += (
            f" Only {summary.groups} group{'s' * (summary.groups != 1)} of independent items, {summary.held_out.groups} to test: "
            f"an interval needs {FEWEST_GROUPS}. Add items that share neither text nor words."
        )
    if not found.left_out:
        return told
    number, why = next(iter(found.left_out.items()))
    if len(found.left_out) > 1:
        return f"{told} {len(found.left_out):,} items are left out; item {number}: {why}"
    return f"{told} Item {number} is left out: {why}"


def agreement(found: Experiment) -> str:
    """How well estimates rank places as patching does, in a sentence."""
    exact = found.also_means.get(EXACT, np.full(found.summary.effects.shape, np.nan))
    means, exact = found.summary.effects[~np.isnan(exact)], exact[~np.isnan(exact)]
    if len(exact) < LEAST_PLACES or min(np.ptp(means), np.ptp(exact)) == 0:
        return ""
    rank = spearman(means, exact)
    return f" The {len(exact)} largest estimates were patched too; the rank correlation of both is {rank:.2f} (Spearman)."


def _in_groups(found: Experiment) -> str:
    """How many items there are, and how many independent groups: "36 items in 12 groups"."""
    items, groups = len(found.items), found.summary.groups
    return of_items(items) if items == groups else f"{of_items(items)} in {groups:,} group{'s' * (groups != 1)}"


def chosen(found: Experiment, at: tuple[int, ...]) -> str:
    summary, asked = found.summary, found.question
    mean, low, high, q = summary.at(at)
    null = "" if summary.nulls is None else f"; {null_of(found)}: {plain(float(summary.nulls[at]))}"
    also = "".join(f"; {name}: {mean[at]:.2g}" for name, mean in found.also_means.items() if mean[at] == mean[at])
    name, items, own = found.name_of(at), of_items(len(found.items)), at_place(found.values, at)
    lead = own if found.nulls is None else own - at_place(found.nulls, at)
    said = asked.below or f"above {'0' if found.nulls is None else 'that'}"
    count = int((own < 0).sum() if asked.below else (lead > 0).sum())
    ends = interval_of(low, high, summary.groups)
    return f"{name[:1].upper()}{name[1:]}: {sign(mean)} ({ends}, {describe_q(q)}){null}; {said} in {count:,} of {items}{also}."


def methods(found: Experiment, name: str = "run.json") -> str:
    """The methods section of a paper as plain text, with the Python that computes the run in this file again."""
    made, asked, held = found.provenance, found.question, found.summary.held_out
    weights = f" (SHA-256 of its weights {made['weights'][:16]}…)" if made["weights"] else ""
    left_out = f" {len(found.left_out):,} more items could not be asked and were left out." if found.left_out else ""
    described = re.sub(r"\\?\*", "", asked.help + TESTS)
    texts = {
        "Materials": f"We asked the model {made['model']}{weights}, in {made['dtype']}, about {_in_groups(found)}; "
        f"{held.groups} of the groups tested the place that the others selected (seed {made['seed']}).{left_out}",
        "Method": f"{asked.menu} (`{made['question']}`, `{made['how']}`) {described}",
        "Result": tell(found),
        "Software": f"BERT Explorer {made['explorer']}, transformers {made['transformers']}, PyTorch {made['torch']}.",
        "References": "\n".join(references()[cited] for cited in sorted(set(CITED.findall(described)))),
        "To compute it again": PROGRAM.format(name=name, model=made["model"]),
    }
    return "\n\n".join(f"{title}\n{text}" for title, text in texts.items())


@functools.cache
def references() -> dict[str, str]:
    """Papers by how our texts cite them."""
    return dict(line.split("\t") for line in (ASSETS / "references.tsv").read_text("utf-8").splitlines())
