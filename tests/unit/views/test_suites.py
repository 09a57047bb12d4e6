"""The view Test suites: its bars, sentences and pairs are the numbers of what judges them."""

import math
import re
from collections import Counter

import pytest

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.experiments.compute.minimal_pairs import judge_in_steps
from explorer.experiments.suites import Suites
from explorer.ui.pictures.numbers import numbers_of
from explorer.ui.subject import Subject
from tests.corpora import few_pairs as suite_of

pytestmark = pytest.mark.usefixtures("few_sentences")


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace("The man went to the [MASK]."))


def column(picture, name):
    """A column of the numbers beside a picture."""
    table = numbers_of(picture)
    return table.cells[table.columns.index(name)]


def numbers(text):
    return [int(one) for one in re.findall(r"\d+", re.sub("“.*?”", "", text))]


@pytest.mark.parametrize("name", ["agreement", "stereotypes"])
def test_bars_sentence_and_pairs_are_what_was_judged(subject, name):
    view = Suites(suite=name)
    content, found = view.compute(subject), finished(judge_in_steps(subject.model, suite_of(name)))
    assert content["check"]["text"].startswith("✓"), content["check"]
    kinds = dict(found.shares)
    share = kinds.pop("all")
    bars = [dict(zip(numbers_of(content["picture"]).columns, row, strict=True)) for row in numbers_of(content["picture"]).rows]
    assert {row["kind"]: row["right"] for row in bars} == {"all": share.right, **{kind: one.right for kind, one in kinds.items()}}
    for row in bars:
        own = found.shares[row["kind"]]
        assert (row["low"], row["high"]) == ((None, None) if math.isnan(own.low) else (own.low, own.high))
    pairs = content["pairs"]
    assert Counter(column(pairs, "text")) == Counter(pair.text_a for pair in suite_of(name).items)
    assert sum(column(pairs, "right")) == found.table.right.sum()
    assert ("CrowS" in content["about"] or "occupations" in content["about"]) == (name == "stereotypes")
    told = view.finding(subject).text
    expected = [
        found.table.right.sum(),
        len(found.table),
        *(round(100 * one) for one in (share.right, 95 / 100, share.low, share.high)),
    ]
    assert numbers(told)[:6] == expected, told
    parts = [round(100 * one.right) for one in kinds.values()]
    assert numbers(told)[6:] == ([min(parts), max(parts)] if len(set(parts)) > 1 else [])


def test_a_click_lists_a_kind_and_makes_a_pair_the_input(subject):
    view = Suites()
    view.compute(subject)
    kind = [*dict.fromkeys(suite_of("agreement").kinds)][1]
    assert view.on_picture(subject, 2).settings == {"kind": kind}
    assert view.on_picture(subject, 0).settings == {"kind": ""}
    one = Suites(kind=kind)
    assert one.on_picture(subject, 2).settings == {"kind": ""}
    assert set(column(one.compute(subject)["pairs"], "kind")) == {kind}
    assert Suites(suite="facts", kind=kind)._kind == "", "it is of another suite"
    change = view.on_pairs(subject, 3)
    assert change.texts == (suite_of("agreement").items[3].text_a, "")
    assert subject.model.trace(*change.texts).tokens[change.selection["token"]] == "[MASK]"
    for bad in (64, -1, None):
        with pytest.raises(InputError):
            view.on_pairs(subject, bad)
    with pytest.raises(InputError):
        view.on_picture(subject, 9)
