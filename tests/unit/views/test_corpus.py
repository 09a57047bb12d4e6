"""What the Corpus tab shows: numbers that can be counted, sentences that become the input, and files of all sorts."""

import pytest

from explorer.core.errors import InputError
from explorer.corpus import search, source
from explorer.corpus.compute import heads, hiding, reading
from explorer.corpus.compute.plain import flaws
from explorer.corpus.search import HEAD, Search
from explorer.corpus.sentences import FEWEST, SHOWN, Sentences
from explorer.corpus.source import FILE
from explorer.text.dependencies import spell_out
from explorer.ui.subject import Subject
from tests.corpora import in_its_place, part_of_corpus
from tests.families import write_family

TEXT = "She sat on the bank of the river."
BANK = 5


CACHES = reading._opened, heads._opened, hiding._read, source._found


@pytest.fixture(autouse=True, scope="module")
def small(tmp_path_factory):
    """A part of the corpus, and one reading of it for all of these tests."""
    part = part_of_corpus(120)
    with in_its_place(part, tmp_path_factory.mktemp("runs"), *CACHES):
        yield part


@pytest.fixture
def unread(small, tmp_path):
    """Nothing of it is read yet."""
    with in_its_place(small, tmp_path / "runs", *CACHES):
        yield


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace(TEXT)).select(layer=4, token=BANK)


@pytest.mark.parametrize("compare", [search.STATE, HEAD])
def test_the_finding_is_counted_from_the_hits_and_the_corpus(subject, small, compare):
    view = Search(compare=compare, limit=40)
    assert view.finding(subject) is None, "nothing is read for a sentence"
    content = view.compute(subject)
    found = view.result(subject)
    what, value, count, usual = search._telling(found)
    assert count == sum(getattr(hit, what) == value for hit in found.hits)
    words = [word.lower() for one in small.sentences for word in one.words]
    every = {"tag": [tag for one in small.sentences for tag in one.tags]}
    every["relation"] = [relation for one in small.sentences for relation in one.relations]
    assert usual == pytest.approx(every.get(what, words).count(value) / len(words))
    told = view.finding(subject).text
    assert told.startswith(f"{count} of the 40 tokens nearest to “bank” in ")
    assert value in told
    assert content["check"]["text"].startswith("✓")
    if compare == HEAD:
        targets = [hit.target for hit in found.hits]
        most = max(targets.count(target) for target in targets)
        assert any(f"From {most} of them the head looks most at “{target}”." in told for target in targets)


@pytest.mark.parametrize("compare", [search.STATE, HEAD])
def test_bars_are_shares_of_the_hits(subject, compare):
    view = Search(compare=compare, limit=20)
    groups = {group["heading"]: group["rows"] for group in view.compute(subject)["common"]["groups"]}
    hits = view.result(subject).hits
    for row in groups.pop(search.LOOKED_AT["offset"], []):
        assert row["share"] == pytest.approx(sum(hit.offset == int(row["label"]) for hit in hits) / 20)
    for what, heading in {**search.COMMON, **(search.LOOKED_AT if compare == HEAD else {})}.items():
        for row in groups.get(heading, []):
            count = sum(row["label"] in (getattr(hit, what), spell_out(getattr(hit, what))) for hit in hits)
            assert (row["share"], row["note"]) == (pytest.approx(count / 20), f"{count} of 20")


def test_a_click_makes_the_sentence_the_input_and_its_token_the_chosen_one(subject, bundled, refusal):
    view = Search(limit=20)
    assert view.compute(subject)["hits"]["rows"][0]["cells"][3:5] == ["noun", "other noun of a verb"]
    refusal(InputError, lambda: view.on_hits(subject.select(token=1), 0))  # which was not searched for yet
    for index in (20, -1, None, "x", [1]):
        refusal(InputError, lambda index=index: view.on_hits(subject, index))
    for place in (0, 7):
        hit = view.result(subject).hits[place]
        change = view.on_hits(subject, place)
        assert change.texts == (hit.sentence.text, "")
        assert bundled.trace(*change.texts).tokens[change.selection["token"]] == hit.token


def test_a_word_of_several_senses_is_a_click_away(subject, bundled, refusal):
    chips = Search().compute(subject)["senses"]["chips"]
    assert chips == list(source.SENSES)
    for index, word in enumerate(chips):
        change = Search().on_senses(subject, index)
        assert bundled.trace(*change.texts).tokens[change.selection["token"]] == word
    for index in (len(chips), -1, None, "x"):
        refusal(InputError, lambda index=index: Search().on_senses(subject, index))


def listed(content):
    return [row["index"] for row in content["table"]["rows"]]


def test_sentences_are_chosen_by_what_is_in_them(subject, small):
    view = Sentences(contains=" THE", tag="PROPN", shortest=8, longest=20)
    rows = [
        row
        for row, one in enumerate(small.sentences)
        if "the" in one.text.lower() and "PROPN" in one.tags and 8 <= len(one.words) <= 20
    ]
    rows.sort(key=lambda row: flaws(small.sentences[row]))  # those that read easily come first
    assert 0 < len(rows) < len(small.sentences)
    waiting = view.waiting(subject)
    assert listed(waiting) == rows[:SHOWN], "before anything is read"
    assert waiting["table"]["heading"].startswith(f"{len(rows)} of 120 sentences")
    assert listed(view.compute(subject)) == rows[:SHOWN]
    assert view.on_table(subject, rows[0]).texts == (small.texts[rows[0]], "")
    assert listed(Sentences(contains="no such words").compute(subject)) == []


@pytest.mark.usefixtures("unread")
def test_slices_and_the_finding_are_counted(subject, small):
    view = Sentences()
    assert view.finding(subject) is None
    groups = {group["heading"]: group["rows"] for group in view.compute(subject)["slices"]["groups"]}
    found = hiding.known(subject.model, small)
    tags = [small.sentences[found.tokens.sentence[row]].tags[found.tokens.word[row]] for row in found.rows]
    shares = {}
    for tag in set(tags):
        right = [bool(one) for one, other in zip(found.right, tags, strict=True) if other == tag]
        if len(right) >= FEWEST:
            shares[spell_out(tag)] = sum(right) / len(right)
    assert {row["label"]: row["share"] for row in groups["By part of speech"]} == pytest.approx(shares)
    told = view.finding(subject).text
    assert told.startswith(f"Of {len(found.rows)} hidden tokens in the whole corpus the model guesses {found.right.mean():.0%}")
    assert max(shares, key=shares.get) in told
    assert min(shares, key=shares.get) in told


def test_a_model_that_guesses_nothing_lists_them_without(tmp_path, small):
    folder = write_family(tmp_path / "model", "electra-discriminator")
    other = Subject(str(folder), TEXT, "")
    content = Sentences().compute(other)
    assert len(content["table"]["rows"]) == SHOWN
    assert content["slices"] is None
    assert Sentences(source=FILE).waiting(other)["about"] == source.NO_FILE
