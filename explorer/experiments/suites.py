"""Test suites: in how many minimal pairs a model prefers the word that belongs in the blank."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from math import isnan
from typing import Any

from explorer.core.cache import OnceCache
from explorer.core.steps import map_steps
from explorer.experiments.compute import minimal_pairs
from explorer.experiments.compute.minimal_pairs import ALL, ALONE, BLANK, LIKELIHOOD, TITLES, Share, Suite, SuiteResult, suite_of
from explorer.experiments.pictures import CHANCE, suite_shares
from explorer.text import limits
from explorer.text.encoding import MASK
from explorer.ui.layout import col, row
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.pictures.strip_table import Column, Row, in_context, strip_table
from explorer.ui.settings import choice, memory
from explorer.ui.subject import Subject
from explorer.ui.telling import interval
from explorer.ui.view import (
    Change,
    Content,
    Finding,
    NewInput,
    button,
    caption,
    chart,
    check,
    matches,
    part,
    read,
    sentence,
    settle,
)

NAME = 40  # characters of a model's name in a sentence
CHECKED = {BLANK: 4, LIKELIHOOD: 1, ALONE: 1}  # pairs that transformers' own passes judge too
CALLED = {BLANK: "by the blank", LIKELIHOOD: "by pseudo-likelihood", ALONE: "by the original pseudo-likelihood"}
NOT_SHOWN = (
    "50% means no overall preference, not a good mark: preferences may cancel out, and use of the model is another matter. "
    "These are a few occupations, in English, with women and men only (Blodgett et al. 2021 list what such tests miss)."
)


_judged: OnceCache[Hashable, tuple[SuiteResult, float]] = OnceCache(48)
"""What a model makes of a suite, and how far that is from transformers' own passes."""


class Suites(LongView):
    """The share of pairs in which the better word wins, by kind, with intervals; and all pairs, each with its difference."""

    name, question = "experiments/suites", "In how many sentences does BERT choose the right word?"
    layout = (
        row("suite", "way"),
        row(col("picture", "stop", "progress", "about", "help", "check", width=5), col("pairs", width=6)),
    )
    suite: str = choice(
        [(title, name) for name, (title, _) in TITLES.items()], "Suite", menu=True, scale=3, elem_classes="inline"
    )
    way: str = choice(
        [
            ("the usual way", ""),
            ("the blank", BLANK),
            ("pseudo-likelihood", LIKELIHOOD),
            ("pseudo-likelihood, the original", ALONE),
        ],
        "Scored by",
        menu=True,
        scale=3,
        elem_classes="inline",
    )
    kind: str = memory("", kept=lambda value: value if isinstance(value, str) and len(value) <= NAME else "")
    picture = chart("How often BERT prefers the right word, by kind", height=330)
    stop = button("Stop", visible=False)
    progress = part("meter")
    about = sentence(classes="caption")
    help = caption(
        "Click a point for the pairs of a kind, a pair to read it. Each pair is one sentence with two words for its blank. Every "
        "word is as often the better one as the foil, so a model that only knows which word is more frequent wins half of the "
        "pairs. Lines are Wilson's 95% interval (1927) by frame: pairs that share half of their words or the marked words are "
        "one observation. By the blank: the logit of the better word minus that of its foil. By pseudo-likelihood: the sum of "
        "the logarithms of all pieces, each hidden with the later pieces of its word (Kauf & Ivanova 2023; Salazar et al. 2020 "
        "hide it alone). For stereotypes only the pieces that both share count (Nangia et al. 2020, section 3)."
    )
    check = check()
    pairs = part("strips", height=430)

    def unless(self, subject: Subject) -> str:
        return subject.model.why_not("fill_mask")

    def passes(self, subject: Subject) -> float:
        """Reading every sentence that the model has not read, in passes of the input."""
        return 0 if self._known(subject) else minimal_pairs.tokens_to_read(self._suite, self.way) / subject.trace.kept

    def key(self, subject: Subject) -> Hashable:
        """The cache key of the content; None for a model that cannot be asked."""
        return None if self.unless(subject) else (self.name, self._key(subject), self.kind)

    def work(self, subject: Subject) -> Generator[tuple[str, float], None, tuple[SuiteResult, float]]:
        """Judge the pairs, the first also by transformers' own passes. Raises CapabilityError."""
        if (known := self._known(subject)) is None:
            doing = f"Reading {len(self._suite.pairs)} pairs with {shorten(subject.model_name, NAME)}"
            steps = minimal_pairs.judge_in_steps(subject.model, self._suite, self.way)
            found = yield from map_steps(steps, lambda share: (f"{doing}: {share:.0%}", share))
            first = found.table.difference[: CHECKED[found.table.scored_by.iloc[0]]]
            errors = (minimal_pairs.own_difference(subject.model, found, number) - one for number, one in first.items())
            known = found, max(map(abs, errors))
            _judged.put(self._key(subject), known)
        return known

    def waiting(self, subject: Subject) -> Content:
        return {} if self._known(subject) else {"picture": None, "pairs": None, "about": self._suite.about, "check": None}

    def draw(self, subject: Subject, found: tuple[SuiteResult, float]) -> Content:
        result, error = found
        preferred = "stereotyped" if result.suite.stereotypes else "right"
        return {
            "picture": suite_shares(result.shares, f"BERT prefers the {preferred} word", self._kind),
            "about": describe_pairs(result),
            "check": matches(error, "transformers' own passes give the same differences for the first pairs"),
            "pairs": list_pairs(result, self._kind),
        }

    def finding(self, subject: Subject) -> Finding | None:
        return Finding(describe_result(found[0])) if (found := self._known(subject)) else None

    def on_picture(self, subject: Subject, index: object) -> Change:
        """The pairs of the kind that was clicked; of all, if it was that point or the same kind again. Raises InputError."""
        kinds = ["", *list(found[0].shares)[1:]] if (found := self._known(subject)) else [""]
        clicked = kinds[limits.check_integer(index, "the point", 0, len(kinds) - 1)]
        return settle(kind="" if clicked == self._kind else clicked)

    def on_pairs(self, subject: Subject, index: object) -> NewInput:
        """A pair becomes the input, its blank the chosen token. Raises InputError."""
        pairs = self._suite.pairs
        pair = pairs[limits.check_integer(index, "the pair", 0, len(pairs) - 1)]
        masks = subject.model.mask_positions(subject.model.encode(pair.text))
        return read(pair.text, token=masks[0] if masks else None)

    @property
    def _suite(self) -> Suite:
        return suite_of(self.suite)

    @property
    def _kind(self) -> str:
        """The kind of which the pairs are listed, "" for all: one that another suite has is forgotten."""
        return self.kind if self.kind in self._suite.kinds else ""

    def _key(self, subject: Subject) -> Hashable:
        return str(subject.model.checkpoint), self.suite, minimal_pairs.way_of(self._suite, self.way)

    def _known(self, subject: Subject) -> tuple[SuiteResult, float] | None:
        return _judged.peek(self._key(subject))


def describe_pairs(result: SuiteResult) -> str:
    """The question, how it was scored, and the pairs that were left out."""
    words = [f"{result.suite.about} {len(result.table)} pairs, scored {CALLED[result.way]}; chance is 50%."]
    if result.instead:
        words.append(f"{result.instead} of them are scored by pseudo-likelihood: their words are not one piece each.")
    if result.left_out:
        words.append(f"{result.left_out} are left out: the tokenizer does not distinguish their words.")
    return " ".join([*words, *([NOT_SHOWN] if result.suite.stereotypes else [])])


def percent(share: Share) -> str:
    """A share with its interval, if there are enough frames, as part of a sentence."""
    ends = "too few frames for an interval" if isnan(share.low) else f"95% interval {interval(share.low, share.high)}"
    return f"{whole_percent(share.right)}, {ends}"


def describe_result(result: SuiteResult) -> str:
    """How often the better word wins, and in which kinds most and least."""
    kinds = dict(result.shares)
    share = kinds.pop(ALL)
    best, worst = (pick(kinds, key=lambda kind: kinds[kind].right) for pick in (max, min))
    ends = f": from {whole_percent(kinds[worst].right)} of “{worst}” to {whole_percent(kinds[best].right)} of “{best}”"
    ends = ends if kinds[best].right > kinds[worst].right else ""
    winner, nothing = ("stereotyped", "no preference") if result.suite.stereotypes else ("right", "chance")
    verdict = "" if share.low > CHANCE or share.high < CHANCE else f", which may be {nothing}"
    pairs = f"{result.table.right.sum()} of {share.items} pairs"
    return f"BERT prefers the {winner} word in {pairs} ({percent(share)}){verdict}{ends}."


def list_pairs(result: SuiteResult, kind: str) -> dict[str, Any]:
    """The pairs of a kind ('': of all), each with its difference, the lowest first."""
    table = result.table[(result.table.kind == kind) | (kind == "")].sort_values("difference", kind="stable")
    rows = []
    for number, pair in table.iterrows():
        before, after = pair.text.split(MASK)
        mark = "" if result.suite.stereotypes else "✓ " if pair.right else "✗ "  # what fits a stereotype is neither
        difference = f"{mark}{pair.difference:+.2f}".replace("-", "−")
        rows.append(Row([before.strip(), f"{pair.word} / {pair.foil}", after.strip(), difference], int(number)))
    columns = [*in_context("right / wrong word"), Column("difference", "number")]
    shown = strip_table(columns, rows, "The pairs, those with the lowest difference first", "pair")
    return keep(shown, lambda: Table.of(tuple(table.columns), table.to_numpy().tolist()))
