"""Test suites: in how many minimal pairs a model prefers the word that belongs in the blank."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from typing import Any

from explorer.experiments.compute import minimal_pairs
from explorer.experiments.compute.experiment import question_of
from explorer.experiments.compute.minimal_pairs import ALL, BLANK, LIKELIHOOD, TITLES, WAYS, Share, Suite, SuiteResult, suite_of
from explorer.experiments.pictures import CHANCE, suite_shares
from explorer.experiments.sentences import interval_of
from explorer.experiments.showing import item_table, open_item, passes_for
from explorer.techniques.pseudo_likelihood import ORIGINAL
from explorer.text import limits
from explorer.ui.layout import col, row
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import short_percent, whole_percent
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.settings import choice, memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, NewInput, caption, chart, check, matches, part, sentence, settle

NAME = 40  # characters of a kind's name
CHECKED = 4  # pairs that transformers' own passes judge too, by the blank
CALLED = {BLANK: "by the blank", LIKELIHOOD: "by pseudo-likelihood", ORIGINAL: "by the original pseudo-likelihood"}
NOT_SHOWN = (
    "50% means no overall preference, not a good mark: preferences may cancel out, and use of the model is another matter. "
    "These are a few occupations, in English, with women and men only (Blodgett et al. 2021 list what such tests miss)."
)


class Suites(LongView):
    """The share of pairs in which the better word wins, by kind, with intervals; and all pairs, each with its difference."""

    name, question = "experiments/suites", "In how many sentences does BERT choose the right word?"
    start = "Judge every pair"
    layout = (row("suite", "way"), row(col("picture", "about", "help", "check", width=5), col("pairs", width=6)))
    suite: str = choice(
        [(title, name) for name, (title, _) in TITLES.items()], "Suite", menu=True, scale=3, elem_classes="inline"
    )
    way: str = choice(
        [
            ("the usual way", ""),
            ("the blank", BLANK),
            ("pseudo-likelihood", LIKELIHOOD),
            ("pseudo-likelihood, the original", ORIGINAL),
        ],
        "Scored by",
        menu=True,
        scale=3,
        elem_classes="inline",
    )
    kind: str = memory("", kept=lambda value: value if isinstance(value, str) and len(value) <= NAME else "")
    picture = chart("How often BERT prefers the right word, by kind", height=330)
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
        return subject.model.why_not("fill_mask") or minimal_pairs.why_not_judged(subject.model, self._suite)

    def passes(self, subject: Subject) -> float:
        """In passes of the page's input."""
        return passes_for(question_of(subject.model, *WAYS[self._way]), self._suite.items, subject)

    def key(self, subject: Subject) -> Hashable:
        return self.name, str(subject.model.checkpoint), self._suite, self._way

    def work(self, subject: Subject) -> Generator[float, None, tuple[SuiteResult, float]]:
        """Judge the pairs, the first also by transformers' own passes. Raises CapabilityError."""
        found = yield from minimal_pairs.judge_in_steps(subject.model, self._suite, self.way)
        first = zip(found.run.items[:CHECKED], found.run.before.tolist(), strict=False)
        return found, max(abs(minimal_pairs.own_difference(subject.model, item) - before) for item, before in first)

    def waiting(self, subject: Subject) -> Content:
        return {"picture": None, "pairs": None, "about": self._suite.about, "check": None}

    def draw(self, subject: Subject, found: tuple[SuiteResult, float]) -> Content:
        result, error = found
        preferred = "stereotyped" if result.suite.stereotypes else "right"
        return {
            "picture": suite_shares(result.shares, f"BERT prefers the {preferred} word", self._kind),
            "about": describe_pairs(result),
            "check": matches(error, "transformers' own passes give the same differences at the blank of the first pairs"),
            "pairs": list_pairs(result, self._kind),
        }

    def finding(self, subject: Subject) -> Finding | None:
        return Finding(describe_result(found[0])) if (found := self.known(subject)) else None

    def on_picture(self, subject: Subject, index: object) -> Change:
        """The pairs of the kind that was clicked; of all, if it was that point or the same kind again. Raises InputError."""
        kinds = ["", *list(found[0].shares)[1:]] if (found := self.known(subject)) else [""]
        clicked = kinds[limits.check_integer(index, "the point", 0, len(kinds) - 1)]
        return settle(kind="" if clicked == self._kind else clicked)

    def on_pairs(self, subject: Subject, index: object) -> NewInput:
        """A pair becomes the input, its blank the chosen token. Raises InputError."""
        return open_item(subject, self._suite.items, index)

    @property
    def _suite(self) -> Suite:
        return suite_of(self.suite)

    @property
    def _way(self) -> str:
        return minimal_pairs.way_of(self._suite, self.way)

    @property
    def _kind(self) -> str:
        """The kind of which the pairs are listed, "" for all: one that another suite has is forgotten."""
        return self.kind if self.kind in self._suite.kinds else ""


def describe_pairs(result: SuiteResult) -> str:
    """The question, how it was scored, and the pairs that were left out."""
    words = [f"{result.suite.about} {len(result.table)} pairs, scored {CALLED[result.way]}; chance is 50%."]
    if result.left_out:
        words.append(f"{result.left_out} are left out: their words are not one piece each.")
    return " ".join([*words, *([NOT_SHOWN] if result.suite.stereotypes else [])])


def describe_result(result: SuiteResult) -> str:
    """How often the better word wins, and in which kinds most and least."""
    kinds = dict(result.shares)
    share: Share = kinds.pop(ALL)
    best, worst = (pick(kinds, key=lambda kind: kinds[kind].right) for pick in (max, min))
    ends = f": from {whole_percent(kinds[worst].right)} of “{worst}” to {whole_percent(kinds[best].right)} of “{best}”"
    ends = ends if kinds[best].right > kinds[worst].right else ""
    winner, nothing = ("stereotyped", "no preference") if result.suite.stereotypes else ("right", "chance")
    verdict = "" if share.low > CHANCE or share.high < CHANCE else f", which may be {nothing}"
    told = f"{whole_percent(share.right)}, {interval_of(share.low, share.high, share.groups, short_percent)}"
    return f"BERT prefers the {winner} word in {result.table.right.sum()} of {share.items} pairs ({told}){verdict}{ends}."


def list_pairs(result: SuiteResult, kind: str) -> dict[str, Any]:
    """The pairs of a kind ('': of all), each with its difference, the lowest first: below 0 the foil wins."""
    table = result.table[(result.table.kind == kind) | (kind == "")].sort_values("difference", kind="stable")
    listed = zip(table.index.tolist(), table.word, table.foil, table.difference, strict=True)
    lines = ((number, result.suite.items[number], words, (difference,)) for number, *words, difference in listed)
    shown = item_table(lines, ["difference"], "The pairs, those with the lowest difference first")
    return keep(shown, lambda: Table.of(tuple(table.columns), table.to_numpy().tolist()))
