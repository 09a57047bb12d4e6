"""A corpus with every seventh token hidden: what transformers says of the same inputs, one by one."""

import numpy as np
import pytest
import torch

from explorer.core.steps import finished
from explorer.corpus.compute import hiding
from explorer.corpus.compute.reading import tokens_of
from explorer.text.corpora import Corpus, built_in


def some(number):
    return Corpus("some", built_in().sentences[:number])


def by_hand(model, corpus):
    """(bits, whether it is the first guess) of each hidden token, a sentence at a time by transformers' own forward pass."""
    tokens = tokens_of(model, corpus)
    hidden = hiding.hidden_rows(tokens)
    found = []
    for index in range(len(corpus.sentences)):
        mine = np.arange(tokens.starts[index], tokens.starts[index + 1])
        ids = torch.tensor(tokens.ids[mine])[None]
        wanted = ids.clone()
        places = np.flatnonzero(np.isin(mine, hidden)).tolist()
        assert places, "at least one in every sentence"
        assert 0 not in places
        assert len(mine) - 1 not in places
        ids[0, places] = model.mask_id
        with torch.no_grad():
            output = model.module(input_ids=ids)
        logits = output["prediction_logits" if "prediction_logits" in output else "logits"][0]
        for place in places:
            share = logits[place].softmax(-1)[wanted[0, place]]
            found.append((-np.log2(float(share)), int(logits[place].argmax()) == int(wanted[0, place])))
    return found


def test_bits_and_guesses_are_those_of_transformers(bundled):
    corpus = some(20)
    found = finished(hiding.hide_in_steps(bundled, corpus))
    wanted = by_hand(bundled, corpus)
    np.testing.assert_allclose(found.bits, [bits for bits, _ in wanted], atol=1e-2)
    assert found.right.tolist() == [right for _, right in wanted]
    assert 0.1 < len(found.rows) / sum(found.tokens.lengths - 2) < 0.2
    for index in (0, 8, 19):
        mine = found.tokens.sentence[found.rows] == index
        assert found.by_sentence()[index] == pytest.approx(found.bits[mine].mean())
    assert hiding.known(bundled, corpus) is found
