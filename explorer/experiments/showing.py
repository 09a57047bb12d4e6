"""What a run of an experiment shows: the mean of every place, the chosen one on the other half, and every item."""

from typing import Any

import numpy as np

from explorer.analysis.resampling import FEWEST_GROUPS
from explorer.experiments.compute.checkpoints import FEWEST_CHECKPOINTS, Checkpoints
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.summary import LEVEL, at_place
from explorer.experiments.listing import LISTED, item_table, numbers_of
from explorer.experiments.naming import in_groups, interval_of, of_heads, of_items, place_name, plain, short
from explorer.experiments.pictures.beside import agreement, beside
from explorer.experiments.pictures.places import Interval, board, intervals, told_q
from explorer.experiments.questions import TELLINGS, facts, null_of, tell
from explorer.ui.pictures.bars import SEEN, sign
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.numbers import keep
from explorer.ui.view import Content, Finding, Why, props

NAME = 24  # characters of a checkpoint's name beside its mean
FEW_GROUPS = 8  # below, a sentence warns


def show_run(found: Experiment, at: tuple[int, ...]) -> Content:
    """The pictures and sentences of a run, with one place chosen."""
    telling = TELLINGS[found.question.name]
    return {
        "board": board(found.summary, found.axes, at, telling.unit, telling.is_share),
        "about": _about(found) + agreement(found) + _few_groups(found) + _left_out(found),
        "chosen": _chosen(found, at),
        "interval": _held_out(found),
        "beside": beside(found, at, lambda place: short(found.axes, place)),
        "each": _each(found, at),
    }


def find(found: Experiment) -> Finding:
    """What the selected place does on the items that it was not selected on."""
    held = found.summary.held_out
    if abs(held.effect) < SEEN:
        nothing = "Nothing stands out: what {on} selected, the other {other} do not confirm ({by_size})."
        return Finding(nothing.format_map(facts(found)))
    why = None
    if of_heads(found):
        layer, head = found.summary.selected
        why = Why("attention", "One head", {"layer": layer + 1, "head": head + 1})
    return Finding(tell(found) + _over(found), why)


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
    ends = interval_of(low, high, count, sign)
    return f" Over {count} checkpoints its mean is {sign(mean)} ({ends}){sure}; {same} of {count} select it."


def describing(visible: bool) -> Content:
    """The button for the methods section, and no text of a former run."""
    return {"describe": props(visible=visible), "methods": props(value="", visible=False)}


def _about(found: Experiment) -> str:
    summary, telling = found.summary, TELLINGS[found.question.name]
    told = (
        f"Mean {telling.unit} over {in_groups(len(found.items), summary.groups)}. A dot: q below 0.05, "
        f"{int((summary.q < LEVEL).sum())} of {summary.q.size}; {null_of(found)}: {sign(summary.random)}."
    )
    before = plain(float(found.before.mean()))
    return f"{told} Blue: {telling.below}. Unchanged, the logit difference is {before}." if telling.below else told


def _few_groups(found: Experiment) -> str:
    """A warning where little varies independently."""
    summary, least = found.summary, FEWEST_GROUPS
    if summary.held_out.groups >= least and summary.groups >= FEW_GROUPS:
        return ""
    return (
        f" Only {summary.groups} group{'s' * (summary.groups != 1)} of independent items, {summary.held_out.groups} to test: an "
        f"interval needs {least}. Add items that share neither text nor words."
    )


def _left_out(found: Experiment) -> str:
    """How many items could not be asked, and why not the first."""
    if not found.left_out:
        return ""
    number, why = next(iter(found.left_out.items()))
    if len(found.left_out) > 1:
        return f" {len(found.left_out):,} items are left out; item {number}: {why}"
    return f" Item {number} is left out: {why}"


def _chosen(found: Experiment, at: tuple[int, ...]) -> str:
    summary = found.summary
    mean, low, high, q = (float(getattr(summary, name)[at]) for name in ("effects", "low", "high", "q"))
    null = "" if summary.nulls is None else f"; {null_of(found)}: {plain(float(summary.nulls[at]))}"
    also = "".join(f"; {name}: {mean[at]:.2g}" for name, mean in found.also_means.items() if mean[at] == mean[at])
    name = place_name(found.axes, at)
    return (
        f"{name[:1].upper()}{name[1:]}: {sign(mean)} ({interval_of(low, high, summary.groups, sign)}, {told_q(q)}){null}"
        f"{_counted(found, at)}{also}."
    )


def _counted(found: Experiment, at: tuple[int, ...]) -> str:
    """In how many items the place has the sign that is looked for."""
    items = of_items(len(found.items))
    if below := TELLINGS[found.question.name].below:
        return f"; {below} in {int((at_place(found.values, at) < 0).sum()):,} of {items}"
    lead = found.values if found.nulls is None else found.values - found.nulls
    return f"; above {'0' if found.nulls is None else 'that'} in {int((at_place(lead, at) > 0).sum()):,} of {items}"


def _held_out(found: Experiment) -> Any:
    held = found.summary.held_out
    name = f"{short(found.axes, found.summary.selected)} on the other {held.items}"
    each = [*found.others] and [found, *found.others]
    rows = [
        Interval(name, held.effect, held.low, held.high),
        Interval(null_of(found), held.random, held.random_low, held.random_high, faint=True),
        *(_of_checkpoint(run, found.summary.selected) for run in each),
    ]
    return intervals(rows, TELLINGS[found.question.name].unit)


def _of_checkpoint(run: Experiment, at: tuple[int, ...]) -> Interval:
    """What one checkpoint has at a place, over all its items."""
    mean, low, high = (float(getattr(run.summary, name)[at]) for name in ("effects", "low", "high"))
    return Interval(shorten(run.provenance["model"].rstrip("/").rpartition("/")[2], NAME), mean, low, high)


def _each(found: Experiment, at: tuple[int, ...]) -> dict[str, Any]:
    """Items with the value of the chosen place, the largest first."""
    telling, own = TELLINGS[found.question.name], at_place(found.values, at)
    order = np.argsort(-np.abs(own), kind="stable")
    before, title = telling.each
    columns = {before: found.before} if before else {}
    columns |= {title.format(short(found.axes, at)): own + found.before if telling.adds_before else own}
    lines = (
        (item, found.items[item], found.pieces[item], [float(values[item]) for values in columns.values()])
        for item in order[:LISTED].tolist()
    )
    table = item_table(lines, list(columns), "The items, those with the largest values first")
    return keep(table, lambda: numbers_of(found, at, order))
