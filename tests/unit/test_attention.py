from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.attention import GROUPS, Choice, choose, merge, rows_error, thumbnails, top_p
from explorer.attention.rollout import rollout
from explorer.text.encoding import Encoding

PIECES = ("[CLS]", "the", "wal", "##king", "man", "[SEP]", "milk", "##s", "[SEP]")
SEQUENCES = (-1, 0, 0, 0, 0, -1, 1, 1, -1)
WORDS = (-1, 0, 1, 1, 2, -1, 0, 0, -1)
SEGMENTS = (0, 0, 0, 0, 0, 0, 1, 1, 1)
N = len(PIECES)


def encoding(tokens, sequences, words, segments):
    n = len(tokens)
    columns = {"ids": range(n), "positions": range(n), "attention_mask": [1] * n, "offsets": [(0, 0)] * n}
    given = {"tokens": tokens, "sequences": sequences, "words": words, "segments": segments, **columns}
    return Encoding("", "", **{name: tuple(column) for name, column in given.items()}, kept=n, total=n)


TOKENS = encoding(PIECES, SEQUENCES, WORDS, SEGMENTS)


@pytest.fixture
def weights():
    raw = np.random.default_rng(0).random((N, N)) ** 3
    return (raw / raw.sum(-1, keepdims=True)).astype(np.float32)


def test_two_words_with_the_same_number_in_a_and_b_stay_two():
    assert encoding("ab", [0, 1], [0, 0], [0, 1]).word_groups == [[0], [1]]


def test_sentences_hold_the_tokens_that_end_in_them_and_never_those_of_both_texts():
    text = "Hi there. You!"
    offsets = ((0, 0), (0, 2), (2, 8), (8, 9), (9, 13), (13, 14), (0, 0), (0, 2), (0, 0))  # a piece may begin with its blank
    here = replace(TOKENS, text_a=text, text_b="Ok", offsets=offsets, sequences=(-1, 0, 0, 0, 0, 0, -1, 1, -1))
    assert here.sentence_groups == [[0], [1, 2, 3], [4, 5], [6], [7], [8]]
    assert here.names["sentences"] == ["[CLS]", "Hi there.", "You!", "milk", "Ok", "[SEP]"]


def test_whole_words_sum_over_keys_and_average_over_queries(weights):
    groups = TOKENS.word_groups
    whole = merge(weights, groups)
    for row, queries in enumerate(groups):
        for column, keys in enumerate(groups):
            expected = np.mean([sum(weights[q, k] for k in keys) for q in queries])
            assert whole[row, column] == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(whole.sum(-1), 1, atol=1e-5)


def test_hidden_specials_leave_the_weights_as_they_are(weights):
    shown = choose(weights, TOKENS, Choice(specials="hidden"))
    words = [1, 2, 3, 4, 6, 7]
    np.testing.assert_array_equal(shown.weights, weights[np.ix_(words, words)])
    assert (shown.weights.sum(-1) < 1).all()


@pytest.mark.parametrize("group", GROUPS)
def test_rows_sum_to_1_however_tokens_are_grouped(weights, group):
    np.testing.assert_allclose(choose(weights, TOKENS, Choice(group=group)).weights.sum(-1), 1, atol=1e-5)
    shown = choose(weights, TOKENS, Choice(specials="renormalised", group=group))
    np.testing.assert_allclose(shown.weights.sum(-1), 1, atol=1e-5)
    assert "[SEP]" not in shown.keys.names


def test_the_four_directions_are_the_four_quarters(weights):
    def part(direction):
        return choose(weights, TOKENS, Choice(direction=direction)).weights

    rebuilt = np.block([[part("A→A"), part("A→B")], [part("B→A"), part("B→B")]])
    np.testing.assert_array_equal(rebuilt, weights)
    shown = choose(weights, TOKENS, Choice(direction="B→A", group="words"))
    assert (shown.queries.names, shown.keys.names[0]) == (["milks", "[SEP]"], "[CLS]")
    assert (shown.queries.row_of(7), shown.queries.row_of(1), shown.queries.row_of(None)) == (0, None, None)


def test_one_text_has_nothing_in_b(weights):
    alone = encoding(PIECES, SEQUENCES, WORDS, (0,) * N)
    assert choose(weights, alone, Choice(direction="A→B")).weights.shape == (N, 0)
    assert choose(weights, alone, Choice(direction="B→B", top_p=0.5, specials="renormalised")).weights.shape == (0, 0)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_top_p_could_not_do_with_one_edge_less(share):
    rows = np.random.default_rng(1).dirichlet(np.full(40, 0.2), size=30).astype(np.float32)
    kept = top_p(rows, share)
    assert ((kept == rows) | (kept == 0)).all()
    for row in kept:
        assert row.sum() >= share - 1e-5
        assert row.sum() - row[row > 0].min() < share


@pytest.mark.parametrize("tokens", [3, 36, 37, 128, 512])
def test_a_single_sharp_line_survives_in_a_thumbnail(tokens):
    small = thumbnails(np.eye(tokens, k=-1, dtype=np.float32)[None])
    size = small.shape[-1]
    assert size == min(tokens, 36)
    assert (small.max(axis=-1)[0, 1:] == 1).all()
    if tokens > size:
        assert small.mean() < 4 / size  # a line, and not a filled square


def test_the_error_of_rows():
    weights = np.random.default_rng(0).random((2, 5, 5))
    weights /= weights.sum(-1, keepdims=True)
    assert rows_error(weights) < 1e-12
    weights[0, 0, 0] += 0.25
    assert rows_error(weights) == pytest.approx(0.25)


def test_rollout_of_the_model_is_that_of_transformers(bundled, eager):
    text = "The man went to the [MASK].", "He bought milk."
    _, outputs = eager(bundled, *text)
    trace = bundled.trace(*text)
    *_, mine = rollout(trace.attention(layer) for layer in range(bundled.capabilities.layers))
    theirs = np.eye(trace.kept)
    for attention in outputs.attentions:
        theirs = (0.5 * attention[0].double().mean(0).numpy() + 0.5 * np.eye(trace.kept)) @ theirs
    np.testing.assert_allclose(mine, theirs, atol=1e-6)
