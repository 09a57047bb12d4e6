"""Sums over sentences of what the heads of a layer attend to: offsets, special tokens, parts of speech and syntactic links."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.core.engine import torch
from explorer.corpus.compute.reading import ADDED, CorpusTokens
from explorer.text.tagged import ROOT, Sentence

REACH = 8  # tokens before and after the query whose weight is summed one by one
OFFSETS = tuple(range(-REACH, REACH + 1))
DIRECTIONS = ("dependent → head", "head → dependent")
HABITS = ("previous", "next", "self", "same_token", "link")
"""What a head may do in a sentence, 0 to 1.

The mean weight on the previous token, the next, the token itself and the same token elsewhere, and the largest weight from a word
to another one.
"""
KEPT = 12  # strongest sentences kept per habit and link
DRAWS = 10  # times that every word takes over the strongest link of another: a null for what links find


@dataclass(frozen=True)
class Sentences:
    """A batch of sentences with all that is needed to sum up its attention; `words` is the longest sentence's number of words.

    `real`, `cls`, `sep` are [batch, tokens], 1 for tokens of that kind. `groups` [batch, tokens, words + 2] is 1 for the word
    that a token is a piece of; the last two are [CLS] and [SEP]. `tags` [batch, words, tags] is 1 for a word's part of speech.
    `heads` and `relations` [batch, words] are ROOT where a word has no syntactic head, or its head was cut off.
    """

    rows: torch.Tensor  # [batch] indices of the sentences in the corpus
    real: torch.Tensor
    cls: torch.Tensor
    sep: torch.Tensor
    same: torch.Tensor  # [batch, tokens, tokens] 1 where two different positions hold the same piece of the text
    groups: torch.Tensor
    tags: torch.Tensor
    heads: torch.Tensor
    relations: torch.Tensor

    @functools.cached_property
    def lengths(self) -> torch.Tensor:
        """[batch, 1] number of tokens, float."""
        return self.real.sum(1, keepdim=True)

    @property
    def words(self) -> int:
        """The number of words of the longest sentence."""
        return self.groups.shape[2] - 2

    @functools.cached_property
    def there(self) -> torch.Tensor:
        """[batch, words] bool: the words that have a token."""
        return self.groups[:, :, : self.words].any(1)

    @functools.cached_property
    def twice(self) -> torch.Tensor:
        """[batch, 1] number of tokens that occur more than once, at least 1."""
        return self.same.any(-1).sum(1, keepdim=True).clamp(min=1)

    @functools.cached_property
    def mean(self) -> torch.Tensor:
        """[batch, words, tokens] the matrix that averages over the pieces of each word."""
        pieces = self.groups[:, :, : self.words]
        return (pieces / pieces.sum(1, keepdim=True).clamp(min=1)).transpose(1, 2)

    @functools.cached_property
    def to_tags(self) -> torch.Tensor:
        """[batch, words + 2, tags + 2] the matrix that sums over the words of a part of speech; [CLS] and [SEP] stay single."""
        batch, words, tags = self.tags.shape
        to = torch.zeros(batch, words + 2, tags + 2)
        to[:, :words, :tags] = self.tags
        to[:, words, tags] = to[:, words + 1, tags + 1] = 1
        return to

    @functools.cached_property
    def unlinked(self) -> torch.Tensor:
        """[batch, 1, words, words] bool: the pairs other than two different words of the sentence."""
        allowed = self.there[:, :, None] & self.there[:, None, :] & ~torch.eye(self.words, dtype=torch.bool)
        return ~allowed[:, None]

    @functools.cached_property
    def orders(self) -> torch.Tensor:
        """[DRAWS + 1, batch, words] the words of each sentence in other orders, the same ones for every model; the rest stay."""
        found = torch.arange(self.words).expand(DRAWS + 1, len(self.rows), -1).clone()
        for mine, (row, there) in enumerate(zip(self.rows.tolist(), self.there, strict=True)):
            words, random = there.nonzero()[:, 0], np.random.default_rng(row)
            for order in found[:, mine]:
                order[words] = words[random.permutation(len(words))]
        return found

    @functools.cached_property
    def linked(self) -> tuple[torch.Tensor, torch.Tensor]:
        """(sentences of the batch, words) of those with a relation."""
        batch, word = (self.relations >= 0).nonzero(as_tuple=True)
        return batch, word

    def take_over(self, links: torch.Tensor, draw: int) -> torch.Tensor:
        """The links [linked, any] that the `linked` words take over from other words of their sentence, but none to themselves.

        `links` [batch, words, any] are those of all words.
        """
        batch, word = self.linked
        first, second = (links[batch, self.orders[number][batch, word]] for number in (draw, draw + 1))
        return torch.where(first == word[:, None], second, first)

    @functools.cached_property
    def by_offset(self) -> torch.Tensor:
        """[tokens · tokens, OFFSETS] 1 where a key is at that offset from its query."""
        places = torch.arange(self.real.shape[1])
        apart = places - places[:, None]
        return (apart.flatten()[:, None] == torch.tensor(OFFSETS)).float()

    def by_relation(self, relations: int) -> torch.Tensor:
        """[batch · words, relations] 1 for the relation of a word to its syntactic head."""
        return (self.relations.flatten()[:, None] == torch.arange(relations)).float()


def sentences_of(
    tokens: CorpusTokens, sentences: Sequence[Sentence], rows: np.ndarray, tags: Sequence[str], relations: Sequence[str]
) -> Sentences:
    """Some sentences (`rows`) of a corpus as a batch; tags and relations other than the given ones are left out."""
    lengths = tokens.lengths[rows]
    places = np.arange(lengths.max())
    real = places < lengths[:, None]
    at = (tokens.starts[rows][:, None] + places)[real]
    words, ids = np.full(real.shape, ADDED), np.full(real.shape, -1)
    words[real], ids[real] = tokens.word[at], tokens.ids[at]
    cls = real & (words == ADDED) & (places == 0)
    sep = real & (words == ADDED) & (places > 0)
    most = max(1, int(words.max()) + 1)  # words after it were cut off
    group = np.where(cls, most, np.where(sep, most + 1, words))
    groups = np.zeros((*real.shape, most + 2), np.float32)
    batch, place = np.nonzero(real)
    groups[batch, place, group[real]] = 1
    text = real & (words != ADDED)
    same = (ids[:, :, None] == ids[:, None, :]) & text[:, :, None] & text[:, None, :] & ~np.eye(len(places), dtype=bool)
    tagged = np.zeros((len(rows), most, len(tags)), np.float32)
    heads, named = (np.full((len(rows), most), ROOT) for _ in range(2))
    there = np.asarray(groups[:, :, :most].any(1))
    for mine, row in enumerate(rows):
        sentence = sentences[row]
        for word, tag in enumerate(sentence.tags[:most]):
            if tag in tags and there[mine, word]:
                tagged[mine, word, tags.index(tag)] = 1
        for word, (head, relation) in enumerate(zip(sentence.heads[:most], sentence.relations, strict=False)):
            linked = head not in (ROOT, word) and head < most and relation in relations
            if linked and there[mine, word] and there[mine, head]:
                heads[mine, word], named[mine, word] = head, relations.index(relation)
    flags = {"real": real, "cls": cls, "sep": sep, "same": same, "groups": groups, "tags": tagged}
    whole = {"rows": rows, "heads": heads, "relations": named}
    return Sentences(
        **{name: torch.from_numpy(one.astype(np.float32)) for name, one in flags.items()},
        **{name: torch.from_numpy(one) for name, one in whole.items()},
    )


@dataclass
class Strongest:
    """For each of some things, the sentences in which it is strongest: arrays [things, KEPT], in falling order.

    Where there are fewer than KEPT, the score is -1. `word` and `other` are the zero-based words of the link, ADDED for none.
    """

    score: torch.Tensor
    sentence: torch.Tensor
    word: torch.Tensor
    other: torch.Tensor

    @classmethod
    def of(cls, *things: int) -> Strongest:
        return cls(torch.full((*things, KEPT), -1.0), *(torch.full((*things, KEPT), ADDED) for _ in range(3)))

    def add(self, layer: int, score: torch.Tensor, *more: torch.Tensor) -> None:
        """Add candidates for a layer: scores [things, candidates], and sentences, words and others, which may be broadcast."""
        kept = [best[layer] for best in (self.score, self.sentence, self.word, self.other)]
        new = [score, *(fresh.expand(score.shape) for fresh in more)]
        both = [torch.cat([old, one], -1) for old, one in zip(kept, new, strict=True)]
        best = both[0].topk(KEPT, -1).indices
        for old, one in zip(kept, both, strict=True):
            old.copy_(one.gather(-1, best))


@dataclass
class AttentionSums:
    """Sums over all sentences added, for every head: float64 [layers, heads, ...].

    `usual` [relations] is the best fixed offset of each relation, and `tested` [sentences] the row of each sentence in `gains`,
    -1 for none: int8 [rows, layers, heads, DIRECTIONS, relations], for how many words of the sentence the head is right, less
    those for which the offset is. `permuted` [DRAWS, layers, heads, DIRECTIONS, relations] are the right links where every word
    takes over the link of another.
    """

    layers: int
    heads: int
    tags: int
    usual: np.ndarray
    tested: np.ndarray
    sums: dict[str, torch.Tensor] = field(init=False)
    habits: Strongest = field(init=False)
    links: Strongest = field(init=False)
    gains: torch.Tensor = field(init=False)
    permuted: torch.Tensor = field(init=False)

    @property
    def relations(self) -> int:
        return len(self.usual)

    def __post_init__(self) -> None:
        shapes = {
            "offsets": (len(OFFSETS),),
            **dict.fromkeys(("entropy", "cls", "sep", "same_token"), ()),
            "tags": (self.tags, self.tags + 2),
            "right": (len(DIRECTIONS), self.relations),
        }
        each = self.layers, self.heads
        self.sums = {name: torch.zeros((*each, *shape), dtype=torch.float64) for name, shape in shapes.items()}
        self.habits = Strongest.of(*each, len(HABITS))
        self.links = Strongest.of(*each, len(DIRECTIONS), self.relations)
        self.gains = torch.zeros((int((self.tested >= 0).sum()), *each, *shapes["right"]), dtype=torch.int8)
        self.permuted = torch.zeros((DRAWS, *each, *shapes["right"]))

    def add(self, layer: int, weights: torch.Tensor, given: Sentences) -> None:
        """Add the attention [batch, heads, query, key] float32 of a layer (zero-based) in a batch of sentences."""
        weights = weights * given.real[:, None, :, None]
        habits = self._add_tokens(layer, weights, given)
        self._add_words(layer, weights, given, habits)

    def _add_tokens(self, layer: int, weights: torch.Tensor, given: Sentences) -> list[torch.Tensor]:
        """Add the sums over tokens; returns all HABITS of each sentence but the last, [batch, heads] each."""
        lengths = given.lengths
        received = weights.sum(2)  # [batch, heads, key]
        cls, sep = ((received * mask[:, None]).sum(-1) for mask in (given.cls, given.sep))
        same = (weights.flatten(2) @ given.same.flatten(1)[..., None])[..., 0]
        entropy = torch.special.entr(weights).sum((-2, -1)) / lengths.clamp(min=2).log()
        self.sums["offsets"][layer] += weights.sum(0).flatten(1) @ given.by_offset
        for name, value in {"entropy": entropy, "cls": cls, "sep": sep, "same_token": same}.items():
            self.sums[name][layer] += value.sum(0)
        near = [weights.diagonal(by, -2, -1).sum(-1) / (lengths - abs(by)) for by in (-1, 1, 0)]
        return [*near, same / given.twice]

    def _add_words(self, layer: int, weights: torch.Tensor, given: Sentences, habits: list[torch.Tensor]) -> None:
        batch, heads, tokens, _ = weights.shape
        words = given.words
        received = (weights.flatten(1, 2) @ given.groups).view(batch, heads, tokens, -1)  # by the words attended to
        linked = given.mean[:, None] @ received  # [batch, heads, word, word + 2]
        self._add_tags(layer, linked, given)
        self._add_links(layer, linked[..., :words], given, habits)

    def _add_tags(self, layer: int, linked: torch.Tensor, given: Sentences) -> None:
        batch, heads, words, _ = linked.shape
        received = (linked.flatten(1, 2) @ given.to_tags).view(batch, heads, words, -1)
        looking = given.tags.flatten(0, 1).T  # [tags, batch · words]
        self.sums["tags"][layer] += looking @ received.transpose(0, 1).flatten(1, 2)

    def _add_links(self, layer: int, linked: torch.Tensor, given: Sentences, habits: list[torch.Tensor]) -> None:
        linked = linked.masked_fill(given.unlinked, -1.0)
        (out, seen), (into, by) = linked.max(-1), linked.max(-2)  # [batch, heads, words]: most attended to; attending most
        top, word = out.max(-1)  # [batch, heads]
        other = seen.gather(-1, word[..., None])[..., 0]
        none = torch.full_like(word, ADDED)
        score = torch.stack([*habits, top], -1).permute(1, 2, 0)  # [heads, habits, batch]
        word, other = (torch.stack([*([none] * len(habits)), places], -1).permute(1, 2, 0) for places in (word, other))
        self.habits.add(layer, score, given.rows, word, other)
        if self.relations:
            right = torch.stack([(found == given.heads[:, None]) * weight for found, weight in ((seen, out), (by, into))], 2)
            self._add_right(layer, right.permute(1, 2, 0, 3).flatten(2), given)
            self._add_gains(layer, right > 0, given)
            self._add_permuted(layer, (seen, by), given)

    def _add_gains(self, layer: int, right: torch.Tensor, given: Sentences) -> None:
        """Add by how many words heads beat the best offsets: `right` bool [batch, heads, directions, words]."""
        rows = torch.from_numpy(self.tested)[given.rows]
        apart = given.heads - torch.arange(given.words)
        usual = apart == torch.from_numpy(self.usual)[given.relations.clamp(min=0)]
        more = right.float() - usual[:, None, None].float()
        gains = more.flatten(1, 2) @ given.by_relation(self.relations).view(len(rows), given.words, -1)
        self.gains[rows[rows >= 0], layer] = gains.view(*more.shape[:3], -1)[rows >= 0].to(torch.int8)

    def _add_permuted(self, layer: int, links: Sequence[torch.Tensor], given: Sentences) -> None:
        """Add what is right by chance: the `links` [batch, heads, words] of each direction, taken over from other words."""
        both = torch.stack(list(links), 2).flatten(1, 2).transpose(1, 2).contiguous()  # [batch, words, heads · directions]
        named = (given.relations[given.linked][:, None] == torch.arange(self.relations)).float()
        heads = given.heads[given.linked][:, None]
        for draw in range(DRAWS):
            right = (given.take_over(both, draw) == heads).float().T @ named
            self.permuted[draw, layer] += right.view(self.heads, len(DIRECTIONS), -1)

    def _add_right(self, layer: int, right: torch.Tensor, given: Sentences) -> None:
        """Add the links that are right: `right` [heads, directions, batch · words] is their weight, 0 for a wrong link."""
        one_hot, words = given.by_relation(self.relations), given.words
        self.sums["right"][layer] += (right > 0).float() @ one_hot
        order = given.relations.flatten().argsort(stable=True)
        count = one_hot.sum(0).long()
        first = len(order) - int(count.sum()) + count.cumsum(0) - count  # words without a relation are sorted first
        place = torch.arange(int(count.max()))
        at = order[(first[:, None] + place).clamp(max=len(order) - 1)]  # [relations, most]
        score = right[..., at].masked_fill(place >= count[:, None], -1.0)
        score = score.masked_fill(score <= 0, -1.0)
        self.links.add(layer, score, given.rows[at // words], at % words, given.heads.flatten()[at])
