"""The atlas of heads, held to transformers' own eager attention and loops that are written out."""

import json
from bisect import bisect_right
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch
import transformers

from explorer.analysis.head_names import ATLAS
from explorer.analysis.resampling import halves
from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.core.steps import finished
from explorer.corpus.compute import atlas as atlases
from explorer.corpus.compute import atlas_file
from explorer.corpus.compute.atlas import sum_up
from explorer.corpus.compute.atlas_evidence import TESTED, evidence, sampled_sentences
from explorer.corpus.compute.attention_sums import DIRECTIONS, OFFSETS, REACH, sentences_of
from explorer.corpus.compute.head_families import MEANINGS, Profiles, families, habits
from explorer.corpus.compute.reading import ADDED, tokens_of
from explorer.corpus.endpoints import head_atlas as endpoint
from explorer.text.corpora import Corpus, built_in
from explorer.text.tagged import ROOT, Sentence
from tests.corpora import head_atlas

FEW = 3  # occurrences of a relation, in tests of a few sentences


@pytest.fixture(scope="module")
def few():
    """A dozen sentences of many lengths."""
    sentences = sorted(built_in().sentences, key=lambda one: len(one.text))[40::60]
    assert len(sentences) >= 12
    return Corpus("few", tuple(sentences))


@pytest.fixture(scope="module")
def made_of_few(bundled, few):
    """The atlas of the bundled model over these, of rare relations too, and what its evidence was made from."""
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atlases, "FEWEST", FEW)
        patch.setattr(atlas_file, "NAMING", FEW)
        patch.setattr(atlas_file, "LEVEL", 1.0)
        patch.setattr(atlases, "evidence", lambda gains: seen.append(gains) or evidence(gains))
        return made(bundled, few), *seen


def made(model, corpus):
    """An atlas that was not there before."""
    return finished(sum_up(model, corpus))


class Slow:
    """Clark et al. 2019, sections 3 and 4, a word at a time, from the attentions that transformers returns."""

    def __init__(self, folder, model, corpus):
        module = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        self.by_offset, self.cls, self.sep, self.entropy, self.same = defaultdict(list), [], [], [], []
        self.by_tag, self.right, self.apart = defaultdict(list), defaultdict(list), defaultdict(Counter)
        for sentence in corpus.sentences:
            encoded = model.tokenizer(sentence.text, return_offsets_mapping=True)
            with torch.no_grad():
                read = {name: torch.tensor([value]) for name, value in encoded.items() if name != "offset_mapping"}
                found = module(**read, output_attentions=True).attentions
            weights = np.stack([layer[0].numpy() for layer in found]).astype(np.float64)  # [layers, heads, n, n]
            added = [sequence is None for sequence in encoded.sequence_ids()]
            self.tokens(weights, encoded["input_ids"], added)
            self.words(weights, sentence, [self.begin(sentence.text, *span) for span in encoded["offset_mapping"]], added)

    @staticmethod
    def begin(text, start, end):
        while start < end and text[start].isspace():
            start += 1
        return start

    def tokens(self, weights, ids, added):
        n = len(ids)
        for query in range(n):
            row = weights[:, :, query]
            for key in range(n):
                self.by_offset[key - query].append(row[..., key])
            self.cls.append(row[..., 0])
            self.sep.append(sum(row[..., key] for key in range(1, n) if added[key]))
            self.entropy.append(-(row * np.log(np.maximum(row, 1e-300))).sum(-1) / np.log(n))
            others = [key for key in range(n) if key != query and ids[key] == ids[query] and not added[key]]
            if others and not added[query]:
                self.same.append(row[..., others].sum(-1))

    def words(self, weights, sentence, begins, added):
        pieces = defaultdict(list)
        for token, begin in enumerate(begins):
            if not added[token]:
                pieces[bisect_right(sentence.starts, begin) - 1].append(token)
        specials = [token for token in range(len(begins)) if added[token]]
        words = sorted(pieces)

        def link(word, keys):
            return np.mean([weights[:, :, query][..., keys].sum(-1) for query in pieces[word]], axis=0)

        linked = {(one, other): link(one, pieces[other]) for one in words for other in words}
        for word in words:
            tag, row = sentence.tags[word], defaultdict(float)
            for other in words:
                row[sentence.tags[other]] = row[sentence.tags[other]] + linked[word, other]
            row["[CLS]"], row["[SEP]"] = link(word, specials[:1]), link(word, specials[1:])
            self.by_tag[tag].append(row)
            head, others = sentence.heads[word], [other for other in words if other != word]
            if head == ROOT or head not in pieces:
                continue
            out = np.stack([linked[word, other] for other in others])
            into = np.stack([linked[other, word] for other in others])
            right = [np.array(others)[one.argmax(0)] == head for one in (out, into)]
            self.right[sentence.relations[word]].append(np.stack(right, -1))
            self.apart[sentence.relations[word]][head - word] += 1


def assert_same(atlas, slow, corpus):
    def close(ours, theirs):
        np.testing.assert_allclose(ours, theirs, atol=1e-5, rtol=0)

    for place, offset in enumerate(OFFSETS):
        close(atlas.offsets[..., place], np.mean(slow.by_offset[offset], axis=0))
    for name in ("cls", "sep", "entropy"):
        close(getattr(atlas, name), np.mean(getattr(slow, name), axis=0))
    close(atlas.same_token, np.mean(slow.same, axis=0))
    names = [*atlas.tags.tolist(), "[CLS]", "[SEP]"]
    assert names[:-2] == corpus.tags
    for at, tag in enumerate(atlas.tags):
        for to, name in enumerate(names):
            close(atlas.by_tag[:, :, at, to], sum(row[name] for row in slow.by_tag[tag]) / len(slow.by_tag[tag]))
    told = sorted(name for name, found in slow.right.items() if len(found) >= FEW)
    assert atlas.relations.tolist() == told
    for at, name in enumerate(told):
        found, apart = slow.right[name], slow.apart[name]
        assert atlas.counts[at] == len(found)
        close(atlas.shares[..., at], np.mean(found, axis=0))
        assert atlas.baselines[at] == pytest.approx(max(apart.values()) / len(found))
        assert apart[int(atlas.baseline_offsets[at])] == max(apart.values())


def test_it_is_what_loops_over_eager_attentions_give(bundled, few, made_of_few):
    assert_same(made_of_few[0], Slow(BUNDLED_FOLDER, bundled, few), few)


def test_a_corpus_without_syntax_has_no_relations_and_one_sentence_is_enough(bundled):
    plain = [Sentence(("The", "man", "went", "to", "the", "store."), (), "The man went to the store.", (0, 4, 8, 13, 16, 20))]
    atlas = made(bundled, Corpus("one", tuple(plain)))
    assert atlas.sentences == 1
    assert atlas.shares.shape[2:] == (len(DIRECTIONS), 0)
    assert atlas.by_tag.shape[2:] == (0, 2)
    assert atlas.leads.shape[2:] == (0,)
    assert set(atlas.families.ravel().tolist()) <= set(MEANINGS)
    trace = bundled.trace(plain[0].text)
    first = trace.attention(0)
    np.testing.assert_allclose(atlas.offsets[0, :, REACH - 1], first.diagonal(-1, 1, 2).mean(1), atol=1e-5)
    np.testing.assert_allclose(atlas.cls[0], first[:, :, 0].mean(1), atol=1e-5)
    assert (atlas.strengths[..., 1:] == -1).all()
    single = made(bundled, Corpus("a word", (Sentence(("Hello",), (), "Hello", (0,)),)))
    assert (single.strengths <= 1).all()


def test_the_sentences_of_a_head_show_what_it_is_named_after(bundled, few, made_of_few):
    (atlas, _), links = made_of_few, 0
    for layer, head in np.ndindex(*atlas.cls.shape):
        strengths, name = atlas.strengths[layer, head], atlas.habits[layer, head]
        assert (np.diff(strengths) <= 0).all()
        for (at, word, other), strength in zip(atlas.examples[layer, head].tolist(), strengths.tolist(), strict=True):
            if strength < 0:
                continue
            sentence = few.sentences[at]
            if name in atlas.relations:
                assert (sentence.heads[word], sentence.relations[word]) == (other, name)
                links += 1
            if name in ("previous token", "next token"):
                weights = bundled.trace(sentence.text).attention(int(layer))[head]
                by = 1 if name == "next token" else -1
                assert strength == pytest.approx(weights.diagonal(by).mean(), abs=1e-5)
                assert word == other == ADDED
    assert links


@pytest.mark.nightly  # test_head_atlas.py compares its strongest sentences with the model, and tests above what makes it
def test_the_one_that_ships_is_that_of_the_bundled_model(bundled):
    shipped, anew = head_atlas(bundled, built_in()), made(bundled, built_in())
    assert ATLAS.exists()
    for name in ("offsets", "cls", "sep", "same_token", "entropy", "by_tag", "baselines"):
        np.testing.assert_allclose(getattr(shipped, name), getattr(anew, name), atol=1e-4)
    assert np.abs(shipped.shares - anew.shares).max() <= 1 / shipped.counts.min() + 1e-6  # a word more or less on other machines
    assert (shipped.habits == anew.habits).mean() > 0.95


def test_what_it_finds_in_the_bundled_model(bundled):
    atlas = head_atlas(bundled, built_in())
    assert (atlas.offsets[0, :, REACH - 1] > 0.9).nonzero()[0].tolist() == [2]  # layer 1, head 3
    assert atlas.families[0, 2] == "previous token"
    assert (atlas.leads > 0).any(axis=-1).sum() >= 5
    det = atlas.relations.tolist().index("det")
    assert atlas.best[3, 1, det] > atlas.baselines[det] + 0.2
    assert atlas.baseline_offsets[det] == 1
    np.testing.assert_allclose(atlas.by_tag.sum(-1), 1, atol=1e-5)


def profiles(*rows, relations=("det", "obj"), counts=(400, 40)):
    """Profiles of (previous, next, self, entropy, cls, sep, same, leads ...)."""
    given = np.array(rows, dtype=float)
    offsets = given[:, [0, 2, 1]]
    return Profiles(offsets, given[:, 3], *given[:, 4:7].T, given[:, 7:], relations, np.array(counts))


def test_heads_are_named_by_rule():
    given = profiles(
        [0.6, 0.1, 0.1, 0.2, 0.6, 0, 0, 0.3, 0.3],
        [0.1, 0.5, 0.1, 0.2, 0, 0, 0, 0, 0],
        [0.1, 0.1, 0.7, 0.2, 0, 0, 0, 0, 0],
        [0.1, 0.1, 0.1, 0.2, 0.8, 0, 0, 0.11, 0.2],
        [0.1, 0.1, 0.1, 0.2, 0.8, 0, 0, 0.09, 0.12],
        [0.1, 0.1, 0.1, 0.2, 0.8, 0, 0, 0, 0],
        [0.1, 0.1, 0.1, 0.2, 0, 0.6, 0, 0, 0],
        [0.1, 0.1, 0.1, 0.2, 0.3, 0.3, 0, 0, 0],
        [0.1, 0.1, 0.1, 0.2, 0, 0, 0.5, 0, 0],
        [0.2, 0.2, 0.2, 0.2, 0, 0, 0, 0, 0],
        [0.1, 0.1, 0.1, 0.8, 0, 0, 0, 0, 0],
        [0.1, 0.1, 0.1, 0.2, 0, 0, 0, 0, -0.5],
    )
    first = ["previous token", "next token", "itself", "det", "obj", "[CLS]", "[SEP]", "[CLS] and [SEP]"]
    assert habits(given) == [*first, "same word", "neighbours", "broad", "mixed"]
    assert set(habits(given)) == {*MEANINGS, "det", "obj"}
    assert set(families(given)) <= set(habits(given))


def test_what_is_tested_is_by_how_much_heads_beat_the_best_offset(few, made_of_few):
    atlas, gains = made_of_few
    words = (atlas.shares - atlas.baselines) * atlas.counts
    np.testing.assert_allclose(gains.sum(0, dtype=int), words, atol=1e-6)
    assert gains.shape[0] == len(few.sentences)
    assert (atlas.q <= 1).all()
    assert (atlas.permuted <= 72).all()


def test_a_real_lead_is_found_and_luck_is_not():
    random = np.random.default_rng(5)
    gains = random.integers(-1, 2, (120, 2, 4, 2, 10), dtype=np.int8)  # as often right as the offset
    by_luck = evidence(gains)
    assert (by_luck.q > 0.05).all()
    assert by_luck.holding == 0
    gains[:, 1, 2, 0, 7] = random.integers(0, 2, 120)
    found = evidence(gains)
    assert np.argwhere(found.q <= 0.05).tolist() == [[1, 2, 0, 7]]
    assert found.holding == 1
    gains[:, :, :, :, :7] = gains[:, :, :, :, 8:] = 0
    gains[halves(120)[0], 0, 3, 1, 2] = random.integers(0, 2, 60)  # in the first half only
    gains[:, 0, :2] = gains[:, 1, 3] = 0
    found = evidence(gains)
    assert (found.passing, found.holding) == (2, 1)


def test_a_permuted_link_is_that_of_another_word_and_never_to_itself(bundled, few):
    tokens = tokens_of(bundled, few)
    given = sentences_of(tokens, few.sentences, np.array([3, 9]), few.tags, few.relations)
    there = [int(one.sum()) for one in given.there]
    orders = given.orders
    assert all(sorted(order[row, :n].tolist()) == list(range(n)) for order in orders for row, n in enumerate(there))
    batch, word = given.linked
    last = torch.tensor([n - 1 for n in there])[:, None, None].expand(-1, given.words, 2)  # all look at the last word
    taken = given.take_over(last, 0)
    assert taken.shape == (sum(head >= 0 for row in (3, 9) for head in few.sentences[row].heads), 2)
    assert (taken == last[batch, word])[word != last[batch, word, 0]].all()
    following = torch.arange(given.words).roll(-1).expand(2, -1)[..., None]
    taken = given.take_over(following, 0)[:, 0]
    donors = orders[0][batch, word]
    same = donors + 1 != word
    assert (taken[same] == (donors + 1)[same] % given.words).all()
    assert (taken != word).float().mean() > 0.9
    assert sampled_sentences(3).tolist() == [0, 1, 2]
    assert (sampled_sentences(5_000) >= 0).sum() == TESTED


def test_the_endpoint_tells_of_every_head(bundled):
    answer, atlas = endpoint(), head_atlas(bundled, built_in())
    heads, beside = answer["heads"], answer["evidence"]
    assert beside["permuted"] == atlas.permuted.tolist()
    assert beside["holding"] <= beside["passing"] <= 72
    assert [(one["layer"], one["head"]) for one in heads] == [(at + 1, head + 1) for at, head in np.ndindex(6, 12)]
    third, looking = heads[2], heads[3 * 12 + 1]
    assert third["offsets"]["-1"] == pytest.approx(atlas.offsets[0, 2, REACH - 1])
    assert third["family"] == "previous token"
    assert set(looking["relations"]) == set(atlas.relations.tolist())
    case = looking["relations"]["case"]
    assert case["share"] > case["baseline"] + 0.2
    assert case["q"] <= 0.05
    json.dumps(answer, allow_nan=False)
