"""Every family against transformers' own eager attention, on tiny random models saved to disk and loaded like a user's folder."""

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.bert.trace import Reading, Trace
from explorer.core.errors import CapabilityError, InputError
from explorer.core.steps import finished
from explorer.fill_mask import compute as masking_game
from explorer.finetune.compute.layers import Top
from explorer.finetune.compute.task import make_plan
from explorer.inside_head import compute as batch
from explorer.techniques import ablation, attribution, inside, lens, pseudo_likelihood, routes, targets
from explorer.techniques.directions import find_direction
from explorer.techniques.edits import Along, Move
from tests import decomposing, hooks
from tests.families import KINDS, errors, write_family

LONG = "the man went to the store and bought milk " * 80
INPUTS = {"one": ("happy", ""), "pair": ("The man went to Zürich 😀", "He bought milk."), "long": (LONG, LONG)}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {name: write_family(tmp_path_factory.mktemp("family") / name, name) for name in KINDS}


@pytest.fixture(scope="module", params=list(KINDS))
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def model(kind, folders):
    return explorer.load(folders[kind])


@pytest.fixture(scope="module")
def eager(kind, folders):
    """The same by transformers alone."""
    made = getattr(transformers, KINDS[kind].model)
    return made.from_pretrained(folders[kind], attn_implementation="eager").eval().requires_grad_(False)


def read(eager, model, texts):
    """What transformers makes of texts, fed what the tokenizer gives."""
    given = [text for text in texts if text]
    encoded = model.tokenizer(*given, truncation="longest_first", max_length=model.capabilities.max_tokens, return_tensors="pt")
    return encoded, eager(**encoded, output_hidden_states=True, output_attentions=True)


@pytest.fixture(scope="module")
def blank(model):
    """A pair with its third token masked."""
    return ablation.with_mask(model.trace(*INPUTS["pair"]), 2) if model.capabilities.fill_mask else None


def close(ours, theirs, most=1e-5):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return float(np.abs(ours - theirs).max()) <= most * max(1.0, float(np.abs(theirs).max()))


class TestAgainstTransformers:
    @pytest.mark.parametrize("length", INPUTS)
    def test_ids_hidden_states_and_attention(self, model, eager, length):
        trace = model.trace(*INPUTS[length])
        encoded, theirs = read(eager, model, INPUTS[length])
        assert trace.ids == tuple(encoded["input_ids"][0].tolist())
        if length == "long":
            assert trace.kept == model.capabilities.max_tokens < trace.encoding.total
        states = [model.final(trace.states[-1]) if at == model.capabilities.layers else trace.states[at] for at in range(4)]
        for at, (ours, own) in enumerate(zip(states, theirs.hidden_states, strict=True)):
            assert close(ours, own[0]), at
        for layer, own in enumerate(theirs.attentions):
            weights = trace.attention(layer)
            assert np.allclose(weights.sum(-1), 1, atol=1e-5)
            assert np.abs(weights - own[0].numpy()).max() < 1e-5
            assert trace.attention_error(layer) <= 1e-5 * max(1.0, float(trace.states[layer + 1].abs().max()))

    def test_every_head_that_it_has(self, kind, folders):
        """As the guide's table shows: differences of logits of a size of 10."""
        found = errors(folders[kind], kind)
        assert max(difference for difference in found.values() if difference is not None) < 1e-4

    def test_it_says_which_heads_it_has(self, kind, model):
        has = model.capabilities
        pair = {"bert", "albert"}
        assert has.fill_mask == (kind != "electra-discriminator")
        assert has.replaced == (kind == "electra-discriminator")
        assert has.next_sentence == has.pooler == (kind in pair)
        assert model.family.pair_order == (kind == "albert")
        assert has.segments == (kind in {*pair, "electra-generator", "electra-discriminator"})
        assert has.layers == 3
        assert sum(model.parameters_by_part().values()) == has.parameters

    def test_in_a_batch_it_is_what_it_is_alone(self, model):
        encodings = [model.encode(*texts) for texts in INPUTS.values()]
        for encoding, together in zip(encodings, model.hidden_states_of(encodings), strict=True):
            assert close(together, model.hidden_states_of([encoding])[0])

    def test_the_heads_that_the_pass_of_a_short_input_kept_are_those_of_its_hidden_states(self, model):
        trace = model.trace(*INPUTS["pair"])
        derived = Trace(model, Reading(trace.encoding, trace.states))
        assert len(trace.reading.heads) == len(model.layers)
        for layer in range(len(model.layers)):
            np.testing.assert_allclose(trace.attention(layer), derived.attention(layer), atol=1e-6)


class TestInABatch:
    """Two inputs as transformers' own tokenizer fills them up, read with the attention mask and with one of ones."""

    @pytest.mark.parametrize("shorter", [0, 1])
    def test_it_is_what_transformers_reads(self, model, eager, shorter):
        texts = [("the man", "he was sad"), ("the dog bought milk on the right, and it ate it all.", "")][:: 1 - 2 * shorter]
        first, second = (model.trace(*pair) for pair in texts)
        found = batch.read_together(first, second)
        rows = [model.tokenizer(*filter(None, pair)) for pair in texts]
        inputs = model.tokenizer.pad(rows, return_tensors="pt")
        assert np.array_equal(found.ids, inputs["input_ids"])
        assert np.array_equal(found.attention_mask, inputs["attention_mask"])
        assert (found.row, found.words) == (shorter, (first, second)[shorter].encoding.text_positions)
        assert found.error <= 1e-5 * max(1.0, float(found.masked.abs().max()))
        real, ones = found.real, torch.ones_like(inputs["attention_mask"])
        for with_mask, states in ((True, found.masked), (False, found.unmasked)):
            read = inputs if with_mask else {**inputs, "attention_mask": ones}
            theirs = eager(**read, output_hidden_states=True, output_attentions=True)
            assert close(model.final(states[-1])[real], theirs.hidden_states[-1][shorter, real])
            for layer, weights in enumerate(theirs.attentions):
                mine = batch.answers_to(model, found, layer, 1, 2, with_mask)
                assert np.abs(mine.weights - weights[shorter, 1, 2].numpy()).max() < 1e-5
                assert abs(mine.weights.sum() - 1) < 1e-5
                given = mine.weights[~real].sum()
                if with_mask:
                    assert given == 0
                    assert np.isneginf(mine.scores[~real]).all()
                else:
                    assert abs(given - found.leaks[layer, 1, 2]) < 1e-5

    def test_with_the_mask_it_is_what_it_is_alone(self, model):
        short, long = model.trace("the man"), model.trace("the dog bought milk , and it was sad .")
        found = batch.read_together(short, long)
        size = max(1.0, float(short.states[-1].abs().max()))
        assert found.change(True) <= 1e-5 * size
        assert found.change(False) > 1e-3 * size
        assert found.turn(False) > found.turn(True)
        assert batch.read_together(short, long) is found


class TestInside:
    def test_the_embedding_parts_sum_to_what_the_layers_read(self, model):
        for texts in INPUTS.values():
            parts = inside.embedding_parts(model.trace(*texts))
            assert parts.error < 1e-5
            assert next(iter(parts.added)) == "token"

    def test_padding_that_was_typed_has_no_position_of_its_own(self, model):
        typed = f"the man {model.tokenizer.pad_token} went"
        assert inside.embedding_parts(model.trace(typed)).error < 1e-5

    def test_the_steps_of_every_layer_end_in_the_next_hidden_state(self, model):
        trace = model.trace(*INPUTS["pair"])
        for layer in range(3):
            steps, error = inside.layer_steps(trace, layer, token=1, head=1)
            size = float(trace.states[layer + 1].abs().max())
            assert error <= 1e-5 * max(1.0, size)
            names = [step.name for step in steps]
            assert names[0] == f"hidden state {layer}"
            assert names[-1] == f"hidden state {layer + 1}"
            assert len(set(names)) == len(names)
            assert "attention weights" in names
            assert np.allclose(steps[names.index("attention weights")].vector, trace.attention(layer)[1, 1])
            assert inside.value_error(trace, layer) <= 1e-5 * max(1.0, size)

    def test_one_query_beside_every_key(self, model):
        trace = model.trace(*INPUTS["long"])
        for layer, token in ((0, 5), (1, 40)):
            assert np.allclose(
                inside.head_step(ablation.Run(trace), layer, 1, token).weights, trace.attention(layer)[1, token], atol=1e-6
            )
            causal = inside.causal_attention(trace, layer, 1)
            assert np.allclose(causal.sum(-1), 1, atol=1e-5)
            assert not np.triu(causal, 1).any()

    def test_watching_a_layer_leaves_no_hook_behind(self, model):
        before = hooks.hooks_of(model)
        inside.layer_steps(model.trace("happy"), 0)
        assert hooks.hooks_of(model) == before


class TestRoutes:
    @pytest.mark.parametrize("cuts", [[], [(1, 3, 2, None), (0, 1, 1, 1)]], ids=["as it is", "cut"])
    def test_the_mixing_is_that_of_written_out_parts(self, kind, model, eager, cuts):
        trace = model.trace(*INPUTS["pair"])
        layers = model._layer_modules(eager.get_submodule(model.family.encoder))
        with hooks.cut_weights(eager, cuts), decomposing.watching(layers, kind) as made:
            _, theirs = read(eager, model, INPUTS["pair"])
        mixing = routes.mixing(ablation.Run(trace, cuts=cuts))
        assert np.allclose(mixing.shares.sum(-1), 1, atol=1e-5)
        for layer in range(3):
            after, parts, rest = decomposing.decomposed(made, theirs.attentions, layer)
            size = max(1.0, float(after.abs().max()))
            assert close(parts.sum((1, 2)) + rest, after)
            assert mixing.max_error <= 1e-4 * size
            assert np.abs(mixing.shares[layer] - decomposing.shares_of(after, parts.sum(1)).numpy()).max() < 1e-5
            heads = decomposing.head_shares(trace, layer, 3, cuts=cuts)
            assert np.abs(heads.sum(0) - mixing.shares[layer, 3]).max() < 1e-5
            theirs_by_head = decomposing.divided(after[3], parts[3], mixing.shares[layer, 3])
            assert np.abs(heads - theirs_by_head.numpy()).max() < 1e-4

    def test_long_inputs(self, model):
        found = routes.mixing(ablation.Run(model.trace(*INPUTS["long"])))
        assert np.allclose(found.shares.sum(-1), 1, atol=1e-5)
        assert found.shares.min() >= 0
        block = routes.block_of(ablation.Run(model.trace(*INPUTS["long"])), 1)
        query = 40
        parts = (block.handed() * block.weights[:, query, :, None]).sum(0)
        parts[query] += block.kept[query]
        vector = block.normed[0][query]
        nearer = (vector.abs() - (vector - parts).abs()).double().sum(-1).clamp(min=0)
        assert np.abs(found.shares[1, query] - (nearer / nearer.sum()).numpy()).max() < 1e-5

    def test_the_neurons_are_what_the_second_matrix_reads(self, request, model, eager):
        seen, layers = [], dict.fromkeys(model._layer_modules(eager.get_submodule(model.family.encoder)))
        path = model.family.out_of_neurons
        for layer in layers:
            watched = layer.get_submodule(path).register_forward_pre_hook(lambda _, given: seen.append(given[0]))
            request.addfinalizer(watched.remove)
        read(eager, model, INPUTS["pair"])
        with torch.no_grad():
            _, activations = model.layers[1].with_neurons(model.trace(*INPUTS["pair"]).states[1][None])
        assert close(activations, seen[1])


class TestTechniques:
    def test_the_lens_at_the_last_layer_is_the_models_own(self, model, blank):
        if blank is None:
            with pytest.raises(CapabilityError, match="has no masked-language-model head"):
                lens.lens(model.trace("happy"), [1])
            return
        assert lens.lens_error(blank, [2]) < 1e-4
        own = model.own_masked_lm(blank.encoding)[2]
        assert lens.lens(blank, [2]).ids[-1, 0] == int(own.argmax())
        assert close(model.masked_lm_of_one(blank.states[-1][2]), own), "the vocabulary read for one vector"

    def test_switching_heads(self, model, blank):
        trace = blank or model.trace(*INPUTS["pair"])
        assert torch.equal(ablation.Run(trace, []).states[-1], trace.states[-1])
        off = ablation.Run(trace, [(1, 0)]).states[-1]
        weights = torch.from_numpy(trace.attention(1))
        context = (weights @ trace.heads(1).value).clone()
        context[:, 0] = 0
        by_hand = model.layers[2](model.layers[1].after_heads(context, trace.states[1]))[0]
        assert close(off, by_hand)
        if blank is not None:
            target = targets.word_target(blank)
            effects = target.measure(ablation.head_readings(blank, target)).numpy()
            share = float(targets.read_at(model, target, off[[target.position]]).probability)
            assert effects.shape == (3, 2)
            assert effects[1, 0] == pytest.approx(share, abs=1e-5)

    def test_cut_weights_are_zero_in_transformers_own_run(self, model, eager):
        trace = model.trace(*INPUTS["pair"])
        encoded, _ = read(eager, model, INPUTS["pair"])
        assert torch.equal(ablation.Run(trace).states, trace.states)
        for cuts in ([(1, 3, 2, None)], [(0, 1, 1, 1), (0, 1, 4, None), (2, 0, 5, 0)]):
            with hooks.cut_weights(eager, cuts), torch.no_grad():
                theirs = eager(**encoded, output_hidden_states=True).hidden_states
            ours = ablation.Run(trace, cuts=cuts).states
            unnormed = ours if not model.family.final_norm else [*ours[:-1], model.final(ours[-1])]
            for mine, other in zip(unnormed, theirs, strict=True):
                assert close(mine, other[0])
            assert not close(ours[-1], trace.states[-1])
            towards = ablation.Run(trace, ends=[0, 3], cuts=cuts).states
            assert close(towards[:-1], ours[:-1])
            assert close(towards[-1, [0, 3]], ours[-1, [0, 3]])
            assert torch.equal(towards[-1, 2], trace.states[-1, 2]), "no one asked for it"

    def test_a_direction_is_between_words_of_one_piece(self, model):
        if any(len(model.tokenizer.tokenize(f" {word}")) > 1 for word in ("he", "she")):
            with pytest.raises(InputError, match="several pieces"):
                find_direction(model, "he", "she")
            return
        found, back = find_direction(model, "he", "she"), find_direction(model, "she", "he")
        assert close(found.vectors, -back.vectors)
        assert close(found.random.norm(dim=-1), found.vectors.norm(dim=-1))
        assert found.vectors.norm(dim=-1).min() > 0

    def test_a_path_into_the_next_state_is_that_of_the_run_without_its_sender(self, model):
        trace = model.trace(*INPUTS["pair"])

        def along(state, token, part, sender):
            return ablation.Run(trace, edits=[Along(state, token, part, sender, ablation.Run(trace))])

        for sender, off, cuts in (((0, 1), [(0, 1)], []), ((1, 3, 2), [], [(1, 3, 2, None)])):
            without = ablation.Run(trace, off, cuts=cuts).states
            last, there = len(model.layers), sender[0] + 1
            vector = without[there, 3] - trace.states[there, 3]
            moved = ablation.Run(trace, edits=[Move(there, 3, sender, vector)]).states
            path = along(there, 3, "", sender).states
            assert close(path, moved)
            assert not close(path[there:], trace.states[there:])
            assert routes.mixing(along(there, 1, "value", sender)).max_error < 1e-4
            assert torch.equal(along(last, 0, "", sender).states[:last], trace.states[:last])

    def test_patching_everything_back_gives_the_clean_answer(self, model, blank):
        if blank is None:
            return
        target = targets.word_target(blank)
        clean = float(targets.own_reading(blank, target).probability)
        corrupted = ablation.with_mask(blank, 3)
        patched = finished(ablation.patching_in_steps(blank, corrupted, target)).probability
        assert patched[-1, target.position] == pytest.approx(clean, abs=1e-5)
        assert patched[0, 3] == pytest.approx(clean, abs=1e-4)

    def test_occlusion_and_gradients(self, model, blank):
        if blank is None:
            return
        target = targets.word_target(blank)
        occluded = attribution.occlusion(blank, target).scores
        masked = ablation.with_mask(blank, 4)
        fall = targets.own_reading(blank, target).logit - targets.own_reading(masked, target).logit
        assert occluded[4] == pytest.approx(float(fall), abs=1e-3)
        words = torch.from_numpy(model.word_table[[list(blank.ids)]]).requires_grad_()
        segments = torch.tensor(blank.encoding.segments)
        with torch.enable_grad():
            targets.read(model, target, model.run(model.embed_words(words, segments))).logit.sum().backward()
        by_hand = (words.grad * words).sum(-1)[0].detach()
        assert close(attribution.gradient_x_input(blank, target).scores, by_hand, 1e-4)

    def test_the_masking_game_costs_what_transformers_says(self, model):
        if not model.capabilities.fill_mask:
            return
        played = masking_game.play(model, *INPUTS["pair"], masking_game.Rules(), 1)
        assert masking_game.loss_error(model, played) < 1e-4
        scores = finished(pseudo_likelihood.pseudo_likelihoods_in_steps(model, ["the man went"]))
        assert scores[0] < 0

    def test_training_the_top_layers_or_why_not(self, kind, model):
        if kind == "albert":
            with pytest.raises(CapabilityError, match="one set of weights for all its layers"):
                make_plan(model, -1, "cls", 1)
            return
        states = model.trace(*INPUTS["pair"]).states.clone()
        real = torch.ones(1, states.shape[1], dtype=torch.bool)
        for pooling, own in (("cls", states[-1][0]), ("mean", states[-1].mean(0))):
            top = Top(model, 3, 2, pooling)
            assert close(top.freeze()(states[1][None], real)[0].detach(), own)
            top.start_training(torch.Generator().manual_seed(0))
            top(states[1][None], real).sum().backward()
            assert all(weight.grad is None or weight.grad.isfinite().all() for weight in top.parameters())
            assert any(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in top.layers[0].parameters())
