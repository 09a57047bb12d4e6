"""What the choice Layers shows: a probe and similarity; each finding is compared with its numbers."""

import re
from collections import Counter

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from explorer.core.errors import InputError
from explorer.corpus import layers
from explorer.corpus.layers import SIMILARITY, Layers
from explorer.text.tagged import plain
from explorer.ui.subject import Subject
from tests.families import write_family

pytestmark = pytest.mark.usefixtures("part")

TEXT = "She sat on the bank of the river."


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace(TEXT)).select(layer=4)


def numbers(text):
    return [float(one.replace(",", "")) for one in re.findall(r"[−-]?\d[\d,]*(?:\.\d+)?", text.replace("−", "-"))]


def looked(view, subject):
    assert view.finding(subject) is None or view.look_up(subject), "nothing is read for a sentence"
    content = view.compute(subject)
    assert content["check"]["text"].startswith("✓"), content["check"]
    return content, view.result(subject)


def test_a_probe_is_a_logistic_regression_on_other_sentences(subject, part):
    content, found = looked(view := Layers(), subject)
    first = found.fold == 0
    held = found.words.only(found.held[first])
    trained = found.words.only(np.flatnonzero(~np.isin(found.words.sentence, held.sentence)))
    assert found.fold.max() == 2
    assert len(set(found.held.tolist())) == len(found.held), "each word is held out once"
    tags = [[part.sentences[s].tags[w] for s, w in zip(one.sentence, one.word, strict=True)] for one in (trained, held)]
    assert [found.examples.classes[one] for one in found.right[first]] == tags[1]
    vectors = trained.at(4)
    mean, size = vectors.mean(0), vectors.std(0) * vectors.shape[1] ** 0.5
    theirs = LogisticRegression(C=10, max_iter=300).fit((vectors - mean) / size, tags[0]).predict((held.at(4) - mean) / size)
    said = [found.examples.classes[one] for one in found.said[4, first]]
    assert np.mean(np.array(said) == theirs) > 0.99
    accuracy = [np.mean(row == found.right) for row in found.said]
    np.testing.assert_allclose(found.accuracy, accuracy)
    assert (found.interval[0] < accuracy).all()
    assert (accuracy < found.interval[1]).all()
    assert (found.control < accuracy).all(), "what is learned by heart does not help with words of other types"
    usual = Counter(tags[0]).most_common(1)[0][0]
    memory = {}
    for one, tag in zip(zip(trained.sentence, trained.word, strict=True), tags[0], strict=True):
        memory.setdefault(part.sentences[one[0]].words[one[1]].casefold(), Counter())[tag] += 1
    own = [
        memory[name].most_common(1)[0][0] if (name := part.sentences[s].words[w].casefold()) in memory else usual
        for s, w in zip(held.sentence, held.word, strict=True)
    ]
    assert [found.examples.classes[one] for one in found.remembered[first]] == own
    selectivity = np.mean(found.said[4, first] == found.right[first]) - found.control[4]
    assert f"is {100 * selectivity:.1f}% at hidden state 4." in content["about"]
    assert {found.examples.classes[one] for one in found.usual[first]} == {usual}
    told = view.finding(subject).text
    best = int(np.argmax([np.mean(row[first] == found.right[first]) for row in found.said]))
    elsewhere = np.mean(found.said[best, ~first] == found.right[~first])
    assert told.startswith(f"A probe reads the part of speech best from hidden state {best}, chosen on other sentences")
    assert f"for {100 * elsewhere:.1f}% of {(~first).sum():,} words" in told
    baselines = f"right for {100 * found.baselines[0]:.1f}%, the most frequent class of all for {100 * found.baselines[1]:.1f}%"
    assert baselines in told
    bars = content["by_class"]["groups"][0]["rows"]
    said = [found.examples.classes[one] for one in found.said[4]]
    tags[1] = [found.examples.classes[one] for one in found.right]
    counts = Counter(map(plain, tags[1]))
    first = bars[0]["label"]
    assert counts[first] == max(counts.values())
    right = np.mean([plain(one) == first for one, tag in zip(said, tags[1], strict=True) if plain(tag) == first])
    assert bars[0]["share"] == pytest.approx(right)
    assert f"of {counts[first]} (" in bars[0]["note"]


def test_similarity_of_one_model_and_of_two(subject, tmp_path):
    content, found = looked(view := Layers(look_at=SIMILARITY), subject)
    np.testing.assert_allclose(np.array(content["picture"].data[0].z), found.cka, atol=1e-6)
    steps = np.diag(found.cka, 1)
    least, most = steps.argmin() + 1, steps.argmax() + 1
    wanted = [least, round(steps.min(), 2), most, round(steps.max(), 2), round(found.cka[0, 6], 2)]
    assert numbers(view.finding(subject).text) == pytest.approx(wanted)
    other = str(write_family(tmp_path / "roberta", "roberta"))
    content, found = looked(view := Layers(look_at=SIMILARITY, compared=other), subject)
    assert found.cka.shape == (7, 4)
    here, there = np.unravel_index(found.cka.argmax(), found.cka.shape)
    assert numbers(view.finding(subject).text)[:3] == pytest.approx([here, there, round(found.cka.max(), 2)])
    assert ", ".join(f"{row} ~ {best}" for row, best in enumerate(found.cka.argmax(1))) in content["about"]
    same = Layers(look_at=SIMILARITY, compared=subject.model_name)
    assert same.result_key(subject) == Layers(look_at=SIMILARITY).result_key(subject)


def test_a_click_chooses_a_hidden_state_and_nothing_is_computed_again(subject, refusal, monkeypatch):
    view = Layers()
    view.compute(subject)
    assert view.on_picture(subject, 0).selection == {"layer": 0}
    assert view.on_picture(subject, [2, 5]).selection == {"layer": 2}
    refusal(InputError, lambda: view.on_picture(subject, "x"))
    monkeypatch.setattr(layers, "probe_in_steps", None)
    other = subject.select(layer=0)
    assert view.key(other) != view.key(subject)
    assert view.compute(other)["check"]["text"].startswith("✓")
