"""The atlas of heads: what every head of a model does across a corpus, after Clark et al. 2019, sections 3 and 4.

It takes one pass over the corpus, in which the attention of each layer is added up where it is computed. The result is cached on
disk; that of the bundled model and the built-in corpus ships with the app.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from explorer.analysis.head_metrics import ATLAS
from explorer.analysis.projection import MapSettings, project
from explorer.bert.attending import Heads, answer_with
from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.bert.explorer import Explorer
from explorer.bert.network import Padded
from explorer.bert.readings import key_of, when_free
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.steps import finished, relay
from explorer.corpus.compute.atlas_evidence import evidence, sampled_sentences
from explorer.corpus.compute.atlas_file import HeadAtlas, read, write
from explorer.corpus.compute.attention_sums import HABITS, OFFSETS, AttentionSums, Sentences, Strongest, sentences_of
from explorer.corpus.compute.head_families import families, habits
from explorer.corpus.compute.reading import tokens_of
from explorer.text.corpora import Corpus, built_in

MAP = MapSettings("umap", neighbors=12, min_dist=0.3, metric="euclidean")
FEWEST = 20  # occurrences below which a relation is left out
SHOWN = 6  # example sentences per head
FILE = "atlas.npz"
STRONGEST_IN = {"previous token": "previous", "next token": "next", "itself": "self", "same word": "same_token"}
LINK = "link"  # heads with any other habit show the sentences with their strongest link

_opened: OnceCache[tuple[object, ...], HeadAtlas] = OnceCache(8)


def _key(model: Explorer, corpus: Corpus) -> tuple[object, ...]:
    return model.checkpoint, corpus.key


def head_atlas_in_steps(model: Explorer, corpus: Corpus) -> Generator[float, None, HeadAtlas]:
    """The atlas of a model's heads over a corpus, from memory or disk if it is there; yields the share done, 0 to 1.

    Raises InputError for a sentence the model cannot read.
    """
    if found := known_atlas(model, corpus):
        return found

    def fill(folder: Path) -> Generator[float, None, HeadAtlas]:
        if not (folder / FILE).exists():
            write((yield from sum_up(model, corpus)), folder / FILE)
        return read(folder / FILE)

    each = len(OFFSETS) + (len(corpus.tags) + 2) ** 2 + 2 * len(corpus.relations) + 8 * SHOWN
    coming = 8 * model.capabilities.layers * model.capabilities.heads * each
    found = yield from when_free(key_of(model, corpus.texts, "head atlas and nulls"), coming, fill)
    _opened.put(_key(model, corpus), found)
    return found


def known_atlas(model: Explorer, corpus: Corpus) -> HeadAtlas | None:
    """The atlas if it is in memory or ships with the app, else None."""
    if found := _opened.peek(_key(model, corpus)):
        return found
    if model.checkpoint.folder != BUNDLED_FOLDER or corpus.key != built_in().key or not ATLAS.exists():
        return None
    found = read(ATLAS)
    _opened.put(_key(model, corpus), found)
    return found


def mapped_in_steps(model: Explorer, corpus: Corpus, atlas: HeadAtlas) -> Generator[float | None, None, HeadAtlas]:
    """The atlas with a map of its heads: UMAP of their profiles, or PCA of few; yields the share done, None at first."""
    if not len(atlas.points):
        found = yield from relay(partial(project, atlas.profiles.vectors, MAP, None))
        atlas = replace(atlas, points=found.points)
        _opened.put(_key(model, corpus), atlas)
    return atlas


def sum_up(model: Explorer, corpus: Corpus) -> Generator[float, None, HeadAtlas]:
    """Compute the atlas; yields the share done."""
    tokens, size = tokens_of(model, corpus), model.capabilities
    seen = Counter(
        relation for read in corpus.sentences for relation, head in zip(read.relations, read.heads, strict=False) if head >= 0
    )
    relations = sorted(name for name, count in seen.items() if count >= FEWEST)
    facts, batches = _Facts(len(corpus.tags), len(relations)), tokens.batches()
    for rows in batches:  # the best offsets are known before a head is compared with them
        facts.add(sentences_of(tokens, corpus.sentences, rows, corpus.tags, relations))
    usual = np.array([facts.baseline(at)[0] if facts.heads[at] else 0 for at in range(len(relations))], np.int64)
    sums = AttentionSums(size.layers, size.heads, len(corpus.tags), usual, sampled_sentences(len(corpus.sentences)))
    for number, rows in enumerate(batches):
        yield number / len(batches)
        given = sentences_of(tokens, corpus.sentences, rows, corpus.tags, relations)
        _attend(model, model.pad(tokens.encode(rows)), given, sums)
    yield 1.0
    return _atlas(sums, facts, len(corpus.sentences), corpus.tags, relations)


@inference_mode
def _attend(model: Explorer, padded: Padded, given: Sentences, sums: AttentionSums) -> None:
    """Run a batch, and add up the attention of every layer where it is computed."""
    hidden = model.embed(padded.ids, padded.segments)
    for number, layer in enumerate(model.layers):

        def look(heads: Heads, number: int = number) -> torch.Tensor:
            weights = heads.weights().nan_to_num_()  # rows of padding can be all NaN
            sums.add(number, weights, given)
            return weights @ heads.value

        hidden = answer_with(look, partial(layer, hidden, padded.mask))


class _Facts:
    """Counts over the sentences that are the same for every head."""

    def __init__(self, tags: int, relations: int) -> None:
        self.tokens, self.same = 0, 0
        self.offsets = np.zeros(len(OFFSETS), np.int64)
        self.tags = np.zeros(tags, np.int64)
        self.heads: list[Counter[int]] = [Counter() for _ in range(relations)]  # how often the syntactic head is at each offset

    def add(self, given: Sentences) -> None:
        """Count a batch of sentences."""
        lengths = given.lengths[:, 0].long().numpy()
        self.tokens += int(lengths.sum())
        self.same += int(given.same.any(-1).sum())
        self.offsets += np.maximum(lengths[:, None] - np.abs(OFFSETS), 0).sum(axis=0)
        self.tags += given.tags.sum((0, 1)).long().numpy()
        apart = given.heads - torch.arange(given.words)
        for relation, offset in zip(given.relations.flatten().tolist(), apart.flatten().tolist(), strict=True):
            if relation >= 0:
                self.heads[relation][offset] += 1

    def baseline(self, relation: int) -> tuple[int, float]:
        """The offset at which most syntactic heads of a relation are (the nearest on a tie), and the share that are there."""
        offset, count = max(self.heads[relation].items(), key=lambda counted: (counted[1], -abs(counted[0]), counted[0]))
        return offset, count / self.heads[relation].total()


def _atlas(sums: AttentionSums, facts: _Facts, sentences: int, tags: Sequence[str], relations: Sequence[str]) -> HeadAtlas:
    kept = [at for at in range(len(relations)) if facts.heads[at].total() >= FEWEST]  # others fell below when words were cut off
    found = {name: value.numpy() for name, value in sums.sums.items()}
    counts = np.array([facts.heads[at].total() for at in kept], np.int64)
    best = [facts.baseline(at) for at in kept]
    baselines = np.array([share for _, share in best])
    tested = evidence(sums.gains.numpy()[..., kept])
    permuted = sums.permuted.numpy()[..., kept] / np.maximum(counts, 1) > baselines + 1e-9
    means = {name: found[name] / facts.tokens for name in ("cls", "sep", "entropy")}
    atlas = HeadAtlas(
        sentences=sentences,
        tokens=facts.tokens,
        tags=np.array(tags, dtype=str),
        relations=np.array([relations[at] for at in kept], dtype=str),
        offsets=found["offsets"] / np.maximum(facts.offsets, 1),
        same_token=found["same_token"] / max(facts.same, 1),
        by_tag=found["tags"] / np.maximum(facts.tags, 1)[:, None],
        counts=counts,
        shares=found["right"][..., kept] / np.maximum(counts, 1),
        baselines=baselines,
        baseline_offsets=np.array([offset for offset, _ in best], np.int64),
        q=tested.q,
        permuted=permuted.any(axis=(-1, -2)).sum(axis=(-1, -2)),
        halves=np.array([tested.passing, tested.holding]),
        **means,
        **dict.fromkeys(("habits", "families", "examples", "strengths"), np.empty(0)),
    )
    return _name(atlas, sums, kept)


def _name(atlas: HeadAtlas, sums: AttentionSums, kept: Sequence[int]) -> HeadAtlas:
    """The atlas with the names of the heads, and the sentences in which each is strongest at what it is named after."""
    shape, profiles = atlas.cls.shape, atlas.profiles
    names, kinds = (np.array(found, dtype=str).reshape(shape) for found in (habits(profiles), families(profiles)))
    examples, strengths = np.full((*shape, SHOWN, 3), -1), np.full((*shape, SHOWN), -1.0)
    for layer, head in np.ndindex(*shape):
        name = str(names[layer, head])
        if name in atlas.relations:
            relation = atlas.relations.tolist().index(name)
            direction = int(atlas.shares[layer, head, :, relation].argmax())
            rows = _rows(sums.links, layer, head, direction, kept[relation])
        else:
            rows = _rows(sums.habits, layer, head, HABITS.index(STRONGEST_IN.get(name, LINK)))
        for place, (strength, *where) in enumerate(rows[:SHOWN]):
            strengths[layer, head, place], examples[layer, head, place] = strength, where
    return replace(atlas, habits=names, families=kinds, examples=examples, strengths=strengths)


def _rows(found: Strongest, *at: int) -> list[tuple[float, int, int, int]]:
    """(strength, sentence, word, other word) of the strongest cases, at most one per sentence."""
    columns = (column[at].tolist() for column in (found.score, found.sentence, found.word, found.other))
    rows: dict[int, tuple[float, int, int, int]] = {}
    for row in zip(*columns, strict=True):
        if row[0] > 0:
            rows.setdefault(row[1], row)
    return list(rows.values())


if __name__ == "__main__":
    from explorer.bert.explorer import load

    os.environ["HF_HUB_OFFLINE"] = "1"
    model, corpus = load(str(BUNDLED_FOLDER)), built_in()
    write(finished(mapped_in_steps(model, corpus, finished(sum_up(model, corpus)))), ATLAS)
