"""What a program asks of a model and of a trace, held to transformers with plain hooks and to the app's own views."""

import numpy as np
import pytest
import torch

import explorer
from explorer.bert.provenance import provenance_of
from explorer.core.errors import CapabilityError, InputError
from explorer.techniques.attribution import attribute
from explorer.techniques.targets import word_target
from tests.hooks import eager_bert, every_dense, hooked, zeroed

TEXT, WORD, FOIL = "the keys to the cabinet [MASK] old.", "are", "is"
OTHER = "the key to the cabinet [MASK] old."


class Reference:
    """The difference of two logits at the blank, by transformers alone."""

    def __init__(self, model):
        self.module, self.tokenizer, self.has = eager_bert(model), model.tokenizer, model.capabilities
        self.ids = self.tokenizer.convert_tokens_to_ids([WORD, FOIL])

    def read(self, text, **more):
        return self.module(**self.tokenizer(text, return_tensors="pt"), **more)

    @torch.no_grad()
    def difference(self, text):
        at = self.tokenizer(text)["input_ids"].index(self.tokenizer.mask_token_id)
        word, foil = self.read(text).prediction_logits[0, at, self.ids].tolist()
        return word - foil

    def without(self, text, off):
        with zeroed(every_dense(self.module), self.has.heads, off):
            return self.difference(text)


@pytest.fixture(scope="module")
def reference(bundled):
    return Reference(bundled)


@pytest.fixture(scope="module")
def trace(bundled):
    return bundled.trace(TEXT)


def test_ablate_is_a_hook_on_every_head(bundled, reference):
    found = explorer.ablate(bundled, TEXT, word=WORD, foil=FOIL)
    assert (found.target, found.unit) == ("are rather than is", "difference of logits")
    assert found.before == pytest.approx(reference.difference(TEXT), abs=1e-4)
    expected = [[reference.without(TEXT, [(layer, head)]) for head in range(12)] for layer in range(6)]
    np.testing.assert_allclose(found.after, expected, atol=1e-4)
    first = found.table.iloc[0]
    assert first["effect"] == found.effects.min() == found.effects[int(first["layer"]) - 1, int(first["head"]) - 1]
    together = explorer.ablate(bundled, TEXT, [(5, 11), (4, 2)], WORD, FOIL)
    assert float(together.after) == pytest.approx(reference.without(TEXT, [(4, 10), (3, 1)]), abs=1e-4)


def test_without_a_foil_it_is_the_probability_and_by_default_the_second_guess(bundled):
    guesses = bundled.fill_mask(TEXT, top_k=2)[0].candidates
    alone = explorer.ablate(bundled, TEXT, [(1, 1)], foil="")
    assert (alone.target, alone.unit) == (guesses[0].token, "probability")
    assert alone.before == pytest.approx(guesses[0].probability, abs=1e-5)
    assert explorer.ablate(bundled, TEXT, [(1, 1)]).before == pytest.approx(guesses[0].logit - guesses[1].logit, abs=1e-4)


def test_patch_is_a_hook_that_puts_one_vector_in_the_place_of_another(bundled, reference):
    found = explorer.patch(bundled, TEXT, OTHER, WORD, FOIL)
    assert found.clean == pytest.approx(reference.difference(TEXT), abs=1e-4)
    assert found.corrupted == pytest.approx(reference.difference(OTHER), abs=1e-4)
    with torch.no_grad():
        states = reference.read(TEXT, output_hidden_states=True).hidden_states
    for layer, token in [(0, 2), (2, 2), (3, 6), (5, 4), (6, 6)]:
        module = reference.module.bert.encoder.layer[layer - 1] if layer else reference.module.bert.embeddings

        def put(_, hidden, layer=layer, token=token):
            return hidden.index_copy(1, torch.tensor([token]), states[layer][:, [token]])

        with hooked([module], put):
            assert found.patched[layer, token] == pytest.approx(reference.difference(OTHER), abs=1e-4)
    assert found.recovery[6, 6] == pytest.approx(1, abs=1e-5)
    assert len(found.table) == found.patched.size


def test_attribute_is_the_technique_with_its_table(bundled, trace):
    found = explorer.attribute(bundled, TEXT, WORD, FOIL, method="occlusion")
    target = word_target(trace, WORD, foil=FOIL)
    np.testing.assert_allclose(found.scores, attribute(trace, target, "occlusion").scores, atol=1e-5)
    path = explorer.attribute(bundled, TEXT, WORD, FOIL, steps=20, baseline="mask")
    assert abs(path.delta) < 0.5
    assert path.table.columns.tolist() == ["position", "token", "score"]


def test_routes_go_back_to_the_tokens(bundled, trace):
    found = explorer.routes(bundled, TEXT)
    assert found.position == trace.mask_positions[0]
    np.testing.assert_allclose(found.mixing.sum(-1), 1, atol=1e-5)
    behind = np.eye(trace.kept)[found.position]
    for layer in reversed(found.mixing):
        behind = behind @ layer
    np.testing.assert_allclose(found.sources, behind, atol=1e-5)
    layer, query, key, share = found.strongest[0]
    assert (layer, query) == (6, found.position)
    assert share == pytest.approx(found.mixing[5, query, key])


def test_an_experiment_is_the_mean_of_its_items(bundled):
    items = [[TEXT, "", WORD, FOIL], [OTHER, "", FOIL, WORD]]
    found = explorer.experiment(bundled, items)
    each = [explorer.ablate(bundled, text, word=word, foil=foil).effects for text, _, word, foil in items]
    np.testing.assert_allclose(found.summary.effects, np.mean(each, 0), atol=1e-4)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda model: explorer.ablate(model, "no blank"), "no [MASK]"),
        (lambda model: explorer.ablate(model, TEXT, [(7, 1)]), "from 1 to 6, not 7"),
        (lambda model: explorer.ablate(model, TEXT, word="antidisestablishmentarianism"), "not one piece"),
        (lambda model: explorer.ablate(model, ("a", "b", "c")), "a pair of texts"),
        (lambda model: explorer.patch(model, TEXT, "short [MASK].", WORD, FOIL), "need the same number"),
        (lambda model: explorer.patch(model, TEXT, TEXT, WORD, FOIL).recovery, "nothing to recover"),
        (lambda model: explorer.attribute(model, TEXT, method="guessing"), "The method must be one of"),
        (lambda model: explorer.routes(model, TEXT, position=99), "position"),
        (lambda model: explorer.experiment(model, []), "two items"),
        (lambda model: model.trace(TEXT).view("fill-mask/lense"), "perhaps fill-mask/lens"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(bundled, refusal, ask, says):
    assert says in refusal(InputError, lambda: ask(bundled))


def test_a_view_gives_its_numbers_as_data_frames(bundled, trace):
    seen = trace.view("fill-mask/lens")
    table = seen.tables["table"]
    last = table[(table["hidden_state"] == 6) & (table["position"] == trace.mask_positions[0])].iloc[0]
    best = bundled.fill_mask(TEXT, top_k=1)[0].candidates[0]
    assert (last["guess"], last["id"]) == (best.token, best.id)
    assert last["probability"] == pytest.approx(best.probability, rel=1e-4)  # of torch's softmax in single precision
    assert seen.check.startswith("✓")
    assert best.token in seen.finding
    assert seen.provenance == provenance_of(bundled)
    with pytest.raises(CapabilityError, match="No blank"):
        bundled.trace("no blank").view("fill-mask/guesses")
