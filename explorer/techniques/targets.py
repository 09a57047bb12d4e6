"""The one number that a question is about: a piece at a place, or IsNext; with a foil, that piece rather than another.

It depends on the last hidden state of one token only, so that techniques can save work in the last layer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.text import limits
from explorer.text.pieces import Writing, show_piece

TOKENS_AT_ONCE = 1024
"""Tokens in a batch: enough to keep two cores busy, few enough for the feed-forward part to stay in the cache."""
AT_ONCE = 64
"""Vectors in a batch of the masked-LM head: each gets a number for every piece of the vocabulary."""


@dataclass(frozen=True)
class Target:
    """Class `id` of the head at `position` (zero-based); `token` is its name.

    `head` is "fill_mask", with a class for each piece, or "next_sentence", where 0 is IsNext. With a foil, the id of another
    class, the question is why the target rather than the foil: it is measured by the difference of their two logits.
    """

    head: str
    position: int
    id: int
    token: str
    foil: int | None = None
    foil_token: str = ""

    @property
    def name(self) -> str:
        """The target for a person: 'tokyo', or 'tokyo rather than osaka'."""
        return self.token if self.foil is None else f"{self.token} rather than {self.foil_token}"

    @property
    def quoted(self) -> str:
        """The target in a sentence: '“tokyo”', or '“tokyo” rather than “osaka”'."""
        return f"“{self.token}”" if self.foil is None else f"“{self.token}” rather than “{self.foil_token}”"

    @property
    def each(self) -> tuple[Target, ...]:
        """The target alone and, if it has a foil, the foil as a target of its own."""
        if self.foil is None:
            return (self,)
        return replace(self, foil=None, foil_token=""), Target(self.head, self.position, self.foil, self.foil_token)

    def against(self, foil: int, token: str) -> Target:
        """The target with another class of its head as its foil. Raises InputError when it is the target itself."""
        if foil == self.id:
            raise InputError(f"The foil is the same as the word, {self.token!r}. Choose another foil.")
        return replace(self, foil=foil, foil_token=token)

    def measure(self, reading: Reading) -> torch.Tensor:
        """What the question is measured by: the probability, or with a foil the difference of the logits."""
        return reading.probability if self.foil is None else reading.logit


class Reading(NamedTuple):
    """The target's `logit`, less that of its foil if it has one, and its `probability` (softmax over all classes of the head).

    Both have an entry for each vector that was read, as [batch] or [layers, heads].
    """

    logit: torch.Tensor
    probability: torch.Tensor


def word_target(trace: Trace, word: str = "", position: int | None = None, foil: str = "") -> Target:
    """The target `word` at `position`, by default at the first [MASK]; "" is the model's first guess there.

    `foil` is another word, "" for none. Raises CapabilityError without a masked-LM head, InputError when there is no [MASK],
    when a word is not one piece, and when both are the same.
    """
    if position is None:
        position = trace.blanks()[0]
    if limits.check_optional_text(word, "the word"):
        target = Target("fill_mask", position, *piece_of(trace.model, word))
    else:
        (guess,) = trace.model.guesses(trace.states[-1][[position]], [position], top_k=1)
        target = Target("fill_mask", position, guess.candidates[0].id, guess.candidates[0].token)
    return target.against(*piece_of(trace.model, foil, "the foil")) if limits.check_optional_text(foil, "the foil") else target


@inference_mode
def against_second_guess(trace: Trace, target: Target) -> Target:
    """The target with the most probable other class of its head as its foil: of the first guess, the second."""
    first, second = logits_at(trace.model, target, trace.states[-1][target.position][None])[0].topk(2).indices.tolist()
    best = second if first == target.id else first
    names = trace.model.pieces([best]) if target.head == "fill_mask" else [trace.model.pair_names[best]]
    return target.against(best, names[0])


def is_next_target(trace: Trace) -> Target:
    """The target IsNext, or the first output of another family's head for pairs.

    Raises CapabilityError without the head, InputError when there is no B.
    """
    trace.model.require("next_sentence")
    if not trace.encoding.text_b:
        raise InputError("B has no sentence. Type one.")
    return Target("next_sentence", 0, 0, trace.model.pair_names[0])


def piece_of(model: Network, word: str, name: str = "the word") -> tuple[int, str]:
    """The id and the name of the one piece that `word` is, called `name` in messages. Raises InputError if it is not one piece.

    '##ing' is found by its name; anything else is read as in a sentence: 'Paris' finds 'paris', or 'ĠParis'.
    """
    word = limits.check_text(word, name).strip()
    tokenizer = model.tokenizer
    number, unknown = tokenizer.convert_tokens_to_ids(word), tokenizer.unk_token
    # What is not in the vocabulary has no number, or that of [UNK].
    pieces = [word] if number is not None and tokenizer.convert_ids_to_tokens(number) == word else tokenizer.tokenize(word)
    if model.writing is Writing.BYTES and word not in tokenizer.all_special_tokens:
        in_a_sentence = tokenizer.tokenize(f" {word}")  # the space before a word is part of its piece
        pieces = in_a_sentence if len(in_a_sentence) == 1 else pieces
    if len(pieces) != 1 or (pieces[0] == unknown and word != unknown):
        read = " ".join(show_piece(piece, model.writing) for piece in pieces[:6]) or "nothing"
        raise InputError(
            f"{name.capitalize()} {word[:40]!r} is not one piece of this vocabulary but {read}. Choose a simpler word."
        )
    return tokenizer.convert_tokens_to_ids(pieces[0]), show_piece(pieces[0], model.writing)


def read(model: Network, target: Target, hidden: torch.Tensor) -> Reading:
    """The target in last hidden states [batch, tokens, hidden]."""
    return read_at(model, target, hidden[:, target.position])


def read_at(model: Network, target: Target, vectors: torch.Tensor) -> Reading:
    """The target, from the last hidden state [batch, hidden] of its token."""
    return _reading(target, logits_at(model, target, vectors))


@inference_mode
def read_each(model: Network, target: Target, vectors: torch.Tensor) -> Reading:
    """The target, from many last hidden states [..., hidden] of its token: [...] each. The vocabulary is read in batches."""
    rows = vectors.flatten(0, -2)
    parts = [read_at(model, target, rows[start : start + AT_ONCE]) for start in range(0, max(1, len(rows)), AT_ONCE)]
    return Reading(*(torch.cat(column).view(vectors.shape[:-1]) for column in zip(*parts, strict=True)))


def logits_at(model: Network, target: Target, vectors: torch.Tensor) -> torch.Tensor:
    """The logits [batch, classes] of all classes of the target's head, from the last hidden state [batch, hidden]."""
    return model.next_sentence_logits(vectors[:, None]) if target.head == "next_sentence" else model.masked_lm(vectors)


@inference_mode
def own_reading(trace: Trace, target: Target) -> Reading:
    """The target by transformers' own forward pass: the reference that everything derived must match."""
    model, pair = trace.model, target.head == "next_sentence"
    logits = model.own_pair(trace.encoding) if pair else model.own_masked_lm(trace.encoding)[target.position]
    return _reading(target, logits[None])


def _reading(target: Target, logits: torch.Tensor) -> Reading:
    logit, probability = logits[:, target.id], logits.softmax(-1)[:, target.id]
    return Reading(logit if target.foil is None else logit - logits[:, target.foil], probability)


def batches(rows: int, tokens: int) -> list[slice]:
    """Slices of `rows` inputs of `tokens` tokens each, with at most TOKENS_AT_ONCE tokens."""
    size = max(1, TOKENS_AT_ONCE // tokens)
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
