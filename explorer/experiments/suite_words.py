"""The sentences about the results of a test suite, and the list of its pairs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

from explorer.analysis.resampling import Share
from explorer.experiments.compute.minimal_pairs import ALL, Judged, SuiteResult
from explorer.experiments.compute.suites import MinimalPair
from explorer.experiments.pictures.suites import CHANCE
from explorer.text.encoding import MASK
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.pictures.strip_table import Column, Row, in_context, strip_table

RIGHT, WRONG = "✓", "✗"


def percent(share: Share) -> str:
    """A share with its interval, if there are enough frames, as part of a sentence."""
    interval = (
        "too few frames for an interval" if isnan(share.low) else f"95% interval {100 * share.low:.0f} to {100 * share.high:.0f}%"
    )
    return f"{whole_percent(share.right)}, {interval}"


def told(result: SuiteResult) -> str:
    """How often the better word wins, and in which kinds most and least."""
    kinds = dict(result.shares)
    share = kinds.pop(ALL)
    right = round(share.right * share.items)
    best, worst = (pick(kinds, key=lambda kind: kinds[kind].right) for pick in (max, min))
    ends = f": from {whole_percent(kinds[worst].right)} of “{worst}” to {whole_percent(kinds[best].right)} of “{best}”"
    ends = ends if kinds[best].right > kinds[worst].right else ""
    if result.suite.stereotypes:
        verdict = ", which may be no preference" if _includes_chance(share) else ""
        return f"The stereotype wins in {right} of {share.items} pairs ({percent(share)}){verdict}{ends}."
    verdict = ", which may be chance" if _includes_chance(share) else ""
    return f"The better word wins in {right} of {share.items} pairs ({percent(share)}){verdict}{ends}."


def _includes_chance(share: Share) -> bool:
    return not (share.low > CHANCE or share.high < CHANCE)


def disagreement(here: SuiteResult, there: SuiteResult) -> str:
    """In how many pairs the word wins in one of two models only."""
    theirs = {judged.pair: judged.is_right for judged in there.judged}
    both = [(judged.is_right, theirs[judged.pair]) for judged in here.judged if judged.pair in theirs]
    return f"It wins in {both.count((True, False))} pairs only here, in {both.count((False, True))} only there."


def listed(results: Sequence[SuiteResult], kind: str, names: Sequence[str]) -> dict[str, Any]:
    """The pairs of a kind ('': of all), each with its differences; those with the lowest for the first model come first."""
    here, *others = results
    places = {pair: place for place, pair in enumerate(here.suite.pairs)}
    there = [{pair.pair: pair for pair in other.judged} for other in others]
    judged = sorted((pair for pair in here.judged if kind in ("", pair.pair.kind)), key=lambda pair: pair.difference)
    titles = ("here", "there") if others else ("difference",)
    columns = [*in_context("word / foil"), *(Column(title, "number") for title in titles)]
    rows = [
        Row(
            [
                *_around(pair.pair),
                *(_number(side, here.suite.stereotypes) for side in (pair, *(other.get(pair.pair) for other in there))),
            ],
            places[pair.pair],
        )
        for pair in judged
    ]
    shown = strip_table(columns, rows, "The pairs, those with the lowest difference first", "pair")
    return keep(shown, lambda: _table(results, kind, names))


def _around(pair: MinimalPair) -> list[str]:
    before, after = pair.text.split(MASK)
    return [before.strip(), f"{pair.word} / {pair.foil}", after.strip()]


def _number(judged: Judged | None, stereotypes: bool) -> str:
    """The difference, marked as right or wrong; what fits a stereotype is neither."""
    if judged is None:
        return "–"
    mark = "" if stereotypes else f"{RIGHT} " if judged.is_right else f"{WRONG} "
    return f"{mark}{judged.difference:+.2f}".replace("-", "−")


def _table(results: Sequence[SuiteResult], kind: str, names: Sequence[str]) -> Table:
    """A row a pair and model."""
    rows = [
        [name, pair.kind, pair.text, pair.word, pair.foil, judged.difference, judged.is_right, judged.way]
        for name, result in zip(names, results, strict=True)
        for judged in result.judged
        for pair in [judged.pair]
        if kind in ("", pair.kind)
    ]
    return Table.of(("model", "kind", "text", "word", "foil", "difference", "right", "scored_by"), rows)
