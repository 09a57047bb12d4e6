import random
import string

import numpy as np
import pytest

from explorer.core.errors import InputError

LONG = "The man went to the store, and she bought milk! " * 70
INPUTS = {
    "single": ("The man went to the [MASK].", ""),
    "pair": ("The man went to the [MASK] store.", "He bought a gallon of milk!"),
    "one letter": ("a", ""),
    "only a mask": ("[MASK]", ""),
    "specials typed": ("[CLS] the man [SEP] [UNK]", "[SEP]"),
    "emoji": ("I ❤️ milk 🥛👨‍👩‍👧", "🥛"),
    "right to left": ("שלום עולם", "مرحبا بالعالم"),
    "control characters": ("the\x00 man\x07\x1b[31m went\u200b", ""),
    "html": ("<script>alert('x')</script>", "${alert(1)} {{7*7}}"),
    "512 tokens": (LONG, ""),
    "512 tokens, pair": (LONG, LONG.upper()),
}


@pytest.fixture(params=INPUTS.values(), ids=INPUTS)
def texts(request):
    return request.param


def test_every_layer_equals_what_transformers_returns_in_eager_mode(model, texts, eager):
    trace = model.trace(*texts)
    encoded, outputs = eager(model, *texts)
    layers, heads, tokens = model.capabilities.layers, model.capabilities.heads, trace.kept

    assert trace.ids == tuple(encoded["input_ids"][0].tolist())
    assert trace.encoding.segments == tuple(encoded["token_type_ids"][0].tolist())
    assert trace.encoding.attention_mask == tuple(encoded["attention_mask"][0].tolist())
    assert trace.hidden_states.shape == (layers + 1, tokens, model.capabilities.hidden_size)
    assert len(outputs.hidden_states) == layers + 1
    assert len(outputs.attentions) == layers
    for state, theirs in zip(trace.hidden_states, outputs.hidden_states, strict=True):
        np.testing.assert_allclose(state, theirs[0], atol=1e-5, rtol=0)
    for layer, theirs in enumerate(outputs.attentions):
        attention = trace.attention(layer)
        assert attention.shape == (heads, tokens, tokens)
        np.testing.assert_allclose(attention, theirs[0], atol=1e-5, rtol=0)
        np.testing.assert_allclose(attention.sum(-1), 1, atol=1e-5)
        assert attention.min() >= 0
        assert trace.attention_error(layer) < 2e-5


def test_every_token_has_its_place(model, texts):
    trace = model.trace(*texts)
    assert trace.encoding.positions == tuple(range(trace.kept))
    assert trace.tokens == tuple(model.tokenizer.convert_ids_to_tokens(list(trace.ids)))
    assert trace.mask_positions == [i for i, token in enumerate(trace.tokens) if token == "[MASK]"]
    assert (trace.encoding.text_a, trace.encoding.text_b) == texts
    parts = (trace.encoding.sequences, trace.encoding.words, trace.encoding.offsets, trace.encoding.segments, trace.tokens)
    assert {len(part) for part in parts} == {trace.kept}


def test_offsets_lead_back_to_the_characters_of_any_ascii_text(model):
    rng = random.Random(0)
    printable = string.printable.replace("\x0b", "").replace("\x0c", "")  # control characters: dropped by BERT
    texts = ["The MAN's store - $5, slowly?", "(walking)  to\tThe\nstore!!"]
    texts += ["a" + "".join(rng.choices(printable, k=60)) for _ in range(30)]
    pieces = 0
    for text_a, text_b in zip(texts, reversed(texts), strict=True):
        encoding = model.encode(text_a, text_b)
        rows = zip(encoding.tokens, encoding.offsets, encoding.sequences, encoding.words, strict=True)
        for token, (start, end), sequence, word in rows:
            if sequence == -1:
                assert (token in ("[CLS]", "[SEP]"), start, end, word) == (True, 0, 0, -1)
                continue
            said = (text_a, text_b)[sequence][start:end]
            assert said
            if token != "[UNK]":
                assert said.lower() == token.removeprefix("##")
                pieces += token.startswith("##")
    assert pieces > 100


@pytest.mark.parametrize(
    ("count_a", "count_b"), [(1, 0), (510, 0), (511, 0), (200, 309), (200, 310), (1, 3000), (3000, 1), (700, 900), (600, 600)]
)
def test_what_does_not_fit_is_cut_and_of_a_pair_the_longer_gives_way(model, count_a, count_b):
    encoding = model.encode("the " * count_a, "man " * count_b)
    kept_a, kept_b = encoding.tokens.count("the"), encoding.tokens.count("man")
    assert encoding.total == count_a + count_b + (3 if count_b else 2)
    assert encoding.kept == len(encoding.tokens) == min(encoding.total, 512)
    assert encoding.tokens[-1] == "[SEP]"
    if count_b and min(count_a, count_b) <= 254:
        assert min(kept_a, kept_b) == min(count_a, count_b)
    elif count_b:
        assert abs(kept_a - kept_b) == 1


def test_what_a_trace_hands_out_cannot_change_it(model):
    trace = model.trace("The man went to the store.")
    with pytest.raises(ValueError, match="read-only"):
        trace.hidden_states[0, 0, 0] = 1
    before = trace.attention(0).copy()
    trace.attention(0)[:] = 0
    np.testing.assert_array_equal(trace.attention(0), before)
    with pytest.raises(AttributeError):
        trace.states = None
    assert trace.states.nbytes == trace.hidden_states.nbytes
    assert trace.hidden_states.dtype == trace.attention(0).dtype == np.float32


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\x07", "\u200b\ufeff", "\u0301", "\ue000", "\ufffd", None, 5, "\udfff!"])
def test_a_text_with_nothing_to_read_is_refused(model, text, refusal):
    refusal(InputError, lambda: model.trace(text))
    if text not in ("", " \n\t", "\x00\x07", "\u200b\ufeff", None):  # these are no text B at all
        refusal(InputError, lambda: model.trace("the man", text))


def test_a_single_word_of_20_000_letters_is_unknown_and_no_more(model):
    assert model.trace("a" * 20_000).tokens == ("[CLS]", "[UNK]", "[SEP]")
