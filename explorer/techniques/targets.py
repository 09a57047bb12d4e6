"""The target of a question: one piece at one position, or IsNext.

It depends on the last hidden state of one token only, so that techniques can save work in the last layer.
"""

from __future__ import annotations

from dataclasses import dataclass

from explorer.base.engine import inference_mode, torch
from explorer.base.errors import InputError
from explorer.model.network import Network
from explorer.model.trace import Trace
from explorer.text import limits
from explorer.text.pieces import Writing, shown

TOKENS_AT_ONCE = 1024
"""Tokens per batch: enough to keep two cores busy, few enough for the feed-forward block to stay in the cache."""


@dataclass(frozen=True)
class Target:
    """Class `id` of the head at `position` (zero-based); `token` is its name.

    `head` is "fill_mask", with a class for each piece, or "next_sentence", where 0 is IsNext.
    """

    head: str
    position: int
    id: int
    token: str


@dataclass(frozen=True)
class Reading:
    """The target's `logit` and its `probability` (softmax over all classes of the head), one entry per row: [batch]."""

    logit: torch.Tensor
    probability: torch.Tensor


def word_target(trace: Trace, word: str = "", position: int | None = None) -> Target:
    """The target `word` at `position`, by default at the first [MASK]; "" is the model's first guess there.

    Raises CapabilityError without a masked-LM head, InputError when there is no [MASK], or the word is not one piece.
    """
    if position is None:
        position = trace.blanks()[0]
    if not limits.check_optional_text(word, "the word"):
        (guess,) = trace.model.guesses(trace.states[-1][[position]], [position], top_k=1)
        return Target("fill_mask", position, guess.candidates[0].id, guess.candidates[0].token)
    return Target("fill_mask", position, *piece_of(trace.model, word))


def is_next_target(trace: Trace) -> Target:
    """The target IsNext, or the first output of another family's head for pairs.

    Raises CapabilityError without the head, InputError when there is no B.
    """
    trace.model.require("next_sentence")
    if not trace.encoding.text_b:
        raise InputError("There is no second sentence; type one in B.")
    return Target("next_sentence", 0, 0, trace.model.pair_names[0])


def piece_of(model: Network, word: str) -> tuple[int, str]:
    """The id and the name of the piece that is this word. Raises InputError when it is several pieces, or unknown.

    '##ing' is found by its name; anything else is read as in a sentence: 'Paris' finds 'paris', or 'ĠParis'.
    """
    word = limits.check_text(word, "the word").strip()
    tokenizer = model.tokenizer
    vocabulary, unknown = tokenizer.get_vocab(), tokenizer.unk_token
    if model.writing is Writing.BYTES and word not in tokenizer.all_special_tokens:
        in_a_sentence = tokenizer.tokenize(f" {word}")  # the space before a word is part of its piece
        if len(in_a_sentence) == 1:
            return vocabulary[in_a_sentence[0]], shown(in_a_sentence[0], model.writing)
    if word in vocabulary:
        return vocabulary[word], shown(word, model.writing)
    pieces = tokenizer.tokenize(word)
    if len(pieces) != 1 or (pieces[0] == unknown and word != unknown):
        read = " ".join(shown(piece, model.writing) for piece in pieces[:6]) or "nothing"
        raise InputError(f"The word {word[:40]!r} is not one piece of this vocabulary but {read}; choose a simpler one.")
    return vocabulary[pieces[0]], shown(pieces[0], model.writing)


def read(model: Network, target: Target, hidden: torch.Tensor) -> Reading:
    """The target in last hidden states [batch, tokens, hidden]."""
    return read_at(model, target, hidden[:, target.position])


def read_at(model: Network, target: Target, vectors: torch.Tensor) -> Reading:
    """The target from the last hidden state [batch, hidden] of its token."""
    logits = _logits(model, target, vectors)
    return Reading(logits[:, target.id], logits.softmax(-1)[:, target.id])


def shares_at(model: Network, target: Target, vectors: torch.Tensor) -> torch.Tensor:
    """The probabilities [batch, classes] of all classes of the target's head, from the last hidden state [batch, hidden]."""
    return _logits(model, target, vectors).softmax(-1)


def _logits(model: Network, target: Target, vectors: torch.Tensor) -> torch.Tensor:
    return model.next_sentence_logits(vectors[:, None]) if target.head == "next_sentence" else model.masked_lm(vectors)


@inference_mode
def own_reading(trace: Trace, target: Target) -> Reading:
    """The target by transformers' own forward pass: the reference that everything derived must match."""
    if target.head == "next_sentence":
        logits = trace.model.own_pair(trace.encoding)[None]
    else:
        logits = trace.model.own_masked_lm(trace.encoding)[[target.position]]
    return Reading(logits[:, target.id], logits.softmax(-1)[:, target.id])


def batches(rows: int, tokens: int) -> list[slice]:
    """Slices of `rows` inputs of `tokens` tokens each, with at most TOKENS_AT_ONCE tokens."""
    size = max(1, TOKENS_AT_ONCE // tokens)
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
