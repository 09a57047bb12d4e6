"""What the choice Words shows: a point an occurrence, its nearest uses, and neighbours with and without context."""

from collections import Counter

import numpy as np
import pytest

from explorer.analysis.similarity import cosine_matrix
from explorer.core.errors import InputError
from explorer.corpus import source, words
from explorer.corpus.compute import reading
from explorer.corpus.words import LINES, Words
from explorer.ui.subject import Subject
from tests.corpora import in_its_place, part_of_corpus

TEXT = "She sat on the bank of the river."


@pytest.fixture(autouse=True, scope="module")
def kept(tmp_path_factory):
    """One reading of a part of the corpus for all of these tests."""
    with in_its_place(part_of_corpus(300), tmp_path_factory.mktemp("runs"), reading._opened, source._found):
        yield


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace(TEXT)).select(layer=6)


def test_the_finding_is_counted_from_the_cosines(subject):
    view = Words(word="to")
    assert view.finding(subject) is None, "nothing is read for a sentence"
    view.compute(subject)
    shown = view.result(subject)
    alike = {}
    for layer in (0, 6):
        cosines = cosine_matrix(shown.found.at(layer))
        np.fill_diagonal(cosines, -1)
        equally = [np.flatnonzero(row > row.max() - 1e-5) for row in cosines]
        alike[layer] = round(
            sum(np.mean([shown.tags[n] == tag for n in near]) for tag, near in zip(shown.tags, equally, strict=True))
        )
    counts = Counter(shown.tags).values()
    chance = sum(one * (one - 1) for one in counts) / (len(shown.tags) - 1)
    told = view.finding(subject).text
    assert told.startswith(f"For {alike[6]} of {len(shown.tags)} “to” ")
    assert told.endswith(f"before any layer for {alike[0]}, by chance {chance:.0f}.")


def test_a_click_picks_a_point_and_another_opens_its_sentence(subject, bundled, refusal):
    view = Words(word="to", picked=((3,), "to"))
    content = view.compute(subject)
    rows = content["uses"]["rows"]
    assert (len(rows), rows[0]["token"], rows[0]["strong"]) == (LINES, 3, True)
    assert content["check"]["text"].startswith("✓")
    assert Words(word="to").on_map(subject, 5).settings == {"picked": ((5,), "to")}
    change = view.on_uses(subject, rows[4]["token"])
    assert bundled.trace(*change.texts).tokens[change.selection["token"]] == "to"
    refusal(InputError, lambda: view.on_uses(subject, 10_000))
    refusal(InputError, lambda: view.on_map(subject, "x"))
    assert Words(word="the", picked=((3,), "to")).compute(subject)["uses"]["rows"][0]["token"] == 0, "a place of another word"
    assert [words.check_picked(odd) for odd in ([[-1], "a"], "x", None, [[True], "a"], [1, 2])] == [words.NONE_PICKED] * 5


def test_it_opens_on_a_word_of_several_senses_the_chosen_one_if_it_is_one(subject, bundled):
    assert "“light” stands " in Words().compute(subject.select(token=2))["about"]
    of_bank = subject.select(token=5)
    content = Words().compute(of_bank)
    assert "“bank” stands 8 times" in content["about"]
    cosines = cosine_matrix(Words().result(of_bank).found.at(6))[np.triu_indices(8, k=1)]
    told = Words().finding(of_bank).text
    assert f"a cosine of {cosines.min():.2f} to {cosines.max():.2f} in hidden state 6" in told
    chips = content["senses"]["chips"]
    assert Words().on_senses(subject, chips.index("play")).settings == {"word": "play"}
