from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from explorer.tokens import vocabulary
from explorer.tokens.pieces import Embeddings, Pieces
from explorer.tokens.vocabulary import Vocabulary
from explorer.ui.subject import Selection, Subject

TEXTS = ("The man mispronounced [MASK].", "He bought 🍎!")


@pytest.fixture
def subject(model):
    return Subject.of(model.trace(*TEXTS))


def near(view, subject):
    """The ids of the pieces that are nearest."""
    return [row["token"] for row in view.compute(subject)["nearest"]["rows"]]


def test_a_card_for_every_token_and_every_word_that_is_cut(bundled):
    subject = Subject.of(bundled.trace(*TEXTS), Selection(token=2))
    shown = Pieces().compute(subject)
    assert shown["cards"]["ids"] == list(subject.trace.ids)
    assert shown["cards"]["selected"] == 2
    assert "“mispronounced” is read as “mis”, “##pro”, “##no”, “##unced”" in Pieces().finding(subject).text
    assert shown["counts"] == f"{subject.trace.kept} tokens of a vocabulary of 30,522, for 6 words; 1 unknown."
    for text, count in (("...!?", 0), ("[MASK].", 0), ("I love 😀 and 🎉 [MASK]!", 5), ("The man sat.", 3)):
        subject = Subject.of(bundled.trace(text))
        assert f", for {count} words" in Pieces().compute(subject)["counts"]
        assert (f"{count} words here" if count else "without a word") in Pieces().finding(subject).text


def test_the_vocabulary_is_searched(bundled):
    subject = Subject.of(bundled.trace(*TEXTS))
    found = Vocabulary(query="##ology").compute(subject)
    assert found["count"] == "1 piece matches."
    assert [row["cells"][0] for row in found["pieces"]["rows"]] == ["##ology"]
    assert Vocabulary(query="no such piece").compute(subject)["count"].startswith("No piece matches")
    for query in ("*", " "):
        many = Vocabulary(query=query).compute(subject)
        assert many["count"] == "30,522 pieces match, the first 200 are shown."
        assert [row["token"] for row in many["pieces"]["rows"]] == list(range(200))


def test_the_first_numbers_are_those_of_the_tables(bundled):
    trace = bundled.trace(*TEXTS)
    token = trace.kept - 2
    shown = Embeddings().compute(Subject.of(trace, Selection(token=token)))
    assert shown["check"]["text"].startswith("✓ matches the model")
    assert len(shown["norms"]["rows"]) == trace.kept
    norms = [row["cells"][-1] for row in shown["sum"]["rows"]]
    assert norms[-2:] == [f"{np.linalg.norm(trace.hidden_states[0, token]):.2f}"] * 2
    tables = bundled.module.bert.embeddings
    segment = trace.encoding.segments[token]
    rows = {tables.word_embeddings: trace.ids[token], tables.position_embeddings: token, tables.token_type_embeddings: segment}
    assert segment == 1
    first = np.stack([table.weight[row, :10].detach().numpy() for table, row in rows.items()])
    cells = np.array([[float(cell) for cell in row["cells"][1:]] for row in shown["numbers"]["rows"]])  # [10, 5]
    assert np.abs(cells[:, :3] - first.T).max() < 1e-4
    assert np.abs(cells[:, 3] - first.sum(0)).max() < 1e-4
    assert np.abs(cells[:, 4] - trace.hidden_states[0, token, :10]).max() < 1e-4
    named = [row["cells"][0].rpartition(" (")[2] for row in shown["sum"]["rows"][:3]]
    assert named == [f"row {trace.ids[token]:,})", f"row {token})", "row 1)"]


def test_the_nearest_are_those_of_the_chosen_token_until_a_piece_is_clicked(subject):
    view, start = Vocabulary(), subject.select(token=1)
    own, other = start.trace.ids[1], start.trace.ids[2]
    assert own not in near(view, start)
    settings = view.on_pieces(start, other).settings
    view = Vocabulary.read(settings, start.model.capabilities)
    assert near(view, start) == near(Vocabulary(), start.select(token=2))
    assert near(view, start.select(token=3)) == near(Vocabulary(), start.select(token=3)), "another token leads back"
    assert Vocabulary.read({"detour": [5, 0]}, start.model.capabilities).detour == (5, 0), "[PAD] is a piece like others"


def test_byte_pairs_are_merged_by_how_often_they_stand_side_by_side():
    words = Counter({"low": 5, "lowest": 2, "newer": 6, "wider": 3, "aaaa": 1})
    merges = vocabulary.learn(words, 12)
    for done, merge in enumerate(merges):
        counts = Counter()
        for word, pieces in zip(words, vocabulary.pieces_of(words, merges[:done]), strict=True):
            assert "".join(pieces) == word + vocabulary.END
            counts.update(pair for pair in pairwise(pieces) for _ in range(words[word]))
        assert vocabulary.count(merge, words, merges[:done]) == max(counts.values()) == counts[merge]
    assert merges[0] == ("e", "r·"), "as in figure 1 of the paper, whose words these are"
    assert vocabulary.pieces_of(["café"], merges) == [["c", "a", "f", "é·"]], "letters that were never seen"


def test_the_lists_are_those_of_the_tokenizer_of_transformers(bundled):
    pair = ("He was sad.", "Why?")
    lists = dict(line.split(" = ") for line in Pieces().compute(Subject.of(bundled.trace(*pair)))["lists"].splitlines())
    assert lists == {name: str(numbers) for name, numbers in bundled.tokenizer(*pair).items()}
