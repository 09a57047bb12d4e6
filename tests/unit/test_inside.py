import numpy as np
import pytest
import torch
import transformers

from explorer.inside_head.compute import sinusoids
from explorer.techniques.ablation import Run
from explorer.techniques.inside import causal_attention, embedding_parts, head_step, layer_steps, value_error, value_norms
from tests.hooks import seen_in

TEXTS = ("The man went to the [MASK] store.", "He bought a gallon of milk!")


def test_the_three_embeddings_sum_to_what_the_first_layer_reads(model, eager):
    parts = embedding_parts(model.trace(*TEXTS))
    encoded, outputs = eager(model, *TEXTS)
    assert parts.error < 1e-6
    np.testing.assert_allclose(sum(parts.added.values()), parts.total, atol=1e-6)
    np.testing.assert_allclose(parts.normed, outputs.hidden_states[0][0], atol=1e-6)
    np.testing.assert_array_equal(parts.added["token"], model.word_table[encoded["input_ids"][0]])
    np.testing.assert_array_equal(parts.added["position"], model.position_table[: len(parts.total)])
    assert len(np.unique(parts.added["segment"], axis=0)) == 2


def test_the_tables_cannot_be_changed(model):
    for table in (model.word_table, model.position_table):
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1


def test_the_steps_are_what_transformers_computes_on_the_way(bundled):
    trace, module = bundled.trace(*TEXTS), bundled.layers[1].module
    watched = {
        "attention output": module.attention.output.dense,
        "attention norm": module.attention.output,
        "GELU": module.intermediate,
        "feed-forward out": module.output.dense,
    }
    with torch.no_grad():
        seen = seen_in([*watched.values()], lambda: module(trace.states[1][None]))
    by_name = {step.name: step.vector for step in layer_steps(trace, 1, token=3)[0]}
    for name, output in zip(watched, seen, strict=True):
        np.testing.assert_allclose(by_name[name], output.reshape(-1, output.shape[-1])[3], atol=1e-5, err_msg=name)


def test_one_head_is_the_models_own(model, eager):
    _, outputs = eager(model, *TEXTS)
    trace = model.trace(*TEXTS)
    for layer, head, token in [(0, 0, 0), (1, 1, 5)]:
        step = head_step(Run(trace), layer, head, token)
        np.testing.assert_allclose(step.weights, outputs.attentions[layer][0, head, token], atol=1e-5)
        np.testing.assert_allclose((step.keys * step.query).sum(-1), step.dots, atol=1e-4)
        np.testing.assert_allclose(step.dots / np.sqrt(len(step.query)), step.scaled, atol=1e-5)
        np.testing.assert_allclose(step.weights @ step.values, step.output, atol=1e-5)
        size = len(step.query)
        joined = layer_steps(trace, layer, token)[0][8]
        assert joined.name == "heads side by side"
        np.testing.assert_allclose(joined.vector[head * size : (head + 1) * size], step.output, atol=1e-5)


def test_the_weighted_values_of_all_heads_sum_to_what_attention_adds(model):
    trace = model.trace(*TEXTS)
    assert value_error(trace, 1) < 1e-5
    dense = model.layers[1].module.attention.output.dense
    values = model.layers[1].module.attention.self.value(trace.states[1])  # [tokens, hidden]
    norms = value_norms(trace, 1)
    size = values.shape[1] // len(norms)
    for head in range(len(norms)):
        only = torch.zeros_like(values)
        only[:, head * size : (head + 1) * size] = values[:, head * size : (head + 1) * size]
        expected = torch.linalg.vector_norm(dense(only) - dense.bias, dim=-1)
        np.testing.assert_allclose(norms[head], expected, rtol=1e-4)


def test_a_decoder_of_transformers_has_the_causal_weights(bundled):
    trace = bundled.trace(*TEXTS)
    config = transformers.BertConfig.from_dict({**bundled.module.config.to_dict(), "is_decoder": True})
    decoder = transformers.BertModel(config, add_pooling_layer=False).eval()
    decoder.load_state_dict(bundled.encoder.state_dict(), strict=False)
    decoder.set_attn_implementation("eager")
    with torch.no_grad():
        inputs = {"input_ids": torch.tensor([trace.ids]), "token_type_ids": torch.tensor([trace.encoding.segments])}
        outputs = decoder(**inputs, output_attentions=True, use_cache=False)
    for head in (0, 5, 11):
        causal = causal_attention(trace, 0, head)
        np.testing.assert_allclose(causal, outputs.attentions[0][0, head], atol=1e-5)
        assert (np.triu(causal, 1) == 0).all()
        both_ways = np.tril(trace.attention(0)[head])
        np.testing.assert_allclose(causal, both_ways / both_ways.sum(-1, keepdims=True), atol=1e-5)


def test_sinusoids_are_those_of_the_paper():
    waves = sinusoids(50, 8)
    for position in (0, 1, 17):
        for i in range(4):
            angle = position / 10000 ** (2 * i / 8)
            assert waves[position, 2 * i] == pytest.approx(np.sin(angle), abs=1e-6)
            assert waves[position, 2 * i + 1] == pytest.approx(np.cos(angle), abs=1e-6)
    assert sinusoids(3, 5).shape == (3, 5)
