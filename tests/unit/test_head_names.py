"""Plain names of heads, beside the arrays that they are read from."""

import base64

import numpy as np

from explorer.analysis.head_metrics import ATLAS, BROAD, CLEAR, HABITS, everywhere, head_name_of
from explorer.attention.endpoints import head_metrics
from explorer.attention.heads import Heads
from explorer.corpus.compute.atlas_file import read
from explorer.text.tagged import plain
from explorer.ui.attention_data import find_telling, head_cards, head_sentence, name_of, overview_of
from explorer.ui.subject import Subject

TEXT = "The keys to the cabinet are on the [MASK]."


def places(model):
    return list(np.ndindex(model.capabilities.layers, model.capabilities.heads))


def test_a_name_says_how_much_of_the_weight_is_on_what_it_names(bundled, eager):
    subject = Subject(bundled.name, TEXT, "")
    names = {place: name_of(subject, place) for place in places(bundled)}
    _, reference = eager(bundled, TEXT)
    kinds = set()
    for (layer, head), name in names.items():
        weights = reference.attentions[layer][0, head].numpy()
        n = len(weights)
        shares = {
            "previous token": np.diagonal(weights, -1).mean(),
            "next token": np.diagonal(weights, 1).mean(),
            "itself": np.diagonal(weights).mean(),
            "delimiter [CLS]": weights[:, 0].mean(),
            "delimiter [SEP]": weights[:, n - 1].mean(),
            "delimiters": weights[:, [0, n - 1]].sum(1).mean(),
        }
        if name.name in shares:
            kinds.add(name.name)
            assert shares[name.name] >= CLEAR - 1e-6
            assert name.sure == f"{shares[name.name]:.2f} of the weight"
        elif name.name == HABITS["broad"].name:
            assert float(name.sure.split()[1]) >= BROAD
        else:
            assert max(shares.values()) < CLEAR or name.name in ("same word", "itself and its neighbours")
    assert len(kinds) >= 3


def test_a_head_without_a_habit_here_has_the_name_that_the_atlas_gives_it(bundled):
    subject, atlas = Subject(bundled.name, TEXT, ""), read(ATLAS)
    named = 0
    for place in places(bundled):
        found, relation = name_of(subject, place), str(atlas.habits[place])
        follows = relation in atlas.relations.tolist()
        assert everywhere().describe(place).startswith(plain(relation))
        if HABITS[str(overview_of(subject).patterns[place])].metrics or not follows:
            assert "by the atlas" not in found.name
            assert found.elsewhere.startswith(plain(relation))
            continue
        named += 1
        at = atlas.relations.tolist().index(relation)
        assert found.name == f"{plain(relation)}, by the atlas"
        right, usual = atlas.best[place][at], atlas.baselines[at]
        assert found.sure == f"right for {right:.0%} of such words, position alone for {usual:.0%}"
    assert named


def test_other_models_heads_are_named_by_their_own_numbers_alone(tiny):
    subject = Subject.of(tiny.trace("The man went to the store."))
    for place in places(tiny):
        found = name_of(subject, place)
        assert found == head_name_of(overview_of(subject), place)
        assert not found.elsewhere


def test_a_name_and_the_finding_of_attention_agree(bundled):
    """They share one table, so a head that has a name has the verb of the same habit in its sentence."""
    subject = Subject(bundled.name, "A dog barked at the cat.", "")
    for layer, head in places(bundled):
        chosen = subject.select(layer=layer + 1, head=head + 1, picked=True)
        habit = HABITS[str(overview_of(chosen).patterns[layer, head])]
        told = head_sentence(chosen, find_telling(chosen))
        if habit.metrics and habit.does in told:
            assert name_of(chosen, (layer, head)).sure.split()[0] in told


def test_a_card_has_each_tokens_strongest_link_in_every_head(bundled, eager):
    subject = Subject(bundled.name, TEXT, "")
    cards, (_, reference) = head_cards(subject), eager(bundled, TEXT)
    shape = (6, 12, len(cards["tokens"]))
    keys = np.frombuffer(base64.b64decode(cards["keys"]), "<u2").reshape(shape)
    weights = np.frombuffer(base64.b64decode(cards["weights"]), np.uint8).reshape(shape) / 255
    theirs = np.stack([layer[0].numpy() for layer in reference.attentions])
    np.testing.assert_allclose(weights, theirs.max(-1), atol=0.5 / 255 + 1e-5)
    np.testing.assert_allclose(np.take_along_axis(theirs, keys[..., None].astype(int), -1)[..., 0], theirs.max(-1), atol=1e-5)
    assert cards["names"][2 * 12 + 3] == [*name_of(subject, (2, 3))]


def test_the_endpoint_and_the_grid_have_the_names_too(bundled):
    subject = Subject(bundled.name, TEXT, "")
    names = head_metrics(TEXT)["metrics"]["name"]
    notes = Heads().compute(subject)["grid"]()["notes"]
    for layer, head in places(bundled):
        assert names[layer][head] == str(name_of(subject, (layer, head)))
        assert notes[layer * 12 + head].startswith(names[layer][head] + "; entropy ")
