import numpy as np
import pytest
import torch
from transformers import BatchEncoding

from explorer.analysis.head_metrics import METRICS, TokenFacts, head_metrics, overview, patterns, strongest_pairs
from explorer.text.encoding import Encoding
from explorer.ui.programs import read_scripts

N = 8
PROGRAM = read_scripts()[1]["metrics"]
FORMULAS = "import math\n\nimport torch\n" + PROGRAM.partition(".attentions)  # [layers, heads, query, key]\n")[2]


def facts_of(ids, sequences):
    ids, sequences, n = tuple(ids), tuple(sequences), len(ids)
    numbers = tuple(range(n))
    more = {"tokens": ("a",) * n, "segments": (0,) * n, "attention_mask": (1,) * n, "offsets": ((0, 0),) * n}
    return TokenFacts.of(
        Encoding("", "", ids=ids, sequences=sequences, positions=numbers, words=numbers, **more, kept=n, total=n)
    )


FACTS = facts_of(ids=[101, 7, 8, 7, 9, 10, 11, 102], sequences=[-1, 0, 0, 0, 0, 0, 0, -1])


def shift(offset: int) -> np.ndarray:
    """Every token looks at the one `offset` places on, those that have none at themselves."""
    matrix = np.zeros((N, N), dtype=np.float32)
    for i in range(N):
        matrix[i, i + offset if 0 <= i + offset < N else i] = 1
    return matrix


def to(column: int) -> np.ndarray:
    matrix = np.zeros((N, N), dtype=np.float32)
    matrix[:, column] = 1
    return matrix


KNOWN = {
    "itself": shift(0),
    "broad": np.full((N, N), 1 / N, dtype=np.float32),
    "previous token": shift(-1),
    "next token": shift(1),
    "[CLS]": to(0),
    "[SEP]": to(N - 1),
    "[CLS] and [SEP]": (0.4 * to(0) + 0.4 * to(N - 1) + 0.2 * to(4)).astype(np.float32),
    "diagonal": (0.3 * (shift(0) + shift(1) + shift(-1)) + 0.1 * to(4)).astype(np.float32),
    "mixed": (0.5 * to(4) + 0.5 * to(5)).astype(np.float32),
}


def test_the_same_token_elsewhere():
    matrix = np.eye(N, dtype=np.float32)
    matrix[1], matrix[3] = 0, 0
    matrix[1, 3] = matrix[3, 1] = 1  # the two places of piece 7
    found = head_metrics(matrix[None], FACTS)
    assert found["same_token"][0] == 1
    assert patterns({key: values[None] for key, values in found.items()})[0, 0] == "itself"  # six of eight do that
    twice = facts_of([101, 7, 7, 7, 7, 7, 7, 102], [-1, 0, 0, 0, 0, 0, 0, -1])
    assert patterns(head_metrics(0.9 * shift(2)[None] + 0.1 * shift(0)[None], twice))[0] == "same token"


def test_every_pattern_has_its_name():
    assert patterns(head_metrics(np.stack(list(KNOWN.values())), FACTS)).tolist() == list(KNOWN)


def test_the_numbers_are_those_of_transformers(bundled, eager):
    texts = "The man went to the store.", "The man bought milk."
    _, outputs = eager(bundled, *texts)
    trace = bundled.trace(*texts)
    seen = overview((trace.attention(layer) for layer in range(6)), TokenFacts.of(trace.encoding))
    n, words = trace.kept, TokenFacts.of(trace.encoding).words
    steps = np.abs(np.arange(n)[:, None] - np.arange(n))
    for layer, tensor in enumerate(outputs.attentions):
        for head, weights in enumerate(tensor[0].double().numpy()):
            entropy = -(weights * np.log(weights)).sum(-1).mean() / np.log(n)
            assert seen.metrics["entropy"][layer, head] == pytest.approx(entropy, abs=1e-5)
            assert seen.metrics["distance"][layer, head] == pytest.approx((weights * steps).sum(-1).mean(), abs=1e-4)
            own = weights[np.ix_(words, words)].max(-1).mean()  # without [CLS] and [SEP], which are no real tokens
            assert seen.metrics["confidence"][layer, head] == pytest.approx(own, abs=1e-5)
            assert seen.metrics["previous"][layer, head] == pytest.approx(weights.trace(-1) / (n - 1), abs=1e-5)
            assert seen.strongest[layer, head] == pytest.approx(weights.max(), abs=1e-5)


def test_the_strongest_pair_is_the_largest_weight_among_those_that_are_allowed():
    attention = np.random.default_rng(0).random((3, 5, 5)).astype(np.float32)
    allowed = np.eye(5, k=2, dtype=bool)
    weights, queries, keys = strongest_pairs(attention, allowed)
    assert (keys - queries == 2).all()
    np.testing.assert_array_equal(weights, np.diagonal(attention, 2, axis1=1, axis2=2).max(axis=1))
    assert not strongest_pairs(attention, np.zeros((5, 5), dtype=bool))[0].any(), "a text of one word has no other word"


@pytest.mark.parametrize("sequences", [[-1], [0], [-1, -1], [-1, 0], [0, 0], [-1, 0, -1], [-1, 0, 0, -1, 1, -1]], ids=str)
def test_the_exported_formulas_are_those_of_the_page_for_the_shortest_inputs(sequences):
    n = len(sequences)
    ids = [token % 3 for token in range(n)]
    attention = np.random.default_rng(n).dirichlet(np.ones(n), (2, n)).astype(np.float32)
    found = head_metrics(attention, facts_of(ids, sequences))
    inputs = BatchEncoding({"input_ids": torch.tensor([ids])})
    inputs.sequence_ids = lambda row: [None if one < 0 else one for one in sequences]
    exported = {"attention": torch.from_numpy(attention)[None], "inputs": inputs, "tokens": [""] * n}
    exec(compile(FORMULAS, "metrics.py", "exec"), exported)
    for metric in METRICS:
        assert np.isfinite(found[metric.key]).all(), metric.key
        np.testing.assert_allclose(exported["metrics"][metric.key][0], found[metric.key], atol=1e-6, err_msg=metric.key)
