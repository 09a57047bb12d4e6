"""What Search and words shows: numbers that can be counted, and sentences that become the input."""

from collections import Counter

import numpy as np
import pytest

from explorer.analysis.similarity import cosine_matrix
from explorer.core.errors import InputError
from explorer.corpus import hits, source
from explorer.corpus.search import HEAD, NEURON, STATE, WORD, Search, check_picked
from explorer.corpus.source import FILE
from explorer.text.tagged import spell_out
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.subject import Subject

pytestmark = pytest.mark.usefixtures("part")

TEXT = "She sat on the bank of the river."
BANK = 5


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace(TEXT)).select(layer=4, token=BANK)


@pytest.mark.parametrize("compare", [STATE, HEAD])
def test_the_finding_is_counted_from_the_hits_and_the_corpus(subject, part, compare):
    view = Search(compare=compare, limit=40)
    assert view.finding(subject) is None, "nothing is read for a sentence"
    content = view.compute(subject)
    found = view.result(subject)
    what, value, count, usual = found.telling()
    found = found.found
    assert count == sum(getattr(hit, what) == value for hit in found.hits)
    words = [word.lower() for one in part.sentences for word in one.words]
    every = {"tag": [tag for one in part.sentences for tag in one.tags]}
    every["relation"] = [relation for one in part.sentences for relation in one.relations]
    assert usual == pytest.approx(every.get(what, words).count(value) / len(words))
    told = view.finding(subject).text
    assert told.startswith(f"{whole_percent(count / 40)} of the 40 tokens nearest to “bank” in ")
    assert value in told
    assert content["check"]["text"].startswith("✓")
    if compare == HEAD:
        targets = [hit.target for hit in found.hits]
        most = max(targets.count(target) for target in targets)
        assert any(f"From {most} of them the head looks most at “{target}”." in told for target in targets)


@pytest.mark.parametrize("compare", [STATE, HEAD])
def test_bars_are_shares_of_the_hits(subject, compare):
    view = Search(compare=compare, limit=20)
    groups = {group["heading"]: group["rows"] for group in view.compute(subject)["common"]["groups"]}
    listed = view.result(subject).found.hits
    for row in groups.pop(hits.LOOKED_AT["offset"], []):
        assert row["share"] == pytest.approx(sum(hit.offset == int(row["label"]) for hit in listed) / 20)
    for what, heading in {**hits.COMMON, **(hits.LOOKED_AT if compare == HEAD else {})}.items():
        for row in groups.get(heading, []):
            count = sum(row["label"] in (getattr(hit, what), spell_out(getattr(hit, what))) for hit in listed)
            assert (row["share"], row["note"]) == (pytest.approx(count / 20), f"{count} of 20")


def test_a_click_makes_the_sentence_the_input_and_its_token_the_chosen_one(subject, bundled, refusal):
    view = Search(limit=20)
    assert view.compute(subject)["hits"]["rows"][0]["cells"][3:5] == ["noun", "other noun of a verb"]
    refusal(InputError, lambda: view.on_hits(subject.select(token=1), 0))  # which was not searched for yet
    for index in (20, -1, None, "x", [1]):
        refusal(InputError, lambda index=index: view.on_hits(subject, index))
    for place in (0, 7):
        hit = view.result(subject).found.hits[place]
        change = view.on_hits(subject, place)
        assert change.texts == (hit.sentence.text, "")
        assert bundled.trace(*change.texts).tokens[change.selection["token"]] == hit.token


def test_a_word_has_a_point_per_occurrence_and_the_nearest_to_the_picked_one_first(subject, bundled, refusal):
    view = Search(compare=WORD, word="to", picked=3)
    content = view.compute(subject)
    found = view.result(subject)
    cosines = cosine_matrix(found.of.at(4))
    assert [hit.score for hit in found.found.hits] == pytest.approx(sorted(cosines[3], reverse=True), abs=1e-5)
    assert found.found.hits[0].sentence is found.of.hits[3].sentence
    assert content["hits"]["rows"][0]["strong"]
    assert [point["text"] for point in content["map"]["points"]] == [hit.word for hit in found.of.hits]
    assert content["map"]["picked"] == 3
    assert content["check"]["text"].startswith("✓")
    np.fill_diagonal(cosines, -1)
    equally = [np.flatnonzero(row > row.max() - 1e-5) for row in cosines]
    alike = round(sum(np.mean([found.tags[n] == tag for n in near]) for tag, near in zip(found.tags, equally, strict=True)))
    chance = sum(one * (one - 1) for one in Counter(found.tags).values()) / (len(found.tags) - 1)
    told = view.finding(subject).text
    assert told.startswith(f"{alike} of {len(found.tags)} uses of “to” ")
    assert told.endswith(f"({found.alike(0)} before any layer, {chance:.0f} by chance).")
    assert view.on_map(subject, 5).settings == {"picked": 5}
    change = view.on_hits(subject, 4)
    assert bundled.trace(*change.texts).tokens[change.selection["token"]] == "to"
    refusal(InputError, lambda: view.on_map(subject, "x"))
    assert [check_picked(odd) for odd in (-1, "x", None, True, [1, 2], 4)] == [0, 0, 0, 0, 0, 4]


def test_the_word_is_one_of_several_senses_the_chosen_one_if_it_is_one(subject):
    view = Search(compare=WORD)
    assert "“light” occurs " in view.compute(subject.select(token=2))["about"]
    assert "“bank” occurs 8 times" in view.compute(subject)["about"]
    cosines = cosine_matrix(view.result(subject).of.at(4))[np.triu_indices(8, k=1)]
    assert f"a cosine of {cosines.min():.2f} to {cosines.max():.2f} in hidden state 4" in view.finding(subject).text


def test_a_neuron_lists_the_tokens_on_which_it_is_most_active(subject, bundled):
    view = Search(compare=NEURON, of_neuron=7, limit=10)
    content = view.compute(subject)
    found = view.result(subject).found
    assert [row["cells"][-1] for row in content["hits"]["rows"]] == [f"{hit.score:.2f}" for hit in found.hits]
    assert content["check"]["text"].startswith("✓")
    assert "the 10 tokens on which neuron 7 of layer 4 is most active" in view.finding(subject).text
    assert view.finding(subject).why.settings == {"unit": "Neuron", "neuron": 7}


def test_until_the_corpus_is_read_sentences_with_the_word_are_listed(bundled):
    unread = Subject.of(bundled.trace(TEXT)).select(layer=2, token=BANK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("explorer.corpus.search.is_read", lambda *_: False)
        rows = Search().waiting(unread)["hits"]["rows"]
    assert all("bank" in row["cells"][0].lower() for row in rows)
    assert Search(source=FILE).waiting(unread)["about"] == source.NO_FILE
