"""Our own test sentences, that no text which holds them is trained on, and what is counted over them."""

from collections import Counter

import numpy as np
import torch

from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.pretraining import choosing, sampling
from explorer.pretraining.batches import collate
from explorer.pretraining.copying import copies
from explorer.pretraining.corpus import load_corpus, load_file, tokenize
from explorer.pretraining.evaluate import COPY_PLACES, count_copies
from explorer.pretraining.everyday import by_kind, fill, judge, markdown
from explorer.pretraining.overlap import Runs, own_runs
from explorer.pretraining.own_tests import blanks, pairs
from explorer.pretraining.saving import open_model
from explorer.text.masking import IGNORED


def test_there_are_enough_of_every_kind_and_every_answer_is_one_piece(tokenizer):
    given = blanks()
    kinds = Counter(blank.kind for blank in given)
    assert len(given) == len({blank.sentence for blank in given}) >= 120
    assert len(kinds) == 12
    assert min(kinds.values()) >= 10
    for blank in given:
        assert blank.sentence.count("[MASK]") == 1
        assert blank.sensible
        assert all(word in tokenizer.get_vocab() for word in blank.sensible), blank
    judged = Counter((pair.follows, pair.same_topic) for pair in pairs())
    assert judged == {(True, True): 30, (False, False): 15, (False, True): 15}


def test_a_run_of_five_words_is_found_with_any_word_in_the_blank():
    runs = Runs(["The cat sat on the [MASK] mat.", "I [MASK] you.", "Do birds fly south in winter?"])
    lines = [
        "Look: THE CAT SAT ON a chair, sat on the old mat!",  # four words, then five
        "the cat sat on",
        "I love you, she said.",
        "Do birds fly south?",
        "Why do birds fly south in summer?",
        "sat on the",
        "mat of a cat",
        "",
    ]
    assert runs.find(lines) == [(0, 0), (2, 1), (4, 2)]
    assert runs.find([]) == []
    own = own_runs()
    assert {sentence for _, sentence in own.find([blank.sentence.replace("[MASK]", "xyz") for blank in blanks()])} == set(
        range(len(blanks()))
    )


def test_training_text_goes_without_the_lines_that_hold_a_run(tokenizer, tmp_path):
    (tmp_path / "a.txt").write_text("A spider has eight legs.\nIt is small.\n\nTwo plus two is four.\n\nIt rains.\n")
    runs = own_runs()
    assert load_corpus(tmp_path, tokenizer).sentences == 4
    kept = load_corpus(tmp_path, tokenizer, tmp_path / "cache", without=runs)
    assert [tokenizer.decode(kept.text(n, n + 1)) for n in range(kept.sentences)] == ["it is small.", "it rains."]
    assert len(kept.document_starts) == 3
    again = load_corpus(tmp_path, tokenizer, tmp_path / "cache", without=runs)
    assert again.pieces.tolist() == kept.pieces.tolist()
    assert load_corpus(tmp_path, tokenizer, tmp_path / "cache").sentences == 4  # the cache knows what was left out


def test_whole_words_are_chosen_together_and_a_word_at_all_its_places(tokenizer, vocabulary):
    text = "the unbelievable squirrel chased the squirrel around an unbreathable tree"
    corpus = tokenize([[text]] * 40, tokenizer)
    row = corpus.text(0, 1)
    examples = [sampling.single(corpus, n, 64) for n in range(40)]
    rng = np.random.default_rng(0)
    ids = np.array([row.tolist()] * 40)
    eligible = np.ones_like(ids, dtype=bool)
    words = choosing.whole_words(vocabulary.continues)
    chosen = words(ids, eligible, 0.3, rng)
    whole = np.maximum.accumulate(np.where(vocabulary.continues[ids], 0, np.arange(ids.shape[1])), axis=1)
    for picked, starts in zip(chosen, whole, strict=True):
        assert all(picked[starts == start].all() or not picked[starts == start].any() for start in set(starts))
    assert (chosen.sum(axis=1) >= round(0.3 * ids.shape[1])).all()
    assert chosen.mean() < 0.5
    squirrels = ids[0] == tokenizer.convert_tokens_to_ids("squirrel")
    assert squirrels.sum() == 2
    both = choosing.every_place(words, vocabulary.content)(ids, eligible, 0.3, rng)[:, squirrels]
    assert (both[:, 0] == both[:, 1]).all()
    assert both.any()
    one = choosing.one_word(vocabulary.continues, vocabulary.content)
    batch = collate(examples, vocabulary, rng, choose=one, shares=(1, 0, 0))
    hidden = [tokenizer.convert_ids_to_tokens(int(labels[labels != IGNORED].item())) for labels in batch.labels]
    assert set(hidden) == {"unbelievable", "squirrel", "chased", "around", "tree"}
    assert not one(ids[:, :1], eligible[:, :1], 0.15, rng).any()


def test_copies_are_first_guesses_that_stand_in_the_input_and_are_wrong(tokenizer, vocabulary):
    model = open_model(BUNDLED_FOLDER)
    corpus = tokenize([["the black dog and another dog barked"], ["paris rome"], ["of the and"]], tokenizer)
    examples = [sampling.single(corpus, n, 64) for n in range(3)]
    dog, rome = tokenizer.convert_tokens_to_ids(["dog", "rome"])

    class Parrot(torch.nn.Module):
        """Always says one word."""

        def __init__(self, word: int) -> None:
            super().__init__()
            self.word = word

        def forward(self, hidden):
            return torch.nn.functional.one_hot(torch.full((len(hidden),), self.word), len(tokenizer)).float()

    model.cls.predictions = Parrot(dog)
    found = [copies(model, examples[:1], vocabulary, seed) for seed in range(20)]
    assert {(of.copied, of.right, of.repeated) for of in found} == {(1, 0, 0), (0, 1, 1)}
    model.cls.predictions = Parrot(rome)
    found = [copies(model, examples[1:], vocabulary, seed) for seed in range(20)]
    assert {(of.places, of.copied, of.right, of.repeated) for of in found} == {(1, 1, 0, 0), (1, 0, 1, 0)}


def test_the_report_counts_by_kind_and_tells_what_is_missed(bundled, tmp_path):
    filled, judged = list(fill(bundled)), list(judge(bundled))
    counts = by_kind(filled)
    assert counts["all"] == tuple(np.sum([counts[kind] for kind in counts if kind != "all"], axis=0))
    table = markdown(filled, judged)
    missed = [line for line in filled if not any(line.right)]
    assert all((line.row() in table) == (line in missed) for line in filled)
    assert f"Pairs: {sum(line.right for line in judged)} of 60" in table
    text = tmp_path / "heldout.txt"
    text.write_text("\n\n".join(f"The {blank.sensible[0]} horse saw a green valley." for blank in blanks() for _ in range(2)))
    copied = count_copies(str(BUNDLED_FOLDER), [text, text], seed=1)
    assert copied.places == min(COPY_PLACES, 4 * len(blanks()))
    assert load_file(text, bundled.tokenizer).has_pairs is False
