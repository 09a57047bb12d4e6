"""The tuned lens: on sentences it never saw nearer to the final guess than the raw one, and the model's own at the end."""

import numpy as np
import pytest

from assets.lens import fit as fitting
from explorer.bert.provenance import weights_hash
from explorer.core.paths import ASSETS
from explorer.fill_mask.lens import FollowedWords
from explorer.techniques.lens import FILE, RAW, TUNED, follow, lens, tuned_lens
from explorer.text.corpora import built_in
from explorer.ui.pictures.numbers import numbers_of
from explorer.ui.subject import Subject

TEXT = "The capital of Japan is [MASK]."


@pytest.fixture(scope="module")
def tuned(bundled):
    return tuned_lens(bundled)


def test_what_ships_is_small_fitted_for_these_weights_and_not_on_what_is_held_out(bundled, tuned):
    assert FILE.stat().st_size < 2_000_000
    assert tuned.about["weights"] == weights_hash(bundled.checkpoint)
    fitted, held_out = fitting.texts()
    assert not {*fitted} & {*held_out}
    assert {*held_out} < {*built_in().texts}
    assert tuned.about["held_out"] == len(held_out)
    guide = (ASSETS / "guide" / "fill-mask.md").read_text("utf-8")
    assert f"fitted on {tuned.about['fitted']:,} sentences" in guide
    assert f"on {len(held_out)} held-out sentences" in " ".join(guide.split())
    for name in (RAW, TUNED):
        for title, known in ((name, name), (f"{name}, at blanks", f"{name}_at_blanks")):
            assert f"| {title} | {' | '.join(f'{one:.2f}' for one in tuned.about[known])} | 0 |" in guide


@pytest.mark.nightly
def test_on_held_out_sentences_it_is_nearer_to_the_last_guess_at_every_state(bundled, tuned):
    _, held_out = fitting.texts()
    read = fitting.read(bundled, held_out[::8], seed=1)
    found = {name: fitting.means(bundled, one, read) for name, one in ((RAW, None), (TUNED, tuned))}
    for raw, mapped in zip(found[RAW], found[TUNED], strict=True):  # at all tokens, at blanks
        assert len(raw) == bundled.capabilities.layers
        assert all(after < before for before, after in zip(raw, mapped, strict=True)), (raw, mapped)
    for name in (RAW, TUNED):  # of all held-out sentences the file tells
        np.testing.assert_allclose(found[name][0], tuned.about[name], rtol=0.4)


def test_it_reads_the_last_state_as_the_model_does_and_the_others_through_its_maps(bundled, tuned, eager):
    trace = bundled.trace(TEXT)
    _, outputs = eager(bundled, TEXT)
    states, blank = [state[0] for state in outputs.hidden_states], trace.blanks()[0]
    found, plain = lens(trace, [blank], tuned), lens(trace, [blank])
    for state, vectors in enumerate(states):
        mapped = vectors if state == len(states) - 1 else vectors + vectors @ tuned.weight[state].T + tuned.bias[state]
        shares, ids = bundled.masked_lm(mapped[[blank]]).softmax(-1).max(-1)
        np.testing.assert_allclose(found.probabilities[state], shares, atol=1e-5)
        np.testing.assert_array_equal(found.ids[state], ids)
    np.testing.assert_allclose(found.probabilities[-1], outputs.prediction_logits[0, [blank]].softmax(-1).max(-1)[0], atol=1e-5)
    np.testing.assert_array_equal(found.probabilities[-1], plain.probabilities[-1])
    assert not np.allclose(found.probabilities[:-1], plain.probabilities[:-1])
    assert float(fitting.divergences(bundled, tuned, trace.states)[-1].abs().max()) < 1e-6


def test_words_are_followed_as_the_lens_reads_them(bundled, tuned):
    subject = Subject.of(bundled.trace(TEXT))
    ids = bundled.masked_lm(subject.trace.states[-1][subject.token]).topk(2).indices.tolist()
    for reading, one in ((RAW, None), (TUNED, tuned)):
        shares, ranks = follow(subject.trace, subject.token, ids, one)
        shown = FollowedWords(reading=reading).compute(subject)
        rows = [row for row in numbers_of(shown["followed"]).rows if row[1] == bundled.pieces(ids)[0]]
        np.testing.assert_allclose([row[2] for row in rows], shares[:, 0], atol=1e-6)
        assert [row[3] for row in rows] == ranks[:, 0].tolist()


@pytest.mark.nightly
def test_fitting_brings_a_model_nearer_to_its_last_guess(tiny):
    read = fitting.read(tiny, ["the man went to the store .", "he bought a gallon of milk .", "she was happy ."])
    begun = fitting.nearest_maps(read.states)
    (raw, _), (near, _) = (fitting.means(tiny, one, read) for one in (None, begun))
    fitted, _ = fitting.means(tiny, fitting.fit(tiny, read.states, steps=30), read)
    assert sum(fitted) < sum(near) < sum(raw)
