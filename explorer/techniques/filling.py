"""Filling several blanks so that they fit each other, unlike independent guesses."""

from __future__ import annotations

from typing import NamedTuple

from explorer.bert.network import Candidate
from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.core.limits import Limit
from explorer.techniques.ablation import with_mask
from explorer.text import limits
from explorer.text.pieces import Writing, bare

ORDERS = ("left_to_right", "best_first")
MOST_BLANKS = Limit(32, "The text has {given} blanks. Fill {most} or fewer together.")


class Filling(NamedTuple):
    """One filled blank, given all that were filled before it."""

    position: int
    candidate: Candidate


@inference_mode
def fill_jointly(trace: Trace, order: str = "left_to_right") -> list[Filling]:
    """Fill one [MASK] after the other with the first guess, given those filled before; in the order of filling.

    "best_first" takes the blank with the most probable first guess next. The method is greedy: another filling may be more
    probable as a whole. The sum of the log probabilities is that of the whole filling in this order. Raises InputError.
    """
    limits.check_choice(order, "the order", ORDERS)
    model, left = trace.model, trace.blanks()
    MOST_BLANKS.check(len(left))
    ids, segments = torch.tensor([trace.ids]), torch.tensor(trace.encoding.segments)
    states = trace.states[-1]
    filled = []
    while left:
        guesses = {guess.position: guess.candidates[0] for guess in model.guesses(states[left], left, top_k=1)}
        position = left[0] if order == "left_to_right" else max(left, key=lambda place: guesses[place].probability)
        filled.append(Filling(position, guesses[position]))
        ids[0, position] = guesses[position].id
        left.remove(position)
        if left:
            states = model.run(model.embed(ids, segments))[0]
    return filled


def alternatives(trace: Trace, token: int, most: int) -> list[str]:
    """The model's best guesses for a zero-based token when it is masked, most probable first: whole words other than itself.

    One forward pass. Raises CapabilityError without a masked-LM head.
    """
    model = trace.model
    (guess,) = model.guesses(with_mask(trace, token).states[-1][[token]], [token], top_k=8 * most)
    own, ordinary = bare(trace.tokens[token]).casefold(), set(model.ordinary_ids.tolist())
    words = [
        bare(candidate.token)
        for candidate in guess.candidates
        if candidate.id in ordinary and begins_a_word(candidate.token, model.writing)
    ]
    return [word for word in dict.fromkeys(words) if word.isalpha() and word.casefold() != own][:most]


def begins_a_word(piece: str, writing: Writing) -> bool:
    """Whether a piece of the vocabulary begins a word, as a tokenizer of this kind writes it."""
    return not piece.startswith("##") if writing is Writing.WORDPIECE else piece.startswith(writing.value)
