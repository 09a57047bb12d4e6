"""Sentences about the heads of an atlas."""

from __future__ import annotations

from collections import Counter

import numpy as np

from explorer.corpus.compute.atlas_file import HeadAtlas
from explorer.corpus.compute.head_families import MEANINGS
from explorer.text.corpora import Corpus
from explorer.text.tagged import plain, spell_out
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.subject import head_name


def best_of(atlas: HeadAtlas) -> tuple[int, int, int] | None:
    """The zero-based layer, head and relation with the largest lead over the best offset, times the root of its frequency.

    Leads that are not significant count only where none is.
    """
    leads = np.where(atlas.significant, atlas.leads, 0) if atlas.significant.any() else atlas.leads
    if not leads.size or not (leads > 0).any():
        return None
    layer, head, relation = np.unravel_index(int((leads * np.sqrt(atlas.counts)).argmax()), leads.shape)
    return int(layer), int(head), int(relation)


def overall(atlas: HeadAtlas, best: tuple[int, int, int]) -> str:
    """The number of heads that follow the syntax after correction, and the clearest of them, in a sentence."""
    significant = int(atlas.significant.any(axis=-1).sum())
    follow = "follows" if significant < 2 else "follow"
    better = f"{follow} a grammatical relation better than a fixed distance does (false discovery rate 5%)"
    if not significant:
        return f"None of {atlas.cls.size} heads {better}."
    told = f"{significant} of {atlas.cls.size} heads {better}"
    return f"{told}, {head_name(best[:2])} most clearly."


def evidence(atlas: HeadAtlas) -> str:
    """How many heads beat an offset, by chance too, after correction, and in both halves, in sentences; '' without relations."""
    if not atlas.q.size:
        return ""
    relations, low, high = len(atlas.relations), int(atlas.permuted.min()), int(atlas.permuted.max())
    passing, holding = atlas.halves.tolist()
    return (
        f"The best of {relations} relations in two directions beats the best fixed offset in {int(atlas.beating.sum())} of "
        f"{atlas.cls.size} heads. By chance alone, when each word takes over the strongest link of another word of its sentence, "
        f"it does so in {atlas.permuted.mean():.0f} ({low} to {high} in {len(atlas.permuted)} draws). "
        f"{int(atlas.significant.any(axis=-1).sum())} heads remain after correction for {atlas.q.size:,} tests; of {passing} "
        f"that pass in one half of the sentences, {holding} hold in the other."
    )


def steps(offset: int) -> str:
    """An offset in words: 'the word before'."""
    ways = {-1: "the word before", 1: "the next word"}
    return ways.get(offset) or f"the word {abs(offset)} {'back' if offset < 0 else 'on'}"


def _share(atlas: HeadAtlas, layer: int, head: int, relation: int) -> str:
    """The share of a relation's words for which a head is right, beside that of the best offset, in words."""
    share, usual = float(atlas.best[layer, head, relation]), float(atlas.baselines[relation])
    way = steps(int(atlas.baseline_offsets[relation]))
    what = spell_out(str(atlas.relations[relation]))
    return (
        f"{whole_percent(share)} of words with the relation “{what}”; always choosing {way} is right for {whole_percent(usual)}"
    )


def describe(atlas: HeadAtlas, layer: int, head: int) -> str:
    """The habit of a head, as a phrase that follows its name."""
    name = str(atlas.habits[layer, head])
    middle = atlas.offsets.shape[-1] // 2
    near = {"previous token": middle - 1, "next token": middle + 1, "itself": middle}
    where = {"previous token": "the token before", "next token": "the token behind", "itself": "the token itself"}
    if name in near:
        return f"puts {whole_percent(float(atlas.offsets[layer, head, near[name]]))} of its weight on {where[name]}"
    if name in atlas.relations:
        return f"finds the governing word of {_share(atlas, layer, head, atlas.relations.tolist().index(name))}"
    parked = float(atlas.cls[layer, head] + atlas.sep[layer, head])
    if "[" in name:
        return f"parks {whole_percent(parked)} of its weight at [CLS] and [SEP]"
    return f"is {name}: {MEANINGS[name]} ({whole_percent(parked)} at [CLS] and [SEP])"


def habit(atlas: HeadAtlas, layer: int, head: int) -> str:
    """The habit of a head, and its family, in sentences."""
    family = str(atlas.families[layer, head])
    others = int((atlas.families == family).sum()) - 1
    beside = f"{others} other{'s' * (others != 1)}" if others else "no other"
    return f"It {describe(atlas, layer, head)}. Its family, with {beside}: {spell_out(family)}."


def about(corpus: Corpus, atlas: HeadAtlas) -> str:
    """The number of heads in each family, in a sentence."""
    counted = ", ".join(f"{plain(name)} {count}" for name, count in Counter(atlas.families.ravel().tolist()).most_common())
    return f"{atlas.cls.size} heads over {corpus.counted}, by family: {counted}."
