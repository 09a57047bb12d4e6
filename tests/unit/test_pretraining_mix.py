"""Which batches a run reads: texts and kinds by share, strangers of the same document, inputs as people type them."""

import argparse

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.pretraining import __main__ as command
from explorer.pretraining import sampling
from explorer.pretraining.corpus import Corpus, tokenize
from explorer.pretraining.sampling import IS_NEXT, NOT_NEXT
from explorer.pretraining.stream import VERY_SHORT, BatchStream, Mixture
from explorer.text.masking import IGNORED

NAMES = ["anna", "ben", "carl", "dora", "emma", "fred", "gina", "hans"]


@pytest.fixture(scope="module")
def documents(tokenizer) -> Corpus:
    """Eight documents of thirty sentences, each with a name and a number of its own."""
    return tokenize([[f"{name} has {n} apples and she likes them." for n in range(30)] for name in NAMES], tokenizer)


@pytest.fixture(scope="module")
def lone(tokenizer) -> Corpus:
    """Sentences by themselves, a third of them short questions."""
    texts = (f"where is {n}?" if n % 3 else f"we saw that the number {n} is on the door of our house." for n in range(90))
    return tokenize([[text] for text in texts], tokenizer)


def mixture(**changes) -> Mixture:
    return Mixture(pieces=256, length=32, long_length=64, short_length=32, **changes)


def originals(batch) -> np.ndarray:
    return np.where(batch.labels == IGNORED, batch.input_ids, batch.labels)


def test_texts_are_drawn_by_their_shares_and_one_without_pairs_gives_single_sentences(documents, lone, vocabulary, tokenizer):
    stream = BatchStream([(3.0, documents), (1.0, lone)], vocabulary, mixture(), seed=1)
    door = tokenizer.convert_tokens_to_ids(["door", "where"])
    from_lone = [np.isin(originals(batch), door).any() for batch in map(stream.batch, range(400))]
    assert 70 < sum(from_lone) < 130
    for step in np.flatnonzero(from_lone)[:20]:
        batch = stream.batch(int(step))
        assert batch.next_labels is None
        assert (originals(batch) == vocabulary.sep).sum() == len(batch.input_ids)  # one sentence an input
    for shares in ([], [(0.0, lone)], [(-1.0, lone), (2.0, documents)]):
        with pytest.raises(InputError, match="shares"):
            BatchStream(shares, vocabulary, mixture(), seed=1)


def test_near_strangers_come_from_the_same_document_and_are_no_neighbours(documents):
    rng = np.random.default_rng(0)
    for sentences in (None, 2):
        same = {IS_NEXT: 0, NOT_NEXT: 0}
        for n in range(400):
            start = n % documents.sentences
            example = sampling.pair(documents, start, 40, rng, sentences, near=0.5)
            home = documents.text(*documents.document_of(start)).tolist()
            same[example.next_label] += example.b[0] in home  # the name, which no other document has
            if example.next_label == NOT_NEXT and example.b[0] in home and sentences:
                first, _ = sampling.window(documents, start, 37, 2, 2)
                at = next(s for s in range(documents.sentences) if documents.text(s, s + 1).tolist() == example.b.tolist())
                assert at not in range(first - 1, first + 3)
        assert 70 < same[NOT_NEXT] < 130  # half of about two hundred
    two = sampling.pair(documents, 0, 12, np.random.default_rng(3), None, near=0.0)
    again = sampling.pair(documents, 0, 12, np.random.default_rng(3), None)
    assert two.b.tolist() == again.b.tolist()


def test_unfinished_inputs_lack_their_marks_and_very_short_ones_are_short(lone, vocabulary):
    ends = np.flatnonzero(vocabulary.ends)
    assert len(ends) == 3
    plain, typed = (BatchStream([(1.0, lone)], vocabulary, mixture(unfinished=share), seed=1) for share in (0.0, 1.0))
    for step in range(10):
        assert np.isin(originals(plain.batch(step)), ends).any(axis=1).all()
        assert not np.isin(originals(typed.batch(step)), ends).any()
    streams = [BatchStream([(1.0, lone)], vocabulary, mixture(very_short=share), seed=1) for share in (0.0, 1.0)]
    lengths = [max(stream.batch(step).input_ids.shape[1] for step in range(30)) for stream in streams]
    assert lengths[1] <= VERY_SHORT + 2 < lengths[0]
    one = sampling.Example(np.array([ends[0]]), np.array([7, ends[1]]), IS_NEXT)
    bare = sampling.unfinished(one, vocabulary.ends)
    assert (bare.a.tolist(), bare.b.tolist(), bare.next_label) == ([ends[0]], [7], IS_NEXT)


def test_a_word_that_is_predicted_stands_nowhere_else_if_so_asked(documents, vocabulary):
    stream = BatchStream([(1.0, documents)], vocabulary, mixture(every_place=1.0, whole_words=1.0), seed=1)
    for step in range(20):
        batch = stream.batch(step)
        hidden = (batch.labels != IGNORED) & vocabulary.content[np.maximum(batch.labels, 0)]
        for read, labels, there in zip(originals(batch), batch.labels, hidden, strict=True):
            assert (np.isin(read, labels[there]) == there).all()


def test_strangers_may_come_from_any_text_and_successors_never_do(documents, lone, vocabulary):
    of_documents, of_lone = (set(corpus.pieces.tolist()) for corpus in (documents, lone))
    only_there = np.array(sorted(of_lone - of_documents))
    assert len(only_there)

    def foreign(share: float) -> dict[int, bool]:
        """By label, whether a piece that only the other text has stands in any pair."""
        stream = BatchStream([(0.5, documents), (0.5, lone)], vocabulary, mixture(foreign=share, near=0.0), seed=1)
        batches = [batch for batch in map(stream.batch, range(60)) if batch.next_labels is not None]
        return {
            label: any(np.isin(originals(batch)[batch.next_labels == label], only_there).any() for batch in batches)
            for label in (IS_NEXT, NOT_NEXT)
        }

    assert foreign(0.0) == {IS_NEXT: False, NOT_NEXT: False}
    assert foreign(1.0) == {IS_NEXT: False, NOT_NEXT: True}


def test_a_sentence_with_one_blank_lacks_a_word_of_content(documents, vocabulary):
    stream = BatchStream([(1.0, documents)], vocabulary, mixture(one_blank=1.0, singles=0.5, packs=0.0), seed=1)
    singles = [batch for batch in map(stream.batch, range(20)) if batch.next_labels is None]
    assert 0 < len(singles) < 20
    for batch in singles:
        read, hidden = originals(batch), batch.labels != IGNORED
        whole = vocabulary.content[read] & ~np.pad(vocabulary.continues[read[:, 1:]], ((0, 0), (0, 1)))
        assert (hidden.sum(axis=1) == 1)[whole.any(axis=1)].all()
        assert (whole | ~whole.any(axis=1, keepdims=True))[hidden].all()


def test_the_command_reads_shares_and_paths(tokenizer, tmp_path):
    for name, text in (("main", "a b c.\n\nd e f."), ("more", "g h i.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part.txt").write_text(text)

    def parsed(*also: str, option: str = "--also") -> argparse.Namespace:
        given = ["--corpus", str(tmp_path / "main"), "--init", "none", "--out", str(tmp_path / "out")]
        return command.arguments().parse_args([*given, *(part for one in also for part in (option, one))])

    def read(*also: str) -> list[tuple[float, int]]:
        return [(share, corpus.sentences) for share, corpus in command.read_texts(parsed(*also), tokenizer)]

    assert read() == [(1.0, 2)]
    assert read(f"0.25:{tmp_path}/more", f"0.25:{tmp_path}/more/part.txt") == [(0.5, 2), (0.25, 1), (0.25, 1)]
    (tmp_path / "more" / "part.txt").write_text("g h i.\nj k l.\n\nm n.\no p.\n")
    mixed = command.read_texts(parsed(f"0.5:{tmp_path}/more", option="--alone"), tokenizer)
    assert [(share, corpus.sentences, corpus.has_pairs) for share, corpus in mixed] == [(0.5, 2, False), (0.5, 4, False)]
    assert read(f"0.5:{tmp_path}/more")[1] == (0.5, 4)
    with pytest.raises(InputError, match="leaves nothing"):
        read(f"1:{tmp_path}/more")
    with pytest.raises(InputError, match="a share and a path"):
        read(f"{tmp_path}/more")
